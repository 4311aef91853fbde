#include "apps/cli/solve/way_out.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "poet/base/amounts.h"

namespace poet::cli {
namespace {

struct WayOut {
  double change;  // of a limit, relative; what cannot be compared comes last
  std::string text;
};

constexpr double kIncomparable = std::numeric_limits<double>::infinity();

double more(double needed, double given) { return given > 0 ? needed / given - 1 : kIncomparable; }

std::string more_text(double change) {
  return std::isfinite(change) && change < 100 ? fmt::format(" ({} more)", format_percent(change, 2)) : "";
}

/// Enough digits that the deadline is not rounded below what is needed.
std::string typed_seconds(Seconds time) {
  const double rounded = std::ceil(time.value() * 1e6) / 1e6;
  return rounded < 1e-3 ? fmt::format("{:.9f}", std::ceil(time.value() * 1e9) / 1e9)
                        : fmt::format("{}", rounded);
}

}  // namespace

std::string why_not(const Solved& solved) {
  const Bytes persistent = solved.request.instance.costs.persistent;
  const Bytes budget = solved.request.limits.ram_budget;
  if (solved.result.certificate.status == Status::infeasible && persistent > budget) {
    const std::string elsewhere =
        solved.floor_elsewhere
            ? fmt::format("; --persistent excluded assumes that they live elsewhere and then needs {}",
                          format_bytes(*solved.floor_elsewhere))
            : "";
    return fmt::format("parameters and optimiser state alone take {}, more than the budget of {}{}",
                       format_bytes(persistent), format_bytes(budget), elsewhere);
  }
  const RamFloor& floor = solved.figures.floor;
  if (budget < floor.bytes() && budget >= floor.bytes() - floor.largest.workspace) {
    return fmt::format("the kernel of {} needs {} of workspace beside {}its operands and results",
                       solved.request.instance.graph.ops[floor.op].name,
                       format_bytes(floor.largest.workspace), persistent > Bytes(0) ? "parameters, " : "");
  }
  if (!solved.result.outcome.explanation.reason.empty()) return solved.result.outcome.explanation.reason;
  if (solved.result.certificate.status == Status::infeasible) return "no plan keeps these limits";
  return "no plan was found or proven impossible";
}

std::vector<std::string> ways_out(const Solved& solved) {
  const Explanation& explanation = solved.result.outcome.explanation;
  const Limits& limits = solved.request.limits;
  const SolveOptions& options = solved.request.options;
  const double budget = static_cast<double>(limits.ram_budget.value());
  std::vector<WayOut> ways;

  const Report& keep_all = solved.figures.keep_all;
  // Each limit may be hopeless whatever the other one is: then changing the other alone is no way out.
  const bool ram_hopeless = limits.ram_budget < solved.figures.floor.bytes();
  const bool deadline_hopeless = limits.deadline && latest_end(*limits.deadline) < keep_all.runtime;
  if (ram_hopeless && deadline_hopeless) {
    ways.push_back({0, fmt::format("--ram-budget {} together with --deadline {}: the step without limits",
                                   keep_all.peak_ram.value(), typed_seconds(keep_all.runtime))});
  } else if (!deadline_hopeless) {
    const bool known = explanation.least_ram && *explanation.least_ram > limits.ram_budget;
    const Bytes enough = known ? *explanation.least_ram : keep_all.peak_ram;
    const double change = more(static_cast<double>(enough.value()), budget);
    if (enough > limits.ram_budget) {
      ways.push_back({change, fmt::format("--ram-budget {}{}{}", enough.value(), more_text(change),
                                          known ? "" : ", with which everything can be kept")});
    }
  }
  if (limits.deadline && !ram_hopeless) {
    if (explanation.least_deadline && *explanation.least_deadline > *limits.deadline) {
      const double change = more(explanation.least_deadline->value(), limits.deadline->value());
      ways.push_back({change, fmt::format("--deadline {}{}", typed_seconds(*explanation.least_deadline),
                                          more_text(change))});
    } else {
      const bool enough_ram = limits.ram_budget >= keep_all.peak_ram;
      ways.push_back(
          {kIncomparable, enough_ram ? "a later deadline, or none" : "perhaps a later deadline, or none"});
    }
  }
  for (const std::string& way : solved.other_ways) ways.push_back({kIncomparable, way});
  // Of these it is not known that they suffice; below the floor they cannot.
  if (!ram_hopeless && !deadline_hopeless) {
    if (!options.paging && solved.request.instance.costs.has_storage)
      ways.push_back({kIncomparable, "perhaps without --no-paging"});
    if (!options.rematerialization) ways.push_back({kIncomparable, "perhaps without --no-remat"});
    if (limits.max_bytes_written) ways.push_back({kIncomparable, "perhaps a larger --max-bytes-written"});
  }
  if (ran_out_of_time(solved) && !solved.interrupted) {
    ways.push_back({kIncomparable, fmt::format("a longer --time-limit than {}",
                                               format_seconds(Seconds(options.time_limit_seconds)))});
  }
  if (solved.workload.device && solved.request.instance.batch_size > 1) {
    ways.push_back({kIncomparable, "a smaller --batch-size"});
  }
  if (ways.empty()) ways.push_back({kIncomparable, "a larger --ram-budget"});

  std::stable_sort(ways.begin(), ways.end(),
                   [](const WayOut& a, const WayOut& b) { return a.change < b.change; });
  std::vector<std::string> texts;
  texts.reserve(ways.size());
  for (WayOut& way : ways) texts.push_back(std::move(way.text));
  return texts;
}

}  // namespace poet::cli
