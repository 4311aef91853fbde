#pragma once

namespace poet {

/// Where parameters and optimiser state live.
enum class PersistentPolicy {
  automatic,  // each in RAM or at home on storage; part of the plan
  resident,   // in RAM from step to step, charged to the budget
  excluded,   // elsewhere, gradients as well (the paper's assumption); not charged to the budget
};

}  // namespace poet
