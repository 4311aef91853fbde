#include "poet/study/sweep_result.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <type_traits>

#include "poet/optimize/transfer_bound.h"

namespace poet {
namespace {

using Json = nlohmann::ordered_json;

template <class T>
inline constexpr bool kIsOptional = false;
template <class T>
inline constexpr bool kIsOptional<std::optional<T>> = true;

std::optional<double> finite(double number) {
  return std::isfinite(number) ? std::optional(number) : std::nullopt;
}

}  // namespace

SweepResult result_of(const SweepPoint& point, const std::string& poet_version) {
  SweepResult result;
  result.key = key_of(point);
  result.instance = instance_key_of(point);
  result.network = point.network.name;
  result.origin = to_string(point.network.origin);
  if (point.platform) result.platform = point.platform->name;
  if (point.semantics) result.semantics = to_string(*point.semantics);
  result.batch_size = point.batch_size;
  result.sequence_length = point.sequence_length;
  result.optimizer = point.optimizer;
  result.persistent = point.persistent;
  result.split = point.split;
  result.trainable = point.network.trainable;
  result.accumulate = point.accumulate;
  result.clip_norm = point.clip_norm;
  result.label_smoothing = point.label_smoothing;
  result.precision = point.precision;
  result.ram = describe(point.ram);
  result.deadline = describe(point.deadline);
  result.method = point.method;
  result.gap_wanted = point.gap;
  result.time_limit_seconds = point.time_limit_seconds;
  result.solver = to_string(point.solver);
  result.poet_version = poet_version;
  return result;
}

void add_instance(SweepResult& result, const Workload& workload, const Limits& limits,
                  const Figures& figures) {
  const Instance& instance = workload.instance;
  const Report& keep_all = figures.keep_all;
  result.semantics = to_string(workload.semantics);
  result.batch_size = instance.batch_size;
  if (result.platform.empty()) result.platform = instance.platform;
  result.ram_budget_bytes = limits.ram_budget.value();
  if (limits.max_bytes_written) result.max_bytes_written = limits.max_bytes_written->value();
  if (limits.deadline) result.deadline_seconds = finite(limits.deadline->value());
  result.least_ram_bytes = figures.floor.bytes().value();
  result.persistent_bytes = instance.costs.persistent.value();
  result.keep_all_peak_ram_bytes = keep_all.peak_ram.value();
  if (workload.cut.part) result.part_bytes = workload.cut.part->value();
  result.ops = static_cast<std::int64_t>(instance.graph.ops.size());
  if (workload.choose_paged) {
    const TransferBound least = least_transfers(instance, limits.ram_budget);
    result.least_bytes_read = least.read.value();
    result.least_bytes_written = least.written.value();
    result.least_bytes_moved = least.both.value();
  }
  result.baseline_joules = keep_all.energy.value();
  result.baseline_seconds = keep_all.runtime.value();
}

void add_verdict(SweepResult& result, const Judged& judged, std::optional<Bytes> endurance) {
  result.verdict = to_string(judged.verdict);
  result.reason = judged.reason;
  result.note = judged.note;
  result.host_seconds = judged.seconds;
  if (judged.plan.steps.empty()) return;
  const Report& report = judged.report;
  result.energy_joules = report.energy.value();
  result.compute_joules = report.compute_energy.value();
  result.page_in_joules = report.page_in_energy.value();
  result.page_out_joules = report.page_out_energy.value();
  result.idle_joules = report.idle_energy.value();
  result.runtime_seconds = report.runtime.value();
  result.stalled_seconds = report.stalled.value();
  result.peak_ram_bytes = report.peak_ram.value();
  result.bytes_read = report.bytes_read.value();
  result.bytes_written = report.bytes_written.value();
  // A bound on plans within the RAM is none on the nearest plan where that takes more.
  if (result.ram_budget_bytes && report.peak_ram > Bytes(*result.ram_budget_bytes))
    for (auto* least : {&result.least_bytes_read, &result.least_bytes_written, &result.least_bytes_moved})
      least->reset();
  if (endurance && report.bytes_written > Bytes(0))
    result.endurance_steps = *endurance / report.bytes_written;
  result.recomputations = report.recomputations;
  result.page_ins = report.page_ins;
  result.page_outs = report.page_outs;
  if (result.persistent == "auto")
    result.paged_persistent_values = static_cast<std::int64_t>(judged.paged.size());
  result.overhead = finite(judged.overhead);
  if (judged.bound) result.bound_joules = finite(judged.bound->value());
  if (judged.gap) result.gap = finite(*judged.gap);
}

void add_failure(SweepResult& result, const std::string& reason) {
  result.verdict = kFailed;
  result.reason = reason;
}

Json to_json(const SweepResult& result) {
  Json json = Json::object();
  visit_fields(result, [&json](const char* name, const auto& field) {
    if constexpr (kIsOptional<std::remove_cvref_t<decltype(field)>>) {
      json[name] = field ? Json(*field) : Json(nullptr);
    } else {
      json[name] = field;
    }
  });
  return json;
}

SweepResult result_from_json(const Json& json) {
  SweepResult result;
  visit_fields(result, [&json](const char* name, auto& field) {
    using Member = std::remove_cvref_t<decltype(field)>;
    const Json& value = json.at(name);
    if constexpr (kIsOptional<Member>) {
      if (!value.is_null()) field = value.get<typename Member::value_type>();
    } else {
      field = value.get<Member>();
    }
  });
  return result;
}

}  // namespace poet
