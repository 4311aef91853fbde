#pragma once

// A plan: the schedule as one list of steps that a runtime can execute from top to bottom.

#include <string>
#include <vector>

#include "poet/base/id.h"
#include "poet/plan/limits.h"

namespace poet {

struct Instance;

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

[[nodiscard]] std::string to_string(const Instance& instance, const Step& step);

}  // namespace poet
