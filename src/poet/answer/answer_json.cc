#include "poet/answer/answer_json.h"

#include <nlohmann/json.hpp>
#include <optional>

#include "poet/graph/dataflow.h"
#include "poet/optimize/transfer_bound.h"
#include "poet/report/expected.h"

namespace poet {
namespace {

using Json = nlohmann::ordered_json;

template <class Unit>
Json optional_json(const std::optional<Unit>& quantity) {
  return quantity ? Json(quantity->value()) : Json(nullptr);
}

Json explanation_json(const Answer& answer) {
  const Explanation& explanation = answer.result.outcome.explanation;
  const Graph& graph = answer.request.instance.graph;
  Json json = Json::object();
  json["least_ram_bytes"] = optional_json(explanation.least_ram);
  json["least_deadline_seconds"] = optional_json(explanation.least_deadline);
  json["on_time"] = explanation.on_time ? Json(*explanation.on_time) : Json(nullptr);
  json["binding_op"] = nullptr;
  if (graph.ops.contains(explanation.binding_op)) json["binding_op"] = graph.ops[explanation.binding_op].name;
  json["floor_ram_bytes"] = answer.figures.floor.bytes().value();
  json["reason"] = has_plan(answer) || explanation.reason.empty() ? Json(nullptr) : Json(explanation.reason);
  return json;
}

}  // namespace

Json to_json(const Answer& answer) {
  const CompileResult& result = answer.result;
  const Certificate& certificate = result.certificate;
  const Outcome& outcome = result.outcome;
  const Instance& instance = answer.request.instance;
  const bool answered = has_plan(answer);
  // A figure of the schedule, or null without one.
  const auto figure = [answered](const auto& value) { return answered ? Json(value) : Json(nullptr); };
  const double energy = result.report.energy.value();

  Json json = Json::object();
  json["format"] = 2;
  json["status"] = to_string(certificate.status);
  json["energy_joules"] = figure(energy);
  // A bound on plans is meaningless if there are none.
  const bool possible = certificate.status != Status::infeasible;
  json["bound_joules"] = possible ? Json(certificate.bounds.every_plan.value()) : Json(nullptr);
  json["gap"] = figure(certificate.gap);
  json["energy_gap"] = figure(certificate.energy_gap);
  json["staged_bound_joules"] = possible ? optional_json(certificate.bounds.staged) : Json(nullptr);
  json["staged_gap"] = answered && certificate.bounds.staged ? Json(certificate.staged_gap) : Json(nullptr);
  json["overhead"] = figure(result.overhead);
  json["compute_joules"] = figure(result.report.compute_energy.value());
  json["page_in_joules"] = figure(result.report.page_in_energy.value());
  json["page_out_joules"] = figure(result.report.page_out_energy.value());
  json["idle_joules"] = figure(result.report.idle_energy.value());
  json["baseline_joules"] = answer.figures.keep_all.energy.value();
  json["runtime_seconds"] = figure(result.report.runtime.value());
  json["stalled_seconds"] = figure(result.report.stalled.value());
  json["baseline_seconds"] = answer.figures.keep_all.runtime.value();
  json["expected"] = answered && result.expected
                         ? expected_json(*result.expected, answer.request.limits.deadline)
                         : Json(nullptr);
  json["deadline_seconds"] = optional_json(answer.request.limits.deadline);
  json["on_time"] = answer.request.on_time ? Json(*answer.request.on_time) : Json(nullptr);
  json["peak_ram_bytes"] = figure(result.report.peak_ram.value());
  json["arena_bytes"] = figure(result.arena.arena.value());
  json["arena_bound_bytes"] = figure(result.layout.lower_bound.value());
  json["ram_budget_bytes"] = answer.request.limits.ram_budget.value();
  if (!answer.ram_note.empty()) json["ram_note"] = answer.ram_note;
  json["keep_all_peak_ram_bytes"] = answer.figures.keep_all.peak_ram.value();
  json["persistent_bytes"] = instance.costs.persistent.value();
  json["paged_persistent_values"] = result.paged.size();
  json["part_bytes"] = optional_json(answer.workload.cut.part);
  json["recomputations"] = figure(result.report.recomputations);
  json["page_ins"] = figure(result.report.page_ins);
  json["page_outs"] = figure(result.report.page_outs);
  json["bytes_read"] = figure(result.report.bytes_read.value());
  json["bytes_written"] = figure(result.report.bytes_written.value());
  json["least_bytes_moved"] =
      answer.workload.choose_paged
          ? Json(least_transfers(answer.request.instance, answer.request.limits.ram_budget).both.value())
          : Json(nullptr);
  json["max_bytes_written"] = optional_json(answer.request.limits.max_bytes_written);
  json["ops"] = instance.graph.ops.size();
  json["values"] = instance.graph.values.size();
  json["transient_values"] = dataflow(instance.graph).transients.size();
  json["solve_seconds"] = outcome.solve_seconds;
  json["seconds_to_incumbent"] = figure(outcome.seconds_to_incumbent);
  json["synchronous"] = result.synchronous;
  json["order"] = result.order.empty() ? "given" : "other";
  const auto& of_order = result.of_this_order;  // absent if only one order was allowed
  json["order_bound_joules"] = of_order ? Json(of_order->bounds.every_plan.value()) : json["bound_joules"];
  json["order_gap"] = of_order ? Json(of_order->gap) : json["gap"];
  json["solves"] = result.solves;
  json["reserve_bytes"] = result.reserve.value();
  json["nodes"] = outcome.nodes;
  json["interrupted"] = answer.interrupted;
  json["timed_out"] = outcome.timed_out;
  json["solver"] = outcome.solver;
  if (!outcome.external_solver.empty()) json["external_solver"] = outcome.external_solver;
  if (!outcome.next_step.empty()) json["next_step"] = outcome.next_step;
  if (!certificate.note.empty()) json["bound_note"] = certificate.note;
  json["semantics"] = to_string(answer.request.semantics);
  json["model"] = instance.model.empty() ? Json(nullptr) : Json(instance.model);
  json["platform"] = instance.platform.empty() ? Json(nullptr) : Json(instance.platform);
  json["batch_size"] = instance.batch_size;
  json["origin"] = answer.workload.origin;
  if (!answer.workload.notices.empty()) json["import_notices"] = answer.workload.notices;
  json["explanation"] = explanation_json(answer);
  return json;
}

}  // namespace poet
