// Revolve's closed forms against Griewank and Walther's recursion and figures, and the schedule against them.

#include "poet/baselines/revolve.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "poet/study/run_method.h"
#include "poet/verify/replay.h"
#include "tests/support/random_chain.h"
#include "tests/support/tiny_instance.h"

namespace poet {
namespace {

constexpr int kSteps = 60;
constexpr int kSnapshots = 12;

// t(1, s) = 0; t(l, 1) = l (l - 1) / 2; t(l, s) = min over m of m + t(l - m, s - 1) + t(m, s).
std::vector<std::vector<std::int64_t>> recursion() {
  std::vector<std::vector<std::int64_t>> t(kSteps + 1, std::vector<std::int64_t>(kSnapshots + 1, 0));
  for (std::size_t l = 2; l <= kSteps; ++l) {
    t[l][1] = static_cast<std::int64_t>(l * (l - 1) / 2);
    for (std::size_t s = 2; s <= kSnapshots; ++s) {
      t[l][s] = std::numeric_limits<std::int64_t>::max();
      for (std::size_t m = 1; m < l; ++m)
        t[l][s] = std::min(t[l][s], static_cast<std::int64_t>(m) + t[l - m][s - 1] + t[m][s]);
    }
  }
  return t;
}

TEST(Revolve, ReachIsBinomial) {
  EXPECT_EQ(revolve_reach(3, 0), 1);
  EXPECT_EQ(revolve_reach(3, 2), 10);  // C(5, 3)
  EXPECT_EQ(revolve_reach(1, 9), 10);
  EXPECT_EQ(revolve_reach(10, 10), 184756);
  EXPECT_EQ(revolve_reach(1000, 1000), std::numeric_limits<std::int64_t>::max());
}

TEST(Revolve, KnownFigures) {
  // The paper's example of 10 steps and 3 snapshots: C(5, 3) = 10, so r = 2 repetitions at most, and
  // t = 2 * 10 - C(5, 4) = 15.
  EXPECT_EQ(revolve_repetitions(10, 3), 2);
  EXPECT_EQ(revolve_advances(10, 3), 15);
  // One snapshot: quadratic. As many as steps: each step once, but for the last.
  EXPECT_EQ(revolve_advances(10, 1), 45);
  EXPECT_EQ(revolve_advances(10, 10), 9);
  EXPECT_EQ(revolve_advances(1, 1), 0);
  // C(8 + 3, 8) = 165 steps with 8 snapshots take 3 * 165 - C(11, 9) = 440.
  EXPECT_EQ(revolve_advances(165, 8), 440);
}

TEST(Revolve, ClosedFormEqualsRecursion) {
  const auto t = recursion();
  for (int l = 1; l <= kSteps; ++l) {
    for (int s = 1; s <= kSnapshots; ++s)
      EXPECT_EQ(revolve_advances(l, s), t[static_cast<std::size_t>(l)][static_cast<std::size_t>(s)])
          << l << ", " << s;
  }
}

TEST(Revolve, EveryStrideIsOptimal) {
  for (int l = 2; l <= kSteps; ++l) {
    for (int s = 2; s <= kSnapshots; ++s) {
      const std::int64_t m = revolve_stride(l, s);
      EXPECT_EQ(m + revolve_advances(l - m, s - 1) + revolve_advances(m, s), revolve_advances(l, s))
          << l << ", " << s;
    }
    EXPECT_EQ(revolve_stride(l, 1), l - 1);
  }
}

TEST(Revolve, SchedulesTakeAsManyStepsAndSnapshotsAsTheyMay) {
  for (int l = 3; l <= kSteps; ++l) {
    const Instance instance = test::unit_blocks(l);
    const Dataflow flow = dataflow(instance.graph);
    const Chain chain = chain_of(instance, flow);
    ASSERT_EQ(chain.reason, "");
    ASSERT_EQ(chain.blocks.size(), static_cast<std::size_t>(l));
    for (int s = 1; s <= std::min(l, kSnapshots); ++s) {
      const std::vector<OpId> order = revolve_order(chain, static_cast<std::size_t>(s));
      // Each of the l reversals repeats its step, but for the first; each step is taken once at first. So
      // what is repeated is l + t(l, s) - l.
      EXPECT_EQ(static_cast<std::int64_t>(order.size() - instance.graph.ops.size()), revolve_advances(l, s))
          << l << ", " << s;
    }
  }
}

TEST(Revolve, PlansNeedTheRamOfTheirSnapshots) {
  constexpr int kBlocks = 10;
  const Instance instance = test::unit_blocks(kBlocks);
  const MethodAnswer answer = revolve({instance, test::ram(1000), Semantics::device, {}});
  EXPECT_EQ(answer.note, "on a chain of 10 blocks (of 10 forward ops)");
  ASSERT_FALSE(answer.plans.empty());
  Report last;
  for (const Plan& plan : answer.plans) {
    const Report report = replay(instance, plan, Semantics::device, no_limits());
    ASSERT_TRUE(report.valid) << report.violation;
    if (last.valid) {
      EXPECT_LE(report.peak_ram, last.peak_ram);
      EXPECT_GT(report.recomputations, last.recomputations);
    }
    last = report;
  }
  // With the network's input alone: it, a block's input and output and two gradients; 45 steps again.
  EXPECT_EQ(last.recomputations, 45);
  EXPECT_EQ(last.peak_ram, Bytes(5));
}

}  // namespace
}  // namespace poet
