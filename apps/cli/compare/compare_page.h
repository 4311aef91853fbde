#pragma once

#include <string>

#include "apps/cli/compare/comparison.h"

namespace poet::cli {

/// Returns the page of a comparison, with every method's plan. Throws InputError.
[[nodiscard]] std::string comparison_page(const Comparison& comparison);

}  // namespace poet::cli
