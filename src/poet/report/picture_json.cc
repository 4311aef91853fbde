#include "poet/report/picture_json.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>

#include "poet/base/error.h"
#include "poet/graph/dataflow.h"
#include "poet/plan/names.h"
#include "poet/report/decisions.h"
#include "poet/report/residences.h"

namespace poet {
namespace {

using Json = nlohmann::ordered_json;

char letter(StepKind kind) {
  switch (kind) {
    case StepKind::page_out:
      return 'o';
    case StepKind::page_in:
      return 'i';
    case StepKind::wait:
      return 'w';
    case StepKind::compute:
      return 'c';
    case StepKind::free:
      return 'f';
  }
  throw InternalError("a kind of step without a letter");
}

Json optional_joules(const std::optional<Joules>& energy) {
  return energy ? Json(energy->value()) : Json(nullptr);
}

/// The energy to load a value and to write it home once.
Joules round_trip(const PlanFile& plan, ValueId value) {
  const ValueCost& cost = plan.instance.costs.values[value];
  return cost.page_in.energy + cost.page_out.energy;
}

/// Why a plan does with each value what it does. Thousands of parts share a few reasons.
class Reasons {
 public:
  Reasons(const PlanFile& plan, const IdVector<ValueId, int>& number, std::size_t numbered)
      : decisions_(Json::array_t(numbered)) {
    const Remedies remedies =
        plan.made ? Remedies{plan.made->paging, plan.made->rematerialization} : Remedies{};
    for (const ValueDecision& one : decisions(plan.instance, plan.plan, plan.semantics))
      if (number[one.value] >= 0)
        decisions_[static_cast<std::size_t>(number[one.value])] = {
            reason_number(treatment(one), reason(one, remedies)), one.spent.value(),
            optional_joules(one.page_cost), optional_joules(one.recompute_cost)};
    for (const PersistentResidence& one : residences(plan.instance, plan.plan))
      if (number[one.value] >= 0)
        decisions_[static_cast<std::size_t>(number[one.value])] = {
            reason_number("on storage", one.reason), one.spent.value(), round_trip(plan, one.value).value(),
            nullptr};
  }

  [[nodiscard]] const Json& decisions_json() const { return decisions_; }
  [[nodiscard]] const Json& reasons_json() const { return reasons_; }

 private:
  std::size_t reason_number(const std::string& decision, const std::string& reason) {
    const auto [found, is_new] = numbers_.try_emplace({decision, reason}, numbers_.size());
    if (is_new) reasons_.push_back({decision, reason});
    return found->second;
  }

  Json decisions_;
  Json reasons_ = Json::array();
  std::map<std::pair<std::string, std::string>, std::size_t> numbers_;
};

class Writer {
 public:
  explicit Writer(const Picture& picture)
      : picture_(picture),
        instance_(picture.plan.instance),
        graph_(instance_.graph),
        flow_(dataflow(graph_)),
        number_(graph_.values.size(), -1),
        replayed_(std::min(picture.trace.steps.size(), picture.plan.plan.steps.size())) {
    for (std::size_t i = 0; i < flow_.transients.size(); ++i)
      number_[flow_.transients[i]] = static_cast<int>(i);
    for (std::size_t i = 0; i < flow_.paged.size(); ++i)
      number_[flow_.paged[i]] = static_cast<int>(flow_.transients.size() + i);
  }

  [[nodiscard]] Json write() const {
    const Report& report = picture_.report;
    const PlanFile& plan = picture_.plan;
    Json json = Json::object();
    json["title"] = picture_.title;
    json["network"] = instance_.model.empty() ? graph_.name : instance_.model;
    json["device"] = instance_.platform;
    json["source"] = instance_.source;
    json["batch"] = instance_.batch_size;
    json["semantics"] = to_string(plan.semantics);
    json["valid"] = report.valid;
    json["violation"] = report.violation;
    json["byte_units"] =
        units_of(plan.made, plan.limits.ram_budget) == ByteUnits::binary ? "binary" : "decimal";
    json["ram_budget"] = plan.limits.ram_budget.value();
    json["deadline"] = plan.limits.deadline ? Json(plan.limits.deadline->value()) : Json();
    json["max_bytes_written"] =
        plan.limits.max_bytes_written ? Json(plan.limits.max_bytes_written->value()) : Json();
    json["persistent"] = instance_.costs.persistent.value();
    json["written"] = picture_.written.empty() ? Json() : Json(picture_.written);
    json["made"] = plan.made ? to_json(*plan.made) : Json();
    json["figures"] = figures();
    json["keep_all"] = keep_all();
    const ArenaReport& arena = picture_.arena;
    json["arena"] = {{"valid", arena.valid},
                     {"violation", arena.violation},
                     {"bytes", arena.arena.value()},
                     {"ram", arena.ram.value()}};
    json["ops"] = ops();
    json["values"] = values();
    json["transient"] = flow_.transients.size();
    json["reasons"] = json["decisions"] = Json::array();
    if (report.valid) {
      const Reasons why(plan, number_, flow_.transients.size() + flow_.paged.size());
      json["reasons"] = why.reasons_json();
      json["decisions"] = why.decisions_json();
    }
    json["planned"] = plan.plan.steps.size();
    json["steps"] = steps();
    json["channel"] = channel();
    json["allocations"] = allocations();
    return json;
  }

