#pragma once

#include "poet/baselines/method.h"

namespace poet {

/// Capuchin: Peng et al., "Capuchin: Tensor-based GPU Memory Management for Deep Learning", ASPLOS 2020. A
/// first, measured step under the budget swaps on demand and logs who is accessed when (access_log.h); a
/// policy chooses what to swap and what to recompute (capuchin_policy.h); guided steps carry it out
/// (guided_run.h). After each, a value that compute still had to wait for gets its page-in 5 % of the
/// page-in's time earlier, until nothing waits, for at most 40 steps: twice the time of a page-in. A plan per
/// guided step that differs from the one before; the measured step's if the guided one cannot be carried out.
///
/// The authors' code is not public, nor is there a preprint; where summaries of the paper and
/// reimplementations of its policy (mu-TWO, MLSys 2023) leave a choice open, the headers named
/// above say what was chosen. Capuchin minimises time and knows neither energy nor deadline. What has left
/// for storage stays there, so that a value leaves once.
///
/// Defined in published and device semantics, with storage. O(choices * candidates * chain + rounds * steps *
/// live values).
[[nodiscard]] MethodAnswer capuchin(const MethodRequest& request);

}  // namespace poet
