// Algorithm 2: which steps, in which order.

#include <gtest/gtest.h>

#include "poet/base/error.h"
#include "poet/plan/names.h"
#include "poet/plan/plan.h"
#include "poet/plan/schedule/linearise.h"
#include "tests/support/tiny_instance.h"

namespace poet {
namespace {

std::string steps(const Instance& instance, const Schedule& schedule, Semantics semantics) {
  std::string text;
  OpId next(0);
  bool stage_ends = false;
  for (const Step& step : linearise(instance, schedule, semantics).steps) {
    if (stage_ends && step.kind != StepKind::free) text += "| ";
    if (step.kind != StepKind::free) stage_ends = false;
    if (step.kind == StepKind::compute && step.op == next) {
      stage_ends = true;
      next = OpId(next.index + 1);
    }
    text += to_string(instance, step) + "; ";
  }
  return text;
}

TEST(Linearise, FreesAfterTheLastUse) {
  EXPECT_EQ(steps(test::chain(), test::chain_recomputing(), Semantics::device),
            "compute a; | compute b; free a; | compute c; free b; | compute a; compute d; free a; free c; "
            "free d; ");
}

TEST(Linearise, TransfersAreIssuedAtTheStartOfTheirStage) {
  EXPECT_EQ(steps(test::chain(), test::chain_paging(), Semantics::staged),
            "compute a; | page_out a; compute b; free a; | page_in a; compute c; free b; | "
            "compute d; free a; free c; free d; ");
}

TEST(Linearise, ADeviceWaitsForItsTransfersUnlessTheyBlockIt) {
  Instance chain = test::chain();
  EXPECT_EQ(steps(chain, test::chain_paging(), Semantics::device),
            "compute a; | page_out a; compute b; | wait a; free a; page_in a; compute c; free b; | "
            "wait a; compute d; free a; free c; free d; ");
  chain.costs.timing.concurrent = false;
  EXPECT_EQ(steps(chain, test::chain_paging(), Semantics::device),
            "compute a; | page_out a; compute b; free a; | page_in a; compute c; free b; | "
            "compute d; free a; free c; free d; ");
}

TEST(Linearise, WhatIsOnStorageIsNotPagedOutAgain) {
  Schedule schedule = test::chain_paging();
  const std::string once = steps(test::chain(), schedule, Semantics::staged);
  schedule.stages[3].page_out = {ValueId(0)};
  EXPECT_EQ(steps(test::chain(), schedule, Semantics::staged), once);
}

TEST(Linearise, PublishedPageInIsIssuedAtTheEnd) {
  EXPECT_EQ(steps(test::chain(), test::chain_paging(), Semantics::published),
            "compute a; | page_out a; compute b; free a; | compute c; free b; | page_in a; "
            "compute d; free a; free c; free d; ");
}

TEST(Linearise, UnusedValueIsFreedBeforeTheFirstComputationUnlessItIsOnItsWayOut) {
  const Schedule schedule{{test::stage({}, {}, {}, {0}), test::stage({0}, {}, {}, {1}),
                           test::stage({0, 1}, {}, {0}, {2}), test::stage({2}, {}, {}, {0, 3})}};
  EXPECT_EQ(steps(test::chain(), schedule, Semantics::published),
            "compute a; | compute b; | page_out a; free a; compute c; free b; | "
            "compute a; compute d; free a; free c; free d; ");
  EXPECT_EQ(steps(test::chain(), schedule, Semantics::staged),
            "compute a; | compute b; | page_out a; compute c; free a; free b; | "
            "compute a; compute d; free a; free c; free d; ");
}

TEST(Linearise, PageInInVainIsLeftOut) {
  Schedule schedule = test::chain_paging();
  schedule.stages[2].page_in.clear();
  schedule.stages[3].retain = {ValueId(2)};
  schedule.stages[3].compute = {OpId(0), OpId(3)};
  const std::string without = steps(test::chain(), schedule, Semantics::staged);
  schedule.stages[2].page_in = {ValueId(0)};  // stage 3 does not retain it
  EXPECT_EQ(steps(test::chain(), schedule, Semantics::staged), without);
  schedule.stages[2].page_in.clear();
  schedule.stages[3].page_in = {ValueId(0)};  // computed there, and nothing follows
  EXPECT_EQ(steps(test::chain(), schedule, Semantics::staged), without);
  // Stage 2 computes a again while a is paged in, for stage 3.
  schedule = test::chain_paging();
  schedule.stages[2].compute = {OpId(0), OpId(2)};
  for (const Semantics semantics : {Semantics::published, Semantics::staged}) {
    EXPECT_EQ(steps(test::chain(), schedule, semantics),
              "compute a; | page_out a; compute b; free a; | compute a; compute c; free b; | "
              "compute d; free a; free c; free d; ");
  }
}

TEST(Linearise, NeedsAStagePerOp) {
  EXPECT_THROW(static_cast<void>(linearise(test::chain(), Schedule{}, Semantics::staged)), InternalError);
}

TEST(PlanNames, FallBackToIndices) {
  Instance instance = test::chain();
  instance.graph.ops[OpId(1)].name.clear();
  EXPECT_EQ(name_of(instance.graph, OpId(0)), "a");
  EXPECT_EQ(name_of(instance.graph, OpId(1)), "op 1");
  EXPECT_EQ(name_of(instance.graph, ValueId(7)), "value 7");
}

}  // namespace
}  // namespace poet
