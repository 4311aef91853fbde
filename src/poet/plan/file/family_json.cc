#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "poet/base/error.h"
#include "poet/cost/instance_json.h"
#include "poet/cost/json_reader.h"
#include "poet/plan/file/family_rules.h"
#include "poet/plan/file/limits_json.h"
#include "poet/plan/file/plan_family.h"
#include "poet/plan/file/steps_json.h"

namespace poet {

using Json = nlohmann::ordered_json;

namespace {

constexpr std::int64_t kFormatOfSeveral =
    3;  // of files with several plans; others are as plan_json.cc has them

}  // namespace

Json ids_json(const std::vector<ValueId>& values) {
  Json json = Json::array();
  for (const ValueId v : values) json.push_back(v.index);
  return json;
}

std::vector<ValueId> read_paged(const JsonField& json, const Graph& graph) {
  std::vector<ValueId> values;
  for (const std::int64_t index :
       json.at("paged").integers(0, static_cast<std::int64_t>(graph.values.size()) - 1))
    values.emplace_back(static_cast<std::int32_t>(index));
  return values;
}

void check_none_paged(const Instance& instance, const std::string& place) {
  for (const Value& value : instance.graph.values)
    if (value.paged && !value.rows)
      throw InputError(place, "in a file of several plans each plan says what is paged");
}

Json to_json(const PlanFamily& family) {
  if (family.plans.size() == 1) return to_json(plan_of(family, 0));
  Json json = Json::object();
  json["format"] = kFormatOfSeveral;
  json["instance"] = to_json(family.instance);
  json["semantics"] = to_string(family.semantics);
  Json& plans = json["plans"] = Json::array();
  for (std::size_t i = 0; i < family.plans.size(); ++i) {
    Json& one = plans.emplace_back();
    write_limits(one, family.semantics, family.plans[i].limits);
    one.erase("semantics");
    if (family.plans[i].made) one["made"] = to_json(*family.plans[i].made);
    one["paged"] = ids_json(family.plans[i].paged);
    write_steps(one, plan_of(family, i));
  }
  return json;
}

PlanFamily plans_from_json(const Json& json, const std::string& place) {
  const JsonField root(json, place);
  if (!root.has("plans")) {
    std::vector<PlanFile> one;
    one.push_back(plan_from_json(json, place));
    return family_of(std::move(one), place);
  }
  static_cast<void>(root.format(kFormatOfSeveral, kFormatOfSeveral));
  root.only({"format", "instance", "semantics", "plans"});
  PlanFamily family;
  const JsonField instance = root.at("instance");
  family.instance = instance_from_json(instance.json(), instance.place());
  family.semantics = read_semantics(root);
  check_none_paged(family.instance, instance.place());
  const std::vector<JsonField> plans = root.at("plans").items();
  if (plans.size() < 2) root.fail_at("plans", "must hold at least two plans");
  for (const JsonField& plan : plans) {
    plan.only({"ram_budget_bytes", "deadline_seconds", "max_bytes_written", "made", "paged", "arena_bytes",
               "steps", "allocations"});
    family.plans.push_back({read_paged(plan, family.instance.graph), read_limits(plan), {}, {}});
    if (plan.has("made")) family.plans.back().made = read_made(plan.at("made"));
  }
  check_family(family, place);
  PlanFile file;
  file.semantics = family.semantics;
  file.instance = family.instance;
  for (std::size_t i = 0; i < plans.size(); ++i) {
    file.instance = with_paged(std::move(file.instance), family.plans[i].paged);
    file.plan = {};
    file.layout = {};
    read_steps(plans[i], "allocations", file);
    family.plans[i].plan = std::move(file.plan);
    family.plans[i].layout = std::move(file.layout);
  }
  return family;
}

}  // namespace poet
