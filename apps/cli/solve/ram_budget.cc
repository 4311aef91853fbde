#include "apps/cli/solve/ram_budget.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#include "poet/base/amounts.h"
#include "poet/base/error.h"
#include "poet/base/parse_amounts.h"
#include "poet/pipeline/ram_budget.h"

namespace poet::cli {
namespace {

/// KiB where any budget was typed in such; of bare numbers, what the first is a multiple of.
void use_units_as_typed(const std::vector<std::string>& budgets) {
  const auto in_kib = [](const std::string& text) {
    return text.find_first_of("iI") != std::string::npos && text != "least";
  };
  const auto is_bare = [](const std::string& text) {
    return text.find_first_not_of("0123456789") == std::string::npos;
  };
  if (std::ranges::any_of(budgets, in_kib))
    set_byte_units(ByteUnits::binary);
  else if (std::ranges::all_of(budgets, is_bare))
    use_units_of(parse_bytes("--ram-budget", budgets.front()));
}

/// What keeping everything takes before the graph is split.
Workload unsplit(const ProblemOptions& options, const Solving& how) {
  ProblemOptions alone = options;
  alone.limits.ram_budget = "0";
  Policy policy = policy_of(alone);
  policy.split = {};
  Workload workload = load(network_spec(options.input), device_spec(options.input), policy);
  if (how.adjust) how.adjust(workload.instance, workload.semantics);
  workload.whole_keep_all = figures_of(workload.instance, workload.semantics).keep_all.peak_ram;
  return workload;
}

/// What the answer to no RAM at all says would do, with the parts that it is known with. The deadline may
/// leave nothing: then the answer is about all the RAM there is, and says so.
void settle_least(ProblemOptions& options, const Solving& how) {
  const bool splits = policy_of(options).split.automatic;
  options.limits.ram_budget = "1";
  Solving search;
  search.look_further = false;
  const Solved none = solve_posed(pose_problem(options, how.adjust), options, search);
  const std::optional<Bytes> least =
      has_plan(none) ? none.request.limits.ram_budget : none.result.outcome.explanation.least_ram;
  if (none.workload.device) use_units_of(none.workload.device->ram);
  if (least) {
    options.limits.ram_budget = std::to_string(least->value());
    const std::optional<Bytes> part = none.workload.part;
    if (splits) options.input.split = part ? std::to_string(part->value()) : "off";
    options.ram_note =
        fmt::format("the least RAM budget with a plan that a quick search knows is {}{}",
                    format_bytes(*least), splits ? ", with --split " + *options.input.split : "");
  } else if (none.workload.device) {
    options.limits.ram_budget.reset();
    options.ram_note =
        "no RAM budget is known to be enough within the other limits; this is about the device's RAM";
  } else {
    options.limits.ram_budget = std::to_string(none.workload.whole_keep_all.value());
    options.ram_note =
        "no RAM budget is known to be enough within the other limits; this is about what keeps everything";
  }
}

}  // namespace

std::vector<std::string> ram_budgets(const LimitOptions& limits) {
  std::vector<std::string> budgets;
  if (!limits.ram_budget) return budgets;
  const std::string& text = *limits.ram_budget;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    budgets.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return budgets;
}

ProblemOptions settled(ProblemOptions options, const Solving& how) {
  std::vector<std::string> budgets = ram_budgets(options.limits);
  if (budgets.empty()) {
    options.ram_note = "the RAM budget is all of the device's RAM; --ram-budget sets another";
    return options;
  }
  if (budgets.size() == 1 && budgets.front() == "least") {
    options.limits.ram_budget.reset();
    settle_least(options, how);
    return options;
  }
  use_units_as_typed(budgets);
  std::optional<Workload> whole;
  std::vector<std::string> meant;
  for (std::string& text : budgets) {
    if (text == "least")
      throw InputError("--ram-budget",
                       "least is no budget among several: its plan splits the graph otherwise");
    Policy policy;
    policy.ram = parse_ram_budget("--ram-budget", text);
    if (!policy.ram.of_keep_all) continue;
    if (!whole) whole = unsplit(options, how);
    if (budgets.size() == 1 && whole->device) use_units_of(whole->device->ram);
    const Bytes bytes = ram_budget_of(policy, *whole, {});
    meant.push_back(fmt::format("{} of the {} that keeping everything takes before operators are split is {}",
                                text, format_bytes(whole->whole_keep_all), format_bytes(bytes)));
    text = std::to_string(bytes.value());
  }
  options.limits.ram_budget = fmt::format("{}", fmt::join(budgets, ","));
  if (!meant.empty()) options.ram_note = fmt::format("{}", fmt::join(meant, "; "));
  return options;
}

}  // namespace poet::cli
