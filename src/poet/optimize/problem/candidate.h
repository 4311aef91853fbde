#pragma once

// From decisions to a measured schedule. Decisions say which values are recomputed and paged in which stages;
// the retained values follow from them.

#include <cstdint>
#include <vector>

#include "poet/optimize/problem/problem.h"

namespace poet {

/// Per stage, sorted and distinct. The first computation of op t in stage t is implied.
struct Decisions {
  std::vector<std::vector<int>> recompute;
  std::vector<std::vector<int>> page_in;
  std::vector<std::vector<int>> page_out;
};

struct Candidate {
  Decisions decisions;
  std::vector<std::vector<int>> retain;  // per stage, sorted
  // Measured exactly, under the problem's semantics.
  std::vector<std::int64_t> stage_peak;  // active bytes; compare with Problem::budget
  std::int64_t peak = 0;
  double joules = 0;
  double seconds = 0;
  std::int64_t bytes_written = 0;

  [[nodiscard]] bool within(const Problem& problem) const {
    return peak <= problem.budget && problem.in_time(seconds) && bytes_written <= problem.max_bytes_written;
  }
};

[[nodiscard]] Decisions no_decisions(const Problem& problem);
/// Returns the decisions of a schedule. O(its size).
[[nodiscard]] Decisions decisions_of(const Schedule& schedule);

/// Drops decisions that nothing needs, retains exactly what the others need, and gives each paged value one
/// page-out: the proposed stage when it is possible, else the first stage where waiting for the transfer
/// costs no RAM. Then measures. Missing values are an InternalError: each read must have a producer, a
/// page-in or a retained copy before it, which holds for any decisions because first computations are never
/// dropped. O(stages * live values).
[[nodiscard]] Candidate complete(const Problem& problem, const Decisions& proposed);

/// Fills the measured fields from decisions and retain. O(stages * live values).
void measure(const Problem& problem, Candidate& candidate);

/// In the public form. Values without bytes are retained from their production to their last use.
[[nodiscard]] Schedule to_schedule(const Problem& problem, const Instance& instance,
                                   const Candidate& candidate);

}  // namespace poet
