#pragma once

// Results as curves, a panel per instance, a style per method.

#include <functional>
#include <string>
#include <vector>

#include "apps/cli/reproduce/studies.h"
#include "poet/report/curves.h"

namespace poet::cli {

/// Where a result lies in its panel.
using Place = std::function<CurvePoint(const SweepResult& result)>;

/// Results that hold, per method and instance, in the order of methods(); equal points once. Styles and
/// panels are filled in, axes are not.
[[nodiscard]] CurvePanels curves_of(const std::vector<SweepResult>& results, const Place& place);

/// x: the RAM budget, in MB; y: the plan's energy above that of the step without limits, in percent, on a
/// logarithmic axis.
[[nodiscard]] CurvePanels overhead_against_ram(const std::vector<SweepResult>& results,
                                               const std::string& title);

/// x as above; y: energy in units of the step without limits.
[[nodiscard]] CurvePanels energy_against_ram(const std::vector<SweepResult>& results,
                                             const std::string& title);

/// x: the deadline in units of the step without limits; y: overhead in percent.
[[nodiscard]] CurvePanels overhead_against_deadline(const std::vector<SweepResult>& results,
                                                    const std::string& title);

/// "resnet18_cifar on a72".
[[nodiscard]] std::string panel_title(const SweepResult& result);

}  // namespace poet::cli
