#pragma once

#include "poet/baselines/method.h"
#include "poet/report/curves.h"

namespace poet::cli {

/// A colour per family of methods; dashed: its variants. Numbers are gnuplot's point types.
[[nodiscard]] CurveStyle style_of(const Method& method);

}  // namespace poet::cli
