#include "poet/report/loaded_plan.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

#include "poet/base/amounts.h"
#include "poet/base/error.h"
#include "poet/cost/json_reader.h"
#include "poet/plan/file/plan_family.h"
#include "poet/plan/file/schedule_json.h"
#include "poet/plan/layout/layout.h"
#include "poet/plan/schedule/linearise.h"
#include "poet/plan/timing/transfers.h"
#include "poet/report/minute.h"

namespace poet {
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

/// When the file was last written.
std::string time_of(const fs::path& file) {
  struct stat status {};
  return stat(file.c_str(), &status) == 0 ? minute_text(status.st_mtime) : std::string();
}

}  // namespace

std::vector<LoadedPlan> load_plans(const std::string& name, std::optional<Semantics> semantics,
                                   std::optional<Bytes> ram) {
  const std::string title = fs::path(name).filename().string();
  const std::string text = read_text_file(name);
  std::vector<LoadedPlan> loaded;
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  PlanFamily plans;
  if (first != std::string::npos && text[first] == '{') {
    const nlohmann::ordered_json json = parse_json(text, name);
    if (json.contains("stages")) {
      if (ram)
        throw InputError(Field{"ram_budget"}, "chooses one of the plans in a plan file; this is a schedule");
      loaded.push_back(plan_of_schedule(schedule_from_json(json, name), semantics, title));
      loaded.back().name = name;
      loaded.back().units = units_of(loaded.back().picture.plan.limits.ram_budget);
      loaded.back().picture.written = time_of(name);
      return loaded;
    }
    plans = plans_from_json(json, name);
  } else {
    plans = plans_from_text(text, name);
  }
  if (semantics && *semantics != plans.semantics) {
    throw InputError(
        name, fmt::format("a plan's waits and addresses are for its own rules, {}; other rules are for "
                          "schedule files",
                          to_string(plans.semantics)));
  }
  const std::optional<std::size_t> only = ram ? plan_within(plans, *ram) : std::nullopt;
  if (ram && !only)
    throw InputError(Field{"ram_budget"}, fmt::format("{} is less than any plan of {} is for: {}",
                                                      format_bytes(*ram), name, budgets_text(plans)));
  // All plans of a file are printed in the units of its first one.
  const ByteUnits units = units_of(plans.plans[0].made, plans.plans[0].limits.ram_budget);
  const std::size_t begin = only.value_or(0);
  const std::size_t end = only ? begin + 1 : plans.plans.size();
  for (std::size_t i = begin; i < end; ++i) {
    PlanFile file = plan_of(plans, i);
    const std::string budget =
        plans.plans.size() > 1 ? ", " + format_bytes(plans.plans[i].limits.ram_budget, units) : "";
    LoadedPlan& one = loaded.emplace_back();
    one.picture = picture_of(std::move(file), title + budget);
    one.name = name + budget;
    one.units = units;
    one.picture.written = time_of(name);
  }
  return loaded;
}

}  // namespace poet
