#include "apps/shared/training/session_json.h"

#include <nlohmann/json.hpp>

#include "poet/graph/dataflow.h"
#include "poet/graph/precision.h"
#include "poet/report/expected.h"
#include "poet/runtime/training/kind_times.h"

namespace poet::cli {

using Json = nlohmann::ordered_json;

namespace {

/// Of a file of several plans: which there are, when the run went over to which, and what was measured by
/// each.
void add_plans(const Session& session, Json& json) {
  const auto& plans = session.setup.plans;
  const auto budget = [&](std::size_t plan) { return plans[plan].limits.ram_budget.value(); };
  json["plans"] = Json::array();
  for (const runtime::PlannedFigures& plan : plans) {
    json["plans"].push_back({{"ram_budget_bytes", plan.limits.ram_budget.value()},
                             {"peak_ram_bytes", plan.report.peak_ram.value()},
                             {"arena_bytes", plan.arena.arena.value()},
                             {"persistent_bytes", plan.persistent.value()},
                             {"energy_joules", plan.report.energy.value()},
                             {"runtime_seconds", plan.report.runtime.value()}});
  }
  json["changes"] = Json::array();
  for (const runtime::PlanChange& change : session.result.changes) {
    json["changes"].push_back({{"step", change.step},
                               {"from_ram_budget_bytes", budget(change.from)},
                               {"ram_budget_bytes", budget(change.to)},
                               {"reason", change.reason},
                               {"seconds", change.took.value()}});
  }
  json["stretches"] = Json::array();
  for (const runtime::Stretch& stretch : session.result.stretches) {
    json["stretches"].push_back({{"ram_budget_bytes", budget(stretch.plan)},
                                 {"first_step", stretch.first_step},
                                 {"steps", stretch.steps},
                                 {"ram_bytes", (stretch.map.arena + stretch.map.persistent).value()},
                                 {"arena_high_water_bytes", stretch.measured.high_water.value()},
                                 {"persistent_bytes", stretch.map.persistent.value()},
                                 {"process_peak_bytes", stretch.process_peak.value()},
                                 {"step_seconds", stretch.measured.step.value()},
                                 {"bytes_written", stretch.measured.transferred.written.value()},
                                 {"bytes_read", stretch.measured.transferred.read.value()}});
  }
}

void add_validations(const Session& session, Json& json) {
  json["validation_data"] = session.setup.validation;
  json["validation_arena_bytes"] = session.setup.validation_arena.value();
  json["validations"] = Json::array();
  for (const runtime::ValidationFigures& found : session.result.validations)
    json["validations"].push_back({{"step", found.step},
                                   {"loss", found.loss},
                                   {"accuracy", found.accuracy ? Json(*found.accuracy) : Json(nullptr)},
                                   {"seconds", found.took.value()}});
  const runtime::RunState& state = session.state;
  json["best_step"] = state.best_step >= 0 ? Json(state.best_step) : Json(nullptr);
  json["best_validation_loss"] = state.best_step >= 0 ? Json(state.best_loss) : Json(nullptr);
}

}  // namespace

Json session_json(const Session& session) {
  const Instance& instance = session.file.instance;
  const Report& planned = session.setup.planned;
  const runtime::Measured& measured = session.result.measured;
  Json json = Json::object();
  json["format"] = 1;
  json["energy_joules"] = planned.energy.value();
  json["compute_joules"] = planned.compute_energy.value();
  json["page_in_joules"] = planned.page_in_energy.value();
  json["page_out_joules"] = planned.page_out_energy.value();
  json["idle_joules"] = planned.idle_energy.value();
  json["runtime_seconds"] = planned.runtime.value();
  json["stalled_seconds"] = planned.stalled.value();
  json["expected"] =
      session.expected ? expected_json(*session.expected, session.file.limits.deadline) : Json(nullptr);
  json["deadline_seconds"] =
      session.file.limits.deadline ? Json(session.file.limits.deadline->value()) : Json(nullptr);
  json["peak_ram_bytes"] = planned.peak_ram.value();
  json["arena_bytes"] = session.setup.arena.arena.value();
  json["ram_budget_bytes"] = session.file.limits.ram_budget.value();
  json["persistent_bytes"] = instance.costs.persistent.value();
  json["recomputations"] = planned.recomputations;
  json["page_ins"] = planned.page_ins;
  json["page_outs"] = planned.page_outs;
  json["bytes_read"] = planned.bytes_read.value();
  json["bytes_written"] = planned.bytes_written.value();
  json["ops"] = instance.graph.ops.size();
  json["values"] = instance.graph.values.size();
  json["transient_values"] = dataflow(instance.graph).transients.size();
  json["semantics"] = to_string(session.file.semantics);
  json["model"] = instance.model.empty() ? Json(nullptr) : Json(instance.model);
  json["platform"] = instance.platform.empty() ? Json(nullptr) : Json(instance.platform);
  json["batch_size"] = instance.batch_size;
  json["data"] = session.setup.data;
  json["precision"] = to_string(precision_of(session.file.instance.graph));
  json["kernels"] = session.setup.kernels;
  json["notices"] = session.notes;
  json["seeded_parameters"] = session.setup.seeded;
  json["seed"] = session.state.seed;
  json["first_step"] = session.result.first_step;
  json["steps"] = session.result.losses.size();
  json["end"] = session.result.end == runtime::TrainEnd::done          ? "done"
                : session.result.end == runtime::TrainEnd::interrupted ? "interrupted"
                : session.result.end == runtime::TrainEnd::no_better   ? "no_better"
                                                                       : "not_finite";
  if (session.result.end == runtime::TrainEnd::not_finite)
    json["cause"] = session.result.cause.empty() ? Json(nullptr) : Json(session.result.cause);
  json["resumable"] = session.resumable ? Json(session.storage.string()) : Json(nullptr);
  if (session.setup.plans.size() > 1) add_plans(session, json);
  // What is no number in JSON is null.
  json["losses"] = session.result.losses;
  if (!session.setup.validation.empty()) add_validations(session, json);
  Json& found = json["measured"];
  found["step_seconds"] = measured.step.value();
  found["p95_step_seconds"] = measured.p95_step.value();
  found["fastest_step_seconds"] = measured.fastest.value();
  found["slowest_step_seconds"] = measured.slowest.value();
  found["fetching_seconds"] = measured.fetching.value();
  found["stalled_seconds"] = measured.stalled.value();
  found["p95_stalled_seconds"] = measured.p95_stalled.value();
  found["wall_seconds"] = session.result.wall_seconds;
  found["arena_high_water_bytes"] = measured.high_water.value();
  found["persistent_bytes"] = session.setup.map.persistent.value();
  found["workspace_outside_plan_bytes"] = session.setup.map.workspace.value();
  found["excluded_bytes"] = session.setup.map.excluded.value();
  found["process_peak_bytes"] = session.result.resident_peak.value();
  found["process_outside_plan_bytes"] = outside_plan(session).value();
  found["bytes_written"] = measured.transferred.written.value();
  found["bytes_read"] = measured.transferred.read.value();
  found["writing_seconds"] = measured.transferred.writing.value();
  found["reading_seconds"] = measured.transferred.reading.value();
  found["energy_joules"] = session.result.energy ? Json(session.result.energy->value()) : Json(nullptr);
  found["energy_source"] = session.result.energy_source;
  found["storage"] = session.paging.storage.empty() ? Json(nullptr) : Json(session.paging.storage);
  found["record_bytes"] = session.paging.record.value();
  found["operators"] = Json::array();
  for (const runtime::KindTime& time : runtime::times_by_kind(session.file, session.result.measured)) {
    found["operators"].push_back({{"kind", time.kind},
                                  {"runs", time.runs},
                                  {"recomputations", time.again},
                                  {"planned_seconds", time.planned},
                                  {"measured_seconds", time.measured}});
  }
  return json;
}

}  // namespace poet::cli
