#include "apps/cli/sweep/sweep_page.h"

#include <fmt/format.h>

#include <ctime>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "apps/cli/sweep/method_style.h"
#include "apps/shared/command_text.h"
#include "poet/base/amounts.h"
#include "poet/base/error.h"
#include "poet/cost/json_reader.h"
#include "poet/report/minute.h"
#include "poet/report/study_page.h"
#include "poet/study/store.h"
#include "poet/version.h"

namespace poet::cli {
namespace {

/// What a chart is of: everything of a point but its limits and its method.
std::string chart_of(const SweepResult& result) {
  std::string text =
      result.platform.empty() ? result.network : fmt::format("{} on {}", result.network, result.platform);
  if (result.batch_size.value_or(1) != 1) text += fmt::format(", batch {}", *result.batch_size);
  if (result.sequence_length) text += fmt::format(", {} tokens", *result.sequence_length);
  if (result.optimizer && *result.optimizer != "sgd") text += ", " + *result.optimizer;
  if (result.accumulate) text += fmt::format(", updates every {} steps", *result.accumulate);
  if (result.clip_norm) text += fmt::format(", gradients clipped to {}", *result.clip_norm);
  if (result.label_smoothing) text += fmt::format(", labels smoothed by {}", *result.label_smoothing);
  if (result.persistent && *result.persistent != "resident")
    text += *result.persistent == "auto" ? ", parameters in RAM or on storage" : ", parameters elsewhere";
  if (result.split)
    text += *result.split == "auto"
                ? ", operators in parts"
                : fmt::format(", parts of {}", format_bytes(Bytes(std::stoll(*result.split))));
  if (result.semantics != "device") text += fmt::format(", {} rules", result.semantics);
  if (result.trainable) text += fmt::format(", trains {}", *result.trainable);
  return text;
}

/// A chart per instance: where its words are those of another, which differ by a file's content say,
/// numbered.
class ChartNames {
 public:
  const std::string& of(const SweepResult& result) {
    const auto [known, is_new] = by_instance_.try_emplace(result.instance + result.semantics);
    if (is_new) {
      const std::string text = chart_of(result);
      known->second = text;
      for (int i = 2; !taken_.insert(known->second).second; ++i)
        known->second = fmt::format("{} ({})", text, i);
    }
    return known->second;
  }

 private:
  std::map<std::string, std::string> by_instance_;
  std::set<std::string> taken_;
};

StudyHead head_of(const SweepOutcome& outcome, const std::vector<SweepResult>& results) {
  StudyHead head;
  head.title = std::filesystem::path(outcome.spec).stem().string();
  head.command = command_text({"--color="});
  head.version = version();
  head.written = minute_text(std::time(nullptr));
  head.csv_name = head.title + ".csv";
  std::set<std::string> used;
  for (const SweepResult& result : results) used.insert(result.method);
  for (const Method& method : methods())
    if (used.contains(std::string(method.name)))
      head.methods.push_back({std::string(method.name), style_of(method)});
  if (const std::size_t left = points_left(outcome); left > 0)
    head.notes.push_back(fmt::format("{} of {} points have not been run: rerun the same command to continue.",
                                     left, outcome.points.size()));
  return head;
}

std::string title_of_point(const SweepResult& result, const std::string& chart) {
  return fmt::format("{}: {}, {}", chart, find_method(result.method).title,
                     format_bytes(Bytes(result.ram_budget_bytes.value_or(0))));
}

}  // namespace

std::string sweep_page(const SweepOutcome& outcome, const std::string& csv) {
  const std::vector<SweepResult> results = results_of(outcome);
  StudyHead head = head_of(outcome, results);
  ResultsStore store(outcome.store);
  StudyPage page(std::move(head));
  ChartNames charts;
  for (const SweepResult& result : results) {
    const std::string& chart = charts.of(result);
    nlohmann::ordered_json row = to_json(result);
    row.erase("key");
    row.erase("instance");
    page.add(json_text(row), chart);
    const std::string text = store.plan(result.plan_of.empty() ? result.key : result.plan_of);
    if (text.empty() || !result.energy_joules) continue;
    page.add_plan(picture_of_placed(plan_from_text(text, outcome.store), title_of_point(result, chart)));
  }
  return page.html(csv);
}

}  // namespace poet::cli
