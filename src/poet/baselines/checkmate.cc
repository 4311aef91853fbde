#include "poet/baselines/checkmate.h"

#include <fmt/format.h>

#include <random>

#include "poet/base/amounts.h"
#include "poet/baselines/checkmate_relaxation.h"
#include "poet/baselines/retention.h"
#include "poet/baselines/solved.h"
#include "poet/plan/schedule/linearise.h"

namespace poet {
namespace {

constexpr double kAllowance = 0.1;  // section 5.3: what rounding may need beyond the relaxation's budget
constexpr int kDraws = 100;
constexpr double kSolverNoise = 1e-6;

/// The relaxation at the reduced budget; without one the answer's reason is set.
Relaxation relax(const MethodRequest& request, MethodAnswer& answer) {
  const Bytes budget = transient_budget(request);
  const auto reduced = static_cast<std::int64_t>((1 - kAllowance) * static_cast<double>(budget.value()));
  Relaxation relaxation = checkmate_relaxation(request, Bytes(reduced));
  switch (relaxation.status) {
    case RelaxationStatus::solved:
      break;
    case RelaxationStatus::infeasible:
      answer.reason =
          fmt::format("the relaxation has no solution at {:.0f}% of the budget", 100 * (1 - kAllowance));
      break;
    case RelaxationStatus::too_large:
      answer.reason = fmt::format("the relaxation has {} rows, more than {}", format_count(relaxation.rows),
                                  format_count(kMostRelaxationRows));
      break;
    case RelaxationStatus::stopped:
      answer.reason = fmt::format("the relaxation, of {} rows, was not solved in the time allowed",
                                  format_count(relaxation.rows));
      break;
  }
  return relaxation;
}

template <class Take>
Plan rounded(const MethodRequest& request, const Dataflow& flow, const Relaxation& relaxation, Take take) {
  const auto keep = [&](OpId stage, ValueId v) { return take(relaxation.retained(stage, v)); };
  return linearise(request.instance, schedule_of_retention(request.instance, flow, keep), request.semantics);
}

}  // namespace

MethodAnswer checkmate(const MethodRequest& request) {
  MethodRequest without_deadline = request;
  without_deadline.limits.deadline.reset();
  without_deadline.limits.max_bytes_written.reset();
  SolveOptions options = request.options;
  options.paging = false;
  options.rematerialization = true;
  options.explain = false;
  return solved_plan(without_deadline, options);
}

MethodAnswer checkmate_lp(const MethodRequest& request) {
  MethodAnswer answer;
  const Relaxation relaxation = relax(request, answer);
  if (relaxation.status != RelaxationStatus::solved) return answer;
  const Dataflow flow = dataflow(request.instance.graph);
  for (const int tenths : {5, 1, 2, 3, 4, 6, 7, 8, 9}) {
    const auto at_least = [tenths](double s) { return s >= 0.1 * tenths - kSolverNoise; };
    answer.plans.push_back(rounded(request, flow, relaxation, at_least));
  }
  return answer;
}

MethodAnswer checkmate_random(const MethodRequest& request) {
  MethodAnswer answer;
  const Relaxation relaxation = relax(request, answer);
  if (relaxation.status != RelaxationStatus::solved) return answer;
  const Dataflow flow = dataflow(request.instance.graph);
  std::mt19937_64 random(1);
  constexpr double kUnit = 0x1p-53;  // standard distributions differ from library to library
  for (int i = 0; i < kDraws; ++i) {
    const auto draw = [&](double s) { return static_cast<double>(random() >> 11U) * kUnit < s; };
    answer.plans.push_back(rounded(request, flow, relaxation, draw));
  }
  return answer;
}

}  // namespace poet
