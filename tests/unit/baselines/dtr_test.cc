// DTR on graphs small enough to simulate by hand, and on the chains of the paper's asymptotics.

#include "poet/baselines/dtr.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "poet/verify/replay.h"
#include "tests/support/effort.h"
#include "tests/support/there_and_back.h"
#include "tests/support/tiny_instance.h"

namespace poet {
namespace {

using test::id_list;
using testing::HasSubstr;

MethodRequest dtr_request(const Instance& instance, std::int64_t budget,
                          Semantics semantics = Semantics::device) {
  return {instance, test::ram(budget), semantics, {}};
}

/// As there, with times that tell the heuristics apart.
Instance there_and_back() {
  Instance instance = test::there_and_back();
  const double seconds[] = {1, 2, 1.5, 2, 1, 1, 1, 1, 1};
  for (const OpId op : ids<OpId>(9)) instance.costs.ops[op].runtime = Seconds(seconds[op.index]);
  return instance;
}

// As the literature calls the ops.
// NOLINTBEGIN(readability-identifier-naming)
constexpr int a = 0;
constexpr int b = 1;
constexpr int c = 2;
constexpr int d = 3;
constexpr int e = 4;
constexpr int z4 = 5;
constexpr int z3 = 6;
constexpr int z2 = 7;
constexpr int z1 = 8;
// NOLINTEND(readability-identifier-naming)

// 40 bytes hold a, b, c, d at 6.5 s. For e one goes; d is locked. Last accesses: a at 1 s (by b), b at 3 s
// (by c), c at 4.5 s (by d). Scores times 10 bytes, nothing being evicted yet:
//   a 1 / 5.5 = 0.18, b 2 / 3.5 = 0.57, c 1.5 / 2 = 0.75: a goes.
// For z4, at 7.5 s, d and e are locked. Own cost only:
//   b 2 / 4.5 = 0.44, c 1.5 / 3 = 0.5: b goes.
// With the evicted neighbourhood, which for b is {a}:
//   b (2 + 1) / 4.5 = 0.67, c 0.5: c goes.
TEST(Dtr, EvictsTheLowestScore) {
  const Instance instance = there_and_back();
  const DtrRun local = run_dtr(dtr_request(instance, 40), DtrHeuristic::local);
  EXPECT_EQ(local.reason, "");
  EXPECT_EQ(local.evictions, id_list<ValueId>({a, b}));
  // d and e are released by z4, z4 and c by z3; a comes back for b, and is still there for z1.
  EXPECT_EQ(local.order, id_list<OpId>({a, b, c, d, e, z4, z3, a, b, z2, z1}));
  for (const DtrHeuristic heuristic : {DtrHeuristic::full, DtrHeuristic::components}) {
    const DtrRun run = run_dtr(dtr_request(instance, 40), heuristic);
    EXPECT_EQ(run.evictions, id_list<ValueId>({a, c}));
    EXPECT_EQ(run.order, id_list<OpId>({a, b, c, d, e, z4, c, z3, z2, a, z1}));
  }
}

TEST(Dtr, RecomputesNothingWhenEverythingFits) {
  const Instance instance = there_and_back();
  // a to d and e are alive, then z4 is written: 6 values at most.
  EXPECT_EQ(replay_keep_all(instance, Semantics::device).peak_ram, Bytes(60));
  const DtrRun run = run_dtr(dtr_request(instance, 60), DtrHeuristic::full);
  EXPECT_EQ(run.order, id_list<OpId>({a, b, c, d, e, z4, z3, z2, z1}));
  EXPECT_TRUE(run.evictions.empty());
}

TEST(Dtr, SaysWhatDoesNotFit) {
  const Instance instance = there_and_back();
  const MethodAnswer answer = dtr(dtr_request(instance, 29));
  EXPECT_TRUE(answer.treats_graph);
  EXPECT_TRUE(answer.plans.empty());
  EXPECT_EQ(answer.reason, "z4 alone needs 30 B");
  // 30 hold every op, but z2 recomputes b with z3 locked: z3, a and b, and no room for z2's result is needed
  // yet; then z3, b and z2. 30 bytes suffice.
  EXPECT_EQ(run_dtr(dtr_request(instance, 30), DtrHeuristic::local).reason, "");
  Instance wide = there_and_back();
  wide.costs.ops[OpId(1)].workspace = Bytes(15);
  EXPECT_EQ(dtr(dtr_request(wide, 34)).reason, "b alone needs 35 B");
  EXPECT_EQ(dtr(dtr_request(wide, 30, Semantics::published)).reason, "");
}

// Recomputing b for z2 takes z3 (locked), a and b, and the workspace of b: 30 + 15.
TEST(Dtr, WorkspaceCountsBesideWhatIsLocked) {
  Instance instance = there_and_back();
  instance.costs.ops[OpId(b)].workspace = Bytes(15);
  EXPECT_EQ(run_dtr(dtr_request(instance, 45), DtrHeuristic::local).reason, "");
  EXPECT_EQ(run_dtr(dtr_request(instance, 44), DtrHeuristic::local).reason,
            "b needs 25 B beside 20 B that cannot be evicted while it runs");
}

// a and p(a) are evicted, q(p) and b(a) resident: a's descendants through p are b's business only where the
// neighbourhood is taken as a component.
TEST(DtrScore, NeighbourhoodsDiffer) {
  Graph graph;
  const ValueId va = test::add_node(graph, "a", {}, 10);
  const ValueId vp = test::add_node(graph, "p", {va}, 10);
  const ValueId vb = test::add_node(graph, "b", {va}, 10);
  const ValueId vq = test::add_node(graph, "q", {vp}, 10);
  Instance instance = test::instance_of(std::move(graph));
  const double seconds[] = {1, 2, 4, 8};
  for (const OpId op : ids<OpId>(4)) instance.costs.ops[op].runtime = Seconds(seconds[op.index]);
  const Dataflow flow = dataflow(instance.graph);
  DtrValues values(instance, flow);
  for (const ValueId v : {va, vp, vb, vq}) values.computed[v] = values.resident[v] = 1;
  DtrScore full(DtrHeuristic::full, values);
  DtrScore components(DtrHeuristic::components, values);
  DtrScore local(DtrHeuristic::local, values);
  for (const ValueId v : {va, vp}) {
    values.resident[v] = 0;
    full.was_evicted(v);
    components.was_evicted(v);
  }
  // At 5 s, last accessed at 0 s: 50 byte seconds.
  EXPECT_DOUBLE_EQ(local.score(vb, 5), 4 / 50.0);
  EXPECT_DOUBLE_EQ(full.score(vb, 5), (4 + 1) / 50.0);              // and its evicted ancestor a
  EXPECT_DOUBLE_EQ(full.score(vq, 5), (8 + 2 + 1) / 50.0);          // p and, through it, a
  EXPECT_DOUBLE_EQ(components.score(vb, 5), (4 + (1 + 2)) / 50.0);  // the component {a, p}
  EXPECT_DOUBLE_EQ(components.score(vq, 5), (8 + (1 + 2)) / 50.0);
  EXPECT_EQ(full.score(vb, 0), std::numeric_limits<double>::infinity());
  // p comes back and takes its cost along.
  values.resident[vp] = 1;
  full.is_no_longer_evicted(vp);
  components.is_no_longer_evicted(vp);
  EXPECT_DOUBLE_EQ(components.score(vb, 5), (4 + 1) / 50.0);
  EXPECT_DOUBLE_EQ(components.score(vq, 5), 8 / 50.0);
  EXPECT_DOUBLE_EQ(full.score(vp, 5), (2 + 1) / 50.0);
  // b and p evicted, one component with a, which links them; a comes back and they stay joined: the
  // approximation. The exact neighbourhood of q is p alone.
  for (const ValueId v : {vb, vp}) {
    values.resident[v] = 0;
    components.was_evicted(v);
  }
  values.resident[va] = 1;
  components.is_no_longer_evicted(va);
  EXPECT_DOUBLE_EQ(components.score(vq, 5), (8 + (2 + 4)) / 50.0);
  EXPECT_DOUBLE_EQ(full.score(vq, 5), (8 + 2) / 50.0);
}

// w is updated by its own op while x = a * w is still to be read: the update's step brings x back first, as
// nobody can afterwards.
TEST(Dtr, BringsBackWhatAnUpdateWouldMakeUnrecoverable) {
  Graph graph;
  const ValueId w = test::add_persistent(graph, "w", 4);
  const ValueId va = test::add_node(graph, "a", {}, 10);
  const ValueId x = test::add_node(graph, "x", {va, w}, 10);
  const ValueId y = test::add_node(graph, "y", {va}, 10);
  const ValueId z = test::add_node(graph, "z", {y}, 10);
  test::add_update(graph, "update", {z, w}, {w});
  test::add_node(graph, "end", {x, va}, 10);
  Instance instance = test::instance_of(std::move(graph));
  instance.costs.ops[OpId(1)].runtime = Seconds(0.5);
  // 30 bytes hold a, x and y at 2.5 s. For z, y being locked, x goes: a and x were accessed last at 1.5 s,
  // and x costs 0.5 s against 1 s. z releases y. Before the update x is computed from a, beside a and z.
  const DtrRun run = run_dtr(dtr_request(instance, 34), DtrHeuristic::full);
  EXPECT_EQ(run.evictions, id_list<ValueId>({2}));
  EXPECT_EQ(run.order, id_list<OpId>({0, 1, 2, 3, 1, 4, 5}));
  const Plan plan = dtr(dtr_request(instance, 34)).plans.at(0);
  EXPECT_EQ(replay(instance, plan, Semantics::device, test::ram(34)).violation, "");
}

/// The paper's and the simulator's experiment: n unit ops forward, n backward; the backward op of i
/// reads the forward value before it and the gradient so far.
Instance unit_chain(int n) {
  Graph graph;
  std::vector<ValueId> forward;
  for (int i = 0; i < n; ++i) {
    std::vector<ValueId> reads;
    if (i > 0) reads.push_back(forward.back());
    forward.push_back(test::add_node(graph, fmt::format("f{}", i), reads, 1));
  }
  ValueId gradient = test::add_node(graph, fmt::format("b{}", n - 1), {}, 1);
  for (int i = n - 2; i >= 0; --i) {
    std::vector<ValueId> reads = {gradient};
    if (i > 0) reads.insert(reads.begin(), forward[static_cast<std::size_t>(i) - 1]);
    gradient = test::add_node(graph, fmt::format("b{}", i), reads, 1);
  }
  return test::instance_of(std::move(graph));
}

// Theorem 3.1: with 2 ceil(sqrt(n)) units of RAM O(n) ops suffice; the simulator's experiment shows the same
// of these heuristics. Local cost only is left out: it has no such promise.
TEST(Dtr, ChainsNeedLinearlyManyOpsInRootRam) {
  for (const int n : {16, 64, 100, 400, 1000}) {
    const Instance chain = unit_chain(n);
    const int budget = 2 * static_cast<int>(std::ceil(std::sqrt(n)));
    for (const DtrHeuristic heuristic : {DtrHeuristic::full, DtrHeuristic::components}) {
      const DtrRun run = run_dtr(dtr_request(chain, budget), heuristic);
      EXPECT_EQ(run.reason, "") << n;
      const double more = (static_cast<double>(run.order.size()) - 2 * n) / n;
      EXPECT_LE(more, 1.2) << n;
      EXPECT_GE(more, 0.5) << n;
    }
  }
}

TEST(Dtr, GivesUpWhenItThrashesOrIsInterrupted) {
  const Instance chain = unit_chain(test::kSanitized ? 300 : 1000);
  EXPECT_THAT(run_dtr(dtr_request(chain, 4), DtrHeuristic::full).reason, HasSubstr("thrashes"));
  MethodRequest request = dtr_request(chain, 63);
  request.options.interrupted = [] { return true; };
  EXPECT_EQ(run_dtr(request, DtrHeuristic::full).reason, "interrupted");
}

}  // namespace
}  // namespace poet
