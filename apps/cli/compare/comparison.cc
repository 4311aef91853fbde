#include "apps/cli/compare/comparison.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "apps/cli/solve/summary.h"
#include "apps/shared/answer_line.h"
#include "apps/shared/terminal.h"
#include "poet/base/amounts.h"
#include "poet/cost/json_reader.h"
#include "poet/report/table.h"
#include "poet/study/csv.h"
#include "poet/study/judged_json.h"

namespace poet::cli {
namespace {

using Json = nlohmann::ordered_json;

/// Texts that are shown once, under the table, and referred to by number.
class Footnotes {
 public:
  /// "[2]"; empty for an empty text.
  std::string mark(const std::string& text) {
    if (text.empty()) return "";
    if (std::find(texts_.begin(), texts_.end(), text) == texts_.end()) texts_.push_back(text);
    const auto at = std::find(texts_.begin(), texts_.end(), text) - texts_.begin();
    return fmt::format("[{}]", at + 1);
  }

  [[nodiscard]] std::string text() const {
    std::string lines;
    for (std::size_t i = 0; i < texts_.size(); ++i) {
      const std::string label = fmt::format("[{}] ", i + 1);
      const int indent = static_cast<int>(label.size());
      lines += label + wrapped(texts_[i], prose_width() - indent, indent) + "\n";
    }
    return lines.empty() ? "" : "\n" + lines;
  }

