// The planner's interpreter of steps against the verifier's: the same RAM after every step, the same times on
// the compute engine and on the channel, in every semantics; and what canonicalize() does to waits.

#include "poet/plan/machine.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "poet/plan/canonical.h"
#include "poet/plan/schedule/linearise.h"
#include "poet/verify/replay.h"
#include "tests/support/random_instance.h"
#include "tests/support/tiny_instance.h"

namespace poet {
namespace {

using test::Rng;

Instance random_device(Rng& rng) {
  test::RandomInstanceOptions options;
  options.ops = test::pick(rng, 4, 16);
  options.in_place = test::chance(rng, 0.5);
  options.multi_output = test::chance(rng, 0.4);
  options.updates = test::chance(rng, 0.3);
  options.views = test::chance(rng, 0.3);
  options.device = true;
  Instance instance = test::random_instance(rng, options);
  instance.costs.timing.concurrent = test::chance(rng, 0.7);
  return instance;
}

class MachineTest : public testing::TestWithParam<Semantics> {};

TEST_P(MachineTest, AgreesWithTheVerifierStepByStep) {
  int transfers = 0;
  int waits = 0;
  int in_place = 0;
  for (int i = 0; i < 1000; ++i) {
    SCOPED_TRACE(fmt::format("seed {}", i));
    Rng rng(static_cast<std::uint64_t>(i) + 1);
    const Instance instance = random_device(rng);
    const Plan plan = linearise(instance, test::random_schedule(rng, instance), GetParam());
    Trace trace;
    const Report report = replay(instance, plan, GetParam(), no_limits(), &trace);
    ASSERT_TRUE(report.valid) << report.violation;
    const Dataflow flow = dataflow(instance.graph);
    Machine machine(instance, flow, GetParam());
    std::size_t moved = 0;
    for (std::size_t s = 0; s < plan.steps.size(); ++s) {
      const Step& step = plan.steps[s];
      ASSERT_TRUE(machine.awaited_by(step).empty()) << "the plan has all its waits";
      const ValueId overwritten =
          step.kind == StepKind::compute ? machine.overwritten_by(plan, s) : ValueId();
      in_place += overwritten.valid() ? 1 : 0;
      machine.take(step, overwritten);
      ASSERT_EQ(machine.level() + instance.costs.persistent, trace.ram[s]);
      Trace::Interval expected = trace.steps[s];
      if (step.kind == StepKind::page_in || step.kind == StepKind::page_out)
        expected = trace.channel[moved++].interval;
      ASSERT_DOUBLE_EQ(machine.when().begin, expected.begin);
      ASSERT_DOUBLE_EQ(machine.when().end, expected.end);
      waits += step.kind == StepKind::wait ? 1 : 0;
    }
    ASSERT_DOUBLE_EQ(machine.clock().makespan(), report.runtime.value());
    ASSERT_DOUBLE_EQ(machine.clock().stalled, report.stalled.value());
    transfers += report.page_outs;
  }
  EXPECT_GT(transfers, 300);
  EXPECT_GT(in_place, 300);
  EXPECT_EQ(waits > 0, GetParam() == Semantics::device);
}

INSTANTIATE_TEST_SUITE_P(All, MachineTest, testing::ValuesIn(kAllSemantics),
                         [](const auto& semantics) { return std::string(to_string(semantics.param)); });

Step step(StepKind kind, int v) { return {kind, OpId(), ValueId(v)}; }
Step compute(int op) { return {StepKind::compute, OpId(op), ValueId()}; }

// Value 0 leaves for nothing: it stays in RAM for op 3.
Plan with_two_waits() {
  return {{compute(0), compute(1), step(StepKind::page_out, 0), step(StepKind::wait, 0),
           step(StepKind::wait, 0), compute(2), compute(3)}};
}

TEST(Canonicalize, KeepsOfTheWaitsThoseThatSomethingIsLeftToWaitFor) {
  const Instance chain = test::chain();
  const Plan plan = canonicalize(chain, with_two_waits(), Semantics::device);
  EXPECT_EQ(std::count(plan.steps.begin(), plan.steps.end(), step(StepKind::wait, 0)), 1);
  EXPECT_EQ(replay(chain, plan, Semantics::device, no_limits()).violation, "");
}

// Taking them out would make a plan of a list of steps that is none.
TEST(Canonicalize, LeavesWaitsWhereThereAreNoneToTheVerifier) {
  for (const Semantics semantics : kAllSemantics) {
    Instance chain = test::chain();
    chain.costs.timing.concurrent = false;
    const Plan plan = canonicalize(chain, with_two_waits(), semantics);
    EXPECT_EQ(std::count(plan.steps.begin(), plan.steps.end(), step(StepKind::wait, 0)), 2);
    EXPECT_NE(replay(chain, plan, semantics, no_limits()).violation.find("no channel runs beside compute"),
              std::string::npos);
  }
}

}  // namespace
}  // namespace poet
