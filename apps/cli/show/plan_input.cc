#include "apps/cli/show/plan_input.h"

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

#include "poet/base/error.h"
#include "poet/cost/json_reader.h"
#include "poet/plan/file/plan_file.h"
#include "poet/plan/file/schedule_json.h"
#include "poet/plan/layout/layout.h"
#include "poet/plan/timing/transfers.h"

namespace poet::cli {
namespace {

namespace fs = std::filesystem;

/// Addresses for a plan that the verifier has nothing against but its limits: what place() asks for.
void place_if_sound(PlanFile& file) {
  const Report report = replay(file.instance, file.plan, file.semantics, no_limits());
  if (!report.valid) return;
  const Bytes peak = report.peak_ram - file.instance.costs.persistent;
  file.layout = place(file.instance, file.plan, file.semantics, {.enough = peak});
}

LoadedPlan plan_of_schedule(ScheduleFile schedule, std::optional<Semantics> semantics,
                            const std::string& title) {
  schedule.semantics = semantics.value_or(schedule.semantics);
  LoadedPlan loaded;
  loaded.stages = schedule.schedule.stages.size();
  loaded.stage_report = replay(schedule.instance, schedule.schedule, schedule.semantics, schedule.limits);
  // What breaks its limits only is a plan to look at, all the same.
  const Report stages = replay(schedule.instance, schedule.schedule, schedule.semantics, no_limits());
  PlanFile file;
  if (loaded.stages == schedule.instance.graph.ops.size())
    file.plan = linearise(schedule.instance, schedule.schedule, schedule.semantics);
  file.instance = std::move(schedule.instance);
  file.semantics = schedule.semantics;
  file.limits = schedule.limits;
  if (stages.valid) file.plan = plan_transfers(file.instance, file.plan, file.semantics, file.limits);
  if (stages.valid) place_if_sound(file);
  loaded.picture = picture_of(std::move(file), title);
  // Addresses are no part of the file: those found for it are nothing to judge it by.
  const PlanFile& made = loaded.picture.plan;
  if (loaded.picture.report.valid)
    loaded.picture.arena = replay_layout(made.instance, made.plan, made.layout, made.semantics, no_limits());
  // Staged schedules have rules of its own, which the steps that follow from it may happen to obey.
  if (!stages.valid) {
    loaded.picture.report.valid = false;
    loaded.picture.report.violation = stages.violation;
  }
  return loaded;
}

}  // namespace

LoadedPlan load_plan(const std::string& name, std::optional<Semantics> semantics) {
  const std::string title = fs::path(name).filename().string();
  const std::string text = read_text_file(name);
  PlanFile file;
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first != std::string::npos && text[first] == '{') {
    const nlohmann::ordered_json json = parse_json(text, name);
    if (json.contains("stages")) return plan_of_schedule(schedule_from_json(json, name), semantics, title);
    file = plan_from_json(json, name);
  } else {
    file = plan_from_text(text, name);
  }
  if (semantics && *semantics != file.semantics) {
    throw InputError(
        name, fmt::format("a plan's waits and addresses are for its own rules, {}; other rules are for "
                          "schedule files (--schedule-out)",
                          to_string(file.semantics)));
  }
  LoadedPlan loaded;
  loaded.picture = picture_of(std::move(file), title);
  return loaded;
}

}  // namespace poet::cli
