#pragma once

namespace poet {

/// Where parameters, their gradients and optimiser state live.
enum class PersistentPolicy {
  counted,   // in RAM, charged to the budget
  excluded,  // elsewhere (the paper's assumption): they cost the budget nothing
};

}  // namespace poet
