#pragma once

// Chen, Xu, Zhang, Guestrin 2016, "Training Deep Nets with Sublinear Memory Cost" (arXiv 1604.06174), as
// Checkmate (arXiv 1910.02653, appendix B) extends it to graphs: cut at articulation points of the forward
// pass, or, "linearised", after any of its ops. Both are tried.

#include <vector>

#include "poet/baselines/method.h"

namespace poet {

/// Section 3: of n candidates, every floor(sqrt(n))-th is a checkpoint. Two plans. O(stages * (ops + edges)).
[[nodiscard]] MethodAnswer chen_sqrt(const MethodRequest& request);

/// Algorithm 3: a checkpoint where the bytes since the last one pass b. b is sought as in appendix A (a run
/// with b = 0, then six values around sqrt(x y)), and over a grid from nothing to everything, as Checkmate
/// draws its trade-off curves. Some 50 plans, duplicates left out.
[[nodiscard]] MethodAnswer chen_greedy(const MethodRequest& request);

/// What Algorithm 3 gives for one b.
struct GreedySplit {
  std::vector<OpId> checkpoints;
  double kept = 0;     // x: bytes of the checkpoints
  double segment = 0;  // y: bytes of the largest segment
};

/// `candidates`: forward ops that may be checkpoints, increasing. O(ops).
[[nodiscard]] GreedySplit greedy_split(const Instance& instance, const std::vector<OpId>& candidates,
                                       double most_segment_bytes);

/// Every floor(sqrt(n))-th of n candidates.
[[nodiscard]] std::vector<OpId> sqrt_split(const std::vector<OpId>& candidates);

}  // namespace poet
