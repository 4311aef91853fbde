#include "poet/study/judged_json.h"

#include <nlohmann/json.hpp>

namespace poet {

nlohmann::ordered_json to_json(const Method& method, const Judged& judged) {
  using Json = nlohmann::ordered_json;
  const Report& report = judged.report;
  // Of the plan shown, whether it holds or is the nearest.
  const auto figure = [&](const auto& value) { return has_plan(judged) ? Json(value) : Json(nullptr); };
  Json json = Json::object();
  json["method"] = method.name;
  json["title"] = method.title;
  json["verdict"] = to_string(judged.verdict);
  json["verified"] = judged.verdict == Verdict::holds;
  json["reason"] = judged.reason.empty() ? Json(nullptr) : Json(judged.reason);
  json["note"] = judged.note.empty() ? Json(nullptr) : Json(judged.note);
  json["peak_ram_bytes"] = figure(report.peak_ram.value());
  json["energy_joules"] = figure(report.energy.value());
  json["overhead"] = figure(judged.overhead);
  json["compute_joules"] = figure(report.compute_energy.value());
  json["page_in_joules"] = figure(report.page_in_energy.value());
  json["page_out_joules"] = figure(report.page_out_energy.value());
  json["idle_joules"] = figure(report.idle_energy.value());
  json["runtime_seconds"] = figure(report.runtime.value());
  json["stalled_seconds"] = figure(report.stalled.value());
  json["recomputations"] = figure(report.recomputations);
  json["page_ins"] = figure(report.page_ins);
  json["page_outs"] = figure(report.page_outs);
  json["bytes_read"] = figure(report.bytes_read.value());
  json["bytes_written"] = figure(report.bytes_written.value());
  json["paged_persistent_values"] = figure(judged.paged.size());
  json["bound_joules"] = judged.bound ? Json(judged.bound->value()) : Json(nullptr);
  json["gap"] = judged.gap ? Json(*judged.gap) : Json(nullptr);
  json["method_seconds"] = judged.seconds;
  return json;
}

}  // namespace poet
