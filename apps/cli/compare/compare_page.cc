#include "apps/cli/compare/compare_page.h"

#include <fmt/format.h>

#include <ctime>
#include <nlohmann/json.hpp>

#include "apps/cli/sweep/method_style.h"
#include "apps/shared/command_text.h"
#include "poet/base/amounts.h"
#include "poet/cost/json_reader.h"
#include "poet/report/minute.h"
#include "poet/report/study_page.h"
#include "poet/study/judged_json.h"
#include "poet/study/kept_plan.h"
#include "poet/version.h"

namespace poet::cli {
namespace {

std::string subject_of(const Comparison& comparison) {
  const Instance& instance = comparison.posed.request.instance;
  const std::string network = instance.model.empty() ? comparison.posed.workload.origin : instance.model;
  std::string text =
      instance.platform.empty() ? network : fmt::format("{} on {}", network, instance.platform);
  if (instance.batch_size > 1) text += fmt::format(", batch {}", instance.batch_size);
  return text;
}

/// A row with what all rows have in common, which a sweep's rows have each.
nlohmann::ordered_json row_of(const Comparison::Row& row, const nlohmann::ordered_json& shared) {
  nlohmann::ordered_json json = to_json(*row.method, row.judged);
  json["network"] = shared["model"].is_null() ? shared["origin"] : shared["model"];
  for (const char* field :
       {"platform", "semantics", "ram_budget_bytes", "deadline_seconds", "max_bytes_written",
        "baseline_joules", "baseline_seconds", "keep_all_peak_ram_bytes"})
    json[field] = shared[field];
  json["least_ram_bytes"] = shared["floor_ram_bytes"];
  return json;
}

}  // namespace

std::string comparison_page(const Comparison& comparison) {
  const CompileRequest& posed = comparison.posed.request;
  const MethodRequest request{posed.instance, posed.limits, posed.semantics, posed.options,
                              posed.choose_paged};
  const std::string subject = subject_of(comparison);
  StudyHead head;
  head.title = fmt::format("{}: {} of RAM", subject, format_bytes(posed.limits.ram_budget));
  head.command = command_text({"--color="});
  head.version = version();
  head.written = minute_text(std::time(nullptr));
  head.csv_name = "compare.csv";
  head.units = byte_units();
  if (comparison.interrupted) head.notes.emplace_back("Interrupted: the missing methods were not run.");
  if (comparison.in_parts) head.notes.push_back(in_parts_text(comparison) + ".");
  for (const Comparison::Row& row : comparison.rows)
    head.methods.push_back({std::string(row.method->name), style_of(*row.method)});
  StudyPage page(std::move(head));
  const nlohmann::ordered_json shared = comparison_json(comparison);
  for (const Comparison::Row& row : comparison.rows) {
    page.add(json_text(row_of(row, shared)), subject);
    if (has_plan(row.judged))
      page.add_plan(picture_of_placed(placed_plan(*row.method, request, row.judged),
                                      fmt::format("{}: {}", subject, row.method->title)));
  }
  return page.html(comparison_csv(comparison));
}

}  // namespace poet::cli
