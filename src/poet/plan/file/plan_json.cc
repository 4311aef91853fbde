// The form for people: every step and every allocation on a line of its own.

#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "poet/base/error.h"
#include "poet/cost/instance_json.h"
#include "poet/cost/json_reader.h"
#include "poet/plan/file/limits_json.h"
#include "poet/plan/file/plan_file.h"
#include "poet/plan/file/steps_json.h"
#include "poet/plan/layout/addresses.h"

namespace poet {

using Json = nlohmann::ordered_json;

namespace {

constexpr std::int64_t kFormat = 2;
// In format 1 allocations had another name.
constexpr const char* kAllocations[] = {"residences", "allocations"};
constexpr std::array<std::pair<StepKind, const char*>, 5> kKinds = {{{StepKind::compute, "compute"},
                                                                     {StepKind::page_out, "page_out"},
                                                                     {StepKind::page_in, "page_in"},
                                                                     {StepKind::wait, "wait"},
                                                                     {StepKind::free, "free"}}};

Json step_json(const Step& step) {
  for (const auto& [kind, name] : kKinds)
    if (kind == step.kind)
      return Json::array({name, kind == StepKind::compute ? step.op.index : step.value.index});
  throw InternalError("a kind of step without a name");
}

Json allocation_json(const Allocation& allocation) {
  Json json = Json::object();
  if (allocation.value.valid())
    json["value"] = allocation.value.index;
  else
    json["scratch_of_op"] = allocation.op.index;
  json["begin"] = allocation.begin;
  json["end"] = allocation.end;
  json["bytes"] = allocation.bytes.value();
  json["offset"] = allocation.offset;
  return json;
}

template <class IdType>
IdType read_id(const JsonField& json, std::size_t count) {
  return IdType(static_cast<std::int32_t>(json.integer(0, static_cast<std::int64_t>(count) - 1)));
}

Step read_step(const JsonField& json, const Graph& graph) {
  const std::vector<JsonField> pair = json.items();
  if (pair.size() != 2) json.fail("must be a kind of step and an index, as in [\"compute\", 0]");
  for (const auto& [kind, name] : kKinds) {
    if (pair[0].text() != name) continue;
    if (kind == StepKind::compute) return {kind, read_id<OpId>(pair[1], graph.ops.size()), ValueId()};
    return {kind, OpId(), read_id<ValueId>(pair[1], graph.values.size())};
  }
  pair[0].fail("must be compute, page_out, page_in, wait or free");
}

Allocation read_allocation(const JsonField& json, const Graph& graph, std::size_t steps) {
  json.only({"value", "scratch_of_op", "begin", "end", "bytes", "offset"});
  if (json.has("value") == json.has("scratch_of_op")) json.fail("must have either value or scratch_of_op");
  Allocation allocation;
  if (json.has("value"))
    allocation.value = read_id<ValueId>(json.at("value"), graph.values.size());
  else
    allocation.op = read_id<OpId>(json.at("scratch_of_op"), graph.ops.size());
  const auto last = static_cast<std::int64_t>(steps);
  allocation.begin = static_cast<int>(json.at("begin").integer(0, last));
  allocation.end = static_cast<int>(json.at("end").integer(0, last));
  allocation.bytes = Bytes(json.at("bytes").integer(0, kMostBytes));
  allocation.offset = json.at("offset").integer(0, kMostBytes);
  return allocation;
}

// What takes over from what is not written down: it follows from plan and offsets, if these are the plan's
// allocations.
void find_takeovers(const PlanFile& file, std::vector<Allocation>& allocations) {
  std::vector<Allocation> expected = allocations_of(file.instance, file.plan, file.semantics);
  if (expected.size() != allocations.size()) return;
  std::vector<Allocation> found = allocations;
  for (std::size_t r = 0; r < found.size(); ++r) {
    expected[r].offset = found[r].offset;
    found[r].takes_over = expected[r].takes_over;
  }
  if (found != expected) return;
  part_what_lies_apart(found);
  allocations = std::move(found);
}

}  // namespace

void write_steps(Json& json, const PlanFile& file) {
  json["arena_bytes"] = file.layout.arena.value();
  Json& steps = json["steps"] = Json::array();
  for (const Step& step : file.plan.steps) steps.push_back(step_json(step));
  Json& allocations = json["allocations"] = Json::array();
  for (const Allocation& allocation : file.layout.allocations)
    allocations.push_back(allocation_json(allocation));
}

void read_steps(const JsonField& root, const char* allocations, PlanFile& file) {
  const Graph& graph = file.instance.graph;
  for (const JsonField& step : root.at("steps").items()) file.plan.steps.push_back(read_step(step, graph));
  file.layout.arena = Bytes(root.at("arena_bytes").integer(0, kMostBytes));
  for (const JsonField& allocation : root.at(allocations).items())
    file.layout.allocations.push_back(read_allocation(allocation, graph, file.plan.steps.size()));
  find_takeovers(file, file.layout.allocations);
}

Json to_json(const PlanFile& file) {
  Json json = Json::object();
  json["format"] = kFormat;
  json["instance"] = to_json(file.instance);
  write_limits(json, file.semantics, file.limits);
  if (file.made) json["made"] = to_json(*file.made);
  write_steps(json, file);
  return json;
}

PlanFile plan_from_json(const Json& json, const std::string& place) {
  const JsonField root(json, place);
  if (root.has("plans")) root.fail(kSeveralPlans);
  if (!root.has("steps") && root.has("stages"))
    root.fail("is a schedule; a plan, with steps and addresses, is expected");
  if (!root.has("steps")) root.fail("is neither a plan (no steps) nor a schedule (no stages)");
  const std::int64_t format = root.format(1, kFormat);
  const char* allocations = kAllocations[format - 1];
  root.only({"format", "instance", "semantics", "ram_budget_bytes", "deadline_seconds", "max_bytes_written",
             "made", "arena_bytes", "steps", allocations});

  PlanFile file;
  const JsonField instance = root.at("instance");
  file.instance = instance_from_json(instance.json(), instance.place());
  file.semantics = read_semantics(root);
  file.limits = read_limits(root);
  if (root.has("made")) file.made = read_made(root.at("made"));
  read_steps(root, allocations, file);
  return file;
}

}  // namespace poet
