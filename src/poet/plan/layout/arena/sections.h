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

/// Two buffers without gaps are alive at a common time iff their spans meet.
inline bool meet(const Span& a, const Span& b) { return a.first <= b.last && b.first <= a.last; }

struct Sections {
  std::vector<Span> spans;         // per buffer
  std::vector<std::int64_t> load;  // per section, in order of time: the sum of sizes of the live buffers
  /// If any buffer has gaps, per buffer with gaps: the sections in which it is alive, in its span.
  std::vector<std::vector<Span>> alive;
};

/// Whether buffers with these spans and live sections (empty: all of the span) are alive at a common time.
[[nodiscard]] bool meet(const Span& a, const std::vector<Span>& alive_a, const Span& b,
                        const std::vector<Span>& alive_b);

/// Two buffers are alive at a common time.
[[nodiscard]] inline bool meet(const Sections& sections, std::size_t a, std::size_t b) {
  if (!meet(sections.spans[a], sections.spans[b])) return false;
  return sections.alive.empty() ||
         meet(sections.spans[a], sections.alive[a], sections.spans[b], sections.alive[b]);
}

/// Whether it is alive in a section of its span.
[[nodiscard]] inline bool is_alive(const Sections& sections, std::size_t buffer, int section) {
  return sections.alive.empty() ||
         meet(sections.spans[buffer], sections.alive[buffer], {section, section}, {});
}

/// Returns the sections whose set of live buffers is not contained in that of another one. O(periods
/// log periods).
[[nodiscard]] Sections sections_of(const std::vector<Buffer>& buffers);

/// Returns the greatest load, a lower bound on the height.
[[nodiscard]] std::int64_t greatest_load(const Sections& sections);

}  // namespace poet
