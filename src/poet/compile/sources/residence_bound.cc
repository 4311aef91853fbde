#include "poet/compile/sources/residence_bound.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>

#include "poet/base/amounts.h"
#include "poet/optimize/problem/loads.h"
#include "poet/optimize/problem/problem.h"

namespace poet {

std::optional<std::string> why_no_choice(const Form& form, const Limits& limits) {
  Seconds computing{};
  for (const OpCost& op : form.instance.costs.ops) computing += op.runtime;
  if (limits.deadline && latest_end(*limits.deadline) < computing)
    return "the deadline is shorter than computing every op once";
  if (limits.deadline && latest_end(*limits.deadline) < form.least_step.runtime)
    return fmt::format(
        "with this RAM a step of these ops takes at least {}, as parameters and optimiser state have to move",
        format_seconds(form.least_step.runtime));
  const std::optional<Bytes> most = limits.max_bytes_written;  // homes need no other room on storage
  if (!most) return std::nullopt;
  const Bytes written = least_written_home(form.instance, limits.ram_budget);
  if (written <= *most) return std::nullopt;
  return fmt::format(
      "in this RAM a step writes at least {} of parameters and optimiser state home to storage, over the "
      "limit of {}",
      format_bytes(written), format_bytes(*most));
}

namespace {

WithLoads loads_of(const Instance& instance, const PagedSet& all, const SolveOptions& options) {
  WithLoads loads = with_loads(with_paged(instance, all));
  if (!options.rematerialization) redo_only_loads(loads);
  return loads;
}

/// Loads may be repeated even if nothing may be recomputed. There are no limits but RAM: with resident values
/// a step is shorter and writes less.
Problem relaxed_problem(const WithLoads& loads, Bytes ram_budget, SolveOptions options) {
  options.rematerialization = true;
  Limits ram;
  ram.ram_budget = ram_budget;
  Problem problem = make_problem({loads.instance, ram, Semantics::device}, options);
  problem.max_bytes_written = std::numeric_limits<std::int64_t>::max();
  return problem;
}

}  // namespace

ResidenceBound::ResidenceBound(const Instance& instance, const PagedSet& all, Bytes ram_budget,
                               const SolveOptions& options)
    : options_(options),
      loads_(loads_of(instance, all, options)),
      problem_(relaxed_problem(loads_, ram_budget, options)) {
  if (problem_.budget < 0 || problem_.ops == 0) return;
  problem_.residents = residents_of(with_paged(instance, all), loads_);
  if (problem_.residents.empty()) return;
  gaps_.emplace(problem_);
  if (problem_.regime.relaxes_residence) relaxed_.emplace(problem_, options_);
}

bool ResidenceBound::go_on(double best_joules, const Stop& stop) {
  if (gaps_ && gaps_->go_on(best_joules, stop)) {
    spent_on_gaps_ += gaps_->effort_of_round();
    return true;
  }
  return relaxed_ && relaxed_->go_on(best_joules, stop);
}

double ResidenceBound::bound() const {
  return std::max(gaps_ ? gaps_->bound() : 0, relaxed_ ? relaxed_->bound() : 0);
}

double ResidenceBound::effort() const { return spent_on_gaps_ + (relaxed_ ? relaxed_->effort() : 0); }

std::optional<PagedSet> ResidenceBound::paged() const {
  if (!relaxed_ || relaxed_->resident().empty()) return std::nullopt;
  PagedSet paged;
  for (std::size_t i = 0; i < relaxed_->resident().size(); ++i)
    if (relaxed_->resident()[i] == 0) paged.push_back(loads_.value_of[ValueId(problem_.residents[i].value)]);
  std::sort(paged.begin(), paged.end());
  return paged;
}

}  // namespace poet
