#pragma once

// Several plans for the same training graph, each within a RAM budget of its own, so that a run can go over
// from one to another between its steps (docs/runtime.md). They differ by what lives on storage, steps and
// addresses; graph and costs are the same, and so is what they compute, to the last bit.

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "poet/plan/file/plan_file.h"

namespace poet {

/// What a plan of a family has of its own.
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

/// How many plans a file may hold.
inline constexpr std::size_t kMostPlans = 64;

/// One plan, with the instance that it is for. O(instance + plan).
[[nodiscard]] PlanFile plan_of(const PlanFamily& family, std::size_t number);

/// Of plans in any order. Throws InputError with `place`: plans of different graphs, costs or rules, the same
/// RAM budget twice, none or too many.
[[nodiscard]] PlanFamily family_of(std::vector<PlanFile> plans, const std::string& place);

/// The first plan whose budget is at most `ram`; nothing where all need more.
[[nodiscard]] std::optional<std::size_t> plan_within(const PlanFamily& family, Bytes ram);

/// "100 MB, 60 MB and 30 MB".
[[nodiscard]] std::string budgets_text(const PlanFamily& family);

/// As for one plan (plan_file.h), and files of one plan are as these are.
[[nodiscard]] std::vector<std::uint8_t> to_binary(const PlanFamily& family);
[[nodiscard]] nlohmann::ordered_json to_json(const PlanFamily& family);
[[nodiscard]] PlanFamily plans_from_binary(const std::vector<std::uint8_t>& bytes, const std::string& place);
[[nodiscard]] PlanFamily plans_from_json(const nlohmann::ordered_json& json, const std::string& place);
void write_plans(const PlanFamily& family, const std::filesystem::path& file);
[[nodiscard]] PlanFamily plans_from_text(const std::string& text, const std::string& place);
[[nodiscard]] PlanFamily read_plans(const std::filesystem::path& file);

}  // namespace poet
