#include "apps/cli/sweep/sweep_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "apps/shared/terminal.h"
#include "poet/base/amounts.h"
#include "poet/report/table.h"

namespace poet::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kShownReasons = 5;
const std::vector<std::string> kVerdicts = {to_string(Verdict::holds), to_string(Verdict::over_limits),
                                            to_string(Verdict::no_plan), to_string(Verdict::not_applicable),
                                            kFailed};

struct Group {
  std::string network, platform;
  std::string persistent, split;  // split: empty where nothing is
  std::size_t points = 0;
  std::size_t left = 0;
  std::map<std::string, std::size_t> verdicts;

  [[nodiscard]] std::size_t with(const std::string& verdict) const {
    const auto found = verdicts.find(verdict);
    return found == verdicts.end() ? 0 : found->second;
  }
};

std::string parts_text(const SweepPoint& point) {
  if (!point.split) return "";
  return *point.split == "auto" ? "auto" : format_bytes(Bytes(std::stoll(*point.split)));
}

/// By network, platform and what becomes of parameters, in the order of the points.
std::vector<Group> grouped(const SweepOutcome& outcome) {
  std::vector<Group> groups;
  for (std::size_t i = 0; i < outcome.points.size(); ++i) {
    const SweepPoint& point = outcome.points[i];
    const std::string platform = point.platform ? point.platform->name : "";
    const std::string persistent = point.persistent.value_or("resident");
    const std::string split = parts_text(point);
    const auto same = [&](const Group& group) {
      return group.network == point.network.name && group.platform == platform &&
             group.persistent == persistent && group.split == split;
    };
    auto group = std::find_if(groups.begin(), groups.end(), same);
    if (group == groups.end())
      group = groups.insert(groups.end(), Group{point.network.name, platform, persistent, split, 0, 0, {}});
    ++group->points;
    if (outcome.results[i]) {
      ++group->verdicts[outcome.results[i]->verdict];
    } else {
      ++group->left;
    }
  }
  return groups;
}

std::string number(std::size_t count) { return format_count(static_cast<std::int64_t>(count)); }

std::string table_text(const SweepOutcome& outcome) {
  const bool any_left = points_left(outcome) > 0;
  const std::vector<Group> groups = grouped(outcome);
  const bool parameters = std::any_of(groups.begin(), groups.end(),
                                      [](const Group& group) { return group.persistent != "resident"; });
  const bool parts =
      std::any_of(groups.begin(), groups.end(), [](const Group& group) { return !group.split.empty(); });
  std::vector<Table::Column> columns = {{"network", Align::left}, {"platform", Align::left}};
  if (parameters) columns.push_back({"parameters", Align::left});
  if (parts) columns.push_back({"parts", Align::left});
  columns.push_back({"points", Align::right});
  for (const std::string& verdict : kVerdicts) columns.push_back({verdict, Align::right});
  if (any_left) columns.push_back({"left", Align::right});
  Table table(columns);
  for (const Group& group : groups) {
    std::vector<std::string> cells = {group.network, group.platform};
    if (parameters) cells.push_back(group.persistent);
    if (parts) cells.push_back(group.split.empty() ? "-" : group.split);
    cells.push_back(number(group.points));
    for (const std::string& verdict : kVerdicts) cells.push_back(number(group.with(verdict)));
    if (any_left) cells.push_back(number(group.left));
    table.add(cells);
  }
  return terminal_table(table);
}

