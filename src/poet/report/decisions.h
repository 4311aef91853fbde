#pragma once

// What a schedule decides about each value, and what the alternatives would have cost.

#include <optional>
#include <string>
#include <vector>

#include "poet/cost/instance.h"
#include "poet/plan/limits.h"
#include "poet/plan/plan.h"
#include "poet/plan/schedule/schedule.h"

namespace poet {

/// What a plan may do to save RAM.
struct Remedies {
  bool paging = true;
  bool rematerialization = true;
};

struct ValueDecision {
  ValueId value;
  Bytes bytes{};
  int page_outs = 0;
  int page_ins = 0;
  int recomputations = 0;  // of its producer, in stages that did not start with the value in RAM
  /// Its op was recomputed for the sake of another result each time: keeping or paging this one would save
  /// nothing.
  bool by_product = false;
  /// On its transfers, and on recomputations of which it is not a by-product.
  Joules spent{};
  std::optional<Joules> page_cost;  // once out and once in; absent without storage
  std::optional<Joules>
      recompute_cost;  // of its producer, inputs at hand; absent when that must not run twice
  std::optional<Joules> page_all_cost;  // of all that its recomputation brings back, once out and once in
  OpId gone_from;  // longest stretch without a copy in RAM between its uses: the first op it misses
  OpId back_at;    // and the op for whose stage it is there again; both invalid when never gone

  [[nodiscard]] bool kept() const { return page_ins == 0 && page_outs == 0 && recomputations == 0; }
};

/// One per transient value with bytes, in order of values. `schedule` must be valid. O(stages * values +
/// recomputations * edges).
[[nodiscard]] std::vector<ValueDecision> decisions(const Instance& instance, const Schedule& schedule,
                                                   Semantics semantics);

/// The same of a valid plan's stages, as stages_of() tells them; what a plan does with values that live on
/// storage is told by residences().
[[nodiscard]] std::vector<ValueDecision> decisions(const Instance& instance, const Plan& plan,
                                                   Semantics semantics);

/// Most energy first, then most bytes.
void sort_by_importance(std::vector<ValueDecision>& decisions);

/// "paged", "recomputed", "paged and recomputed" or "kept".
[[nodiscard]] std::string treatment(const ValueDecision& decision);

/// In a few words why, as far as the costs of this value and the remedies that the plan was free to use tell:
/// "paging is 8.3x cheaper".
[[nodiscard]] std::string reason(const ValueDecision& decision, const Remedies& remedies = {});

}  // namespace poet
