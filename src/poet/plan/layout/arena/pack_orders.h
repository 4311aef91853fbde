#pragma once

// Orders in which to place buffers: for first-fit, and for the ties of the search.

#include <random>

#include "poet/plan/layout/arena/sections.h"

namespace poet {

/// Sorted by traits, the greater first: the greatest load met, the area (lifetime x size), the lifetime and
/// the size, in the sequences that do well in practice; fixed buffers before all others. Never empty.
[[nodiscard]] std::vector<std::vector<int>> trait_orders(const std::vector<Buffer>& buffers,
                                                         const Sections& sections);

/// By distance in time from one section, either end or a heavily loaded one, nearest first; ties and near
/// ties by size and chance. What fails in such an order fails near its cause, which is why restarts with many
/// of them solve instances on which any one order runs forever. The same generator state gives the same order
/// everywhere.
[[nodiscard]] std::vector<int> outward_order(const std::vector<Buffer>& buffers, const Sections& sections,
                                             std::mt19937& random);

/// In [0, 1): distributions of the standard library differ from one to the next, the generator does not.
inline double fraction(std::mt19937& random) { return static_cast<double>(random()) / 4294967296.0; }

}  // namespace poet
