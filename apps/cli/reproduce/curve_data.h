#pragma once

// A figure's curves as data, for pages and other plots.

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "poet/report/curves.h"

namespace poet::cli {

/// As data/report/reproduction.js draws them.
[[nodiscard]] nlohmann::ordered_json curves_json(const CurvePanels& panels);

/// Returns CSV with a line per point: panel, curve, x, y (named as the axes). Numbers round-trip.
[[nodiscard]] std::string curves_csv(const CurvePanels& panels);

}  // namespace poet::cli