/// The most frequent reasons first.
std::string failures_text(const std::vector<SweepResult>& results) {
  std::map<std::string, std::size_t> reasons;
  for (const SweepResult& result : results) {
    if (result.verdict == kFailed) ++reasons[result.reason];
  }
  if (reasons.empty()) return "";
  std::vector<std::pair<std::string, std::size_t>> order(reasons.begin(), reasons.end());
  std::stable_sort(order.begin(), order.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  std::string text = "\nFailed (--retry reruns these):\n";
  for (std::size_t i = 0; i < std::min(order.size(), kShownReasons); ++i)
    text +=
        "  " + wrapped(fmt::format("{} x {}", order[i].second, order[i].first), prose_width() - 2, 6) + "\n";
  if (order.size() > kShownReasons)
    text += fmt::format("  and {} more reasons\n", order.size() - kShownReasons);
  return text;
}

struct CurveSizes {
  std::size_t energy_ram = 0;
  std::size_t energy_time = 0;
};

CurveSizes curve_sizes(const std::vector<ParetoFlags>& flags) {
  CurveSizes sizes;
  for (const ParetoFlags& flag : flags) {
    sizes.energy_ram += flag.energy_ram ? 1 : 0;
    sizes.energy_time += flag.energy_time ? 1 : 0;
  }
  return sizes;
}

}  // namespace

std::vector<SweepResult> results_of(const SweepOutcome& outcome) {
  std::vector<SweepResult> results;
  for (const std::optional<SweepResult>& result : outcome.results) {
    if (result) results.push_back(*result);
  }
  return results;
}

std::size_t points_left(const SweepOutcome& outcome) {
  return static_cast<std::size_t>(std::count_if(outcome.results.begin(), outcome.results.end(),
                                                [](const auto& result) { return !result.has_value(); }));
}

std::string sweep_text(const SweepOutcome& outcome) {
  const std::vector<SweepResult> results = results_of(outcome);
  const CurveSizes curves = curve_sizes(pareto_flags(results));
  std::string text = table_text(outcome) + failures_text(results) + "\n";
  text += fmt::format("{:<14}{} run now, {} there before", "Points", number(outcome.run),
                      number(outcome.there_before));
  if (const std::size_t left = points_left(outcome); left > 0)
    text += fmt::format(", {} left: rerun the same command to continue", number(left));
  text += fmt::format("\n{:<14}{}, table points (SQLite)\n", "Results", outcome.store);
  text += fmt::format(
      "{:<14}{} points on curves of energy over RAM, {} of energy over time, one curve per instance; ",
      "Pareto", number(curves.energy_ram), number(curves.energy_time));
  text += outcome.csv ? "marked in " + *outcome.csv + "\n" : "--csv FILE marks them\n";
  if (outcome.page) text += fmt::format("{:<14}{}\n", "Page", *outcome.page);
  return text;
}

Json sweep_json(const SweepOutcome& outcome) {
  const std::vector<SweepResult> results = results_of(outcome);
  const std::vector<ParetoFlags> flags = pareto_flags(results);
  Json json = Json::object();
  json["format"] = 1;
  json["spec"] = outcome.spec;
  json["store"] = outcome.store;
  json["csv"] = outcome.csv ? Json(*outcome.csv) : Json(nullptr);
  json["points"] = outcome.points.size();
  json["there_before"] = outcome.there_before;
  json["run"] = outcome.run;
  json["left"] = points_left(outcome);
  json["interrupted"] = outcome.interrupted;
  json["groups"] = Json::array();
  for (const Group& group : grouped(outcome)) {
    Json item = Json::object();
    item["network"] = group.network;
    item["platform"] = group.platform;
    item["persistent"] = group.persistent;
    item["split"] = group.split.empty() ? Json(nullptr) : Json(group.split);
    item["points"] = group.points;
    for (std::string verdict : kVerdicts) {
      const std::size_t count = group.with(verdict);
      std::replace(verdict.begin(), verdict.end(), ' ', '_');
      item[verdict] = count;
    }
    item["left"] = group.left;
    json["groups"].push_back(std::move(item));
  }
  json["results"] = Json::array();
  for (std::size_t i = 0; i < results.size(); ++i) {
    Json item = to_json(results[i]);
    item["pareto_energy_ram"] = flags[i].energy_ram;
    item["pareto_energy_time"] = flags[i].energy_time;
    item["pareto_energy_ram_of_method"] = flags[i].energy_ram_of_method;
    item["pareto_energy_time_of_method"] = flags[i].energy_time_of_method;
    json["results"].push_back(std::move(item));
  }
  return json;
}

}  // namespace poet::cli
