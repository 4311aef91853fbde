// The policy that the options say, and what they imply of one another.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <utility>
#include <vector>

#include "apps/cli/solve/options.h"
#include "apps/shared/amounts.h"
#include "poet/base/error.h"

namespace poet::cli {
namespace {

/// Why parameters stay in RAM and operators whole unless the options say otherwise; empty: they do not.
std::string keeps_in_ram(const ProblemOptions& options) {
  if (!options.resident_for.empty()) return options.resident_for;
  if (options.solver.solver == "file") return "--solver file";  // which solves one model
  if (options.solver.no_paging) return "--no-paging";
  return "";
}

bool has_device_defaults(const Policy& policy, const ProblemOptions& options) {
  return policy.semantics.value_or(Semantics::device) == Semantics::device && !options.input.instance;
}

/// But for what the RAM budget changes.
Policy policy_as_typed(const ProblemOptions& options) {
  Policy policy = policy_of(options.input, options.limits);
  policy.paging = !options.solver.no_paging;
  policy.rematerialization = !options.solver.no_remat;
  policy.split.tables = options.resident_for.empty() && policy.paging;
  policy.op_limit = read_op_limit(options.solver.op_limit);
  if (!has_device_defaults(policy, options) || !keeps_in_ram(options).empty()) return policy;
  if (!options.input.persistent) policy.persistent = PersistentPolicy::automatic;
  if (!options.input.split) policy.split.automatic = true;
  return policy;
}

}  // namespace

Policy policy_of(const ProblemOptions& options) {
  Policy policy = policy_as_typed(options);
  return options.ram ? with_ram(std::move(policy), *options.ram) : policy;
}

std::string implied_options(const ProblemOptions& options) {
  const std::string cause = keeps_in_ram(options);
  if (cause.empty() || !has_device_defaults(policy_of(options.input), options)) return "";
  std::vector<std::string> implied;
  if (!options.input.persistent) implied.emplace_back("--persistent resident");
  if (!options.input.split) implied.emplace_back("--split off");
  if (implied.empty()) return "";
  return fmt::format("{} implies {}", cause, fmt::join(implied, " and "));
}

std::optional<double> read_on_time(const LimitOptions& limits) {
  if (!limits.on_time) return std::nullopt;
  if (!limits.deadline && !limits.total_deadline && !limits.runtime_budget)
    throw InputError("--on-time",
                     "is the share of steps that meet a deadline: give --deadline, --total-deadline or "
                     "--runtime-budget, too");
  return parse_fraction("--on-time", *limits.on_time);
}

}  // namespace poet::cli
