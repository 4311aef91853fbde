#pragma once

// Plan files: steps and addresses with their instance, semantics and limits, so that they can be verified,
// shown and run without other files. Two forms with the same content: binary for devices and tools, JSON for
// people (docs/formats_plan.md).

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

/// A canonical plan (plan/canonical.h) is equal after writing and reading either form, and so are its
/// addresses. The binary form requires a canonical plan with a layout of place() for the instance's
/// alignment, and throws InternalError otherwise; JSON holds any list of steps.
[[nodiscard]] std::vector<std::uint8_t> to_binary(const PlanFile& file);
/// Returns the sections of to_binary() that a device needs, SCHEDULE and ADDRESSES, for
/// plan/decoder/poet_plan.h. poet itself cannot read it back without the graph.
[[nodiscard]] std::vector<std::uint8_t> to_device_image(const PlanFile& file);
[[nodiscard]] nlohmann::ordered_json to_json(const PlanFile& file);

/// The rule of the InputError for a file of several plans (plan_family.h) where one is expected.
inline constexpr const char* kSeveralPlans = "holds several plans; choose one of them";

/// Throw InputError with `place` and the rule. Ids are checked for range; whether the plan is valid is for
/// the verifier to decide.
[[nodiscard]] PlanFile plan_from_binary(const std::vector<std::uint8_t>& bytes, const std::string& place);
[[nodiscard]] PlanFile plan_from_json(const nlohmann::ordered_json& json, const std::string& place);

/// Writes JSON if the name ends in ".json", binary otherwise; atomically. Throws InputError if the folder
/// cannot be written.
void write_plan(const PlanFile& plan, const std::filesystem::path& file);
/// Writes to_device_image() to a file, atomically.
void write_device_image(const PlanFile& plan, const std::filesystem::path& file);
/// Read either form, distinguished by the first bytes.
[[nodiscard]] PlanFile plan_from_text(const std::string& text, const std::string& place);
[[nodiscard]] PlanFile read_plan(const std::filesystem::path& file);

}  // namespace poet
