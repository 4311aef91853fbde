#pragma once

#include <memory>

#include "poet/report/loaded_plan.h"

namespace poet::python {

/// A plan with the verifier's verdict on it.
using SharedPlan = std::shared_ptr<const LoadedPlan>;

}  // namespace poet::python
