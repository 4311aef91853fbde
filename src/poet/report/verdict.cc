#include "poet/report/verdict.h"

#include <nlohmann/json.hpp>

#include "poet/report/history.h"

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
  // figures of an invalid schedule go only as far as the replay came; they would be read as the schedule's.
  const auto figure = [valid](const auto& value) { return valid ? Json(value) : Json(nullptr); };
  Json json = Json::object();
  json["format"] = 2;
  json["kind"] = loaded.stages > 0 ? "schedule" : "plan";
  json["valid"] = valid;
  json["violation"] = valid ? Json(nullptr) : Json(violated_rule(loaded));
  json["violated_in"] = valid ? Json(nullptr) : Json(violated_in(loaded));
  json["energy_joules"] = figure(report.energy.value());
  json["compute_joules"] = figure(report.compute_energy.value());
  json["page_in_joules"] = figure(report.page_in_energy.value());
  json["page_out_joules"] = figure(report.page_out_energy.value());
  json["idle_joules"] = figure(report.idle_energy.value());
  json["runtime_seconds"] = figure(report.runtime.value());
  json["stalled_seconds"] = figure(report.stalled.value());
  json["deadline_seconds"] = file.limits.deadline ? Json(file.limits.deadline->value()) : Json(nullptr);
  json["peak_ram_bytes"] = figure(report.peak_ram.value());
  json["arena_bytes"] = figure(loaded.picture.arena.arena.value());
  json["ram_budget_bytes"] = file.limits.ram_budget.value();
  json["recomputations"] = figure(report.recomputations);
  json["page_ins"] = figure(report.page_ins);
  json["page_outs"] = figure(report.page_outs);
  json["bytes_read"] = figure(report.bytes_read.value());
  json["bytes_written"] = figure(report.bytes_written.value());
  json["semantics"] = to_string(file.semantics);
  return json;
}

}  // namespace poet
