// Device semantics: one compute engine, one FIFO channel. Moments worked out by hand; the plan must agree.

#include <gtest/gtest.h>

#include <algorithm>

#include "poet/plan/schedule/linearise.h"
#include "poet/verify/replay.h"
#include "tests/support/tiny_instance.h"

namespace poet {
namespace {

using test::stage;

/// chain() with the transfers of a taking `out` and `in` seconds; ops take 1 s, 2 J each.
Instance timed_chain(double out, double in) {
  Instance instance = test::chain();
  instance.costs.values[ValueId(0)].page_out.seconds = Seconds(out);
  instance.costs.values[ValueId(0)].page_in.seconds = Seconds(in);
  return instance;
}

Report both(const Instance& instance, const Schedule& schedule) {
  const Limits limits = test::ram(1000);
  const Report report = replay(instance, schedule, Semantics::device, limits);
  const Report again =
      replay(instance, linearise(instance, schedule, Semantics::device), Semantics::device, limits);
  EXPECT_TRUE(report.valid) << report.violation;
  EXPECT_TRUE(again.valid) << again.violation;
  EXPECT_EQ(again.runtime, report.runtime);
  EXPECT_EQ(again.stalled, report.stalled);
  EXPECT_EQ(again.page_in_energy, report.page_in_energy);
  EXPECT_EQ(again.page_out_energy, report.page_out_energy);
  EXPECT_EQ(again.energy, report.energy);
  EXPECT_EQ(again.peak_ram, report.peak_ram);
  return report;
}

TEST(ReplayTimeline, TransfersHiddenBehindCompute) {
  // a 0-1; out 1-1.5, b 1-2; in 2-3, c 2-3; d 3-4: nobody waits.
  const Report report = both(timed_chain(0.5, 1), test::chain_paging());
  EXPECT_EQ(report.runtime, Seconds(4));
  EXPECT_EQ(report.stalled, Seconds(0));
}

TEST(ReplayTimeline, FreedValueWaitsForItsPageOutAndAnOpForItsInput) {
  // a 0-1; out 1-3.5, b 1-2; a is freed at the end of stage 1: waits until 3.5; in 3.5-5, c 3.5-4.5; d waits:
  // 5-6.
  const Report report = both(timed_chain(2.5, 1.5), test::chain_paging());
  EXPECT_EQ(report.runtime, Seconds(6));
  EXPECT_EQ(report.stalled, Seconds(2));  // 1.5 + 0.5
}

TEST(ReplayTimeline, WakingUpOncePerBurst) {
  Instance instance = timed_chain(2.5, 1.5);
  instance.costs.timing.wake_time = Seconds(0.25);
  instance.costs.timing.wake_energy = Joules(0.5);
  instance.costs.timing.idle = Watts(2);
  // out 1-3.75 with 0.25 to wake up; b 1-2, waits 1.75; in 3.75-5.25 without a gap, c 3.75-4.75; d waits
  // 0.5: 5.25-6.25.
  const Report report = both(instance, test::chain_paging());
  EXPECT_EQ(report.runtime, Seconds(6.25));
  EXPECT_EQ(report.stalled, Seconds(2.25));
  EXPECT_EQ(report.page_out_energy, Joules(3.5));  // woke the storage
  EXPECT_EQ(report.page_in_energy, Joules(4));
  EXPECT_EQ(report.idle_energy, Joules(12.5));  // 2 W x 6.25 s
  EXPECT_EQ(report.energy, Joules(28));         // 8 + 3.5 + 4 + 12.5
}

TEST(ReplayTimeline, GapOnTheChannelStartsANewBurst) {
  Instance instance = timed_chain(0.5, 1.5);
  instance.costs.timing.wake_time = Seconds(0.25);
  instance.costs.timing.wake_energy = Joules(0.5);
  // out 1-1.75, b 1-2; in asked for at 2: 2-3.75 with waking up, c 2-3; d waits 0.75: 3.75-4.75.
  const Report report = both(instance, test::chain_paging());
  EXPECT_EQ(report.runtime, Seconds(4.75));
  EXPECT_EQ(report.page_out_energy, Joules(3.5));
  EXPECT_EQ(report.page_in_energy, Joules(4.5));
}

TEST(ReplayTimeline, BlockingChannelStopsCompute) {
  Instance instance = timed_chain(0.5, 1.5);
  instance.costs.timing.concurrent = false;
  instance.costs.timing.wake_energy = Joules(1);
  // a 0-1; out 1-1.5; b 1.5-2.5; in 2.5-4; c 4-5; d 5-6. Two bursts: the channel rests while b runs.
  const Report report = both(instance, test::chain_paging());
  EXPECT_EQ(report.runtime, Seconds(6));
  EXPECT_EQ(report.stalled, Seconds(2));
  EXPECT_EQ(report.page_out_energy + report.page_in_energy, Joules(3 + 4 + 2));
}

TEST(ReplayTimeline, PageOutsGoBeforePageInsOnOneChannel) {
  // Stage 2 pages b out (2 s) and a in (1 s): out 2-4, in 4-5 although a alone could arrive at 3. c 2-3 reads
  // b; b goes at the end of stage 2: waits until 4; d waits for a: 5-6.
  Instance instance = timed_chain(0.5, 1);
  instance.costs.values[ValueId(1)].page_out.seconds = Seconds(2);
  const Schedule schedule{{stage({}, {}, {}, {0}), stage({0}, {}, {0}, {1}), stage({1}, {0}, {1}, {2}),
                           stage({0, 2}, {}, {}, {3})}};
  const Report report = both(instance, schedule);
  EXPECT_EQ(report.runtime, Seconds(6));
  EXPECT_EQ(report.stalled, Seconds(2));  // 3 to 4 and 4 to 5
}

TEST(ReplayTimeline, TransferSpansStagesWhileItsValueIsRetained) {
  // Stage 1 pages a out (2.5 s, 1-3.5) and a stays for d: b 1-2, c 2-3, d 3-4 reads a in RAM and frees it
  // after the transfer has ended: nobody waits.
  const Schedule schedule{{stage({}, {}, {}, {0}), stage({0}, {}, {0}, {1}), stage({0, 1}, {}, {}, {2}),
                           stage({0, 2}, {}, {}, {3})}};
  const Report report = both(timed_chain(2.5, 1), schedule);
  EXPECT_EQ(report.runtime, Seconds(4));
  EXPECT_EQ(report.stalled, Seconds(0));
  // With 4 s (1-5) freeing a after d waits from 4 to 5, and the step ends with its transfer.
  const Report longer = both(timed_chain(4, 1), schedule);
  EXPECT_EQ(longer.runtime, Seconds(5));
  EXPECT_EQ(longer.stalled, Seconds(1));
}

TEST(ReplayTimeline, PagingOutWhatIsStillArriving) {
  // Stage 1 pages a out (1-1.5), stage 2 in (1.5 s: 2-3.5), stage 3 out again (0.5 s: 3.5-4, asked for at 3),
  // and d waits for a: 3.5-4.5.
  Schedule schedule = test::chain_paging();
  schedule.stages[3].page_out = {ValueId(0)};
  const Instance instance = timed_chain(0.5, 1.5);
  const Report report = replay(instance, schedule, Semantics::device, test::ram(1000));
  EXPECT_EQ(report.runtime, Seconds(4.5));
  EXPECT_EQ(report.stalled, Seconds(0.5));
  EXPECT_EQ(report.page_outs, 2);
  // The plan leaves the second one out. Put there all the same, a wait for a is one for both.
  Plan plan = linearise(instance, schedule, Semantics::device);
  EXPECT_EQ(replay(instance, plan, Semantics::device, test::ram(1000)).page_outs, 1);
  const Step again{StepKind::page_out, OpId(), ValueId(0)};
  const auto wait =
      std::find(plan.steps.rbegin(), plan.steps.rend(), Step{StepKind::wait, OpId(), ValueId(0)});
  plan.steps.insert(wait.base() - 1, again);
  const Report twice = replay(instance, plan, Semantics::device, test::ram(1000));
  EXPECT_TRUE(twice.valid) << twice.violation;
  EXPECT_EQ(twice.runtime, Seconds(5));
}

TEST(ReplayTimeline, ValueIsNotWrittenAnewWhileItMoves) {
  // p writes y and m; q reads y; r reads q, y and m. Stage 2 pages m out (3 s) while p runs again for y.
  Graph graph;
  const ValueId y = test::add_output(graph, "y", 8);
  const ValueId m = test::add_output(graph, "m", 3);
  test::add_op(graph, "p", {}, {y, m});
  const ValueId q = test::add_node(graph, "q", {y}, 2);
  test::add_node(graph, "r", {q, y, m}, 1);
  Instance instance = test::instance_of(std::move(graph));
  instance.costs.values[m].page_out.seconds = Seconds(3);
  const Schedule schedule{
      {stage({}, {}, {}, {0}), stage({0, 1}, {}, {}, {1}), stage({1, 2}, {}, {1}, {0, 2})}};
  // p 0-1, q 1-2; m out 2-5; p waits 3 s: 5-6; r 6-7.
  const Report report = both(instance, schedule);
  EXPECT_EQ(report.runtime, Seconds(7));
  EXPECT_EQ(report.stalled, Seconds(3));
}

TEST(ReplayTimeline, PageInInVainHoldsItsStageUp) {
  // a is paged out in stage 1 but stays; stage 3 pages it in all the same. out 1-1.5; b 1-2, c 2-3; in 3-8, d
  // 3-4; the stage, and with it the RAM of a, is over at 8 only.
  Schedule schedule = test::chain_paging();
  schedule.stages[2] = stage({0, 1}, {}, {}, {2});
  schedule.stages[3] = stage({0, 2}, {0}, {}, {3});
  const Instance instance = timed_chain(0.5, 5);
  const Report report = replay(instance, schedule, Semantics::device, test::ram(1000));
  EXPECT_TRUE(report.valid) << report.violation;
  EXPECT_EQ(report.runtime, Seconds(8));
  EXPECT_EQ(report.stalled, Seconds(4));
  // The plan does without the transfer.
  const Plan plan = linearise(instance, schedule, Semantics::device);
  EXPECT_EQ(replay(instance, plan, Semantics::device, test::ram(1000)).runtime, Seconds(4));
}

TEST(ReplayTimeline, StepEndsWithItsLastTransfer) {
  // A plan that never frees a: nothing waits for its page-out, 3-8, but the step is over only then.
  const Instance instance = timed_chain(5, 1);
  const auto compute = [](int op) { return Step{StepKind::compute, OpId(op), ValueId()}; };
  const Plan plan{{compute(0), compute(1), compute(2), {StepKind::page_out, OpId(), ValueId(0)}, compute(3)}};
  const Report report = replay(instance, plan, Semantics::device, test::ram(1000));
  EXPECT_TRUE(report.valid) << report.violation;
  EXPECT_EQ(report.runtime, Seconds(8));
  EXPECT_EQ(report.stalled, Seconds(0));
}

TEST(ReplayTimeline, DeadlineHoldsForTheMakespanWithATinyTolerance) {
  Limits limits = test::ram(1000);
  const Instance instance = timed_chain(2.5, 1.5);  // 6 s
  limits.deadline = Seconds(6 / (1 + 0.9e-9));
  EXPECT_TRUE(replay(instance, test::chain_paging(), Semantics::device, limits).valid);
  limits.deadline = Seconds(6 / (1 + 1.1e-9));
  EXPECT_FALSE(replay(instance, test::chain_paging(), Semantics::device, limits).valid);
  EXPECT_TRUE(replay(instance, test::chain_paging(), Semantics::staged, limits).valid);  // 4 s of compute
}

}  // namespace
}  // namespace poet
