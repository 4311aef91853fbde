// DTR on random training steps: the verifier accepts every plan and it holds the budget that it was made for;
// with a budget for everything nothing is recomputed; and no staged plan needs less than the
// optimiser's bound.

#include "poet/baselines/dtr.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <optional>

#include "poet/baselines/poet_schedules.h"
#include "poet/study/run_method.h"
#include "poet/verify/replay.h"
#include "tests/support/effort.h"
#include "tests/support/random_instance.h"
#include "tests/support/random_training_graph.h"
#include "tests/support/staged_schedule.h"
#include "tests/support/working_set.h"

namespace poet {
namespace {

using test::Rng;

constexpr const char* kDtr[] = {"dtr", "dtr-eq", "dtr-local"};

test::RandomInstanceOptions random_options(Rng& rng) {
  test::RandomInstanceOptions options;
  options.ops = test::pick(rng, 4, 16);
  options.in_place = test::chance(rng, 0.5);
  options.multi_output = test::chance(rng, 0.5);
  options.storage = test::chance(rng, 0.5);
  options.updates = test::chance(rng, 0.6);
  options.views = test::chance(rng, 0.3);
  options.inputs = test::chance(rng, 0.5);
  options.device = test::chance(rng, 0.6);
  return options;
}

TEST(DtrProperty, PlansHoldTheBudget) {
  int plans = 0;
  int recomputing = 0;
  int judged = 0;
  int outside = 0;
  int below = 0;
  for (int seed = 1; seed <= test::effort(600); ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    Rng rng(static_cast<std::uint64_t>(seed));
    const Instance instance = test::random_instance(rng, random_options(rng));
    const Semantics semantics = kAllSemantics[static_cast<std::size_t>(seed) % kAllSemantics.size()];
    const Report all = replay_keep_all(instance, semantics);
    MethodRequest request{instance, no_limits(), semantics, {}};
    request.limits.ram_budget =
        test::budget_between(instance, semantics, all.peak_ram, test::pick(rng, -5, 105));
    const bool roomy = request.limits.ram_budget >= all.peak_ram;
    std::optional<MethodAnswer> optimal;
    for (const char* name : kDtr) {
      const Judged result = run_method(find_method(name), request, all);
      if (result.verdict == Verdict::no_plan) {
        EXPECT_FALSE(roomy) << result.reason;
        EXPECT_NE(result.reason, "");
        continue;
      }
      ++plans;
      ASSERT_EQ(result.verdict, Verdict::holds) << name << ": " << result.reason;
      EXPECT_GE(result.overhead, -1e-12);
      EXPECT_TRUE(!roomy || result.report.recomputations == 0);
      recomputing += result.report.recomputations > 0;
      if (seed % 6 != 0 || result.report.recomputations == 0) continue;
      request.options.time_limit_seconds = 5;
      if (!optimal) optimal = poet_without_paging(request);
      if (!optimal->bound) continue;
      ++judged;
      const bool staged = test::is_staged(instance, result.plan);
      outside += !staged;
      const bool cheaper = result.report.energy.value() < optimal->bound->value() * (1 - 1e-9);
      below += cheaper;
      EXPECT_FALSE(staged && cheaper) << name << " " << result.report.energy.value();
    }
    if (HasFailure()) return;
  }
  EXPECT_GT(recomputing, test::enough(200));
  EXPECT_GT(judged, test::enough(20));
  fmt::print("{} plans, {} recompute, {} beside a bound: {} not staged, {} below\n", plans, recomputing,
             judged, outside, below);
}

TEST(DtrProperty, LargeTrainingSteps) {
  for (int seed = 1; seed <= 6; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    test::RandomTrainingGraphOptions options;
    options.ops = 150 * seed;
    const Instance instance = test::random_training_graph(static_cast<std::uint64_t>(seed), options);
    const Report all = replay_keep_all(instance, Semantics::device);
    MethodRequest request{instance, no_limits(), Semantics::device, {}};
    for (const int percent : {30, 70}) {
      request.limits.ram_budget = test::budget_between(instance, Semantics::device, all.peak_ram, percent);
      for (const char* name : kDtr) {
        const Judged result = run_method(find_method(name), request, all);
        EXPECT_EQ(result.verdict, Verdict::holds) << name << " " << percent << ": " << result.reason;
        EXPECT_GT(result.report.recomputations, 0);
      }
    }
  }
}

}  // namespace
}  // namespace poet
