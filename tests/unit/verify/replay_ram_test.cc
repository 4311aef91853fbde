// RAM, energy and counts of staged schedules, worked out by hand in each semantics; the plan must say the
// same.

#include <gtest/gtest.h>

#include "poet/plan/schedule/keep_all.h"
#include "poet/plan/schedule/linearise.h"
#include "poet/verify/replay.h"
#include "tests/support/tiny_instance.h"

namespace poet {
namespace {

using test::id_list;
using test::stage;

/// The report of the schedule, after checking that its plan gets the same one.
Report both(const Instance& instance, const Schedule& schedule, Semantics semantics,
            const Limits& limits = test::ram(1000)) {
  const Report report = replay(instance, schedule, semantics, limits);
  const Report again = replay(instance, linearise(instance, schedule, semantics), semantics, limits);
  EXPECT_TRUE(report.valid) << report.violation;
  EXPECT_TRUE(again.valid) << again.violation;
  EXPECT_EQ(again.peak_ram, report.peak_ram);
  EXPECT_EQ(again.peak_op, report.peak_op);
  EXPECT_EQ(again.energy, report.energy);
  EXPECT_EQ(again.runtime, report.runtime);
  EXPECT_EQ(again.bytes_written, report.bytes_written);
  EXPECT_EQ(again.recomputations, report.recomputations);
  return report;
}

std::int64_t peak(const Instance& instance, const Schedule& schedule, Semantics semantics) {
  return both(instance, schedule, semantics).peak_ram.value();
}

TEST(ReplayRam, KeepAll) {
  // a: 10; a b: 30; a b c: 35; a c d: 16.
  const Report report = replay_keep_all(test::chain(), Semantics::staged);
  EXPECT_TRUE(report.valid);
  EXPECT_EQ(report.peak_ram, Bytes(35));
  EXPECT_EQ(report.peak_op, OpId(2));
  EXPECT_EQ(report.energy, Joules(8));  // 4 ops of 2 J
  EXPECT_EQ(report.runtime, Seconds(4));
  EXPECT_EQ(report.recomputations, 0);
  EXPECT_EQ(keep_all_schedule(test::chain().graph),
            (Schedule{{stage({}, {}, {}, {0}), stage({0}, {}, {}, {1}), stage({0, 1}, {}, {}, {2}),
                       stage({0, 2}, {}, {}, {3})}}));
}

TEST(ReplayRam, Recomputation) {
  // a: 10; a b: 30, then a goes; b c: 25; c: 5, c a: 15, c a d: 16.
  const Report report = both(test::chain(), test::chain_recomputing(), Semantics::published);
  EXPECT_EQ(report.peak_ram, Bytes(30));
  EXPECT_EQ(report.peak_op, OpId(1));
  EXPECT_EQ(report.recomputations, 1);
  EXPECT_EQ(report.energy, Joules(10));  // 5 computations
  EXPECT_EQ(report.compute_energy, Joules(10));
  EXPECT_EQ(report.runtime, Seconds(5));
}

TEST(ReplayRam, PublishedPageInTakesRamFromTheNextStageOn) {
  // a: 10; a b: 30; b c: 25; a c: 15, a c d: 16.
  const Report report = both(test::chain(), test::chain_paging(), Semantics::published);
  EXPECT_EQ(report.peak_ram, Bytes(30));
  EXPECT_EQ(report.peak_op, OpId(1));
  EXPECT_EQ(report.page_out_energy, Joules(3));
  EXPECT_EQ(report.page_in_energy, Joules(4));
  EXPECT_EQ(report.energy, Joules(15));   // 8 + 3 + 4
  EXPECT_EQ(report.runtime, Seconds(4));  // transfers take none
  EXPECT_EQ(report.page_ins, 1);
  EXPECT_EQ(report.page_outs, 1);
  EXPECT_EQ(report.bytes_written, Bytes(10));
}

TEST(ReplayRam, StagedTransfersTakeRamForTheirWholeStage) {
  // a: 10; a b: 30; b and a in flight: 30, with c: 35; a c d: 16.
  const Report report = both(test::chain(), test::chain_paging(), Semantics::staged);
  EXPECT_EQ(report.peak_ram, Bytes(35));
  EXPECT_EQ(report.peak_op, OpId(2));
  EXPECT_EQ(report.energy, Joules(15));
}

TEST(ReplayRam, PeakAtTheStartOfAStageBelongsToItsFirstOp) {
  // a 10, b 1 (reads a), c 1 (reads b), d 1 (reads a c). c is computed with b and a in flight.
  Instance instance = test::chain();
  instance.costs.values[ValueId(1)].bytes = Bytes(1);
  instance.costs.values[ValueId(2)].bytes = Bytes(1);
  instance.costs.values[ValueId(3)].bytes = Bytes(0);
  // Published: a: 10; a b: 11; b c: 2; a c: 11, reached before, so the peak stays with op 1. With c of 2
  // bytes it is 12 at the start of stage 3, in which op 3 runs first.
  EXPECT_EQ(both(instance, test::chain_paging(), Semantics::published).peak_op, OpId(1));
  instance.costs.values[ValueId(2)].bytes = Bytes(2);
  const Report report = both(instance, test::chain_paging(), Semantics::published);
  EXPECT_EQ(report.peak_ram, Bytes(12));
  EXPECT_EQ(report.peak_op, OpId(3));
}

TEST(ReplayRam, PagedOutValueStaysUntilItsStageEnds) {
  // Stage 2 retains a and b and pages a out while c is computed; stage 2 has no use for a, stage 3 recomputes
  // it. published: a leaves before c: a b at the start 30, b c 25. staged: a b c 35.
  const Schedule schedule{{stage({}, {}, {}, {0}), stage({0}, {}, {}, {1}), stage({0, 1}, {}, {0}, {2}),
                           stage({2}, {}, {}, {0, 3})}};
  EXPECT_EQ(peak(test::chain(), schedule, Semantics::published), 30);
  EXPECT_EQ(peak(test::chain(), schedule, Semantics::staged), 35);
  EXPECT_EQ(peak(test::chain(), schedule, Semantics::device), 35);
}

TEST(ReplayRam, RetainedValueWithoutUseLeavesBeforeTheFirstComputation) {
  // Stage 2 retains a, has no use for it and stage 3 does not retain it: a b at the start 30, then b c 25.
  const Schedule schedule{{stage({}, {}, {}, {0}), stage({0}, {}, {}, {1}), stage({0, 1}, {}, {}, {2}),
                           stage({2}, {}, {}, {0, 3})}};
  EXPECT_EQ(peak(test::chain(), schedule, Semantics::staged), 30);
  // Retained for stage 3 it stays: a b c 35.
  EXPECT_EQ(peak(test::chain(), keep_all_schedule(test::chain().graph), Semantics::staged), 35);
}

/// p writes y (8 B) and m (3 B); q (2 B) reads y; r (1 B) reads q, y and m.
Instance two_outputs() {
  Graph graph;
  const ValueId y = test::add_output(graph, "y", 8);
  const ValueId m = test::add_output(graph, "m", 3);
  test::add_op(graph, "p", {}, {y, m});
  const ValueId q = test::add_node(graph, "q", {y}, 2);
  test::add_node(graph, "r", {q, y, m}, 1);
  return test::instance_of(std::move(graph));
}

TEST(ReplayRam, RecomputingOneOutputCountsTheOtherOnce) {
  // p: 8 + 3; y m q 13, then y goes. Stage 2: m q 5, p adds y only 13, r 14.
  const Schedule schedule{
      {stage({}, {}, {}, {0}), stage({0, 1}, {}, {}, {1}), stage({1, 2}, {}, {}, {0, 2})}};
  const Report report = both(two_outputs(), schedule, Semantics::staged);
  EXPECT_EQ(report.peak_ram, Bytes(14));
  EXPECT_EQ(report.peak_op, OpId(2));
}

TEST(ReplayRam, OutputWithoutUseOccupiesRamWhileItsOpRuns) {
  // p: y m 11, then m goes; y q 10; y q 10 at the start of stage 2, where p runs again for m: 13, then r: 14.
  const Schedule schedule{{stage({}, {}, {}, {0}), stage({0}, {}, {}, {1}), stage({0, 2}, {}, {}, {0, 2})}};
  EXPECT_EQ(peak(two_outputs(), schedule, Semantics::staged), 14);
  Instance instance = two_outputs();
  instance.costs.values[ValueId(1)].bytes = Bytes(0);  // p: 8; y q 10; p again: 10; r: 11
  EXPECT_EQ(peak(instance, schedule, Semantics::staged), 11);
}

TEST(ReplayRam, PagingOneOutputOfAnOp) {
  // staged: p 11; stage 1 pages m out: y m q 13; stage 2 retains y q 10 and runs s (4 B, reads q) with m in
  // flight: 17; stage 3 retains q y m 13, r: 14.
  Graph graph;
  const ValueId y = test::add_output(graph, "y", 8);
  const ValueId m = test::add_output(graph, "m", 3);
  test::add_op(graph, "p", {}, {y, m});
  const ValueId q = test::add_node(graph, "q", {y}, 2);
  test::add_node(graph, "s", {q}, 4);
  test::add_node(graph, "r", {q, y, m}, 1);
  const Instance instance = test::instance_of(std::move(graph));
  const Schedule schedule{{stage({}, {}, {}, {0}), stage({0, 1}, {}, {1}, {1}), stage({0, 2}, {1}, {}, {2}),
                           stage({0, 1, 2}, {}, {}, {3})}};
  EXPECT_EQ(peak(instance, schedule, Semantics::staged), 17);
  EXPECT_EQ(peak(instance, schedule, Semantics::published), 14);  // y q s 14, then q y m r 14
  EXPECT_EQ(both(instance, schedule, Semantics::published).peak_op, OpId(2));
}

TEST(ReplayRam, WorkspaceCountsOnTheDeviceOnly) {
  Instance instance = test::chain();
  instance.costs.ops[OpId(1)].workspace = Bytes(7);  // a b: 30 + 7
  EXPECT_EQ(peak(instance, test::chain_recomputing(), Semantics::published), 30);
  EXPECT_EQ(peak(instance, test::chain_recomputing(), Semantics::staged), 30);
  EXPECT_EQ(peak(instance, test::chain_recomputing(), Semantics::device), 37);
  instance.costs.ops[OpId(0)].workspace = Bytes(40);  // alone 50, recomputed beside c 55
  const Report report = both(instance, test::chain_recomputing(), Semantics::device);
  EXPECT_EQ(report.peak_ram, Bytes(55));
  EXPECT_EQ(report.peak_op, OpId(0));
}

TEST(ReplayRam, PersistentBytesCountAlways) {
  Instance instance = test::chain();
  instance.costs.persistent = Bytes(100);
  for (const Semantics semantics : {Semantics::published, Semantics::staged, Semantics::device}) {
    EXPECT_EQ(peak(instance, test::chain_recomputing(), semantics), 130);
  }
}

TEST(ReplayRam, ViewsOccupyNothingAndUseTheirStorage) {
  // a (10 B) is seen through v by b (20 B) and d: the figures of chain().
  Graph graph;
  const ValueId a = test::add_node(graph, "a", {}, 10);
  const ValueId v = test::add_alias(graph, "v", a);
  const ValueId b = test::add_node(graph, "b", {v}, 20);
  const ValueId c = test::add_node(graph, "c", {b}, 5);
  test::add_node(graph, "d", {v, a, c}, 1);
  const Instance instance = test::instance_of(std::move(graph));
  EXPECT_EQ(replay_keep_all(instance, Semantics::staged).peak_ram, Bytes(35));
  // Values are a 0, v 1, b 2, c 3, d 4.
  const Schedule schedule{
      {stage({}, {}, {}, {0}), stage({0}, {}, {}, {1}), stage({2}, {}, {}, {2}), stage({3}, {}, {}, {0, 3})}};
  EXPECT_EQ(peak(instance, schedule, Semantics::staged), 30);
}

/// f (4 B) reads weight w; g (2 B) reads f and w; u updates w with g; h (1 B) reads f.
Instance with_update() {
  Graph graph;
  const ValueId w = test::add_persistent(graph, "w", 50);
  const ValueId f = test::add_node(graph, "f", {w}, 4);
  const ValueId g = test::add_node(graph, "g", {f, w}, 2);
  test::add_update(graph, "u", {w, g}, {w});
  test::add_node(graph, "h", {f}, 1);
  return test::instance_of(std::move(graph));
}

TEST(ReplayRam, RecomputationBeforeAnUpdateIsAllowed) {
  // Values w 0, f 1, g 2, h 3. Stage 2 recomputes f for h before it updates w: g 2, f g 6, u; f h 5. All with
  // w.
  const Schedule schedule{
      {stage({}, {}, {}, {0}), stage({1}, {}, {}, {1}), stage({2}, {}, {}, {0, 2}), stage({1}, {}, {}, {3})}};
  EXPECT_EQ(peak(with_update(), schedule, Semantics::staged), 56);
}

TEST(ReplayRam, RecomputationAfterAnUpdateIsNot) {
  const Schedule schedule{
      {stage({}, {}, {}, {0}), stage({1}, {}, {}, {1}), stage({2}, {}, {}, {2}), stage({}, {}, {}, {0, 3})}};
  const Report report = replay(with_update(), schedule, Semantics::staged, test::ram(1000));
  EXPECT_EQ(report.violation, "stage 3 (h): recomputes f, which reads what u has updated");
  const Plan plan = linearise(with_update(), schedule, Semantics::staged);
  EXPECT_EQ(replay(with_update(), plan, Semantics::staged, test::ram(1000)).violation,
            "step 5 (compute f): w has been updated");
}

TEST(ReplayRam, BudgetIsExact) {
  EXPECT_TRUE(replay(test::chain(), test::chain_recomputing(), Semantics::staged, test::ram(30)).valid);
  EXPECT_FALSE(replay(test::chain(), test::chain_recomputing(), Semantics::staged, test::ram(29)).valid);
}

TEST(ReplayRam, ValueThatArrivesAndIsComputedCountsOnce) {
  // Stage 2 pages a in and computes it again as well. staged: b and a 30, a again 30, c 35, although nobody
  // uses a.
  Schedule schedule = test::chain_paging();
  schedule.stages[2].compute = {OpId(0), OpId(2)};
  EXPECT_EQ(replay(test::chain(), schedule, Semantics::staged, test::ram(1000)).peak_ram, Bytes(35));
  // Stage 3 drops both copies and computes a once more: the page-in holds its RAM to the end of stage 2 all
  // the same.
  schedule.stages[3] = stage({2}, {}, {}, {0, 3});
  EXPECT_EQ(replay(test::chain(), schedule, Semantics::staged, test::ram(1000)).peak_ram, Bytes(35));
  // published: a b 30; b a 30, a goes, b c 25; c a d 16.
  EXPECT_EQ(replay(test::chain(), schedule, Semantics::published, test::ram(1000)).peak_ram, Bytes(30));
}

TEST(ReplayRam, PageInOfWhatIsInRamAnywayIsLeftOutOfThePlan) {
  // a is paged out in stage 1 and, in vain, paged in in stage 2, which retains it: 4 J that the plan saves.
  const Schedule schedule{{stage({}, {}, {}, {0}), stage({0}, {}, {0}, {1}), stage({0, 1}, {0}, {}, {2}),
                           stage({0, 2}, {}, {}, {3})}};
  const Instance instance = test::chain();
  for (const Semantics semantics : {Semantics::published, Semantics::staged, Semantics::device}) {
    const Report report = replay(instance, schedule, semantics, test::ram(35));
    const Report plan = replay(instance, linearise(instance, schedule, semantics), semantics, test::ram(35));
    EXPECT_TRUE(report.valid) << report.violation;
    EXPECT_TRUE(plan.valid) << plan.violation;
    EXPECT_EQ(report.energy, Joules(15));
    EXPECT_EQ(plan.energy, Joules(11));
    EXPECT_EQ(plan.peak_ram, report.peak_ram);
  }
}

}  // namespace
}  // namespace poet
