#pragma once

// Several plans for the same training graph with different RAM budgets, between which a run can switch from
// step to step (docs/runtime.md). They differ in the values at home on storage, their steps and addresses;
// graph and costs are the same, and so are the results, to the last bit.

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "poet/plan/file/plan_file.h"

namespace poet {

/// The part of a family that is specific to one plan.
struct FamilyPlan {
  std::vector<ValueId> paged;  // persistent values at home on storage, increasing
  Limits limits;
  Plan plan;
  Layout layout;
  std::optional<Made> made = {};
};

struct PlanFamily {
  Instance instance;  // of several plans: nothing is paged in it
  Semantics semantics = Semantics::device;
  std::vector<FamilyPlan> plans;  // from the largest RAM budget to the smallest; at least one
};

/// The largest number of plans in a file.
inline constexpr std::size_t kMostPlans = 64;

/// Returns one plan with its instance. O(instance + plan).
[[nodiscard]] PlanFile plan_of(const PlanFamily& family, std::size_t number);

/// Joins plans in any order. Throws InputError with `place` for plans of different graphs, costs or
/// semantics, equal RAM budgets, no plans or too many.
[[nodiscard]] PlanFamily family_of(std::vector<PlanFile> plans, const std::string& place);

/// Returns the index of the first plan whose budget is at most `ram`, or nullopt if all need more.
[[nodiscard]] std::optional<std::size_t> plan_within(const PlanFamily& family, Bytes ram);

/// "100 MB, 60 MB and 30 MB".
[[nodiscard]] std::string budgets_text(const PlanFamily& family);

/// As for one plan (plan_file.h); a family of one plan has the same files.
[[nodiscard]] std::vector<std::uint8_t> to_binary(const PlanFamily& family);
[[nodiscard]] nlohmann::ordered_json to_json(const PlanFamily& family);
[[nodiscard]] PlanFamily plans_from_binary(const std::vector<std::uint8_t>& bytes, const std::string& place);
[[nodiscard]] PlanFamily plans_from_json(const nlohmann::ordered_json& json, const std::string& place);
void write_plans(const PlanFamily& family, const std::filesystem::path& file);
[[nodiscard]] PlanFamily plans_from_text(const std::string& text, const std::string& place);
[[nodiscard]] PlanFamily read_plans(const std::filesystem::path& file);

}  // namespace poet
