#include "poet/residence_proofs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>

#include "poet/base/amounts.h"
#include "poet/optimize/problem/loads.h"
#include "poet/optimize/problem/problem.h"
#include "poet/optimize/relaxation/residence_relaxation.h"

namespace poet {

std::optional<std::string> why_no_choice(const Instance& instance, const Limits& limits,
                                         const StepBound& least) {
  Seconds computing{};
  for (const OpCost& op : instance.costs.ops) computing += op.runtime;
  if (limits.deadline && latest_end(*limits.deadline) < computing)
    return "the deadline is shorter than computing every op once";
  if (limits.deadline && latest_end(*limits.deadline) < least.runtime)
    return fmt::format(
        "with this RAM a step of these ops takes at least {}, as parameters and optimiser state have to move",
        format_seconds(least.runtime));
  const std::optional<Bytes> most = limits.max_bytes_written;  // homes need no other room on storage
  if (!most) return std::nullopt;
  const Bytes written = least_written_home(instance, limits.ram_budget);
  if (written <= *most) return std::nullopt;
  return fmt::format(
      "in this RAM a step writes at least {} of parameters and optimiser state home to storage, over the "
      "limit of {}",
      format_bytes(written), format_bytes(*most));
}

RelaxedChoice relax_choice(const Instance& all_paged, const PagedSet& all, Bytes ram_budget,
                           SolveOptions options, double best_joules, const Stop& stop) {
  const WithLoads loads = with_loads(all_paged);
  const SolveOptions given = options;
  options.rematerialization = true;  // loads may be repeated even if nothing may be recomputed
  Limits ram;  // no other limits: with resident values a step is shorter and writes less
  ram.ram_budget = ram_budget;
  Problem problem = make_problem({loads.instance, ram, Semantics::device}, options);
  problem.max_bytes_written = std::numeric_limits<std::int64_t>::max();
  if (problem.budget < 0 || problem.ops == 0) return {0, all};
  problem.residents = residents_of(all_paged, loads);
  if (problem.residents.empty()) return {0, all};
  const ResidenceRelaxation relaxed = relax_residence(problem, given, best_joules, stop);
  if (relaxed.resident.empty()) return {relaxed.bound, all};
  PagedSet paged;
  for (std::size_t i = 0; i < relaxed.resident.size(); ++i)
    if (relaxed.resident[i] == 0) paged.push_back(loads.value_of[ValueId(problem.residents[i].value)]);
  std::sort(paged.begin(), paged.end());
  return {relaxed.bound, std::move(paged)};
}

}  // namespace poet
