#pragma once

// The stored result of a point: its specification, the verdict and all figures. One list of fields serves the
// results store, CSV, JSON and the transfer from workers.

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "poet/pipeline/pose.h"
#include "poet/study/run_method.h"
#include "poet/study/sweep_point.h"

namespace poet {

struct SweepResult {
  // // The specification.
  std::string key;       // key_of()
  std::string instance;  // instance_key_of(): the same for points on the same instance
  std::string network;
  std::string origin;  // "network", "onnx", "instance"
  std::string platform;
  std::string semantics;
  std::optional<std::int64_t> batch_size, sequence_length;
  std::optional<std::string> optimizer, persistent, split, trainable;
  std::optional<std::int64_t> accumulate;  // absent: the default, here and below
  std::optional<double> clip_norm, label_smoothing;
  std::optional<std::string> precision;
  std::string ram, deadline;  // describe()
  std::string method;
  double gap_wanted = 0, time_limit_seconds = 0;
  std::string solver;
  std::string poet_version;

  // The result. Figures of the instance and the limits are present unless the point failed, those of the plan
  // if the method has one.
  std::string verdict;  // to_string(Verdict), or kFailed
  std::string reason, note;
  std::optional<std::int64_t> ram_budget_bytes, max_bytes_written;
  std::optional<double> deadline_seconds;
  std::optional<std::int64_t> least_ram_bytes, persistent_bytes, keep_all_peak_ram_bytes;
  std::optional<std::int64_t> part_bytes, ops;  // of the solved graph
  std::optional<double> baseline_joules, baseline_seconds;
  std::optional<double> energy_joules, compute_joules, page_in_joules, page_out_joules, idle_joules;
  std::optional<double> runtime_seconds, stalled_seconds;
  std::optional<std::int64_t> peak_ram_bytes, bytes_read, bytes_written, recomputations, page_ins, page_outs;
  std::optional<std::int64_t> paged_persistent_values;  // of the plan, if it may choose them
  std::optional<std::int64_t> least_bytes_read, least_bytes_written,
      least_bytes_moved;                  // least_transfers(), there
  std::optional<double> endurance_steps;  // until the storage's write endurance is used up
  std::optional<double> overhead, bound_joules, gap;
  std::optional<double> host_seconds;  // the only field that differs between two runs

  std::string plan_of = {};  // not stored: the key of the point that the plan was carried from, if any
};

/// The verdict of a point without a result: bad input, a crash, a killed worker. `reason` says which.
inline constexpr const char* kFailed = "failed";

/// visit(name, field) for every field in the order of the struct; `Result` is SweepResult, const or not.
template <class Result, class Visit>
void visit_fields(Result& result, const Visit& visit) {
  visit("key", result.key);
  visit("instance", result.instance);
  visit("network", result.network);
  visit("origin", result.origin);
  visit("platform", result.platform);
  visit("semantics", result.semantics);
  visit("batch_size", result.batch_size);
  visit("sequence_length", result.sequence_length);
  visit("optimizer", result.optimizer);
  visit("persistent", result.persistent);
  visit("split", result.split);
  visit("trainable", result.trainable);
  visit("accumulate", result.accumulate);
  visit("clip_norm", result.clip_norm);
  visit("label_smoothing", result.label_smoothing);
  visit("precision", result.precision);
  visit("ram", result.ram);
  visit("deadline", result.deadline);
  visit("method", result.method);
  visit("gap_wanted", result.gap_wanted);
  visit("time_limit_seconds", result.time_limit_seconds);
  visit("solver", result.solver);
  visit("poet_version", result.poet_version);
  visit("verdict", result.verdict);
  visit("reason", result.reason);
  visit("note", result.note);
  visit("ram_budget_bytes", result.ram_budget_bytes);
  visit("max_bytes_written", result.max_bytes_written);
  visit("deadline_seconds", result.deadline_seconds);
  visit("least_ram_bytes", result.least_ram_bytes);
  visit("persistent_bytes", result.persistent_bytes);
  visit("keep_all_peak_ram_bytes", result.keep_all_peak_ram_bytes);
  visit("part_bytes", result.part_bytes);
  visit("ops", result.ops);
  visit("baseline_joules", result.baseline_joules);
  visit("baseline_seconds", result.baseline_seconds);
  visit("energy_joules", result.energy_joules);
  visit("compute_joules", result.compute_joules);
  visit("page_in_joules", result.page_in_joules);
  visit("page_out_joules", result.page_out_joules);
  visit("idle_joules", result.idle_joules);
  visit("runtime_seconds", result.runtime_seconds);
  visit("stalled_seconds", result.stalled_seconds);
  visit("peak_ram_bytes", result.peak_ram_bytes);
  visit("bytes_read", result.bytes_read);
  visit("bytes_written", result.bytes_written);
  visit("recomputations", result.recomputations);
  visit("page_ins", result.page_ins);
  visit("page_outs", result.page_outs);
  visit("paged_persistent_values", result.paged_persistent_values);
  visit("least_bytes_read", result.least_bytes_read);
  visit("least_bytes_written", result.least_bytes_written);
  visit("least_bytes_moved", result.least_bytes_moved);
  visit("endurance_steps", result.endurance_steps);
  visit("overhead", result.overhead);
  visit("bound_joules", result.bound_joules);
  visit("gap", result.gap);
  visit("host_seconds", result.host_seconds);
}

/// Returns a result with the specification filled in.
[[nodiscard]] SweepResult result_of(const SweepPoint& point, const std::string& poet_version);

/// Adds the limits and the figures of the instance.
void add_instance(SweepResult& result, const Workload& workload, const Limits& limits,
                  const Figures& figures);

/// Adds the verdict and, if there is a plan, its figures. `endurance` is the write endurance of the storage.
void add_verdict(SweepResult& result, const Judged& judged, std::optional<Bytes> endurance);

/// Sets the verdict `failed`.
void add_failure(SweepResult& result, const std::string& reason);

/// Returns every field by its name; absent ones and numbers that are not finite are null.
[[nodiscard]] nlohmann::ordered_json to_json(const SweepResult& result);
/// Reads the JSON of to_json(). Throws nlohmann::json::exception.
[[nodiscard]] SweepResult result_from_json(const nlohmann::ordered_json& json);

}  // namespace poet
