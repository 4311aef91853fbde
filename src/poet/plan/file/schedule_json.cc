#include "poet/plan/file/schedule_json.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "poet/base/write_file.h"
#include "poet/cost/instance_json.h"
#include "poet/cost/json_reader.h"
#include "poet/plan/file/json_text.h"
#include "poet/plan/file/limits_json.h"

namespace poet {

using Json = nlohmann::ordered_json;

namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kScheduleFormat = 1;

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
  // Its order is for the verifier to judge.
  stage.compute = read_indices<OpId>(json.at("compute"), graph.ops.size());
  return stage;
}

}  // namespace

Json to_json(const ScheduleFile& file) {
  Json json = Json::object();
  json["format"] = kScheduleFormat;
  json["instance"] = to_json(file.instance);
  write_limits(json, file.semantics, file.limits);
  if (!file.leaves_out.empty()) json["leaves_out"] = file.leaves_out;
  json["stages"] = Json::array();
  for (const Stage& stage : file.schedule.stages) {
    Json item = Json::object();
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
             "leaves_out", "stages"});
  static_cast<void>(root.format(kScheduleFormat, kScheduleFormat));

  ScheduleFile file;
  const JsonField instance = root.at("instance");
  file.instance = instance_from_json(instance.json(), instance.place());
  file.semantics = read_semantics(root);
  file.limits = read_limits(root);
  if (root.has("leaves_out")) file.leaves_out = root.at("leaves_out").text();
  for (const JsonField& stage : root.at("stages").items()) {
    file.schedule.stages.push_back(read_stage(stage, file.instance.graph));
  }
  return file;
}

ScheduleFile read_schedule(const fs::path& file) {
  return schedule_from_json(read_json_file(file), file.string());
}

void write_schedule(const ScheduleFile& schedule, const fs::path& file) {
  write_file(file, text_of(to_json(schedule), {"stages"}));
}

}  // namespace poet
