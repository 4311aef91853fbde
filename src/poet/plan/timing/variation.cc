#include "poet/plan/timing/variation.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>
#include <tuple>
#include <utility>

#include "poet/base/error.h"
#include "poet/base/quantile.h"
#include "poet/plan/limits.h"
#include "poet/plan/machine.h"

namespace poet {
namespace {

/// What of a plan's step the clock sees.
struct TimedStep {
  StepKind kind = StepKind::compute;  // compute, page_in, page_out, wait
  double seconds = 0;
  std::size_t transfer = 0;  // of a wait: the number of the transfer that it is for
  std::size_t draw = 0;      // of what is drawn for a step, which number is this time's
};

std::vector<TimedStep> timed_steps(const Instance& instance, const Plan& plan) {
  const Dataflow flow = dataflow(instance.graph);
  const CostTable& costs = instance.costs;
  Machine machine(instance, flow, Semantics::device);
  std::vector<TimedStep> timed;
  IdVector<ValueId, std::size_t> last(instance.graph.values.size(), 0);
  std::size_t issued = 0;
  const auto wait = [&](ValueId v) {
    machine.take({StepKind::wait, OpId(), v});
    if (last[v] > 0) timed.push_back({StepKind::wait, 0, last[v] - 1, 0});
  };
  std::size_t computed = 0;
  /// Value, which of its transfers; in `timed`.
  std::vector<std::pair<std::tuple<int, int, int>, std::size_t>> transfers;
  IdVector<ValueId, int> times_moved(instance.graph.values.size(), 0);
  for (const Step& step : plan.steps) {
    for (const ValueId v : machine.awaited_by(step)) wait(v);
    if (step.kind == StepKind::wait) {
      wait(step.value);
      continue;
    }
    machine.take(step);
    if (step.kind == StepKind::free) continue;
    if (step.kind == StepKind::compute) {
      timed.push_back({step.kind, costs.ops[step.op].runtime.value(), 0, computed++});
      continue;
    }
    const ValueCost& cost = costs.values[step.value];
    last[step.value] = ++issued;
    const bool in = step.kind == StepKind::page_in;
    transfers.push_back({{step.value.index, times_moved[step.value]++, in ? 1 : 0}, timed.size()});
    timed.push_back({step.kind, (in ? cost.page_in : cost.page_out).seconds.value(), 0, 0});
  }
  // Plans that differ in when a transfer is issued draw the same time for it, and can be compared.
  std::sort(transfers.begin(), transfers.end());
  for (const auto& [which, i] : transfers) timed[i].draw = computed++;
  return timed;
}

/// The standard deviation of the logarithm, of a lognormal distribution with this 95th percentile over the
/// median.
double deviation(double p95_over_median) {
  constexpr double kNormalQuantile = 1.6448536269514722;  // of the standard normal distribution at 0.95
  return std::log(p95_over_median) / kNormalQuantile;
}

/// Standard normal numbers (Box, Muller): the library's own distribution differs between platforms.
class Normal {
 public:
  explicit Normal(std::uint64_t seed) : random_(seed) {}

  double next() {
    if (has_other_) {
      has_other_ = false;
      return other_;
    }
    const double radius = std::sqrt(-2 * std::log(uniform()));
    const double angle = 2 * std::numbers::pi * uniform();
    other_ = radius * std::sin(angle);
    has_other_ = true;
    return radius * std::cos(angle);
  }

 private:
  /// In (0, 1].
  double uniform() { return static_cast<double>((random_() >> 11) + 1) * 0x1p-53; }

  std::mt19937_64 random_;
  double other_ = 0;
  bool has_other_ = false;
};

struct Samples {
  std::vector<double> normal;  // drawn for a step, the last of them for all of its ops
  std::vector<double> ends;    // of its transfers
};

DeviceClock run_once(const std::vector<TimedStep>& steps, const DeviceTiming& timing, Normal* normal,
                     Samples& samples) {
  const TimeVariation varies = timing.variation.value_or(TimeVariation{});
  const double op = deviation(varies.op);
  const double in = deviation(varies.page_in);
  const double out = deviation(varies.page_out);
  for (double& sample : samples.normal) sample = normal == nullptr ? 0 : normal->next();
  const auto drawn = [&](double deviation_of, std::size_t draw) {
    return normal == nullptr ? 1 : std::exp(deviation_of * samples.normal[draw]);
  };
  const double mean_op = normal == nullptr ? 1 : std::exp(op * op / 2);
  const double slow = drawn(deviation(varies.step), samples.normal.size() - 1) / mean_op;
  DeviceClock clock{timing.wake_time.value(), timing.concurrent};
  std::vector<double>& ends = samples.ends;
  ends.clear();
  for (const TimedStep& step : steps) {
    switch (step.kind) {
      case StepKind::compute:
        clock.compute(step.seconds * slow * drawn(op, step.draw));
        break;
      case StepKind::page_in:
        ends.push_back(clock.transfer(step.seconds * drawn(in, step.draw)).end);
        break;
      case StepKind::page_out:
        ends.push_back(clock.transfer(step.seconds * drawn(out, step.draw)).end);
        break;
      case StepKind::wait:
        clock.wait_until(ends[step.transfer]);
        break;
      case StepKind::free:
        break;
    }
  }
  return clock;
}

TimeSpread spread_of(std::vector<double>& figures) {
  double sum = 0;
  for (const double figure : figures) sum += figure;
  std::sort(figures.begin(), figures.end());
  return {Seconds(quantile_of_sorted(figures, 0.5)), Seconds(sum / static_cast<double>(figures.size())),
          Seconds(quantile_of_sorted(figures, kHighQuantile))};
}

}  // namespace

double SimulatedSteps::share_within(Seconds deadline) const {
  const auto late = std::upper_bound(runtimes.begin(), runtimes.end(), latest_end(deadline.value()));
  return static_cast<double>(late - runtimes.begin()) / static_cast<double>(runtimes.size());
}

Seconds SimulatedSteps::deadline_for(double share) const {
  const auto count = static_cast<std::size_t>(std::ceil(share * static_cast<double>(runtimes.size())));
  return Seconds(runtimes[std::clamp<std::size_t>(count, 1, runtimes.size()) - 1]);
}

SimulatedSteps simulate(const Instance& instance, const Plan& plan, int steps, std::uint64_t seed) {
  ensure(steps >= 1, "a simulation has a step");
  const std::vector<TimedStep> timed = timed_steps(instance, plan);
  const DeviceTiming& timing = instance.costs.timing;
  SimulatedSteps simulated;
  std::vector<double> stalled;
  Samples samples;
  samples.normal.resize(timed.size() + 1);
  const auto add = [&](const DeviceClock& clock) {
    simulated.runtimes.push_back(clock.makespan());
    stalled.push_back(clock.stalled);
  };
  if (!timing.variation || *timing.variation == TimeVariation{}) {
    add(run_once(timed, timing, nullptr, samples));
  } else {
    constexpr std::size_t kMostTimes = 4'000'000;  // drawn in all: a fifth of a second
    constexpr std::size_t kLeastSteps = 200;
    const auto fitting = std::max(kLeastSteps, kMostTimes / std::max<std::size_t>(timed.size(), 1));
    const auto count = std::min(static_cast<std::size_t>(steps), fitting);
    Normal normal(seed);
    for (std::size_t i = 0; i < count; ++i) add(run_once(timed, timing, &normal, samples));
  }
  simulated.runtime = spread_of(simulated.runtimes);
  simulated.stalled = spread_of(stalled);
  return simulated;
}

}  // namespace poet
