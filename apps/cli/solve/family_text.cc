#include "apps/cli/solve/family_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "apps/cli/solve/notes.h"
#include "apps/cli/solve/proof_text.h"
#include "apps/cli/solve/result_json.h"
#include "apps/cli/solve/summary.h"
#include "apps/shared/answer_line.h"
#include "apps/shared/terminal.h"
#include "poet/base/amounts.h"
#include "poet/graph/parts.h"
#include "poet/report/table.h"

namespace poet::cli {
namespace {

/// Notes of the answers that there are, each once and with the budgets that it is for, unless it is for all.
std::string notes_text(const std::vector<Solved>& answers) {
  struct Shared {
    std::string note;
    std::vector<std::string> budgets;
  };
  std::vector<Shared> all;
  std::size_t answered = 0;
  for (const Solved& solved : answers) {
    if (!has_plan(solved)) continue;
    ++answered;
    for (const std::string& note : notes(solved)) {
      auto same = std::find_if(all.begin(), all.end(), [&](const Shared& one) { return one.note == note; });
      if (same == all.end()) same = all.insert(all.end(), {note, {}});
      same->budgets.push_back(format_bytes(solved.request.limits.ram_budget));
    }
  }
  std::string text;
  for (const Shared& one : all)
    text += answer_line("Note", one.budgets.size() == answered
                                    ? one.note
                                    : fmt::format("with {}: {}", fmt::join(one.budgets, ", "), one.note));
  return text;
}

}  // namespace

std::string answers_text(const std::vector<Solved>& answers) {
  if (answers.size() == 1) return summary_text(answers.front());
  std::string text = subject_of_several_text(answers.front());
  Table table({{"RAM budget", Align::right},
               {"status"},
               {"energy", Align::right},
               {"overhead", Align::right},
               {"gap (of energy)", Align::right},
               {"time", Align::right},
               {"peak RAM", Align::right},
               {"on storage", Align::right},
               {"recomputed", Align::right},
               {"page-ins", Align::right},
               {"page-outs", Align::right},
               {"written", Align::right}});
  for (const Solved& solved : answers) {
    const std::string budget = format_bytes(solved.request.limits.ram_budget);
    const CompileResult& result = solved.result;
    const std::string status = to_string(result.certificate.status);
    if (!has_plan(solved)) {
      table.add({budget, status, "", "", "", "", "", "", "", "", "", ""});
      continue;
    }
    Bytes on_storage{};
    for (const ValueId v : result.paged) on_storage += at_home(solved.request.instance.graph.values[v]).bytes;
    const Report& report = result.report;
    table.add({budget, status, format_joules(report.energy, 4), format_percent(result.overhead, 3),
               gap_cell(solved), format_seconds(report.runtime, 3), format_bytes(report.peak_ram),
               format_bytes(on_storage), format_count(report.recomputations), format_count(report.page_ins),
               format_count(report.page_outs), format_bytes(report.bytes_written)});
  }
  text += "\n" + terminal_table(table);
  if (const std::string notes = notes_text(answers); !notes.empty()) text += "\n" + notes;
  for (const Solved& solved : answers)
    if (!has_plan(solved))
      text +=
          fmt::format("\nFor {}:\n{}", format_bytes(solved.request.limits.ram_budget), summary_text(solved));
  return text;
}

nlohmann::ordered_json answers_json(const std::vector<Solved>& answers) {
  if (answers.size() == 1) return result_json(answers.front());
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  json["format"] = 1;
  json["answers"] = nlohmann::ordered_json::array();
  for (const Solved& solved : answers) json["answers"].push_back(result_json(solved));
  return json;
}

}  // namespace poet::cli
