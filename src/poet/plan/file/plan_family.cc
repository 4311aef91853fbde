#include "poet/plan/file/plan_family.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "poet/base/amounts.h"
#include "poet/base/error.h"
#include "poet/base/write_file.h"
#include "poet/cost/instance_json.h"
#include "poet/cost/json_reader.h"
#include "poet/plan/file/family_rules.h"
#include "poet/plan/file/json_text.h"

namespace poet {
namespace {

// Rows of tables are at home by every plan.
std::vector<ValueId> paged_in(const Graph& graph) {
  std::vector<ValueId> paged;
  for (const ValueId v : ids<ValueId>(graph.values.size()))
    if (graph.values[v].paged && !graph.values[v].rows) paged.push_back(v);
  return paged;
}

FamilyPlan family_plan(PlanFile& file) {
  return {paged_in(file.instance.graph), file.limits, std::move(file.plan), std::move(file.layout),
          std::move(file.made)};
}

}  // namespace

PlanFile plan_of(const PlanFamily& family, std::size_t number) {
  const FamilyPlan& plan = family.plans.at(number);
  return {with_paged(family.instance, plan.paged),
          family.semantics,
          plan.limits,
          plan.plan,
          plan.layout,
          plan.made};
}

PlanFamily family_of(std::vector<PlanFile> plans, const std::string& place) {
  if (plans.empty()) throw InputError(place, "holds no plan");
  std::stable_sort(plans.begin(), plans.end(), [](const PlanFile& a, const PlanFile& b) {
    return a.limits.ram_budget > b.limits.ram_budget;
  });
  PlanFamily family;
  family.semantics = plans.front().semantics;
  if (plans.size() == 1) {
    family.plans.push_back(family_plan(plans.front()));
    family.instance = std::move(plans.front().instance);
    return family;
  }
  nlohmann::ordered_json common;
  for (PlanFile& file : plans) {
    family.plans.push_back(family_plan(file));
    family.instance = with_paged(std::move(file.instance), {});
    nlohmann::ordered_json instance = to_json(family.instance);
    if (common.is_null())
      common = std::move(instance);
    else if (instance != common)
      throw InputError(place, "plans of one family must be for the same graph and costs");
    if (file.semantics != family.semantics)
      throw InputError(place, "plans of one family must have the same semantics");
  }
  check_family(family, place);
  return family;
}

void check_family(const PlanFamily& family, const std::string& place) {
  if (family.plans.empty()) throw InputError(place, "holds no plan");
  if (family.plans.size() > kMostPlans)
    throw InputError(
        place, fmt::format("holds {} plans; at most {} go into one file", family.plans.size(), kMostPlans));
  std::vector<ValueId> may = pageable(family.instance);
  // A home has the tensor's size: in RAM it takes that, too, or a change of plan would change costs.
  std::erase_if(may, [&](ValueId v) {
    return family.instance.costs.values[v].bytes != family.instance.graph.values[v].bytes;
  });
  for (std::size_t i = 0; i < family.plans.size(); ++i) {
    const FamilyPlan& plan = family.plans[i];
    if (i > 0 && plan.limits.ram_budget >= family.plans[i - 1].limits.ram_budget)
      throw InputError(
          place, fmt::format("plan {}: its RAM budget must be below that of the plan before it", i + 1));
    if (!std::is_sorted(plan.paged.begin(), plan.paged.end()) ||
        std::adjacent_find(plan.paged.begin(), plan.paged.end()) != plan.paged.end() ||
        !std::includes(may.begin(), may.end(), plan.paged.begin(), plan.paged.end()))
      throw InputError(place, fmt::format("plan {}: paged values must be parameters and optimiser state "
                                          "that can live on storage, in increasing order",
                                          i + 1));
  }
}

std::optional<std::size_t> plan_within(const PlanFamily& family, Bytes ram) {
  for (std::size_t i = 0; i < family.plans.size(); ++i)
    if (family.plans[i].limits.ram_budget <= ram) return i;
  return std::nullopt;
}

std::string budgets_text(const PlanFamily& family) {
  std::string text;
  const std::size_t count = family.plans.size();
  for (std::size_t i = 0; i < count; ++i)
    text += (i == 0 ? "" : i + 1 == count ? " and " : ", ") + format_bytes(family.plans[i].limits.ram_budget);
  return text;
}

void write_plans(const PlanFamily& family, const std::filesystem::path& file) {
  if (family.plans.size() == 1) return write_plan(plan_of(family, 0), file);
  if (file.extension() == ".json") return write_file(file, text_of(to_json(family), {"plans"}));
  const std::vector<std::uint8_t> bytes = to_binary(family);
  write_file(file, std::string(bytes.begin(), bytes.end()));
}

PlanFamily plans_from_text(const std::string& text, const std::string& place) {
  if (text.empty()) throw InputError(place, "is empty");
  if (text.rfind("POET", 0) == 0) return plans_from_binary({text.begin(), text.end()}, place);
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string::npos || text[first] != '{')
    throw InputError(place, "is no plan file: begins neither with POET nor, as JSON, with {");
  return plans_from_json(parse_json(text, place), place);
}

PlanFamily read_plans(const std::filesystem::path& file) {
  return plans_from_text(read_text_file(file), file.string());
}

}  // namespace poet
