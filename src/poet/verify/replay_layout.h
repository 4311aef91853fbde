#pragma once

// The verifier on addresses: does what the plan puts into RAM fit where the layout says?

#include "poet/cost/instance.h"
#include "poet/plan/layout/layout.h"
#include "poet/plan/limits.h"
#include "poet/plan/plan.h"

namespace poet {

struct ArenaReport {
  bool valid = false;
  std::string violation;  // the first rule violated and where, when not valid
  Bytes arena{};          // as the layout states it, or the highest end of an allocation
  Bytes ram{};            // arena and persistent values
};

/// Carries out the plan on a map of memory, knowing addresses only from the layout. Every step that takes
/// memory must have its allocation there, with the value's bytes, aligned, and clear of everything else that
/// is there at the time. A result may lie exactly over one operand of its op if the operator can do that
/// (graph/in_place.h) and the operand is not on its way to storage; the operand is gone then, and whoever
/// reads, pages out or keeps it later breaks a rule. In device semantics persistent bytes and arena must fit
/// the budget (the others budget bytes alone). What the steps mean otherwise is replay()'s business: it must
/// have accepted the plan. O(steps log steps + edges).
[[nodiscard]] ArenaReport replay_layout(const Instance& instance, const Plan& plan, const Layout& layout,
                                        Semantics semantics, const Limits& limits);

}  // namespace poet
