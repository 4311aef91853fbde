#include "poet/report/verdict.h"

#include <nlohmann/json.hpp>

#include "poet/report/history.h"
#include "poet/verify/report_fields.h"

namespace poet {
namespace {

using Json = nlohmann::ordered_json;

bool schedule_invalid(const LoadedPlan& loaded) { return loaded.stage_report && !loaded.stage_report->valid; }

const char* violated_in(const LoadedPlan& loaded) {
  return schedule_invalid(loaded) ? "schedule" : loaded.picture.report.valid ? "addresses" : "plan";
}

}  // namespace

std::string violated_rule(const LoadedPlan& loaded) {
  return schedule_invalid(loaded) ? loaded.stage_report->violation : breach_of(loaded.picture);
}

bool is_valid(const LoadedPlan& loaded) { return violated_rule(loaded).empty(); }

Json verdict_json(const LoadedPlan& loaded) {
  const Report& report = loaded.picture.report;
  const PlanFile& file = loaded.picture.plan;
  const bool valid = is_valid(loaded);
  // Figures of an invalid schedule or plan cover only the part that was replayed.
  const auto figure = [valid](const auto& value) { return valid ? Json(value) : Json(nullptr); };
  Json json = Json::object();
  const auto add = [&](const char* name, const auto& value) { json[name] = figure(value); };
  json["format"] = 2;
  json["kind"] = loaded.stages > 0 ? "schedule" : "plan";
  json["valid"] = valid;
  json["violation"] = valid ? Json(nullptr) : Json(violated_rule(loaded));
  json["violated_in"] = valid ? Json(nullptr) : Json(violated_in(loaded));
  json["energy_joules"] = figure(report.energy.value());
  visit_energy_and_time(report, add);
  json["deadline_seconds"] = file.limits.deadline ? Json(file.limits.deadline->value()) : Json(nullptr);
  json["peak_ram_bytes"] = figure(report.peak_ram.value());
  json["arena_bytes"] = figure(loaded.picture.arena.arena.value());
  json["ram_budget_bytes"] = file.limits.ram_budget.value();
  visit_counts(report, add);
  json["semantics"] = to_string(file.semantics);
  return json;
}

}  // namespace poet
