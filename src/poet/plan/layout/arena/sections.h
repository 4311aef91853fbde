#pragma once

// Points in time with maximal sets of live buffers. A packing without overlaps at these has none at any time.

#include <vector>

#include "poet/plan/layout/arena/pack.h"

namespace poet {

/// Sections first..last (inclusive) of one buffer.
struct Span {
  int first = 0;
  int last = 0;
};

/// Two buffers are alive at a common time iff their spans meet.
inline bool meet(const Span& a, const Span& b) { return a.first <= b.last && b.first <= a.last; }

struct Sections {
  std::vector<Span> spans;         // per buffer
  std::vector<std::int64_t> load;  // per section, in order of time: the sum of sizes of the live buffers
};

/// Returns the sections whose set of live buffers is not contained in that of another one. O(buffers log
/// buffers).
[[nodiscard]] Sections sections_of(const std::vector<Buffer>& buffers);

/// Returns the greatest load, a lower bound on the height.
[[nodiscard]] std::int64_t greatest_load(const Sections& sections);

}  // namespace poet
