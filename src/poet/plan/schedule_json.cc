#include "poet/plan/schedule_json.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <system_error>

#include "poet/base/error.h"
#include "poet/cost/instance_json.h"
#include "poet/cost/json_reader.h"

namespace poet {

using Json = nlohmann::ordered_json;

namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kFormat = 1;
constexpr std::int64_t kUnbounded = std::numeric_limits<std::int64_t>::max();

template <class IdType>
Json indices(const std::vector<IdType>& list) {
  Json json = Json::array();
  for (const IdType id : list) json.push_back(id.index);
  return json;
}

template <class IdType>
std::vector<IdType> read_indices(const JsonField& list, std::size_t count) {
  std::vector<IdType> ids;
  for (const JsonField& item : list.items()) {
    ids.emplace_back(static_cast<std::int32_t>(item.integer(0, static_cast<std::int64_t>(count) - 1)));
  }
  return ids;
}

std::vector<ValueId> read_set(const JsonField& stage, const char* key, std::size_t count) {
  std::vector<ValueId> values = read_indices<ValueId>(stage.at(key), count);
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

Stage read_stage(const JsonField& json, const Graph& graph) {
  json.only({"retain", "page_in", "page_out", "compute"});
  Stage stage;
  stage.retain = read_set(json, "retain", graph.values.size());
  if (json.has("page_in")) stage.page_in = read_set(json, "page_in", graph.values.size());
  if (json.has("page_out")) stage.page_out = read_set(json, "page_out", graph.values.size());
  stage.compute =
      read_indices<OpId>(json.at("compute"), graph.ops.size());  // its order is for the referee to judge
  return stage;
}

Semantics read_semantics(const JsonField& json) {
  for (const Semantics semantics : std::array{Semantics::published, Semantics::staged, Semantics::device}) {
    if (json.text() == to_string(semantics)) return semantics;
  }
  json.fail("must be published, staged or device");
}

/// Names need not be UTF-8 (an ONNX file's, say), JSON must be.
std::string dump(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

/// One field per line and one stage per line: short enough to read, and to compare two schedules with diff.
std::string layout(const Json& json) {
  std::string text = "{";
  const char* separator = "\n";
  for (const auto& [key, value] : json.items()) {
    text += separator + dump(key) + ": ";
    separator = ",\n";
    if (key != "stages") {
      text += dump(value);
      continue;
    }
    const char* between = "[\n";
    for (const Json& stage : value) {
      text += between + dump(stage);
      between = ",\n";
    }
    text += value.empty() ? "[]" : "\n]";
  }
  return text + "\n}\n";
}

[[noreturn]] void fail_write(const fs::path& file, const std::string& reason) {
  throw InputError(file.string(), "cannot be written: " + reason);
}

/// Why `text` could not be written; empty when it was.
std::string write_text(const fs::path& file, const std::string& text) {
  errno = 0;
  std::ofstream out(file, std::ios::binary | std::ios::trunc);
  out << text;
  out.close();
  if (out) return {};
  return errno == 0 ? "output error" : std::strerror(errno);
}

}  // namespace

Json to_json(const ScheduleFile& file) {
  Json json;
  json["format"] = kFormat;
  json["instance"] = to_json(file.instance);
  json["semantics"] = to_string(file.semantics);
  json["ram_budget_bytes"] = file.limits.ram_budget.value();
  json["deadline_seconds"] = file.limits.deadline ? Json(file.limits.deadline->value()) : Json(nullptr);
  if (file.limits.max_bytes_written) json["max_bytes_written"] = file.limits.max_bytes_written->value();
  json["stages"] = Json::array();
  for (const Stage& stage : file.schedule.stages) {
    Json item;
    item["retain"] = indices(stage.retain);
    item["page_in"] = indices(stage.page_in);
    item["page_out"] = indices(stage.page_out);
    item["compute"] = indices(stage.compute);
    json["stages"].push_back(std::move(item));
  }
  return json;
}

ScheduleFile schedule_from_json(const Json& json, const std::string& place) {
  const JsonField root(json, place);
  root.only({"format", "instance", "semantics", "ram_budget_bytes", "deadline_seconds", "max_bytes_written",
             "stages"});
  if (root.at("format").integer(0, kUnbounded) != kFormat) root.at("format").fail("must be 1");

  ScheduleFile file;
  const JsonField instance = root.at("instance");
  file.instance = instance_from_json(instance.json(), instance.place());
  file.semantics = read_semantics(root.at("semantics"));
  file.limits.ram_budget = Bytes(root.at("ram_budget_bytes").integer(0, kUnbounded));
  if (root.has("deadline_seconds") && !root.at("deadline_seconds").json().is_null()) {
    file.limits.deadline = Seconds(root.at("deadline_seconds").positive());
  }
  if (root.has("max_bytes_written")) {
    file.limits.max_bytes_written = Bytes(root.at("max_bytes_written").integer(0, kUnbounded));
  }
  for (const JsonField& stage : root.at("stages").items()) {
    file.schedule.stages.push_back(read_stage(stage, file.instance.graph));
  }
  return file;
}

ScheduleFile read_schedule(const fs::path& file) {
  return schedule_from_json(read_json_file(file), file.string());
}

void write_schedule(const ScheduleFile& schedule, const fs::path& file) {
  const std::string text = layout(to_json(schedule));
  std::error_code ignored;
  const fs::file_status status = fs::status(file, ignored);
  if (fs::is_directory(status)) fail_write(file, "it is a folder");
  if (fs::exists(status) && !fs::is_regular_file(status)) {
    // A pipe or a terminal cannot be replaced, and must not be.
    if (const std::string reason = write_text(file, text); !reason.empty()) fail_write(file, reason);
    return;
  }
  // A link keeps pointing where it points: its target is what gets replaced.
  const fs::path target = fs::is_regular_file(status) ? fs::canonical(file) : file;
  fs::path beside = target;
  beside += fmt::format(".{}.tmp", getpid());
  std::string reason = write_text(beside, text);
  if (reason.empty()) {
    std::error_code error;
    fs::rename(beside, target, error);
    if (error) reason = error.message();
  }
  if (!reason.empty()) {
    fs::remove(beside, ignored);
    fail_write(file, reason);
  }
}

}  // namespace poet
