#include "apps/cli/plan_input.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "poet/base/error.h"
#include "poet/cost/json_reader.h"
#include "poet/plan/layout.h"
#include "poet/plan/plan_file.h"
#include "poet/plan/schedule_json.h"
#include "poet/plan/settle.h"
#include "poet/plan/transfers.h"

namespace poet::cli {
namespace {

namespace fs = std::filesystem;

Limits no_limits() {
  Limits limits;
  limits.ram_budget = Bytes(std::numeric_limits<std::int64_t>::max());
  return limits;
}

/// Whether the referee has nothing against the plan but its limits: what the planners ask for.
bool is_sound(const PlanFile& file) {
  return replay(file.instance, file.plan, file.semantics, no_limits()).valid;
}

void place_if_sound(PlanFile& file) {
  if (!is_sound(file)) return;
  const Bytes enough = replay(file.instance, file.plan, file.semantics, no_limits()).peak_ram;
  file.layout = place(file.instance, file.plan, file.semantics, file.instance.costs.alignment,
                      enough - file.instance.costs.persistent);
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
  if (stages.valid && file.semantics == Semantics::device)
    file.plan = plan_transfers(file.instance, file.plan, file.limits);
  if (stages.valid) place_if_sound(file);
  loaded.picture = picture_of(std::move(file), title);
  // The stage form has rules of its own, which the steps that follow from it may happen to obey.
  if (!stages.valid) {
    loaded.picture.report.valid = false;
    loaded.picture.report.broken = stages.broken;
  }
  return loaded;
}

/// Under other rules the same computations and transfers need other waits and frees.
void change_rules(PlanFile& file, Semantics semantics) {
  std::vector<Step>& steps = file.plan.steps;
  steps.erase(std::remove_if(steps.begin(), steps.end(),
                             [](const Step& step) {
                               return step.kind == StepKind::wait || step.kind == StepKind::free;
                             }),
              steps.end());
  file.plan = settle(file.instance, file.plan, semantics);
  file.semantics = semantics;
  file.layout = {};
  place_if_sound(file);
}

}  // namespace

LoadedPlan load_plan(const std::string& name, std::optional<Semantics> semantics) {
  const std::string title = fs::path(name).filename().string();
  const std::string text = read_text_file(name);
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first != std::string::npos && text[first] == '{') {
    const nlohmann::ordered_json json = parse_json(text, name);
    if (json.contains("stages")) return plan_of_schedule(schedule_from_json(json, name), semantics, title);
  }
  PlanFile file = read_plan(name);
  if (semantics && *semantics != file.semantics) change_rules(file, *semantics);
  LoadedPlan loaded;
  loaded.picture = picture_of(std::move(file), title);
  return loaded;
}

}  // namespace poet::cli
