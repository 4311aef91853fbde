#include "poet/plan/timing/slack.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "poet/plan/allowance.h"
#include "poet/plan/canonical.h"
#include "poet/plan/machine.h"
#include "poet/plan/timing/shift_transfers.h"
#include "poet/plan/timing/timeline.h"
#include "poet/plan/timing/variation.h"

namespace poet {
namespace {

constexpr int kStepsToCompare = 400;
constexpr std::uint64_t kSeedToCompare = 2;  // not that of the figures which people see

// How many times over the 95th percentile's distance from the median (as a power of its factor) is left:
// delays of transfers one after the other add up, but not all of them are late in one step.
constexpr std::array<double, 3> kPowers = {1, 0.5, 3};

bool moves_between_slots(const SlotPlan& slotted) {
  return std::any_of(slotted.transfers.begin(), slotted.transfers.end(),
                     [](const Shiftable& transfer) { return transfer.step.kind == StepKind::page_in; }) ||
         std::any_of(slotted.releases.begin(), slotted.releases.end(),
                     [](const Release& release) { return release.page_out >= 0; });
}

struct Expectation {
  double runtime = 0;
  double stalled = 0;
};

Expectation expected_of(const Instance& instance, const Plan& plan) {
  const SimulatedSteps steps = simulate(instance, plan, kStepsToCompare, kSeedToCompare);
  return {steps.runtime.mean.value(), steps.stalled.mean.value()};
}

}  // namespace

Plan with_slack(const Instance& instance, const Plan& plan, const Limits& limits, const Stop& stop) {
  if (!instance.costs.timing.variation || !has_waits(instance, Semantics::device)) return plan;
  const TimeVariation& varies = *instance.costs.timing.variation;
  const Timeline line = timeline_of(instance, plan);
  const std::int64_t capacity = std::max(transient_budget(instance.costs, limits), line.peak).value();
  SlotPlan given = slot_plan_of(instance, plan, line, capacity);
  if (!given.exact || !moves_between_slots(given)) return plan;
  for (std::size_t i = 0, transfer = 0; i < plan.steps.size(); ++i)
    if (plan.steps[i].kind == StepKind::page_in || plan.steps[i].kind == StepKind::page_out)
      given.transfers[transfer++].begin = line.begin[i];
  const Slots slots_given = slots_of(plan, line);
  Plan best = plan;
  Expectation least = expected_of(instance, plan);
  for (const double power : kPowers) {
    const Stretch stretch{std::pow(varies.page_in, power), std::pow(varies.page_out, power)};
    const TransferShifter shifter(instance, capacity, stretch);
    // Page-ins and RAM together, then the latter alone: each takes RAM that the other may want.
    for (const bool page_ins : {true, false}) {
      if (stop()) return best;
      SlotPlan slotted = given;
      Slots slots = slots_given;
      if (page_ins) shifter.page_in_just_in_time(slotted, slots, true);
      shifter.release_later(slotted, slots);
      keep_order(slotted);
      const Plan proposed = canonicalize(instance, plan_of(slotted), Semantics::device);
      const Timeline timed = timeline_of(instance, proposed);
      if (timed.peak.value() > capacity || !no_worse(instance, timed, line)) continue;
      const Expectation expected = expected_of(instance, proposed);
      if (expected.runtime >= least.runtime || expected.stalled > least.stalled) continue;
      best = proposed;
      least = expected;
    }
  }
  return best;
}

}  // namespace poet
