#include "apps/shared/training/loss_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "poet/base/write_file.h"
#include "poet/report/curves.h"

namespace poet::cli {
namespace {

/// A row per step; a validation's figures are in that of the step before it, else these columns are empty.
std::string table_of(const Session& session) {
  const runtime::TrainResult& result = session.result;
  const bool validates = !session.setup.validation.empty();
  const bool clips = std::any_of(session.norms.begin(), session.norms.end(),
                                 [](const auto& norm) { return norm.has_value(); });
  std::string text = "step,loss,learning_rate,seconds";
  if (clips) text += ",gradient_norm";
  text += validates ? ",validation_loss,accuracy\n" : "\n";
  auto found = result.validations.begin();
  for (std::size_t i = 0; i < result.losses.size(); ++i) {
    const std::int64_t step = result.first_step + static_cast<std::int64_t>(i);
    text += fmt::format("{},{},{},{}", step, result.losses[i], session.rates[i], session.ends[i]);
    if (clips) text += session.norms[i] ? fmt::format(",{}", *session.norms[i]) : ",";
    if (validates) {
      if (found != result.validations.end() && found->step == step) {
        text += fmt::format(",{},", found->loss);
        if (found->accuracy) text += fmt::format("{}", *found->accuracy);
        ++found;
      } else {
        text += ",,";
      }
    }
    text += '\n';
  }
  return text;
}

}  // namespace

void write_losses(const Session& session, const std::filesystem::path& file) {
  const std::vector<float>& losses = session.result.losses;
  if (file.extension() == ".csv") return write_file(file, table_of(session));
  Curve curve;
  for (std::size_t i = 0; i < losses.size(); ++i)
    if (std::isfinite(losses[i]))
      curve.points.push_back(
          {static_cast<double>(session.result.first_step) + static_cast<double>(i), losses[i]});
  CurvePanels panels;
  const Instance& instance = session.file.instance;
  panels.title = instance.model.empty() ? instance.graph.name : instance.model;
  panels.x_name = "training step";
  panels.whole_x = true;
  panels.y_name = "loss";
  panels.styles = {{"loss", "#0072b2", 7, 1, false}};
  panels.panels = {{session.setup.data, {curve}, ""}};
  panels.columns = 1;
  if (!session.setup.validation.empty()) {
    panels.styles.push_back({"validation", "#d55e00", 5, 1, false});
    Curve points;
    points.style = 1;
    for (const runtime::ValidationFigures& found : session.result.validations)
      if (std::isfinite(found.loss)) points.points.push_back({static_cast<double>(found.step), found.loss});
    panels.panels.front().curves.push_back(std::move(points));
  }
  write_curves(panels, file);
}

}  // namespace poet::cli
