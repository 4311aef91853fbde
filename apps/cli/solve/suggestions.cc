#include "apps/cli/solve/suggestions.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "apps/cli/solve/find_suggestions.h"
#include "poet/base/amounts.h"

namespace poet::cli {
namespace {

struct RankedSuggestion {
  double change;  // of a limit, relative; what cannot be compared comes last
  std::string text;
};

constexpr double kIncomparable = std::numeric_limits<double>::infinity();

double more(double needed, double given) { return given > 0 ? needed / given - 1 : kIncomparable; }

std::string more_text(double change) {
  return std::isfinite(change) && change < 100 ? fmt::format(" ({} more)", format_percent(change, 2)) : "";
}

std::string typed_seconds(Seconds time) {
  return time.value() < 1e-3 ? fmt::format("{:.9f}", time.value()) : fmt::format("{}", time.value());
}

/// What has to be typed, too, for more RAM than there is.
const char* beyond_device(const Solved& solved, Bytes ram) {
  const std::optional<DeviceProfile>& device = solved.workload.device;
  return device && ram > device->ram ? " --beyond-device-ram" : "";
}

/// Where nothing that was tried has a plan, or nothing could be in the time.
std::string in_general_terms(const Solved& solved) {
  const std::optional<DeviceProfile>& device = solved.workload.device;
  const bool has_all = device && solved.request.limits.ram_budget >= device->ram;
  const std::string ram = !has_all                                 ? "a larger --ram-budget"
                          : solved.request.instance.batch_size > 1 ? "a smaller --batch-size"
                                                                   : "a device with more RAM";
  if (!deadline_hopeless(solved)) return ram;
  return ram_hopeless(solved) ? ram + " together with a later deadline, or none"
                              : "a later deadline, or none";
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
    return fmt::format("{} alone take {}, more than the budget of {}{}",
                       solved.request.instance.costs.persistent_of, format_bytes(persistent),
                       format_bytes(budget), elsewhere);
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

std::vector<std::string> suggestion_texts(const Solved& solved) {
  const Suggestions& found = solved.suggestions;
  const Limits& limits = solved.request.limits;
  const std::string split = found.split.empty() ? "" : " --split " + found.split;
  std::vector<RankedSuggestion> ranked;
  if (found.ram) {
    const double change =
        more(static_cast<double>(found.ram->value()), static_cast<double>(limits.ram_budget.value()));
    ranked.push_back({change, fmt::format("--ram-budget {}{}{}{}{}", found.ram->value(),
                                          beyond_device(solved, *found.ram), split, more_text(change),
                                          found.ram_keeps_all ? ", with which everything can be kept" : "")});
  }
  if (found.deadline) {
    const double change = more(found.deadline->value(), limits.deadline->value());
    ranked.push_back(
        {change, fmt::format("--deadline {}{}{}", typed_seconds(*found.deadline), split, more_text(change))});
  }
  if (found.on_time)
    ranked.push_back({more(solved.request.on_time.value_or(1), *found.on_time),
                      fmt::format("--on-time {:g}%{}", 100 * *found.on_time, split)});
  const auto add = [&ranked](std::string text) { ranked.push_back({kIncomparable, std::move(text)}); };
  if (found.both)
    add(fmt::format("--ram-budget {}{} together with --deadline {}{}: the step without limits",
                    found.both->first.value(), beyond_device(solved, found.both->first),
                    typed_seconds(found.both->second), split));
  if (found.any_deadline) add("no deadline");
  for (const std::string& change : found.others) add(change);
  if (found.max_bytes_written)
    add(fmt::format("--max-bytes-written {}{}", found.max_bytes_written->value(), split));
  if (found.batch_size) add(fmt::format("--batch-size {}", *found.batch_size));
  if (solved.result.certificate.status == Status::unknown && ran_out_of_time(solved) && !solved.interrupted) {
    add(fmt::format("perhaps a longer --time-limit than {}",
                    format_seconds(Seconds(solved.request.options.time_limit_seconds))));
  }
  // Limits of a schedule that the explanation knows, in these parts. No plan was found with them, for lack of
  // time or as addresses need a little more.
  const Explanation& explanation = solved.result.outcome.explanation;
  const std::string same_parts =
      solved.workload.cut.part ? fmt::format(" --split {}", solved.workload.cut.part->value()) : "";
  const std::optional<Bytes> least = explanation.least_ram;
  const bool is_certain = solved.workload.cut.part && knows_a_little_more_ram(solved);
  const bool is_possible = !found.ram && !found.both && !deadline_hopeless(solved);
  if (least && *least > limits.ram_budget && least != found.ram && (is_possible || is_certain)) {
    const double change =
        more(static_cast<double>(least->value()), static_cast<double>(limits.ram_budget.value()));
    ranked.push_back(
        {change, fmt::format("{}--ram-budget {}{}{}{}", is_certain ? "" : "perhaps ", least->value(),
                             beyond_device(solved, *least), same_parts, more_text(change))});
  }
  const std::optional<Seconds> later = explanation.least_deadline;
  if (later && !found.deadline && !found.any_deadline && !found.both && !ram_hopeless(solved) &&
      limits.deadline && *later > *limits.deadline) {
    const double change = more(later->value(), limits.deadline->value());
    ranked.push_back({change, fmt::format("perhaps --deadline {}{}{}", typed_seconds(rounded_up(*later)),
                                          same_parts, more_text(change))});
  }
  if (ranked.empty()) add(in_general_terms(solved));

  std::stable_sort(ranked.begin(), ranked.end(),
                   [](const RankedSuggestion& a, const RankedSuggestion& b) { return a.change < b.change; });
  std::vector<std::string> texts;
  texts.reserve(ranked.size());
  for (RankedSuggestion& one : ranked) texts.push_back(std::move(one.text));
  return texts;
}

}  // namespace poet::cli
