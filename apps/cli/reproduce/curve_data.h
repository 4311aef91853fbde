#pragma once

// A figure's curves as data: for the page that draws them, and for whoever draws them anew.

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "poet/report/curves.h"

namespace poet::cli {

/// As data/report/reproduction.js draws them.
[[nodiscard]] nlohmann::ordered_json curves_json(const CurvePanels& panels);

/// A line per point: panel, curve, x, y; the latter two called as the axes are. Numbers read back to the same
/// double.
[[nodiscard]] std::string curves_csv(const CurvePanels& panels);

}  // namespace poet::cli
