#include "apps/cli/solve/notes.h"

#include <fmt/format.h>

#include <cmath>

#include "poet/base/amounts.h"
#include "poet/graph/parts.h"
#include "poet/report/table.h"
#include "poet/split/indexed.h"

namespace poet::cli {

std::vector<std::string> notes(const Solved& solved) {
  std::vector<std::string> out = solved.workload.notices;
  if (!solved.ram_note.empty()) out.push_back(solved.ram_note);
  if (!solved.implied_options.empty()) out.push_back(solved.implied_options);
  if (solved.keep_all_as_given)
    out.push_back(fmt::format(
        "ops are computed in another order than the network's, in which keeping everything takes {}",
        format_bytes(*solved.keep_all_as_given)));
  const auto pages = [&report = solved.result.report] { return report.page_ins + report.page_outs > 0; };
  if (solved.result.synchronous)
    out.push_back(
        fmt::format("this plan {}, which no staged schedule can; --schedule-out searches for a staged one",
                    !solved.result.paged.empty() ? "pages parameters"
                    : pages()                    ? "pages between two ops"
                                                 : "recomputes between two ops"));
  const Graph& graph = solved.request.instance.graph;
  if (solved.workload.choose_paged && indexed_tables(graph).empty() && !indexable_tables(graph).empty())
    out.emplace_back(
        "embedding tables are transferred whole in this step; with less RAM their rows are transferred by "
        "index, which may take less energy");
  if (!solved.workload.device) return out;
  const DeviceProfile& profile = *solved.workload.device;
  const Bytes budget = solved.request.limits.ram_budget;
  if (budget > profile.ram) {
    out.push_back(fmt::format("the budget of {} exceeds the {} of RAM of {}", format_bytes(budget),
                              format_ram(profile.ram), profile.name));
  }
  if (!has_plan(solved) || !profile.storage) return out;
  const Bytes written = solved.result.report.bytes_written;
  if (profile.storage->write_endurance && written > Bytes(0)) {
    out.push_back(fmt::format("the storage's write endurance of {} lasts for {} steps",
                              format_bytes(*profile.storage->write_endurance),
                              format_short(std::floor(*profile.storage->write_endurance / written))));
  }
  return out;
}

}  // namespace poet::cli
