#include "poet/study/judged_json.h"

#include <nlohmann/json.hpp>

#include "poet/verify/report_fields.h"

namespace poet {

nlohmann::ordered_json to_json(const Method& method, const Judged& judged) {
  using Json = nlohmann::ordered_json;
  const Report& report = judged.report;
  // Figures are those of the plan shown, whether it is feasible or the nearest to that.
  const auto figure = [&](const auto& value) { return has_plan(judged) ? Json(value) : Json(nullptr); };
  Json json = Json::object();
  const auto add = [&](const char* name, const auto& value) { json[name] = figure(value); };
  json["method"] = method.name;
  json["title"] = method.title;
  json["verdict"] = to_string(judged.verdict);
  json["verified"] = judged.verdict == Verdict::holds;
  json["reason"] = judged.reason.empty() ? Json(nullptr) : Json(judged.reason);
  json["note"] = judged.note.empty() ? Json(nullptr) : Json(judged.note);
  json["peak_ram_bytes"] = figure(report.peak_ram.value());
  json["energy_joules"] = figure(report.energy.value());
  json["overhead"] = figure(judged.overhead);
  visit_energy_and_time(report, add);
  visit_counts(report, add);
  json["paged_persistent_values"] = figure(judged.paged.size());
  json["bound_joules"] = judged.bound ? Json(judged.bound->value()) : Json(nullptr);
  json["gap"] = judged.gap ? Json(*judged.gap) : Json(nullptr);
  json["method_seconds"] = judged.seconds;
  return json;
}

}  // namespace poet
