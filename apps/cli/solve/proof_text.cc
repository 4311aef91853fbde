#include "apps/cli/solve/proof_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "poet/base/amounts.h"
#include "poet/report/table.h"

namespace poet::cli {
namespace {

// After "at most" and "more than".
std::string without_less_than(const std::string& percent) {
  return percent.starts_with("<") ? percent.substr(1) : percent;
}

// "at most 1.2% of the overhead (0.03% of the energy)"
std::string saving(double gap, Joules missing, Joules energy) {
  const double of_energy = energy > Joules(0) ? std::max(0.0, missing / energy) : 0;
  return fmt::format("{} of the overhead ({} of the energy)", without_less_than(format_percent(gap, 2)),
                     without_less_than(format_percent(of_energy, 2)));
}

// Of staged schedules, where more is proven of them than of every plan.
std::string staged_status(const Certificate& certificate) {
  if (!certificate.bounds.staged) return "";
  if (certificate.staged_gap <= 0) return "; no staged schedule needs less energy";
  return fmt::format(
      "; a staged schedule could save at most {}",
      saving(certificate.staged_gap, certificate.energy - *certificate.bounds.staged, certificate.energy));
}

std::string ended_by(const Solved& solved) {
  if (solved.interrupted) return fmt::format("; stopped by {}", request_name(solved.stopped_by));
  return ran_out_of_time(solved) ? "; a longer --time-limit may find it" : "; the search ended by itself";
}

// With the size of the parts, as graphs in other parts may have better plans.
std::string status(const Solved& solved) {
  return to_string(solved.result.certificate.status) + in_parts(solved.workload);
}

// A bound on every order of ops says little: what is proven of this one says more.
std::string status_of_order(const Solved& solved, const Certificate& of_order) {
  const std::string order = solved.result.order.empty() ? "the network's order of ops" : "this order of ops";
  const std::string text = status(solved);
  if (of_order.gap <= 0) return fmt::format("{}: in {} no plan needs less energy; another may", text, order);
  return fmt::format("{}: in {} a better plan could save at most {}, in another one more", text, order,
                     saving(of_order.gap, of_order.energy - of_order.bounds.every_plan, of_order.energy)) +
         (of_order.status == Status::optimal ? "" : ended_by(solved));
}

}  // namespace

std::string proof_text(const Solved& solved) {
  const Certificate& certificate = solved.result.certificate;
  if (certificate.status == Status::feasible && solved.result.of_this_order)
    return status_of_order(solved, *solved.result.of_this_order);
  const Joules missing = certificate.energy - certificate.bounds.every_plan;
  const std::string text = status(solved);
  if (certificate.status == Status::optimal) {
    return text + (certificate.gap <= 0
                       ? ": no plan needs less energy"
                       : ": no plan saves more than " + saving(certificate.gap, missing, certificate.energy));
  }
  return text + ", not proven best: a better plan could save at most " +
         saving(certificate.gap, missing, certificate.energy) + staged_status(certificate) + ended_by(solved);
}

std::string gap_cell(const Solved& solved) {
  const Certificate& certificate = solved.result.certificate;
  if (certificate.gap <= 0) return "0%";
  return fmt::format("{} ({})", format_percent(certificate.gap, 2),
                     format_percent(certificate.energy_gap, 2));
}

std::string solver_text(const Solved& solved) {
  const Outcome& outcome = solved.result.outcome;
  std::string text = fmt::format("{}, {}", outcome.solver, format_seconds(Seconds(outcome.solve_seconds), 2));
  if (outcome.nodes > 0) text += fmt::format(", {}", counted(outcome.nodes, "node"));
  return text;
}

}  // namespace poet::cli
