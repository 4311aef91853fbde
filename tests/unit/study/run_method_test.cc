// What is said of a method's plans: which one counts, and which limits it breaks.

#include "poet/study/run_method.h"

#include <gtest/gtest.h>

#include "poet/baselines/compute_order.h"
#include "tests/support/tiny_instance.h"
#include "tests/support/unit_chain.h"

namespace poet {
namespace {

constexpr int kPlanSteps =
    6;  // x, f1 to f6, b6 to b1: 13 ops of 1 s and 2 J; keeping everything takes 8 bytes

Method method_of(MethodAnswer (*run)(const MethodRequest&)) { return {"fake", "Fake", "", true, true, run}; }

/// With budget and page-outs of its own, whatever the request says.
MethodAnswer pages_within_six_bytes(const MethodRequest& request) {
  MethodRequest own = request;
  own.limits = no_limits();
  own.limits.ram_budget = Bytes(6);
  return find_method("poet-no-remat").run(own);
}

/// Everything once, and f1 twice; all in RAM.
MethodAnswer once_and_with_a_repetition(const MethodRequest& request) {
  MethodAnswer answer;
  for (const bool repeats : {true, false}) {
    std::vector<OpId> order;
    for (int op = 0; op < 2 * kPlanSteps + 1; ++op) {
      order.emplace_back(op);
      if (repeats && op == 2 * kPlanSteps - 2) order.emplace_back(1);  // before b2, which reads it
    }
    answer.plans.push_back(plan_of_order(request, order));
  }
  return answer;
}

Judged judged(const Method& method, const Instance& instance, const Limits& limits) {
  const MethodRequest request{instance, limits, Semantics::published, {}};
  return run_method(method, request, replay_keep_all(instance, request.semantics));
}

TEST(RunMethod, KeepsTheCheapestThatHolds) {
  const Instance instance = test::unit_chain(kPlanSteps);
  const Judged all = judged(method_of(once_and_with_a_repetition), instance, no_limits());
  EXPECT_EQ(all.verdict, Verdict::holds);
  EXPECT_EQ(all.reason, "");
  EXPECT_EQ(all.report.recomputations, 0);
  EXPECT_EQ(all.overhead, 0);
  EXPECT_FALSE(all.bound || all.gap);
}

// In 30 B the weight has no room beside a, b and what b reads: POET has it on storage, the others say that
// they do not.
TEST(RunMethod, ParametersMayLiveOnStorage) {
  const Instance resident = with_paged(test::weight_at_home(), {});
  Limits limits = no_limits();
  const MethodRequest roomy{resident, limits, Semantics::device, {}, true};
  const Report keep_all = replay_keep_all(resident, Semantics::device);
  const Judged all = run_method(find_method("checkpoint-all"), roomy, keep_all);
  EXPECT_EQ(all.note, "keeps every parameter and optimiser state in RAM");
  EXPECT_EQ(run_method(find_method("poet"), roomy, keep_all).note,
            "0 of 1 parameters and optimiser states live on storage");
  Instance idle = resident;  // b does not read w: without it 30 B are enough
  idle.graph.ops[OpId(1)].inputs = {ValueId(1)};
  limits.ram_budget = Bytes(39);
  const MethodRequest tight{idle, limits, Semantics::device, {}, true};
  EXPECT_EQ(run_method(find_method("checkpoint-all"), tight, keep_all).verdict, Verdict::over_limits);
  const Judged paged = run_method(find_method("poet"), tight, keep_all);
  EXPECT_EQ(paged.verdict, Verdict::holds) << paged.reason;
  EXPECT_EQ(paged.paged, std::vector<ValueId>{ValueId(0)});
  EXPECT_EQ(paged.note, "1 of 1 parameters and optimiser states live on storage");
  EXPECT_NEAR(paged.report.energy.value(), 6 + 2 * 2.5 + 5, 1e-9);
}

TEST(RunMethod, NearestIsJudgedByRamThenTime) {
  const Instance instance = test::unit_chain(kPlanSteps);
  Limits limits = no_limits();
  limits.deadline = Seconds(12.5);
  const Judged late = judged(method_of(once_and_with_a_repetition), instance, limits);
  EXPECT_EQ(late.verdict, Verdict::over_limits);
  EXPECT_EQ(late.reason, "takes 13 s");
  EXPECT_EQ(late.report.recomputations, 0);

  // f1 twice leaves its byte free in between: 7 bytes at b6.
  limits.ram_budget = Bytes(7);
  const Judged nearest = judged(method_of(once_and_with_a_repetition), instance, limits);
  EXPECT_EQ(nearest.reason, "takes 14 s");
  EXPECT_EQ(nearest.report.peak_ram, Bytes(7));
}

TEST(RunMethod, NamesEveryViolatedLimit) {
  const Instance instance = test::unit_chain(kPlanSteps);
  const Method pages = method_of(pages_within_six_bytes);
  Limits limits = no_limits();
  limits.ram_budget = Bytes(6);
  const Judged holds = judged(pages, instance, limits);
  ASSERT_EQ(holds.verdict, Verdict::holds) << holds.reason;
  const std::string written = std::to_string(holds.report.bytes_written.value());
  ASSERT_GE(holds.report.bytes_written, Bytes(2));

  limits.max_bytes_written = Bytes(1);
  EXPECT_EQ(judged(pages, instance, limits).reason, "writes " + written + " B");
  limits.ram_budget = Bytes(5);
  limits.deadline = Seconds(10);
  EXPECT_EQ(judged(pages, instance, limits).reason, "needs 6 B, takes 13 s, writes " + written + " B");
}

TEST(RunMethod, SaysByHowMuchWhereTheFigureWouldReadLikeTheLimit) {
  Instance instance = test::unit_chain(kPlanSteps);
  instance.costs.persistent = Bytes(1'000'000'000);
  Limits limits{Bytes(1'000'000'006), Seconds(13 - 1e-5), std::nullopt};
  EXPECT_EQ(judged(find_method("checkpoint-all"), instance, limits).reason,
            "needs 2 B too much, takes 10 us too long");
}

TEST(RunMethod, ADeadlineHoldsToTheVerifiersTolerance) {
  const Instance instance = test::unit_chain(kPlanSteps);
  const Limits limits{Bytes(7), Seconds(13 * (1 - 1e-10)), std::nullopt};
  EXPECT_EQ(judged(find_method("checkpoint-all"), instance, limits).reason, "needs 8 B");
}

}  // namespace
}  // namespace poet
