#pragma once

#include "poet/baselines/method.h"
#include "poet/report/curves.h"

namespace poet::cli {

/// Returns a colour per family of methods, dashed for variants, and gnuplot's point type.
[[nodiscard]] CurveStyle style_of(const Method& method);

}  // namespace poet::cli
