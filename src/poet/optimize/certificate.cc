#include "poet/optimize/certificate.h"

#include <algorithm>

#include "poet/base/error.h"

namespace poet {
namespace {

constexpr double kNoGap = 1e-9;            // of the baseline
constexpr double kSolverTolerance = 1e-7;  // of the baseline; what solvers' arithmetic may cost a bound

}  // namespace

double overhead_gap(double energy, double bound, double baseline) {
  const double open = energy - bound;
  if (open <= kNoGap * baseline) return 0;
  return open / (energy - baseline);
}

Certificate certify(Joules energy, Joules baseline, const Bounds& bounds, double wanted_gap) {
  ensure(bounds.every_plan <= energy + kSolverTolerance * baseline,
         "a plan needs less energy than the bound on every plan");
  Certificate certificate;
  certificate.energy = energy;
  certificate.bounds = bounds;
  const auto gap_to = [&](Joules bound) {
    return overhead_gap(energy.value(), bound.value(), baseline.value());
  };
  certificate.gap = gap_to(bounds.every_plan);
  if (energy > Joules(0)) certificate.energy_gap = std::max(0.0, (energy - bounds.every_plan) / energy);
  certificate.staged_gap = gap_to(bounds.of_staged());
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