 private:
  std::vector<std::string> texts_;
};

/// Whether the plan holds the limits, with the reason where it is short.
std::string verdict_text(const Judged& judged, Footnotes& footnotes) {
  std::string text;
  switch (judged.verdict) {
    case Verdict::holds:
      text = "yes";
      break;
    case Verdict::over_limits:
      text = "no: " + judged.reason;
      break;
    case Verdict::no_plan:
      text = "no plan " + footnotes.mark(judged.reason);
      break;
    case Verdict::not_applicable:
      text = "not defined here " + footnotes.mark(judged.reason);
      break;
  }
  return judged.note.empty() ? text : text + " " + footnotes.mark(judged.note);
}

std::string limits_text(const Comparison& comparison) {
  const Limits& limits = comparison.posed.request.limits;
  const Report& keep_all = comparison.posed.figures.keep_all;
  std::string text = format_bytes(limits.ram_budget) + " of RAM";
  if (limits.deadline)
    text += fmt::format(", a deadline of {} (the step without limits takes {})",
                        format_seconds(*limits.deadline), format_seconds(keep_all.runtime));
  if (limits.max_bytes_written)
    text += fmt::format(", {} written to storage", format_bytes(*limits.max_bytes_written));
  return text + fmt::format("; keeping everything takes {}, no schedule{} less than {}",
                            format_bytes(keep_all.peak_ram), in_parts(comparison.posed.workload),
                            format_bytes(comparison.posed.figures.floor.bytes()));
}

std::string gap_text(const Judged& judged) {
  if (!judged.gap) return "";
  return *judged.gap == 0 ? "0" : format_percent(*judged.gap, 2);
}

std::string cell_of(const Json& value) {
  if (value.is_null()) return "";
  return csv_cell(value.is_string() ? value.get<std::string>() : json_text(value));
}

/// The rows whose plan holds and needs the least energy, but for rounding.
std::vector<const Comparison::Row*> cheapest(const Comparison& comparison) {
  constexpr double kSame = 1 + 1e-9;
  const std::optional<Joules> least = least_energy(comparison);
  std::vector<const Comparison::Row*> best;
  for (const Comparison::Row& row : comparison.rows) {
    const bool holds = row.judged.verdict == Verdict::holds;
    if (holds && row.judged.report.energy.value() <= kSame * least->value()) best.push_back(&row);
  }
  return best;
}

/// What the suggestion does and the methods do not: what was asked for is the same in both.
std::string suggestion_text(const Comparison& comparison) {
  if (comparison.persistent_typed)
    return "These leave operators whole. With operators in parts there is a plan:";
  if (comparison.split_typed)
    return "These keep parameters in RAM. With parameters at home on storage there is a plan:";
  return "These keep parameters in RAM and operators whole. With parameters at home on storage, or operators "
         "in parts, there is a plan:";
}

}  // namespace

std::optional<Joules> least_energy(const Comparison& comparison) {
  std::optional<Joules> least;
  for (const Comparison::Row& row : comparison.rows)
    if (row.judged.verdict == Verdict::holds)
      least = std::min(least.value_or(row.judged.report.energy), row.judged.report.energy);
  return least;
}

bool any_holds(const Comparison& comparison) { return least_energy(comparison).has_value(); }

std::string in_parts_text(const Comparison& comparison) {
  if (!comparison.in_parts) return {};
  const Report& report = comparison.in_parts->report;
  const double overhead = report.energy / comparison.posed.figures.keep_all.energy - 1;
  return fmt::format(
      "poet solve, with operators in parts and parameters where they cost least, needs {} ({} over the step "
      "without limits) in {} of RAM",
      format_joules(report.energy, 6), format_percent(overhead, 3), format_bytes(report.peak_ram));
}

std::string comparison_text(const Comparison& comparison) {
  const Report& keep_all = comparison.posed.figures.keep_all;
  std::string text = subject_text(comparison.posed);
  text += answer_line("Limits", limits_text(comparison));
  Footnotes footnotes;
  Table table({{"method", Align::left},
               {"RAM", Align::right},
               {"energy", Align::right},
               {"overhead", Align::right},
               {"time", Align::right},
               {"recomputed", Align::right},
               {"paged", Align::right},
               {"gap", Align::right},
               {"verified", Align::left}});
  for (const Comparison::Row& row : comparison.rows) {
    const Judged& judged = row.judged;
    const Report& report = judged.report;
    std::vector<std::string> cells = {std::string(row.method->title)};
    if (has_plan(judged)) {
      cells.push_back(format_bytes(report.peak_ram));
      cells.push_back(format_joules(report.energy, 6));
      cells.push_back(format_percent(judged.overhead, 3));
      cells.push_back(format_seconds(report.runtime));
      cells.push_back(report.recomputations == 0 ? "-" : format_count(report.recomputations));
      cells.push_back(report.page_ins == 0 ? "-" : format_count(report.page_ins));
      cells.push_back(gap_text(judged));
    } else {
      cells.insert(cells.end(), {"-", "-", "-", "-", "-", "-", ""});
    }
    cells.push_back(verdict_text(judged, footnotes));
    table.add(std::move(cells));
  }
  text += "\n" + terminal_table(table) + footnotes.text();
  const std::vector<const Comparison::Row*> best = cheapest(comparison);
  if (best.empty()) {
    text += "\nNo method's plan is within the limits.\n";
    if (!comparison.suggestion.empty())
      text += wrapped(suggestion_text(comparison), prose_width(), 0) + "\n  " + comparison.suggestion + "\n";
  } else {
    std::vector<std::string_view> titles;
    for (const Comparison::Row* row : best) titles.push_back(row->method->title);
    text += "\n" + answer_line("Least energy", fmt::format("{}: {} over the {} of the step without limits",
                                                           fmt::join(titles, "; "),
                                                           format_percent(best.front()->judged.overhead, 3),
                                                           format_joules(keep_all.energy, 6)));
  }
  if (comparison.in_parts) {
    const std::string& command = comparison.in_parts->command;
    text += answer_line("In parts", in_parts_text(comparison) + (command.empty() ? "." : ":"));
    if (!command.empty()) text += "  " + command + "\n";
  }
  if (!comparison.posed.ram_note.empty()) text += answer_line("Note", comparison.posed.ram_note);
  if (comparison.interrupted) text += "Interrupted: the missing methods were not run.\n";
  return text;
}

Json comparison_json(const Comparison& comparison) {
  const CompileRequest& request = comparison.posed.request;
  const Instance& instance = request.instance;
  const Report& keep_all = comparison.posed.figures.keep_all;
  Json json = Json::object();
  json["format"] = 1;
  json["model"] = instance.model.empty() ? Json(nullptr) : Json(instance.model);
  json["platform"] = instance.platform.empty() ? Json(nullptr) : Json(instance.platform);
  json["batch_size"] = instance.batch_size;
  json["origin"] = comparison.posed.workload.origin;
  json["semantics"] = to_string(request.semantics);
  json["ram_budget_bytes"] = request.limits.ram_budget.value();
  if (!comparison.posed.ram_note.empty()) json["ram_note"] = comparison.posed.ram_note;
  json["deadline_seconds"] = request.limits.deadline ? Json(request.limits.deadline->value()) : Json(nullptr);
  json["max_bytes_written"] =
      request.limits.max_bytes_written ? Json(request.limits.max_bytes_written->value()) : Json(nullptr);
  json["baseline_joules"] = keep_all.energy.value();
  json["baseline_seconds"] = keep_all.runtime.value();
  json["keep_all_peak_ram_bytes"] = keep_all.peak_ram.value();
  json["floor_ram_bytes"] = comparison.posed.figures.floor.bytes().value();
  json["persistent_bytes"] = instance.costs.persistent.value();
  json["interrupted"] = comparison.interrupted;
  if (!comparison.suggestion.empty()) json["way_out"] = comparison.suggestion;
  if (comparison.in_parts) {
    const Report& report = comparison.in_parts->report;
    json["in_parts"] = Json{{"energy_joules", report.energy.value()},
                            {"overhead", report.energy / keep_all.energy - 1},
                            {"runtime_seconds", report.runtime.value()},
                            {"peak_ram_bytes", report.peak_ram.value()},
                            {"recomputations", report.recomputations},
                            {"page_ins", report.page_ins},
                            {"page_outs", report.page_outs}};
  }
  json["methods"] = Json::array();
  for (const Comparison::Row& row : comparison.rows)
    json["methods"].push_back(to_json(*row.method, row.judged));
  return json;
}

std::string comparison_csv(const Comparison& comparison) {
  std::string csv;
  for (const Comparison::Row& row : comparison.rows) {
    const Json json = to_json(*row.method, row.judged);
    std::vector<std::string> keys;
    std::vector<std::string> cells;
    for (const auto& [key, value] : json.items()) {
      keys.push_back(key);
      cells.push_back(cell_of(value));
    }
    if (csv.empty()) csv = fmt::format("{}\n", fmt::join(keys, ","));
    csv += fmt::format("{}\n", fmt::join(cells, ","));
  }
  return csv;
}

std::string methods_text() {
  Table table({{"method", Align::left},
               {"", Align::left},
               {"recomputes", Align::left},
               {"pages", Align::left},
               {"source", Align::left}});
  for (const Method& method : methods()) {
    table.add({std::string(method.name), std::string(method.title), method.recomputes ? "yes" : "-",
               method.pages ? "yes" : "-", std::string(method.source)});
  }
  return terminal_table(table);
}

Json methods_json() {
  Json json = Json::object();
  json["format"] = 1;
  json["methods"] = Json::array();
  for (const Method& method : methods()) {
    json["methods"].push_back(Json{{"name", method.name},
                                   {"title", method.title},
                                   {"source", method.source},
                                   {"recomputes", method.recomputes},
                                   {"pages", method.pages}});
  }
  return json;
}

}  // namespace poet::cli
