// Table 1 of the paper: what each method takes into account.

#include <fmt/format.h>

#include <map>

#include "apps/cli/reproduce/section.h"
#include "poet/baselines/method.h"

namespace poet::cli {
namespace {

/// What a method looks at when it decides; "no" costs it in one of the figures.
struct Traits {
  bool general_graphs, compute_aware, memory_aware, power_aware;
};

const std::map<std::string_view, Traits>& traits() {
  static const std::map<std::string_view, Traits> table = {
      {"checkpoint-all", {true, false, false, false}},
      {"revolve", {false, false, false, false}},
      {"chen-sqrt", {true, false, false, false}},
      {"chen-greedy", {true, false, true, false}},
      {"checkmate", {true, true, true, false}},
      {"checkmate-lp", {true, true, true, false}},
      {"checkmate-random", {true, true, true, false}},
      {"dtr", {true, true, true, false}},
      {"dtr-eq", {true, true, true, false}},
      {"dtr-local", {true, true, true, false}},
      {"capuchin", {true, true, true, false}},
      {"rotor", {false, true, true, false}},
      {"pofo", {false, true, true, false}},
      {"pofo-blocking", {false, true, true, false}},
      {"poet-no-paging", {true, true, true, true}},
      {"poet-no-remat", {true, true, true, true}},
      {"poet", {true, true, true, true}},
  };
  return table;
}

}  // namespace

Section table1(const std::vector<Study>& studies) {
  Section section;
  section.title = "Table 1: what each method takes into account";
  section.text =
      "The paper compares by four properties: any graph, or chains only; the costs of ops; "
      "the sizes of values; the energy of computing and of transfers. "
      "The last two columns are measured: how many of the RAM budgets of Figure 3, "
      "on published instances and corrected networks, each method meets.";
  const std::vector<SweepResult> published = results_of(studies, "figure3_published");
  const std::vector<SweepResult> corrected = results_of(studies, "figure3_corrected");
  NamedTable table{"All methods here",
                   {"method", "source", "recomputes", "pages", "any graph", "knows costs", "knows sizes",
                    "knows energy", "published", "corrected"},
                   {}};
  const auto met = [](const std::vector<SweepResult>& results, std::string_view method) {
    std::size_t points = 0;
    std::size_t held = 0;
    for (const SweepResult& result : results) {
      points += result.method == method ? 1 : 0;
      held += result.method == method && holds(result) ? 1 : 0;
    }
    return points == 0 ? std::string("-") : fmt::format("{} of {}", held, points);
  };
  for (const Method& method : methods()) {
    const auto found = traits().find(method.name);
    if (found == traits().end()) continue;
    const Traits& t = found->second;
    const auto mark = [](bool yes) { return std::string(yes ? "yes" : "-"); };
    table.rows.push_back({std::string(method.title), std::string(method.source), mark(method.recomputes),
                          mark(method.pages), t.general_graphs ? "yes" : "chains", mark(t.compute_aware),
                          mark(t.memory_aware), mark(t.power_aware), met(published, method.name),
                          met(corrected, method.name)});
  }
  section.tables.push_back(std::move(table));
  return section;
}

std::vector<Section> sections(const std::vector<Study>& studies, Budgets budgets) {
  return {training_memory(),
          table1(studies),
          figure2(studies),
          figure3(studies, budgets),
          figure4(studies, budgets),
          figure5(studies),
          dtr_comparison(studies, budgets),
          table3(studies, budgets),
          batch_sizes(studies),
          less_ram(studies)};
}

}  // namespace poet::cli
