#pragma once

// Points in time with maximal sets of live buffers. A packing without overlaps at these has none at any time.

#include <algorithm>
#include <span>
#include <vector>

#include "poet/plan/layout/arena/pack.h"

namespace poet {

/// Sections first..last (inclusive) of one buffer.
struct Span {
  int first = 0;
  int last = 0;
};

/// Two buffers without gaps are alive at a common time iff their spans meet.
inline bool meet(const Span& a, const Span& b) { return a.first <= b.last && b.first <= a.last; }

struct Sections {
  std::vector<Span> spans;         // per buffer
  std::vector<std::int64_t> load;  // per section, in order of time: the sum of sizes of the live buffers
  /// If any buffer has gaps, per buffer, and empty for those without: the sections in which it is alive, in
  /// its span.
  std::vector<std::vector<Span>> alive;
};

/// The sections in which it is alive: of a buffer without gaps, one span.
[[nodiscard]] inline std::span<const Span> alive_of(const Sections& sections, std::size_t buffer) {
  if (sections.alive.empty() || sections.alive[buffer].empty()) return {&sections.spans[buffer], 1};
  return sections.alive[buffer];
}

[[nodiscard]] inline bool any_meets(std::span<const Span> alive, const Span& span) {
  return std::any_of(alive.begin(), alive.end(), [&](const Span& one) { return meet(one, span); });
}

/// Two buffers are alive at a common time.
[[nodiscard]] inline bool meet(const Sections& sections, std::size_t a, std::size_t b) {
  if (!meet(sections.spans[a], sections.spans[b])) return false;
  const std::span<const Span> alive = alive_of(sections, a), other = alive_of(sections, b);
  return std::any_of(alive.begin(), alive.end(), [&](const Span& one) { return any_meets(other, one); });
}

/// Whether it is alive in a section of its span.
[[nodiscard]] inline bool is_alive(const Sections& sections, std::size_t buffer, int section) {
  return any_meets(alive_of(sections, buffer), {section, section});
}

/// Returns the sections whose set of live buffers is not contained in that of another one. O(periods
/// log periods).
[[nodiscard]] Sections sections_of(const std::vector<Buffer>& buffers);

/// Returns the greatest load, a lower bound on the height.
[[nodiscard]] std::int64_t greatest_load(const Sections& sections);

}  // namespace poet
