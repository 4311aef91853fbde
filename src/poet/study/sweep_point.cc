#include "poet/study/sweep_point.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "poet/base/error.h"
#include "poet/cost/json_reader.h"

namespace poet {
namespace {

using SortedJson = nlohmann::json;  // sorted by name: the canonical order

template <class T>
void put(SortedJson& json, const char* name, const std::optional<T>& value) {
  if (value) json[name] = *value;
}

template <class T>
void get(const SortedJson& json, const char* name, std::optional<T>& value) {
  if (json.contains(name)) value = json.at(name).get<T>();
}

SortedJson instance_json(const SweepPoint& point) {
  const SweepNetwork& network = point.network;
  SortedJson json;
  json[to_string(network.origin)] = network.name;
  if (network.file) json["content"] = network.file->fingerprint;
  if (!network.input_shapes.empty()) json["input_shapes"] = network.input_shapes;
  if (!network.input_values.empty()) json["input_values"] = network.input_values;
  put(json, "loss", network.loss);
  put(json, "huber_delta", network.huber_delta);
  put(json, "loss_output", network.loss_output);
  if (network.allow_opaque) json["allow_opaque"] = true;
  put(json, "trainable", network.trainable);
  if (point.platform) {
    json["platform"] = point.platform->name;
    if (point.platform->file) json["platform_content"] = point.platform->file->fingerprint;
  }
  if (point.semantics) json["semantics"] = to_string(*point.semantics);
  put(json, "batch_size", point.batch_size);
  put(json, "sequence_length", point.sequence_length);
  // Its name in older stores: what is there is not run again.
  if (point.persistent) json["persistent"] = *point.persistent == "resident" ? "counted" : *point.persistent;
  put(json, "optimizer", point.optimizer);
  put(json, "accumulate", point.accumulate);
  put(json, "clip_norm", point.clip_norm);
  put(json, "label_smoothing", point.label_smoothing);
  put(json, "precision", point.precision);
  put(json, "split", point.split);
  return json;
}

SortedJson point_json(const SweepPoint& point) {
  SortedJson json = instance_json(point);
  if (const auto* above = std::get_if<RamAboveFloor>(&point.ram))
    json["ram"] = above->fraction;
  else if (const auto* of = std::get_if<RamOfKeepAll>(&point.ram))
    json["ram_of_keep_all"] = of->part;
  else
    json["ram_bytes"] = std::get<Bytes>(point.ram).value();
  put(json, "deadline", point.deadline.factor);
  if (point.deadline.time) json["deadline_seconds"] = point.deadline.time->value();
  if (point.max_bytes_written) json["max_bytes_written"] = point.max_bytes_written->value();
  json["method"] = point.method;
  json["gap"] = point.gap;
  json["time_limit_seconds"] = point.time_limit_seconds;
  json["solver"] = to_string(point.solver);
  return json;
}

void read_instance_part(const SortedJson& json, SweepPoint& point) {
  SweepNetwork& network = point.network;
  for (const NetworkOrigin origin : {NetworkOrigin::name, NetworkOrigin::onnx, NetworkOrigin::instance}) {
    if (!json.contains(to_string(origin))) continue;
    network.origin = origin;
    network.name = json.at(to_string(origin)).get<std::string>();
  }
  if (json.contains("content"))
    network.file = SweepFile{json.at("path").get<std::string>(), json.at("content").get<std::string>()};
  if (json.contains("input_shapes"))
    network.input_shapes = json.at("input_shapes").get<std::vector<std::string>>();
  if (json.contains("input_values"))
    network.input_values = json.at("input_values").get<std::vector<std::string>>();
  get(json, "loss", network.loss);
  get(json, "huber_delta", network.huber_delta);
  get(json, "loss_output", network.loss_output);
  network.allow_opaque = json.contains("allow_opaque");
  get(json, "trainable", network.trainable);
  if (json.contains("platform")) {
    point.platform = SweepPlatform{json.at("platform").get<std::string>(), std::nullopt};
    if (json.contains("platform_content"))
      point.platform->file = SweepFile{json.at("platform_path").get<std::string>(),
                                       json.at("platform_content").get<std::string>()};
  }
  for (const Semantics semantics : kAllSemantics) {
    if (json.value("semantics", "") == to_string(semantics)) point.semantics = semantics;
  }
  get(json, "batch_size", point.batch_size);
  get(json, "sequence_length", point.sequence_length);
  get(json, "persistent", point.persistent);
  if (point.persistent == "counted") point.persistent = "resident";
  get(json, "optimizer", point.optimizer);
  get(json, "accumulate", point.accumulate);
  get(json, "clip_norm", point.clip_norm);
  get(json, "label_smoothing", point.label_smoothing);
  get(json, "precision", point.precision);
  get(json, "split", point.split);
}

}  // namespace

SweepFile fingerprinted(const std::filesystem::path& path) {
  constexpr std::uint64_t kOffset = 14695981039346656037ULL;
  constexpr std::uint64_t kPrime = 1099511628211ULL;
  std::uint64_t hash = kOffset;
  for (const char c : read_text_file(path)) {
    hash ^= static_cast<unsigned char>(c);
    hash *= kPrime;
  }
  return {std::filesystem::absolute(path).lexically_normal(), fmt::format("{:016x}", hash)};
}

std::string key_of(const SweepPoint& point) { return json_text(point_json(point)); }

std::string instance_key_of(const SweepPoint& point) { return json_text(instance_json(point)); }

std::string to_text(const SweepPoint& point) {
  SortedJson json = point_json(point);
  if (point.network.file) json["path"] = point.network.file->path.string();
  if (point.platform && point.platform->file) json["platform_path"] = point.platform->file->path.string();
  return json_text(json);
}

SweepPoint point_from_text(const std::string& text) try {
  const SortedJson json = parse_json(text, "a point");
  SweepPoint point;
  read_instance_part(json, point);
  if (json.contains("ram")) point.ram = RamAboveFloor{json.at("ram").get<double>()};
  if (json.contains("ram_of_keep_all")) point.ram = RamOfKeepAll{json.at("ram_of_keep_all").get<double>()};
  if (json.contains("ram_bytes")) point.ram = Bytes(json.at("ram_bytes").get<std::int64_t>());
  get(json, "deadline", point.deadline.factor);
  if (json.contains("deadline_seconds"))
    point.deadline.time = Seconds(json.at("deadline_seconds").get<double>());
  if (json.contains("max_bytes_written"))
    point.max_bytes_written = Bytes(json.at("max_bytes_written").get<std::int64_t>());
  point.method = json.at("method").get<std::string>();
  point.gap = json.at("gap").get<double>();
  point.time_limit_seconds = json.at("time_limit_seconds").get<double>();
  point.solver = json.at("solver") == to_string(Solver::highs) ? Solver::highs : Solver::cbc;
  return point;
} catch (const std::exception& error) {
  throw InternalError(std::string("a point of a sweep cannot be read: ") + error.what());
}

std::string describe(const RamBudget& ram) {
  if (const auto* of = std::get_if<RamOfKeepAll>(&ram)) return fmt::format("{:.10g}%", 100 * of->part);
  if (const auto* above = std::get_if<RamAboveFloor>(&ram)) return fmt::format("{}", above->fraction);
  return fmt::format("{} B", std::get<Bytes>(ram).value());
}

std::string describe(const StepDeadline& deadline) {
  if (deadline.factor) return fmt::format("{}", *deadline.factor);
  return deadline.time ? fmt::format("{} s", deadline.time->value()) : "";
}

const char* to_string(NetworkOrigin origin) {
  switch (origin) {
    case NetworkOrigin::name:
      return "network";
    case NetworkOrigin::onnx:
      return "onnx";
    case NetworkOrigin::instance:
      return "instance";
  }
  return "?";
}

const char* to_string(Solver solver) {
  switch (solver) {
    case Solver::cbc:
      return "cbc";
    case Solver::highs:
      return "highs";
    case Solver::file:
      return "file";
  }
  return "?";
}

}  // namespace poet
