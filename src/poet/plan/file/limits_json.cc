#include "poet/plan/file/limits_json.h"

#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "poet/base/nearest.h"

namespace poet {

using Json = nlohmann::ordered_json;

namespace {

constexpr std::int64_t kUnbounded = std::numeric_limits<std::int64_t>::max();

}  // namespace

void write_limits(Json& json, Semantics semantics, const Limits& limits) {
  json["semantics"] = to_string(semantics);
  json["ram_budget_bytes"] = limits.ram_budget.value();
  json["deadline_seconds"] = limits.deadline ? Json(limits.deadline->value()) : Json(nullptr);
  if (limits.max_bytes_written) json["max_bytes_written"] = limits.max_bytes_written->value();
}

Semantics read_semantics(const JsonField& file) {
  const JsonField json = file.at("semantics");
  std::vector<std::string> names;
  for (const Semantics semantics : kAllSemantics) names.emplace_back(to_string(semantics));
  if (const std::optional<std::size_t> at = place_in(json.text(), names)) return kAllSemantics[*at];
  json.fail("must be published, staged or device" + did_you_mean(json.text(), names));
}

Limits read_limits(const JsonField& file) {
  Limits limits;
  limits.ram_budget = Bytes(file.at("ram_budget_bytes").integer(0, kUnbounded));
  if (file.has("deadline_seconds") && !file.at("deadline_seconds").json().is_null()) {
    limits.deadline = Seconds(file.at("deadline_seconds").positive());
  }
  if (file.has("max_bytes_written")) {
    limits.max_bytes_written = Bytes(file.at("max_bytes_written").integer(0, kUnbounded));
  }
  return limits;
}

}  // namespace poet
