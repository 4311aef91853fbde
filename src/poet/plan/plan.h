#pragma once

// A plan: the schedule as one list of steps that a runtime can execute from top to bottom.

#include <string>
#include <vector>

#include "poet/base/id.h"
#include "poet/plan/limits.h"

namespace poet {

struct Instance;

enum class StepKind {
  page_out,  // issue the transfer RAM -> storage; the value's RAM is needed until a wait for it
  page_in,   // allocate RAM and issue the transfer storage -> RAM; usable after a wait for it
  wait,      // wait for the value's last transfer and so for all before it on the FIFO channel
  compute,   // run the op
  free,      // free the value's RAM
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
