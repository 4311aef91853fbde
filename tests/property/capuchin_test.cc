// Capuchin on random training steps: the verifier accepts every plan, in both semantics and on every channel,
// and it holds the budget that it was made for; and in published semantics no staged plan needs less
// than the optimiser's bound. (In device semantics a stage holds RAM for its transfers throughout, a plan
// only while they last, so that there the bound is none for plans.)

#include "poet/baselines/capuchin.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

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

test::RandomInstanceOptions random_options(Rng& rng, Semantics semantics) {
  test::RandomInstanceOptions options;
  options.ops = test::pick(rng, 4, 16);
  options.in_place = test::chance(rng, 0.5);
  options.multi_output = test::chance(rng, 0.5);
  options.updates = test::chance(rng, 0.6);
  options.views = test::chance(rng, 0.3);
  options.inputs = test::chance(rng, 0.5);
  options.device = semantics == Semantics::device;
  return options;
}

TEST(CapuchinProperty, PlansHoldTheBudget) {
  int plans = 0;
  int paging = 0;
  int recomputing = 0;
  int stalled = 0;
  int measured = 0;
  int judged = 0;
  int staged_plans = 0;
  int below = 0;  // the bound
  int below_published = 0;
  for (int seed = 1; seed <= test::effort(900, 2); ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    Rng rng(static_cast<std::uint64_t>(seed));
    const Semantics semantics = seed % 3 == 0 ? Semantics::published : Semantics::device;
    Instance instance = test::random_instance(rng, random_options(rng, semantics));
    const double speed = test::pick(rng, 1, 24) / 8.0;  // some channels hide transfers, some are hopeless
    for (ValueCost& cost : instance.costs.values) {
      cost.page_in.seconds = speed * cost.page_in.seconds;
      cost.page_out.seconds = speed * cost.page_out.seconds;
    }
    const Report all = replay_keep_all(instance, semantics);
    MethodRequest request{instance, no_limits(), semantics, {}};
    // It does not swap an operand out in order that the result can be written over it: it needs both.
    Instance apart = instance;
    for (Op& op : apart.graph.ops) op.kind = "published";
    request.limits.ram_budget = test::budget_between(
        apart, semantics, replay_keep_all(apart, semantics).peak_ram, test::pick(rng, 0, 105));
    const bool roomy = request.limits.ram_budget >= all.peak_ram;
    for (const Plan& plan : capuchin(request).plans) {
      const Report report = replay(instance, plan, semantics, request.limits);
      EXPECT_EQ(report.violation, "");
      stalled += report.stalled.value() > 0;
    }
    const Judged result = run_method(find_method("capuchin"), request, all);
    measured += result.note.find("measured") != std::string::npos;
    // Swapping on demand needs no more than an op's working set, so the measured step never fails.
    ++plans;
    ASSERT_EQ(result.verdict, Verdict::holds) << result.reason;
    EXPECT_GE(result.overhead, -1e-12);
    EXPECT_TRUE(!roomy || result.report.recomputations + result.report.page_outs == 0);
    paging += result.report.page_ins > 0;
    recomputing += result.report.recomputations > 0;
    if (seed % 6 != 0 && seed % 60 != 1) continue;
    request.options.time_limit_seconds = 0.5;
    const MethodAnswer optimal = poet_full(request);
    if (!optimal.bound) continue;
    ++judged;
    const bool staged = semantics == Semantics::published && test::is_staged(instance, result.plan);
    staged_plans += staged;
    const bool cheaper = result.report.energy.value() < optimal.bound->value() * (1 - 1e-9);
    below += cheaper;
    below_published += cheaper && semantics == Semantics::published;
    EXPECT_FALSE(staged && cheaper) << result.report.energy.value() << " " << optimal.bound->value();
    if (HasFailure()) return;
  }
  EXPECT_GT(paging, test::enough(200, 2));
  EXPECT_GT(recomputing, test::enough(100, 2));
  EXPECT_GT(stalled, test::enough(100, 2));
  EXPECT_GT(judged, test::enough(50, 2));
  EXPECT_GT(staged_plans, test::enough(50, 2));
  fmt::print(
      "{} plans, {} page, {} recompute, {} measured; {} beside a bound: {} staged, {} below it, {} "
      "of them published\n",
      plans, paging, recomputing, measured, judged, staged_plans, below, below_published);
}

TEST(CapuchinProperty, LargeTrainingSteps) {
  for (int seed = 1; seed <= 6; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    test::RandomTrainingGraphOptions options;
    options.ops = 150 * seed;
    const Instance instance = test::random_training_graph(static_cast<std::uint64_t>(seed), options);
    for (const Semantics semantics : {Semantics::published, Semantics::device}) {
      const Report all = replay_keep_all(instance, semantics);
      MethodRequest request{instance, no_limits(), semantics, {}};
      for (const int percent : {0, 30, 70}) {
        request.limits.ram_budget = test::budget_between(instance, semantics, all.peak_ram, percent);
        const Judged result = run_method(find_method("capuchin"), request, all);
        EXPECT_EQ(result.verdict, Verdict::holds) << percent << ": " << result.reason;
        EXPECT_GT(result.report.page_ins + result.report.recomputations, 0);
      }
    }
  }
}

TEST(CapuchinProperty, NotDefinedWithoutStorageOrUnderStagedRules) {
  Rng rng(1);
  test::RandomInstanceOptions options;
  Instance instance = test::random_instance(rng, options);
  MethodRequest request{instance, no_limits(), Semantics::staged, {}};
  EXPECT_FALSE(capuchin(request).treats_graph);
  EXPECT_EQ(capuchin(request).reason, "transfers last whole stages under staged rules");
  request.semantics = Semantics::published;
  EXPECT_TRUE(capuchin(request).treats_graph);
  instance.costs.has_storage = false;
  EXPECT_FALSE(capuchin(request).treats_graph);
}

}  // namespace
}  // namespace poet
