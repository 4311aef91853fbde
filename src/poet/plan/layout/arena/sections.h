#pragma once

// Times at which most is alive. Between two of them buffers only die and are born, so that whoever fits there
// fits everywhere.

#include <vector>

#include "poet/plan/layout/arena/pack.h"

namespace poet {

/// Sections first..last (inclusive) of one buffer.
struct Span {
  int first = 0;
  int last = 0;
};

/// Two buffers live at a common time if and only if their spans meet.
inline bool meet(const Span& a, const Span& b) { return a.first <= b.last && b.first <= a.last; }

struct Sections {
  std::vector<Span> spans;         // per buffer
  std::vector<std::int64_t> load;  // per section, in order of time: the sizes of all that is alive
};

/// The sections whose set of live buffers is not contained in another one's. O(buffers log buffers).
[[nodiscard]] Sections sections_of(const std::vector<Buffer>& buffers);

/// The greatest load: a lower bound on the height.
[[nodiscard]] std::int64_t greatest_load(const Sections& sections);

}  // namespace poet
