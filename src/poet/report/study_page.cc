#include "poet/report/study_page.h"

#include <fmt/format.h>
#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "poet/cost/json_reader.h"
#include "poet/report/packed.h"
#include "poet/report/page_template.h"
#include "poet/report/picture_json.h"

namespace poet {
namespace {

using Json = nlohmann::ordered_json;

/// What every plan of a graph has in its picture.
constexpr const char* kOfGraph[] = {"network",   "device", "source", "batch",    "semantics",
                                    "transient", "ops",    "values", "keep_all", "persistent"};

Json methods_of(const std::vector<StudyMethod>& methods) {
  Json list = Json::array();
  for (const auto& [name, style] : methods)
    list.push_back({{"name", name},
                    {"title", style.title},
                    {"colour", style.colour},
                    {"marker", style.marker},
                    {"width", style.width},
                    {"dashed", style.dashed}});
  return list;
}

}  // namespace

void StudyPage::add(const std::string& row, const std::string& chart) {
  rows_ += (chart_of_.empty() ? "" : ",\n") + row;
  const auto known = std::find(charts_.begin(), charts_.end(), chart);
  chart_of_.push_back(static_cast<std::size_t>(known - charts_.begin()));
  if (known == charts_.end()) charts_.push_back(chart);
}

void StudyPage::add_plan(const Picture& picture) {
  Json own = picture_json(picture);
  Json graph = Json::object();
  for (const char* field : kOfGraph) {
    graph[field] = std::move(own[field]);
    own.erase(field);
  }
  const std::string text = json_text(graph);
  const auto [found, is_new] = shared_.try_emplace(text, packed_shared_.size());
  if (is_new) packed_shared_.push_back(packed(text));
  of_row_[chart_of_.size() - 1] = {found->second, packed(json_text(own))};
}

std::string StudyPage::html(const std::string& csv) const {
  Json head = {
      {"title", head_.title},     {"command", head_.command},   {"version", head_.version},
      {"written", head_.written}, {"csv_name", head_.csv_name}, {"methods", methods_of(head_.methods)},
      {"notes", head_.notes},     {"charts", charts_},          {"chart_of", chart_of_}};
  if (head_.units) head["byte_units"] = *head_.units == ByteUnits::binary ? "binary" : "decimal";
  Json plans = Json::object();
  for (const auto& [row, plan] : of_row_) plans[std::to_string(row)] = {plan.first, plan.second};
  const Json data = {{"head", packed(json_text(head))},
                     {"rows", packed("[" + rows_ + "]")},
                     {"csv", packed(json_text(Json(csv)))},
                     {"graphs", packed_shared_},
                     {"plans", std::move(plans)}};
  return filled_page("study.html", [&](const std::string& name) -> std::optional<std::string> {
    if (name == "title") return html_escaped(head_.title);
    if (name == "study") return script_json(data);
    return std::nullopt;
  });
}

Picture picture_of_placed(PlanFile plan, std::string title) {
  Picture picture = picture_of(std::move(plan), std::move(title));
  const PlanFile& file = picture.plan;
  if (picture.report.valid)
    picture.arena = replay_layout(file.instance, file.plan, file.layout, file.semantics, no_limits());
  return picture;
}

}  // namespace poet
