#pragma once

// How methods that are simulated step by step (DTR, Capuchin) end without a plan.

#include <string>

namespace poet {

/// Computing time after which a method thrashes, in multiples of that of the step without recomputation.
inline constexpr double kThrashing = 50;

/// Thrown and caught within one run.
struct GivesUp {
  std::string reason;
};

}  // namespace poet
