#include "poet/optimize/certificate.h"

#include <algorithm>
#include <cstdlib>

#include "poet/base/error.h"

namespace poet {
namespace {

constexpr double kNoGap = 1e-9;            // relative to the baseline
constexpr double kSolverTolerance = 1e-7;  // likewise; floating-point error of a solver's bound

bool is_strict() { return std::getenv("POET_STRICT_BOUNDS") != nullptr; }

}  // namespace

double overhead_gap(double energy, double bound, double baseline) {
  const double open = energy - bound;
  if (open <= kNoGap * baseline) return 0;
  return open / (energy - baseline);
}

Certificate certify(Joules energy, Joules baseline, const Bounds& bounds, double wanted_gap) {
  Certificate certificate;
  certificate.energy = energy;
  certificate.bounds = bounds;
  if (bounds.every_plan > energy + kSolverTolerance * baseline) {
    ensure(!is_strict(), "a plan needs less energy than the bound on every plan");
    certificate.bounds = {std::min(baseline, energy), std::nullopt};
    certificate.note =
        "a lower bound from the solver exceeded the energy of the verified plan and was dropped, so the "
        "gap is wider than what is proven";
  }
  const auto gap_to = [&](Joules bound) {
    return overhead_gap(energy.value(), bound.value(), baseline.value());
  };
  const Joules every_plan = certificate.bounds.every_plan;
  certificate.gap = gap_to(every_plan);
  if (energy > Joules(0)) certificate.energy_gap = std::max(0.0, (energy - every_plan) / energy);
  certificate.staged_gap = gap_to(certificate.bounds.of_staged());
  certificate.status = certificate.gap <= wanted_gap ? Status::optimal : Status::feasible;
  return certificate;
}

Certificate certify_none(Status status, const Bounds& bounds) {
  ensure(status == Status::infeasible || status == Status::unknown, "an answer without a plan");
  Certificate certificate;
  certificate.status = status;
  certificate.bounds = bounds;
  return certificate;
}

const char* to_string(Status status) {
  switch (status) {
    case Status::optimal:
      return "optimal";
    case Status::feasible:
      return "feasible";
    case Status::infeasible:
      return "infeasible";
    case Status::unknown:
      return "unknown";
  }
  return "?";
}

}  // namespace poet
