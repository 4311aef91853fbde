#include "apps/cli/reproduce/curve_data.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "poet/study/csv.h"

namespace poet::cli {

using Json = nlohmann::ordered_json;

Json curves_json(const CurvePanels& panels) {
  Json json = {{"x_name", panels.x_name}, {"y_name", panels.y_name},   {"log_x", panels.log_x},
               {"log_y", panels.log_y},   {"y_floor", panels.y_floor}, {"styles", Json::array()},
               {"panels", Json::array()}};
  for (const CurveStyle& style : panels.styles)
    json["styles"].push_back({{"title", style.title},
                              {"colour", style.colour},
                              {"marker", style.marker},
                              {"width", style.width},
                              {"dashed", style.dashed}});
  for (const CurvePanel& panel : panels.panels) {
    Json curves = Json::array();
    for (const Curve& curve : panel.curves) {
      Json points = Json::array();
      for (const CurvePoint& point : curve.points) points.push_back({point.x, point.y});
      curves.push_back({{"style", curve.style}, {"points", std::move(points)}});
    }
    json["panels"].push_back({{"title", panel.title}, {"note", panel.note}, {"curves", std::move(curves)}});
  }
  return json;
}

std::string curves_csv(const CurvePanels& panels) {
  std::string csv = fmt::format("panel,curve,{},{}\n", csv_cell(panels.x_name), csv_cell(panels.y_name));
  for (const CurvePanel& panel : panels.panels)
    for (const Curve& curve : panel.curves)
      for (const CurvePoint& point : curve.points)
        csv += fmt::format("{},{},{},{}\n", csv_cell(panel.title), csv_cell(panels.styles[curve.style].title),
                           point.x, point.y);
  return csv;
}

}  // namespace poet::cli
