#pragma once

// Random scheduling problems that look like training steps, and random schedules that obey every rule. The
// same seed gives the same answer on every machine.

#include <cstdint>
#include <random>

#include "poet/cost/instance.h"
#include "poet/plan/schedule/schedule.h"

namespace poet::test {

using Rng = std::mt19937_64;

struct RandomInstanceOptions {
  int ops = 8;                // at least 2
  int max_inputs = 3;         // values that an op reads, at least 2
  bool multi_output = false;  // some forward ops write a second value that their backward ops read
  bool storage = true;        // values can be paged
  /// Parameters, and ops that update them: their readers cannot be recomputed afterwards.
  bool updates = false;
  bool views = false;     // some values are read through views
  bool inputs = false;    // the first op cannot be recomputed
  bool device = false;    // workspace, idle power, waking up, a channel that may block
  bool in_place = false;  // most values have one size, and most ops can write their result over an operand
};

/// Forward ops first, each reading the one before and some earlier ones; then their backward ops in reverse,
/// each reading the gradient so far and what its forward op read or wrote. Sizes are 1 to 8 units of an odd
/// number of bytes; seconds are multiples of 1/8 and joules of 1/4, so that their sums are exact in any
/// order. Without multi_output, updates and views value i is what op i writes.
[[nodiscard]] Instance random_instance(Rng& rng, const RandomInstanceOptions& options);

/// Gives most ops with one output that have one to three operands of its bytes a kind that may write it over
/// any of them; the others the kind "published". All values become bytes.
void choose_kinds(Rng& rng, Graph& graph, bool in_place);

/// A schedule that obeys every rule of staged schedules but knows no budget: values are dropped, paged and
/// recomputed at random, as often as the seed likes, with no page-in in vain. O(ops * values).
[[nodiscard]] Schedule random_schedule(Rng& rng, const Instance& instance);

/// Uniform in [low, high].
[[nodiscard]] int pick(Rng& rng, int low, int high);
[[nodiscard]] bool chance(Rng& rng, double probability);

}  // namespace poet::test
