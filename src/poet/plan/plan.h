#pragma once

// A plan: the schedule as one list of steps that a runtime can execute from top to bottom.

#include <string>
#include <vector>

#include "poet/base/id.h"
#include "poet/cost/instance.h"
#include "poet/plan/limits.h"
#include "poet/plan/schedule/schedule.h"

namespace poet {

enum class StepKind {
  page_out,  // put the value's transfer RAM -> storage on the channel; its RAM is needed until a wait for it
  page_in,   // reserve RAM and put the transfer storage -> RAM on the channel; usable after a wait for it
  wait,      // until the value's last transfer has ended, and with it, on the one FIFO channel, all before
  compute,   // run the op
  free,      // give the value's RAM back
};

struct Step {
  StepKind kind;
  OpId op;        // compute
  ValueId value;  // the others

  bool operator==(const Step&) const = default;
};

struct Plan {
  std::vector<Step> steps;
};

/// POET's Algorithm 2, made exact: page-outs and page-ins of a stage are issued at its start. In published
/// semantics transfers take no time and a page-in is issued at the end of its stage, as that semantics counts
/// RAM. Page-ins that bring nothing are left out (value in RAM anyway, or not retained by the next stage),
/// and waits and frees are where canonicalize() puts them, so that the plan may cost less and occupy less
/// than the schedule, never more (but for waking up a channel that now has time to fall asleep). `schedule`
/// must obey the rules of staged schedules (the verifier checks them). O(stages * values).
[[nodiscard]] Plan linearise(const Instance& instance, const Schedule& schedule, Semantics semantics);

[[nodiscard]] std::string to_string(const Instance& instance, const Step& step);

}  // namespace poet
