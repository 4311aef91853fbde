// What holds of every method's plans, on random training graphs: the verifier takes them but for the limits,
// and no staged one needs less energy than poet's bound on all staged schedules.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>

#include "poet/baselines/method.h"
#include "poet/optimize/explain.h"
#include "poet/study/run_method.h"
#include "tests/support/effort.h"
#include "tests/support/random_instance.h"
#include "tests/support/staged_schedule.h"

namespace poet {
namespace {

using test::chance;
using test::pick;
using test::Rng;

struct MethodCase {
  Instance instance;
  Limits limits;
  Semantics semantics = Semantics::device;
};

MethodCase random_case(Rng& rng) {
  for (;;) {
    MethodCase c;
    c.semantics = kAllSemantics[static_cast<std::size_t>(pick(rng, 0, 2))];
    test::RandomInstanceOptions options;
    options.ops = pick(rng, 6, 14);
    options.in_place = chance(rng, 0.5);
    options.multi_output = chance(rng, 0.4);
    options.updates = chance(rng, 0.3);
    options.views = chance(rng, 0.2);
    options.inputs = chance(rng, 0.3);
    options.storage = chance(rng, 0.8);
    options.device = c.semantics == Semantics::device;
    c.instance = test::random_instance(rng, options);
    const Report all = replay_keep_all(c.instance, c.semantics);
    const std::int64_t floor = ram_floor(make_problem({c.instance, {}, c.semantics}, {})).floor_ram->value();
    if (all.peak_ram.value() <= floor) continue;
    c.limits.ram_budget =
        Bytes(pick(rng, static_cast<int>(floor), static_cast<int>(all.peak_ram.value()) + 3));
    if (chance(rng, 0.3)) c.limits.deadline = Seconds(all.runtime.value() * (1 + 0.25 * pick(rng, 0, 6)));
    return c;
  }
}

TEST(Methods, TheVerifierAcceptsThemAndNoneBeatsTheProvenOptimum) {
  const int cases = test::effort(60, 5);
  std::map<std::string_view, int> held;
  std::map<std::string_view, int> staged_plans;
  std::map<std::string_view, int> ahead;  // of the bound, with what no staged schedule can do
  for (int seed = 1; seed <= cases; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    Rng rng(static_cast<std::uint64_t>(seed));
    const MethodCase c = random_case(rng);
    MethodRequest request{c.instance, c.limits, c.semantics, {}};
    request.options.gap = 0;
    request.options.time_limit_seconds = 1;  // a bound holds, proven optimal or not
    const Report keep_all = replay_keep_all(c.instance, c.semantics);
    const MethodAnswer best = find_method("poet").run(request);
    const double bound = best.bound ? best.bound->value() : 1e300;  // without one there is no schedule
    for (const Method& method : methods()) {
      SCOPED_TRACE(std::string(method.name));
      const Judged judged = run_method(method, request, keep_all);  // throws where the verifier objects
      if (judged.verdict != Verdict::holds) {
        EXPECT_FALSE(judged.reason.empty());
        continue;
      }
      ++held[method.name];
      EXPECT_LE(judged.report.peak_ram, c.limits.ram_budget);
      EXPECT_GE(judged.overhead, -1e-12);
      const double energy = judged.report.energy.value();
      const bool beats = energy < bound - 1e-6 * keep_all.energy.value();
      const auto schedule = test::staged_schedule(c.instance, judged.plan);
      const bool staged = schedule && replay(c.instance, *schedule, c.semantics, c.limits).valid;
      if (staged) {
        ++staged_plans[method.name];
        const Report stages = replay(c.instance, *schedule, c.semantics, c.limits);
        EXPECT_GE(stages.energy.value(), bound - 1e-6 * keep_all.energy.value());
      }
      if (beats) ++ahead[method.name];
    }
  }
  for (const Method& method : methods()) {
    fmt::print("{:18} holds {:3}, staged {:3}, below its bound {}\n", method.name, held[method.name],
               staged_plans[method.name], ahead[method.name]);
    EXPECT_GT(staged_plans[method.name], test::enough(1, 5)) << method.name;
  }
}

}  // namespace
}  // namespace poet
