#pragma once

// A schedule's decision on each value (keep, page or recompute), and the costs of the alternatives.

#include <optional>
#include <string>
#include <vector>

#include "poet/cost/instance.h"
#include "poet/plan/limits.h"
#include "poet/plan/plan.h"
#include "poet/plan/schedule/schedule.h"

namespace poet {

/// The mechanisms that a plan may use to save RAM.
struct Remedies {
  bool paging = true;
  bool rematerialization = true;
};

struct ValueDecision {
  ValueId value;
  Bytes bytes{};
  int page_outs = 0;
  int page_ins = 0;
  int recomputations = 0;  // of its producer, in stages at whose start the value was not in RAM
  /// Each recomputation of its op was needed for another result: keeping or paging this one would save
  /// nothing.
  bool by_product = false;
  /// Energy of its transfers, and of recomputations of which it is not a by-product.
  Joules spent{};
  Joules spent_idle{};              // of it, idle power during those recomputations; 0 outside `device`
  std::optional<Joules> page_cost;  // once out and once in; absent without storage
  /// Of its producer, with inputs in RAM and idle power; absent if not recomputable.
  std::optional<Joules> recompute_cost;
  std::optional<Joules> page_all_cost;  // of all results of its recomputation, once out and once in
  OpId gone_from;                       // longest interval between uses without a copy in RAM: its first op
  OpId back_at;  // and the op at whose stage it is in RAM again; both invalid if always in RAM

  [[nodiscard]] bool kept() const { return page_ins == 0 && page_outs == 0 && recomputations == 0; }
};

/// Returns the decision on each transient value with bytes, in order of values. `schedule` must be valid.
/// O(stages * values + recomputations * edges).
[[nodiscard]] std::vector<ValueDecision> decisions(const Instance& instance, const Schedule& schedule,
                                                   Semantics semantics);

/// The same for the stages_of() of a valid plan; for values at home on storage see residences().
[[nodiscard]] std::vector<ValueDecision> decisions(const Instance& instance, const Plan& plan,
                                                   Semantics semantics);

/// Sorts by energy, then by bytes, both descending.
void sort_by_importance(std::vector<ValueDecision>& decisions);

/// Returns "paged", "recomputed", "paged and recomputed" or "kept".
[[nodiscard]] std::string treatment(const ValueDecision& decision);

/// Returns a short reason, derived from the costs of this value and the mechanisms that the plan was allowed
/// to use: "paging is 8.3x cheaper".
[[nodiscard]] std::string reason(const ValueDecision& decision, const Remedies& remedies = {});

}  // namespace poet