 private:
  [[nodiscard]] const Step& step(std::size_t i) const { return picture_.plan.plan.steps[i]; }

  [[nodiscard]] Json value_id(ValueId v) const {
    return graph_.values.contains(v) && number_[v] >= 0 ? Json(number_[v]) : Json();
  }
  [[nodiscard]] Json op_id(OpId op) const { return graph_.ops.contains(op) ? Json(op.index) : Json(); }

  // The verifier does not tell first computations and others apart in its energies.
  [[nodiscard]] Joules recompute_energy() const {
    Joules sum{};
    IdVector<OpId, char> computed(graph_.ops.size(), 0);
    for (std::size_t i = 0; i < replayed_; ++i) {
      if (step(i).kind != StepKind::compute || !graph_.ops.contains(step(i).op)) continue;
      if (computed[step(i).op]) sum += instance_.costs.ops[step(i).op].energy;
      computed[step(i).op] = 1;
    }
    return sum;
  }

  /// Of persistent values that live on storage.
  [[nodiscard]] Joules transfer_energy(StepKind kind) const {
    Joules sum{};
    for (std::size_t i = 0; i < replayed_; ++i) {
      if (step(i).kind != kind || !graph_.values.contains(step(i).value) || !flow_.is_paged[step(i).value])
        continue;
      const ValueCost& cost = instance_.costs.values[step(i).value];
      sum += (kind == StepKind::page_in ? cost.page_in : cost.page_out).energy;
    }
    return sum;
  }

  [[nodiscard]] Json figures() const {
    const Report& report = picture_.report;
    return {{"energy", report.energy.value()},
            {"compute", report.compute_energy.value()},
            {"recompute", recompute_energy().value()},
            {"page_in", report.page_in_energy.value()},
            {"page_out", report.page_out_energy.value()},
            {"load", transfer_energy(StepKind::page_in).value()},
            {"home", transfer_energy(StepKind::page_out).value()},
            {"idle", report.idle_energy.value()},
            {"runtime", report.runtime.value()},
            {"stalled", report.stalled.value()},
            {"peak_ram", report.peak_ram.value()},
            {"peak_op", op_id(report.peak_op)},
            {"recomputations", report.recomputations},
            {"page_ins", report.page_ins},
            {"page_outs", report.page_outs},
            {"bytes_written", report.bytes_written.value()}};
  }

  [[nodiscard]] Json keep_all() const {
    Json ends = Json::array();
    Json ram = Json::array();
    const Trace& trace = picture_.keep_all_trace;
    for (std::size_t i = 0; i < trace.steps.size(); ++i) {
      if (trace.steps[i].end <= trace.steps[i].begin) continue;
      ends.push_back(trace.steps[i].end);
      ram.push_back(trace.ram[i].value());
    }
    const Report& report = picture_.keep_all;
    return {{"energy", report.energy.value()},
            {"runtime", report.runtime.value()},
            {"peak_ram", report.peak_ram.value()},
            {"end", ends},
            {"ram", ram}};
  }

  [[nodiscard]] Json ops() const {
    Json list = Json::array();
    for (const OpId id : ids<OpId>(graph_.ops.size())) {
      const Op& op = graph_.ops[id];
      list.push_back({name_of(graph_, id), op.kind, to_string(op.pass), value_ids(flow_.writes[id]),
                      value_ids(flow_.reads[id])});
    }
    return list;
  }

  [[nodiscard]] Json value_ids(const std::vector<ValueId>& list) const {
    Json numbers = Json::array();
    for (const ValueId v : list) numbers.push_back(value_id(v));
    return numbers;
  }

  [[nodiscard]] Json values() const {
    Json list = Json::array();
    for (const std::vector<ValueId>* values : {&flow_.transients, &flow_.paged})
      for (const ValueId v : *values)
        list.push_back({name_of(graph_, v), instance_.costs.values[v].bytes.value(),
                        to_string(graph_.values[v].persistence)});
    return list;
  }

  [[nodiscard]] Json steps() const {
    std::string kinds;
    Json id = Json::array();
    Json end = Json::array();
    Json ram = Json::array();
    for (std::size_t i = 0; i < replayed_; ++i) {
      kinds += letter(step(i).kind);
      id.push_back(step(i).kind == StepKind::compute ? op_id(step(i).op) : value_id(step(i).value));
      end.push_back(picture_.trace.steps[i].end);
      ram.push_back(picture_.trace.ram[i].value());
    }
    return {{"kind", kinds}, {"id", id}, {"end", end}, {"ram", ram}};
  }

  [[nodiscard]] Json channel() const {
    Json list = Json::array();
    for (const Trace::TimedTransfer& transfer : picture_.trace.channel)
      list.push_back({transfer.step, transfer.interval.begin, transfer.interval.end});
    return list;
  }

  [[nodiscard]] Json allocations() const {
    Json list = Json::array();
    for (const Allocation& one : picture_.plan.layout.allocations) {
      list.push_back({value_id(one.value), op_id(one.op), one.begin, one.end, one.bytes.value(), one.offset,
                      one.takes_over});
    }
    return list;
  }

  const Picture& picture_;
  const Instance& instance_;
  const Graph& graph_;
  const Dataflow flow_;
  IdVector<ValueId, int> number_;  // of a value on the page; -1: not there
  const std::size_t replayed_;
};

}  // namespace

Json picture_json(const Picture& picture) { return Writer(picture).write(); }

}  // namespace poet
