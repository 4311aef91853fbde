#include "apps/cli/reproduce/curves.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "apps/cli/sweep/method_style.h"
#include "poet/baselines/method.h"

namespace poet::cli {
namespace {

constexpr double kLeastOverhead = 1e-3;  // percent, of the logarithmic axis
constexpr double kBytesPerMB = 1e6;

double percent_overhead(const SweepResult& result) { return 100 * *result.overhead; }

}  // namespace

std::string panel_title(const SweepResult& result) {
  return fmt::format("{} on {}", result.network, result.platform);
}

CurvePanels curves_of(const std::vector<SweepResult>& results, const Place& place) {
  CurvePanels panels;
  std::map<std::string_view, std::size_t> style;
  for (const Method& method : methods()) {
    style[method.name] = panels.styles.size();
    panels.styles.push_back(style_of(method));
  }
  std::map<std::string, std::size_t> panel;  // by instance
  for (const SweepResult& result : results) {
    if (panel.emplace(result.instance, panels.panels.size()).second)
      panels.panels.push_back({panel_title(result), {}, "no plan holds"});
    if (!holds(result)) continue;
    std::vector<Curve>& curves = panels.panels[panel[result.instance]].curves;
    const std::size_t wanted = style[result.method];
    auto curve =
        std::find_if(curves.begin(), curves.end(), [&](const Curve& c) { return c.style == wanted; });
    if (curve == curves.end()) curve = curves.insert(curves.end(), Curve{wanted, {}});
    curve->points.push_back(place(result));
  }
  for (CurvePanel& one : panels.panels) {
    std::sort(one.curves.begin(), one.curves.end(),
              [](const Curve& a, const Curve& b) { return a.style < b.style; });
    for (Curve& curve : one.curves) {
      const auto before = [](const CurvePoint& a, const CurvePoint& b) {
        return a.x != b.x ? a.x < b.x : a.y < b.y;
      };
      const auto same = [](const CurvePoint& a, const CurvePoint& b) { return a.x == b.x && a.y == b.y; };
      std::sort(curve.points.begin(), curve.points.end(), before);
      curve.points.erase(std::unique(curve.points.begin(), curve.points.end(), same), curve.points.end());
    }
  }
  return panels;
}

CurvePanels overhead_against_ram(const std::vector<SweepResult>& results, const std::string& title) {
  CurvePanels panels = curves_of(results, [](const SweepResult& result) {
    return CurvePoint{static_cast<double>(*result.ram_budget_bytes) / kBytesPerMB, percent_overhead(result)};
  });
  panels.title = title;
  panels.x_name = "RAM budget (MB)";
  panels.y_name = "energy overhead (%)";
  panels.log_y = true;
  panels.y_floor = kLeastOverhead;
  return panels;
}

CurvePanels energy_against_ram(const std::vector<SweepResult>& results, const std::string& title) {
  CurvePanels panels = curves_of(results, [](const SweepResult& result) {
    return CurvePoint{static_cast<double>(*result.ram_budget_bytes) / kBytesPerMB, 1 + *result.overhead};
  });
  panels.title = title;
  panels.x_name = "RAM budget (MB)";
  panels.y_name = "energy (without limits: 1)";
  return panels;
}

CurvePanels overhead_against_deadline(const std::vector<SweepResult>& results, const std::string& title) {
  CurvePanels panels = curves_of(results, [](const SweepResult& result) {
    return CurvePoint{*result.deadline_seconds / *result.baseline_seconds, percent_overhead(result)};
  });
  panels.title = title;
  panels.x_name = "deadline (step without limits: 1)";
  panels.y_name = "energy overhead (%)";
  return panels;
}

}  // namespace poet::cli
