// compile() where the order of ops is a decision: never a worse plan than in the given order, of an instance
// that verifies, and no claim that another order would refute.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "poet/compile.h"
#include "poet/cost/reorder.h"
#include "poet/graph/precedence.h"
#include "poet/plan/allowance.h"
#include "tests/support/effort.h"
#include "tests/support/random_instance.h"
#include "tests/support/random_layered_graph.h"

namespace poet {
namespace {

CompileResult solve(const Instance& instance, Semantics semantics, Bytes ram, bool best_order) {
  CompileRequest request;
  request.instance = instance;
  request.semantics = semantics;
  request.limits.ram_budget = ram;
  request.options.explain = false;
  request.options.time_limit_seconds = best_order ? 2 : 1;  // not all are proven
  request.best_order = best_order;
  return compile(request);
}

void expect_valid(const Instance& given, Semantics semantics, Bytes ram, const CompileResult& result) {
  ASSERT_TRUE(result.order.empty() || respects(given.graph, result.order));
  const Instance instance = result.order.empty() ? given : reordered(given, result.order);
  Limits limits;
  limits.ram_budget = ram;
  const Report report = replay(instance, result.plan, semantics, limits);
  EXPECT_TRUE(report.valid) << report.violation;
  EXPECT_EQ(report.energy, result.report.energy);
}

TEST(BestOrder, IsNeverWorseThanTheGivenOne) {
  test::Rng rng(11);
  int other = 0;
  int better = 0;
  int partly = 0;  // better, but not as good as computing everything once
  for (int i = 0; i < test::effort(60, 2); ++i) {
    SCOPED_TRACE(fmt::format("case {}", i));
    test::RandomInstanceOptions options;
    options.ops = test::pick(rng, 5, 12);
    options.updates = test::chance(rng, 0.5);
    options.device = test::chance(rng, 0.2);
    const Semantics semantics = options.device ? Semantics::device : Semantics::published;
    test::RandomLayeredGraphOptions layered;
    layered.ops = test::pick(rng, 10, 40);
    const Instance instance = i % 4 == 0 ? test::random_instance(rng, options)
                                         : test::random_layered_graph(static_cast<std::uint64_t>(i), layered);
    const Bytes floor = ram_floor(instance, semantics).bytes();
    const Bytes most = replay_keep_all(instance, semantics).peak_ram;
    const Bytes ram = floor + Bytes((most - floor).value() * test::pick(rng, 0, i % 4 == 0 ? 9 : 3) / 10);
    const CompileResult given = solve(instance, semantics, ram, false);
    const CompileResult best = solve(instance, semantics, ram, true);
    if (given.plan.steps.empty()) {
      EXPECT_NE(best.certificate.status, Status::infeasible);  // RAM is enough for each op
    } else if (given.certificate.status == Status::optimal) {  // not ended by the clock
      ASSERT_FALSE(best.plan.steps.empty());
      // Of either what is proven to 1% of the overhead is good enough.
      EXPECT_LE(best.overhead, given.overhead * 1.011 + 1e-9);
    }
    if (best.plan.steps.empty()) continue;
    expect_valid(instance, semantics, ram, best);
    // What is said of every order is no more than what computing everything once takes.
    EXPECT_LE(best.certificate.bounds.every_plan.value(), best.keep_all.energy.value() * (1 + 1e-12));
    other += !best.order.empty();
    partly += !given.plan.steps.empty() && best.overhead > 1e-9 && best.overhead < 0.98 * given.overhead;
    better +=
        given.plan.steps.empty() || best.report.energy.value() < given.report.energy.value() * (1 - 1e-9);
  }
  EXPECT_GT(other, test::enough(3, 2));
  EXPECT_GT(better, test::enough(1, 2));
  EXPECT_GT(partly, test::enough(0, 2));
}

TEST(BestOrder, OfAGraphThatIsNoTrainingStepNeedsNoRecomputation) {
  test::RandomLayeredGraphOptions options;
  options.ops = 120;
  const Instance instance = test::random_layered_graph(5, options);
  const Bytes floor = ram_floor(instance, Semantics::published).bytes();
  const Bytes most = replay_keep_all(instance, Semantics::published).peak_ram;
  const Bytes ram = floor + Bytes((most - floor).value() * 3 / 4);
  const CompileResult given = solve(instance, Semantics::published, ram, false);
  const CompileResult best = solve(instance, Semantics::published, ram, true);
  EXPECT_GT(given.overhead, 0);
  EXPECT_FALSE(best.order.empty());
  EXPECT_NEAR(best.overhead, 0, 1e-12);
  EXPECT_EQ(best.certificate.status, Status::optimal);
  expect_valid(instance, Semantics::published, ram, best);
}

TEST(BestOrder, IsInfeasibleOnlyWhereNoOrderHelps) {
  const Instance instance = test::random_layered_graph(6);
  const Bytes floor = ram_floor(instance, Semantics::published).bytes();
  EXPECT_EQ(solve(instance, Semantics::published, floor - Bytes(1), true).certificate.status,
            Status::infeasible);
}

}  // namespace
}  // namespace poet
