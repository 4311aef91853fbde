// Capuchin on a step small enough to do by hand: a, b(a), c(b), d(c), e(d), then z4(d,e), z3(z4,c), z2(z3,b),
// z1(z2,a), each value 10 bytes. With all of them kept, 60 bytes are in use while z4 runs.

#include "poet/baselines/capuchin.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "poet/baselines/guided_run.h"
#include "poet/verify/replay.h"
#include "tests/support/there_and_back.h"
#include "tests/support/tiny_instance.h"

namespace poet {
namespace {

using test::id_list;
using testing::ElementsAre;

constexpr int kA = 0;
constexpr int kB = 1;
constexpr int kC = 2;
constexpr int kZ4 = 5;
constexpr int kZ3 = 6;
constexpr int kZ2 = 7;
constexpr int kZ1 = 8;

/// Every op takes 1 s, every transfer `transfer`; 1 W of idle power makes waiting cost energy.
Instance there_and_back(double transfer) {
  Instance instance = test::there_and_back();
  for (ValueCost& cost : instance.costs.values)
    cost.page_in.seconds = cost.page_out.seconds = Seconds(transfer);
  instance.costs.timing.idle = Watts(1);
  return instance;
}

MethodRequest request_for(const Instance& instance, std::int64_t budget,
                          Semantics semantics = Semantics::device) {
  return {instance, test::ram(budget), semantics, {}};
}

struct Chosen {
  int value;
  bool swap;
  double free_time;
  bool operator==(const Chosen&) const = default;
};

std::vector<Chosen> policy_of(const MethodRequest& request) {
  const Dataflow flow = dataflow(request.instance.graph);
  std::vector<Chosen> chosen;
  for (const Eviction& eviction : capuchin_policy(request, flow, access_log(request, flow), {}).evictions)
    chosen.push_back({eviction.value.index, eviction.swap, eviction.free_time});
  return chosen;
}

std::vector<OpId> computations(const Plan& plan) {
  std::vector<OpId> ops;
  for (const Step& step : plan.steps)
    if (step.kind == StepKind::compute) ops.push_back(step.op);
  return ops;
}

/// Everything but frees, as "3" for computing op 3, "-1" and "+1" for value 1 out and in, "w1" for a wait.
std::string text(const Plan& plan) {
  std::string text;
  for (const Step& step : plan.steps) {
    if (step.kind == StepKind::free) continue;
    const char* mark = step.kind == StepKind::page_out  ? "-"
                       : step.kind == StepKind::page_in ? "+"
                       : step.kind == StepKind::wait    ? "w"
                                                        : "";
    text += (text.empty() ? "" : " ") + std::string(mark) +
            std::to_string(step.kind == StepKind::compute ? step.op.index : step.value.index);
  }
  return text;
}

TEST(AccessLog, SaysWhoIsAccessedWhen) {
  const Instance instance = there_and_back(1);
  const MethodRequest request = request_for(instance, 40);
  const AccessLog log = access_log(request, dataflow(instance.graph));
  EXPECT_EQ(log.accesses[ValueId(kA)], id_list<OpId>({kA, kB, kZ1}));
  EXPECT_EQ(log.accesses[ValueId(kZ1)], id_list<OpId>({kZ1}));
  EXPECT_DOUBLE_EQ(log.begin[OpId(kZ1)], 8);
  EXPECT_DOUBLE_EQ(log.end[OpId(kZ1)], 9);
  const std::array<std::int64_t, 9> ram = {10, 20, 30, 40, 50, 60, 50, 40, 30};
  for (const OpId op : ids<OpId>(ram.size()))
    EXPECT_EQ(log.ram[op].value(), ram[static_cast<std::size_t>(op.index)]);
  EXPECT_EQ(log.peak, Bytes(60));
}

// 40 bytes: the peak period is e to z3, the excess 20 bytes. With transfers of 0.5 s
//   a leaves after b (2 s), is back for z1 (8 s): FT = (8 - 0.5) - (2 + 0.5) = 5
//   b leaves after c (3 s), is back for z2 (7 s): FT = 6.5 - 3.5 = 3
//   c leaves after d (4 s), is back for z3 (6 s): FT = 5.5 - 4.5 = 1
// d and e are read again at once. a and b are enough.
TEST(Capuchin, SwapsTheFreestWhileTheChannelHidesIt) {
  const Instance instance = there_and_back(0.5);
  EXPECT_THAT(policy_of(request_for(instance, 40)), ElementsAre(Chosen{kA, true, 5}, Chosen{kB, true, 3}));
  EXPECT_THAT(policy_of(request_for(instance, 41)), ElementsAre(Chosen{kA, true, 5}, Chosen{kB, true, 3}));
  EXPECT_THAT(policy_of(request_for(instance, 50)), ElementsAre(Chosen{kA, true, 5}));
  EXPECT_THAT(policy_of(request_for(instance, 60)), ElementsAre());

  // b's page-in should start at 6.5 s, which is in the peak period, so that it starts at 7 s, when that ends:
  // z2 waits for 0.5 s. 5 % of 0.5 s earlier falls between z4 and z3, and nothing waits.
  const MethodRequest request = request_for(instance, 40);
  const MethodAnswer answer = capuchin(request);
  ASSERT_EQ(answer.plans.size(), 2);
  EXPECT_EQ(answer.note, "chose to swap 2 values and to recompute 0");
  EXPECT_EQ(text(answer.plans[0]), "0 1 -0 2 -1 w0 3 w1 4 5 6 +1 +0 w1 7 w0 8");
  EXPECT_EQ(text(answer.plans[1]), "0 1 -0 2 -1 w0 3 w1 4 5 +1 6 +0 w1 7 w0 8");
  const Report late = replay(instance, answer.plans[0], Semantics::device, request.limits);
  const Report in_time = replay(instance, answer.plans[1], Semantics::device, request.limits);
  EXPECT_EQ(late.violation, "");
  EXPECT_EQ(in_time.violation, "");
  EXPECT_DOUBLE_EQ(late.stalled.value(), 0.5);
  EXPECT_DOUBLE_EQ(in_time.stalled.value(), 0);
  EXPECT_DOUBLE_EQ(in_time.runtime.value(), 9);
  EXPECT_DOUBLE_EQ(in_time.energy.value(), 9 * 2 + 2 * (3 + 4) + 9);  // ops, two swaps, idle
}

TEST(Capuchin, LeavesAStepThatFitsAlone) {
  const Instance instance = there_and_back(0.5);
  const MethodAnswer answer = capuchin(request_for(instance, 60));
  ASSERT_EQ(answer.plans.size(), 1);
  EXPECT_EQ(text(answer.plans[0]), "0 1 2 3 4 5 6 7 8");
}

// Transfers of 5 s: FT = -4 for a, -6 for b, -8 for c, while each can be recomputed in 1 s from what is in
// RAM, 10 bytes per second of it. a is first of the three. b's way back now leads through a: 2 s, MSPS 5; c's
// starts from b: 1 s, MSPS 10.
TEST(Capuchin, RecomputesWhereTheChannelIsSlow) {
  const Instance instance = there_and_back(5);
  EXPECT_THAT(policy_of(request_for(instance, 40)),
              ElementsAre(Chosen{kA, false, -4}, Chosen{kC, false, -8}));
  const MethodAnswer answer = capuchin(request_for(instance, 40));
  ASSERT_EQ(answer.plans.size(), 1);
  EXPECT_EQ(text(answer.plans[0]), "0 1 2 3 4 5 2 6 7 0 8");
  EXPECT_EQ(answer.note, "chose to swap 0 values and to recompute 2");
}

TEST(Capuchin, AWayBackLeadsThroughWhatIsRecomputedToo) {
  const Instance instance = there_and_back(5);
  const MethodRequest request = request_for(instance, 40);
  const Dataflow flow = dataflow(instance.graph);
  const auto seconds = [&](const std::vector<Eviction>& evictions, int value, int at) {
    return recomputation_seconds(request, flow, evictions, ValueId(value), OpId(at));
  };
  const Eviction a{ValueId(kA), OpId(kB), OpId(kZ1), 0, false, 0};
  const Eviction b{ValueId(kB), OpId(kC), OpId(kZ2), 0, false, 0};
  Eviction b_swapped = b;
  b_swapped.swap = true;
  EXPECT_DOUBLE_EQ(seconds({}, kC, kZ3), 1);
  EXPECT_DOUBLE_EQ(seconds({a}, kC, kZ3), 1);
  EXPECT_DOUBLE_EQ(seconds({b}, kC, kZ3), 2);
  EXPECT_DOUBLE_EQ(seconds({a, b}, kC, kZ3), 3);
  EXPECT_DOUBLE_EQ(seconds({a, b_swapped}, kC, kZ3), 1 + 5);   // b is fetched
  EXPECT_DOUBLE_EQ(seconds({}, kZ4, kZ1), 1 + 1 + 1 + 1 + 1);  // b to e and z4: all dead by then but a
}

// b takes 10 s, transfers 3 s. FT: a (17 - 3) - (11 + 3) = 0, so that it is swapped; b (16 - 3) - (12 + 3) =
// -2, against 10 s and 3 s to fetch a; c (15 - 3) - (13 + 3) = -4, against 1 s. The least overhead is c's 1
// s; for the third, b's swap costs 2 s, and its recomputation twice 13 s, since c starts from it.
TEST(Capuchin, TheHybridTakesTheLesserOverhead) {
  Instance instance = there_and_back(3);
  instance.costs.ops[OpId(kB)].runtime = Seconds(10);
  EXPECT_THAT(policy_of(request_for(instance, 40)), ElementsAre(Chosen{kA, true, 0}, Chosen{kC, false, -4}));
  EXPECT_THAT(policy_of(request_for(instance, 30)),
              ElementsAre(Chosen{kA, true, 0}, Chosen{kC, false, -4}, Chosen{kB, true, -2}));
  // What cannot be recomputed is swapped, at 4 s: after b at 2 s.
  instance.graph.ops[OpId(kC)].recomputable = false;
  EXPECT_THAT(policy_of(request_for(instance, 40)), ElementsAre(Chosen{kA, true, 0}, Chosen{kB, true, -2}));
}

// On a channel that blocks compute nothing overlaps: a swap keeps compute waiting for 1 s, like recomputing.
TEST(Capuchin, ABlockingChannelHidesNothing) {
  Instance instance = there_and_back(0.5);
  instance.costs.timing.concurrent = false;
  EXPECT_THAT(policy_of(request_for(instance, 50)), ElementsAre(Chosen{kA, true, -1}));
  const MethodRequest request = request_for(instance, 50);
  const MethodAnswer answer = capuchin(request);
  ASSERT_FALSE(answer.plans.empty());
  EXPECT_EQ(text(answer.plans[0]), "0 1 -0 2 3 4 5 6 +0 7 8");
  EXPECT_EQ(replay(instance, answer.plans[0], Semantics::device, request.limits).violation, "");
}

// Without a policy: for e, d is locked and a was accessed the longest ago; for z4 it is b.
TEST(GuidedRun, TheMeasuredStepSwapsOnDemand) {
  const Instance instance = there_and_back(0.5);
  const MethodRequest request = request_for(instance, 40);
  const Dataflow flow = dataflow(instance.graph);
  const GuidedRun run = guided_run(request, flow, access_log(request, flow), {});
  EXPECT_EQ(run.reason, "");
  EXPECT_EQ(text(run.plan), "0 1 2 3 -0 w0 4 -1 w1 5 6 +1 w1 7 +0 w0 8");
  const Report report = replay(instance, run.plan, Semantics::device, request.limits);
  EXPECT_EQ(report.violation, "");
  EXPECT_DOUBLE_EQ(report.stalled.value(), 2);  // four transfers, all awaited
}

// c's recomputation needs b, which comes back by computing from a and stays: z2 reads it next.
TEST(GuidedRun, WhatARecomputationBringsBackStays) {
  const Instance instance = there_and_back(5);
  const MethodRequest request = request_for(instance, 50);
  const Dataflow flow = dataflow(instance.graph);
  const std::vector<Eviction> policy = {{ValueId(kB), OpId(kC), OpId(kZ2), 0, false, 0},
                                        {ValueId(kC), OpId(3), OpId(kZ3), 0, false, 0}};
  const GuidedRun run = guided_run(request, flow, access_log(request, flow), policy);
  EXPECT_EQ(computations(run.plan), id_list<OpId>({0, 1, 2, 3, 4, 5, 1, 2, 6, 7, 8}));
}

TEST(Capuchin, SaysWhatDoesNotFit) {
  const Instance instance = there_and_back(0.5);
  // z4 reads d and e.
  const MethodAnswer answer = capuchin(request_for(instance, 29));
  EXPECT_TRUE(answer.plans.empty());
  EXPECT_TRUE(answer.treats_graph);
  EXPECT_EQ(answer.reason, "z4 needs 10 B beside 20 B that cannot leave at that time");
  MethodRequest interrupted = request_for(instance, 40);
  interrupted.options.interrupted = [] { return true; };
  EXPECT_EQ(capuchin(interrupted).reason, "interrupted");
}

}  // namespace
}  // namespace poet
