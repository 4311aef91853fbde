#include "apps/cli/training/outputs.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "apps/cli/command.h"
#include "apps/cli/output.h"
#include "apps/cli/training/report.h"
#include "apps/cli/training/session_json.h"
#include "poet/base/error.h"
#include "poet/base/write_file.h"
#include "poet/report/curves.h"

namespace poet::cli {
namespace {

bool same_file(const std::filesystem::path& a, const std::filesystem::path& b) {
  return std::filesystem::absolute(a).lexically_normal() == std::filesystem::absolute(b).lexically_normal();
}

/// The losses of all steps into a .csv file, or as a curve.
void write_losses(const Session& session, const std::filesystem::path& file) {
  const std::vector<float>& losses = session.result.losses;
  if (file.extension() == ".csv") {
    std::string text = "step,loss\n";
    for (std::size_t i = 0; i < losses.size(); ++i)
      text += fmt::format("{},{}\n", session.first_step + static_cast<std::int64_t>(i), losses[i]);
    write_file(file, text);
    return;
  }
  Curve curve;
  for (std::size_t i = 0; i < losses.size(); ++i)
    curve.points.push_back({static_cast<double>(session.first_step) + static_cast<double>(i), losses[i]});
  CurvePanels panels;
  const Instance& instance = session.file.instance;
  panels.title = instance.model.empty() ? instance.graph.name : instance.model;
  panels.x_name = "training step";
  panels.y_name = "loss";
  panels.styles = {{"loss", "#0072b2", 7, 1, false}};
  panels.panels = {{session.data, {curve}, ""}};
  panels.columns = 1;
  write_curves(panels, file);
}

}  // namespace

void check_outputs(const RunChoice& training, const MachineChoice& machine, std::vector<NamedFile> written,
                   const std::vector<NamedFile>& read) {
  if (training.checkpoint) written.emplace_back("--checkpoint", *training.checkpoint);
  if (training.loss_out) written.emplace_back("--loss-out", *training.loss_out);
  for (const auto& [option, file] : written) check_writable(option, file.string());
  // What is read, or paged to, is not to be written over; but a checkpoint may take the place of the resumed
  // one, and a trained network that of the untrained.
  std::vector<NamedFile> others = written;
  others.insert(others.end(), read.begin(), read.end());
  if (training.data) others.emplace_back("--data", *training.data);
  if (machine.storage_named) others.emplace_back("--storage", machine.storage.where);
  for (std::size_t i = 0; i < written.size(); ++i)
    for (std::size_t k = i + 1; k < others.size(); ++k)
      if (same_file(written[i].second, others[k].second))
        throw InputError(written[i].first + " and " + others[k].first, "must be different files");
}

int conclude(const Session& session, const RunChoice& training, const RunOutput& output,
             nlohmann::ordered_json json, const std::vector<NamedFile>& written) {
  if (output.json) {
    json.update(session_json(session));
    print_answer(json);
  } else {
    std::string text = session_text(session);
    if (output.report) text += "\n" + side_by_side_text(session);
    if (training.checkpoint) text += fmt::format("{:<14}{}\n", "Checkpoint", training.checkpoint->string());
    for (const auto& [what, file] : written) text += fmt::format("{:<14}{}\n", what, file.string());
    print_answer(text);
  }
  if (training.loss_out) write_losses(session, *training.loss_out);
  return session.result.end == runtime::TrainEnd::done ? kAnswer : kNoAnswer;
}

}  // namespace poet::cli
