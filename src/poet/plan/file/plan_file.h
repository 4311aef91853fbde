#pragma once

// Plan files: the steps and their addresses with the instance, semantics and limits that they were made for,
// so that verifying, showing and running need nothing else. Two forms with the same content: binary for
// devices and tools, JSON for people (docs/formats.md).

#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "poet/cost/instance.h"
#include "poet/plan/file/made.h"
#include "poet/plan/layout/layout.h"
#include "poet/plan/limits.h"
#include "poet/plan/plan.h"

namespace poet {

struct PlanFile {
  Instance instance;
  Semantics semantics = Semantics::device;
  Limits limits;
  Plan plan;
  Layout layout;  // lower_bound is not stored: 0 after reading
  std::optional<Made> made = {};
};

/// A plan that is canonical (plan/canonical.h) comes back equal from either form, with the same addresses.
/// The binary form needs that, with a layout as place() gives it for the instance's alignment, and throws
/// InternalError otherwise; JSON holds any list of steps.
[[nodiscard]] std::vector<std::uint8_t> to_binary(const PlanFile& file);
/// What of to_binary() a device needs: SCHEDULE and ADDRESSES, for plan/decoder/poet_plan.h. poet itself
/// cannot read it back without the graph.
[[nodiscard]] std::vector<std::uint8_t> to_device_image(const PlanFile& file);
[[nodiscard]] nlohmann::ordered_json to_json(const PlanFile& file);

/// What a file of several plans (plan_family.h) is refused with where one is wanted.
inline constexpr const char* kSeveralPlans = "holds several plans: one of them has to be chosen";

/// Throw InputError with `place` and the rule. Ids are checked for range, not the plan for sense: that is the
/// verifier's business.
[[nodiscard]] PlanFile plan_from_binary(const std::vector<std::uint8_t>& bytes, const std::string& place);
[[nodiscard]] PlanFile plan_from_json(const nlohmann::ordered_json& json, const std::string& place);

/// JSON where the name ends in ".json", binary otherwise. Writes beside the target and renames: never half a
/// file. Throws InputError when the folder cannot be written.
void write_plan(const PlanFile& plan, const std::filesystem::path& file);
/// to_device_image() into a file, in the same way.
void write_device_image(const PlanFile& plan, const std::filesystem::path& file);
/// Either form, told apart by the first bytes.
[[nodiscard]] PlanFile plan_from_text(const std::string& text, const std::string& place);
[[nodiscard]] PlanFile read_plan(const std::filesystem::path& file);

}  // namespace poet
