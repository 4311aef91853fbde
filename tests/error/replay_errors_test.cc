// Every rule of the verifier, violated once by a schedule and once by a plan: the message names the
// rule and the place.

#include <gtest/gtest.h>

#include <functional>

#include "poet/plan/schedule/keep_all.h"
#include "poet/verify/replay.h"
#include "tests/support/tiny_instance.h"

namespace poet {
namespace {

using test::stage;

Report replayed(const Schedule& schedule, const Limits& limits = test::ram(1000),
                Semantics semantics = Semantics::staged) {
  return replay(test::chain(), schedule, semantics, limits);
}

/// The message of chain_paging() after `damage`.
std::string violation(const std::function<void(std::vector<Stage>&)>& damage) {
  Schedule schedule = test::chain_paging();
  damage(schedule.stages);
  const Report report = replayed(schedule);
  EXPECT_EQ(report.valid, report.violation.empty());
  return report.violation;
}

TEST(ScheduleRules, OneStagePerOp) {
  EXPECT_EQ(violation([](auto& s) { s.pop_back(); }), "3 stages for 4 ops");
}

TEST(ScheduleRules, IndicesInRange) {
  EXPECT_EQ(violation([](auto& s) { s[1].retain = {ValueId(4)}; }),
            "stage 1 (b): retain names value 4, but there are 4");
  EXPECT_EQ(violation([](auto& s) { s[2].page_in = {ValueId(-1)}; }),
            "stage 2 (c): page_in names value -1, but there are 4");
  EXPECT_EQ(violation([](auto& s) { s[2].page_out = {ValueId(9)}; }),
            "stage 2 (c): page_out names value 9, but there are 4");
  EXPECT_EQ(violation([](auto& s) { s[2].compute = {OpId(5)}; }),
            "stage 2 (c): compute names op 5, but there are 4");
}

TEST(ScheduleRules, ListsInOrder) {
  EXPECT_EQ(violation([](auto& s) {
              s[3].retain = {ValueId(2), ValueId(0)};
            }),
            "stage 3 (d): retain lists a after c; values go in increasing order, each at most once");
  EXPECT_EQ(violation([](auto& s) {
              s[1].page_out = {ValueId(0), ValueId(0)};
            }),
            "stage 1 (b): page_out lists a after a; values go in increasing order, each at most once");
  EXPECT_EQ(violation([](auto& s) {
              s[3].compute = {OpId(1), OpId(0), OpId(3)};
            }),
            "stage 3 (d): computes a after b; ops go in increasing order, each at most once");
}

TEST(ScheduleRules, LastOpIsTheStagesOwn) {
  const std::string message = "the last op computed must be the stage's own";
  EXPECT_EQ(violation([](auto& s) { s[2].compute.clear(); }), "stage 2 (c): " + message);
  EXPECT_EQ(violation([](auto& s) { s[2].compute = {OpId(1)}; }), "stage 2 (c): " + message);
}

TEST(ScheduleRules, RetainedValuesComeFromTheStageBefore) {
  const std::string message = ", which the stage before neither retains, computes nor pages in";
  EXPECT_EQ(violation([](auto& s) { s[0].retain = {ValueId(0)}; }), "stage 0 (a): retains a" + message);
  EXPECT_EQ(violation([](auto& s) {
              s[1].retain = {ValueId(0), ValueId(2)};
            }),
            "stage 1 (b): retains c" + message);
  EXPECT_EQ(violation([](auto& s) { s[2].page_in.clear(); }), "stage 3 (d): retains a" + message);
}

TEST(ScheduleRules, DependenciesAreInRam) {
  EXPECT_EQ(violation([](auto& s) { s[3].retain = {ValueId(2)}; }), "stage 3 (d): needs a, not in RAM");
  EXPECT_EQ(violation([](auto& s) {
              s[3].retain = {ValueId(2)};
              s[3].compute = {OpId(1), OpId(3)};
            }),
            "stage 3 (d): recomputing b needs a, not in RAM");
}

TEST(ScheduleRules, PageInIsUsableFromTheNextStageOn) {
  // a is paged in by stage 3 itself, which needs it.
  EXPECT_EQ(violation([](auto& s) {
              s[2].page_in.clear();
              s[3].retain = {ValueId(2)};
              s[3].page_in = {ValueId(0)};
            }),
            "stage 3 (d): needs a, not in RAM");
}

TEST(ScheduleRules, PageOutNeedsTheValueInRamWhenTheStageStarts) {
  EXPECT_EQ(violation([](auto& s) { s[2].page_out = {ValueId(0)}; }),
            "stage 2 (c): pages out a, not in RAM at its start");
  EXPECT_EQ(violation([](auto& s) { s[0].page_out = {ValueId(0)}; }),
            "stage 0 (a): pages out a, not in RAM at its start");
}

TEST(ScheduleRules, PageInNeedsTheValueOnStorageWhenTheStageStarts) {
  EXPECT_EQ(violation([](auto& s) { s[1].page_out.clear(); }),
            "stage 2 (c): pages in a, not on storage at its start");
  EXPECT_EQ(violation([](auto& s) { s[1].page_in = {ValueId(0)}; }),
            "stage 1 (b): pages in a, not on storage at its start");
}

TEST(ScheduleRules, NoPagingWithoutStorage) {
  Instance instance = test::chain();
  instance.costs.has_storage = false;
  EXPECT_EQ(replay(instance, test::chain_paging(), Semantics::published, test::ram(1000)).violation,
            "stage 1 (b): pages a, but there is no storage");
}

TEST(ScheduleRules, OnlyRecomputableOpsAreRecomputed) {
  Instance instance = test::chain();
  instance.graph.ops[OpId(0)].recomputable = false;
  EXPECT_EQ(replay(instance, test::chain_recomputing(), Semantics::staged, test::ram(1000)).violation,
            "stage 3 (d): recomputes a, which cannot be recomputed");
}

TEST(ScheduleRules, OnlyTransientStoragesAreDecidedAbout) {
  Graph graph;
  const ValueId w = test::add_persistent(graph, "w");
  const ValueId a = test::add_node(graph, "a", {w});
  const ValueId v = test::add_alias(graph, "v", a);
  test::add_node(graph, "b", {v});
  const Instance instance = test::instance_of(std::move(graph));
  const auto retaining = [&](int value) {
    const Schedule schedule{{stage({}, {}, {}, {0}), stage({value}, {}, {}, {1})}};
    return replay(instance, schedule, Semantics::staged, test::ram(1000)).violation;
  };
  EXPECT_EQ(retaining(w.index), "stage 1 (b): retain names w, which is persistent: always in RAM");
  EXPECT_EQ(retaining(v.index), "stage 1 (b): retain names v, which is a view: name its storage instead");
  EXPECT_EQ(retaining(a.index), "");
}

TEST(ScheduleLimits, Budget) {
  EXPECT_EQ(replayed(test::chain_recomputing(), test::ram(29)).violation,
            "stage 1 (b): while it runs 30 bytes of RAM, over the budget of 29");
  Instance instance = test::chain();
  instance.costs.values[ValueId(3)].bytes = Bytes(0);
  instance.costs.values[ValueId(1)].bytes = Bytes(1);
  instance.costs.values[ValueId(2)].bytes = Bytes(2);
  // a 10; a b 11; b c 3; c 2, c a 12.
  EXPECT_EQ(replay(instance, test::chain_recomputing(), Semantics::staged, test::ram(11)).violation,
            "stage 3 (d): while it recomputes a 12 bytes of RAM, over the budget of 11");
  // a c at the start of stage 3, where a has just been paged in.
  EXPECT_EQ(replay(instance, test::chain_paging(), Semantics::published, test::ram(11)).violation,
            "stage 3 (d): at its start 12 bytes of RAM, over the budget of 11");
}

TEST(ScheduleLimits, FiguresAreCompleteWhenOnlyALimitIsViolated) {
  const Report report = replayed(test::chain_recomputing(), test::ram(29));
  EXPECT_FALSE(report.valid);
  EXPECT_EQ(report.peak_ram, Bytes(30));
  EXPECT_EQ(report.energy, Joules(10));
}

TEST(ScheduleLimits, PersistentBytesAlone) {
  Instance instance = test::chain();
  instance.costs.persistent = Bytes(100);
  EXPECT_EQ(replay(instance, test::chain_paging(), Semantics::device, test::ram(99)).violation,
            "persistent values alone take 100 bytes of RAM, over the budget of 99");
}

TEST(ScheduleLimits, Deadline) {
  Limits limits = test::ram(1000);
  limits.deadline = Seconds(4.5);
  EXPECT_EQ(replayed(test::chain_recomputing(), limits).violation,
            "the step takes 5 s, over the deadline of 4.5 s");
}

TEST(ScheduleLimits, BytesWritten) {
  Limits limits = test::ram(1000);
  limits.max_bytes_written = Bytes(10);
  EXPECT_TRUE(replayed(test::chain_paging(), limits).valid);
  limits.max_bytes_written = Bytes(9);
  EXPECT_EQ(replayed(test::chain_paging(), limits).violation,
            "stage 1 (b): 10 bytes written to storage so far, over the limit of 9");
}

// ---- The step form.

Step compute(int op) { return {StepKind::compute, OpId(op), ValueId()}; }
Step page_out(int v) { return {StepKind::page_out, OpId(), ValueId(v)}; }
Step page_in(int v) { return {StepKind::page_in, OpId(), ValueId(v)}; }
Step wait(int v) { return {StepKind::wait, OpId(), ValueId(v)}; }
Step release(int v) { return {StepKind::free, OpId(), ValueId(v)}; }

Report report_of(std::vector<Step> steps, Semantics semantics = Semantics::staged,
                 const Limits& limits = test::ram(1000)) {
  return replay(test::chain(), Plan{std::move(steps)}, semantics, limits);
}
std::string verdict(std::vector<Step> steps, Semantics semantics = Semantics::staged) {
  return report_of(std::move(steps), semantics).violation;
}

TEST(PlanRules, LeftoversAreFine) {
  EXPECT_EQ(verdict({compute(0), compute(1), compute(2), compute(3)}), "");
}

TEST(PlanRules, IndicesInRange) {
  EXPECT_EQ(verdict({compute(4)}), "step 0 (compute op 4): there are 4 ops");
  EXPECT_EQ(verdict({compute(0), release(4)}), "step 1 (free value 4): there are 4 values");
}

TEST(PlanRules, FirstComputationsInOrderAndComplete) {
  EXPECT_EQ(verdict({compute(0), compute(2)}), "step 1 (compute c): comes before the first computation of b");
  EXPECT_EQ(verdict({compute(0), compute(1), compute(2)}), "after the last step: d was never computed");
  EXPECT_EQ(verdict({}), "after the last step: a was never computed");
}

TEST(PlanRules, InputsAreInRam) {
  EXPECT_EQ(verdict({compute(0), release(0), compute(1)}), "step 2 (compute b): needs a, not in RAM");
}

TEST(PlanRules, FreeNeedsTheValueInRam) {
  EXPECT_EQ(verdict({compute(0), release(1)}), "step 1 (free b): not in RAM");
  EXPECT_EQ(verdict({compute(0), release(0), release(0)}), "step 2 (free a): not in RAM");
}

TEST(PlanRules, PageOutNeedsTheValueInRam) {
  EXPECT_EQ(verdict({compute(0), page_out(1)}), "step 1 (page_out b): not in RAM");
}

TEST(PlanRules, PageInNeedsTheValueOnStorageAndNotInRam) {
  for (const Semantics semantics : {Semantics::published, Semantics::staged, Semantics::device}) {
    EXPECT_EQ(verdict({compute(0), release(0), page_in(0)}, semantics), "step 2 (page_in a): not on storage");
    EXPECT_EQ(verdict({compute(0), page_out(0), compute(1), page_in(0)}, semantics),
              "step 3 (page_in a): already in RAM");
  }
  for (const Semantics semantics : {Semantics::published, Semantics::staged}) {
    EXPECT_EQ(verdict({compute(0), page_out(0), compute(1), release(0), page_in(0), page_in(0)}, semantics),
              "step 5 (page_in a): already in RAM");
  }
}

TEST(PlanRules, DeviceTransfersLastUntilWaitedFor) {
  const auto device = [](const std::vector<Step>& steps) { return verdict(steps, Semantics::device); };
  const std::vector<Step> stored = {compute(0), page_out(0), compute(1), wait(0), release(0)};
  const auto then = [&](std::vector<Step> more) {
    more.insert(more.begin(), stored.begin(), stored.end());
    return device(more);
  };
  EXPECT_EQ(device({compute(0), page_out(0), compute(1), release(0)}),
            "step 3 (free a): its transfer may still be under way");
  EXPECT_EQ(device({compute(0), page_out(0), compute(0)}),
            "step 2 (compute a): writes a, whose transfer may still be under way");
  EXPECT_EQ(device({compute(0), page_out(0), compute(1), page_out(1), wait(0), release(1)}),
            "step 5 (free b): its transfer may still be under way");
  // One channel: what was asked for first has ended first.
  EXPECT_EQ(device({compute(0), page_out(0), compute(1), page_out(1), wait(1), release(0), compute(2)}),
            "after the last step: d was never computed");
  EXPECT_EQ(then({page_in(0), page_in(0)}), "step 6 (page_in a): already in RAM");
  EXPECT_EQ(then({page_in(0), compute(1)}), "step 6 (compute b): needs a, which may still be arriving");
  EXPECT_EQ(then({page_in(0), wait(0), compute(2), compute(3)}), "");
  EXPECT_EQ(device({compute(0), wait(0)}), "step 1 (wait a): nothing has moved it");
  EXPECT_EQ(verdict({compute(0), page_out(0), wait(0)}, Semantics::staged),
            "step 2 (wait a): no channel runs beside compute");
}

TEST(PlanRules, StagedTransfersLastUntilTheNextFirstComputation) {
  const std::vector<Step> stored = {compute(0), page_out(0), compute(1), release(0)};
  const auto then = [&](std::vector<Step> more) {
    more.insert(more.begin(), stored.begin(), stored.end());
    return verdict(std::move(more));
  };
  EXPECT_EQ(verdict({compute(0), page_out(0), release(0)}),
            "step 2 (free a): its transfer may still be under way");
  EXPECT_EQ(verdict({compute(0), page_out(0), page_in(0)}), "step 2 (page_in a): not on storage");
  EXPECT_EQ(then({page_in(0), release(0)}), "step 5 (free a): its transfer may still be under way");
  EXPECT_EQ(then({page_in(0), page_out(0)}), "step 5 (page_out a): still arriving");
  EXPECT_EQ(then({page_in(0), compute(1)}), "step 5 (compute b): needs a, which may still be arriving");
  EXPECT_EQ(then({page_in(0), compute(2), compute(3)}), "");
}

TEST(PlanRules, NoPagingWithoutStorage) {
  Instance instance = test::chain();
  instance.costs.has_storage = false;
  const Plan plan{{compute(0), page_out(0)}};
  EXPECT_EQ(replay(instance, plan, Semantics::device, test::ram(1000)).violation,
            "step 1 (page_out a): there is no storage");
}

TEST(PlanRules, OnlyRecomputableOpsAreRecomputed) {
  Instance instance = test::chain();
  instance.graph.ops[OpId(0)].recomputable = false;
  const Plan plan{{compute(0), compute(0)}};
  EXPECT_EQ(replay(instance, plan, Semantics::device, test::ram(1000)).violation,
            "step 1 (compute a): cannot be recomputed");
}

TEST(PlanRules, OnlyTransientStoragesMove) {
  Graph graph;
  const ValueId w = test::add_persistent(graph, "w");
  const ValueId a = test::add_node(graph, "a", {w});
  const ValueId v = test::add_alias(graph, "v", a);
  const Instance instance = test::instance_of(std::move(graph));
  const std::string message = "a view or a resident persistent value is neither transferred nor freed";
  EXPECT_EQ(replay(instance, Plan{{release(w.index)}}, Semantics::device, test::ram(1000)).violation,
            "step 0 (free w): " + message);
  EXPECT_EQ(
      replay(instance, Plan{{compute(0), page_out(v.index)}}, Semantics::device, test::ram(1000)).violation,
      "step 1 (page_out v): " + message);
}

TEST(PlanLimits, BudgetDeadlineAndBytesWritten) {
  const std::vector<Step> keep_all = {compute(0), compute(1), page_out(0), compute(2), compute(3)};
  EXPECT_EQ(report_of(keep_all, Semantics::staged, test::ram(29)).violation,
            "step 1 (compute b): 30 bytes of RAM, over the budget of 29");
  Limits limits = test::ram(1000);
  limits.deadline = Seconds(3);
  EXPECT_EQ(report_of(keep_all, Semantics::staged, limits).violation,
            "the step takes 4 s, over the deadline of 3 s");
  limits = test::ram(1000);
  limits.max_bytes_written = Bytes(9);
  EXPECT_EQ(report_of(keep_all, Semantics::staged, limits).violation,
            "step 2 (page_out a): 10 bytes written to storage so far, over the limit of 9");
  // a 10; a b 30; b 20; b and a in flight 30; with c 35; with d 36.
  const std::vector<Step> paging = {compute(0), page_out(0), compute(1), release(0),
                                    page_in(0), compute(2),  compute(3)};
  EXPECT_EQ(report_of(paging, Semantics::staged, test::ram(29)).violation,
            "step 2 (compute b): 30 bytes of RAM, over the budget of 29");
  EXPECT_EQ(report_of(paging, Semantics::staged, test::ram(35)).violation,
            "step 6 (compute d): 36 bytes of RAM, over the budget of 35");
}

}  // namespace
}  // namespace poet
