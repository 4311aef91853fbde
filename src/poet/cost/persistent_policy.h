#pragma once

namespace poet {

/// Where parameters and optimiser state live.
enum class PersistentPolicy {
  automatic,  // each in RAM or at home on storage, as the plan decides
  resident,   // in RAM from step to step, charged to the budget
  excluded,   // elsewhere (the paper's assumption), gradients as well: they cost the budget nothing
};

}  // namespace poet
