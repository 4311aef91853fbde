// POFO's program: what it reckons with is what the verifier finds, and its choices are the fastest.

#include "poet/baselines/pofo.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "poet/baselines/pofo_table.h"
#include "poet/verify/replay.h"
#include "tests/support/random_chain.h"
#include "tests/support/tiny_instance.h"

namespace poet {
namespace {

using test::Rng;

std::vector<BlockMemory> in_seconds(std::vector<BlockMemory> memory) {
  for (BlockMemory& block : memory) {
    for (const std::size_t first : {0U, 1U}) {
      block.advance_cost[first] = block.advance_time[first].value();
      block.record_cost[first] = block.record_time[first].value();
      block.turn_cost[first] = block.turn_time[first].value();
    }
  }
  return memory;
}

// A link of 8 bytes per second in both directions, as random_chain() has it, `speed` times as fast.
Instance chain_with_link(std::uint64_t seed, int blocks, double speed) {
  Rng rng(seed);
  test::RandomChainOptions options;
  options.blocks = blocks;
  options.targets = seed % 3 == 0;
  options.device = true;
  options.most_bytes = 64;
  Instance instance = test::random_chain(rng, options);
  instance.costs.timing.concurrent = true;
  instance.costs.timing.wake_time = Seconds(0);
  for (const OpId op : ids<OpId>(2))  // the step's data is just there
    if (!instance.graph.ops[op].recomputable) instance.costs.ops[op].runtime = Seconds(0);
  for (ValueCost& cost : instance.costs.values) {
    cost.page_in.seconds = 1 / speed * cost.page_in.seconds;
    cost.page_out.seconds = 1 / speed * cost.page_out.seconds;
  }
  return instance;
}

// Six unit blocks of 1 s, forward and backward: 12 s. Keeping everything takes x, six results and two
// gradients less what the loss' backward op makes room for: 8 B at the turn (x, f0 to f5, b5).
TEST(Pofo, OffloadsWhatTheLinkHides) {
  Instance instance = test::unit_blocks(6);
  instance.costs.ops[OpId(0)].runtime = Seconds(0);  // x
  ASSERT_EQ(replay_keep_all(instance, Semantics::device).peak_ram, Bytes(8));
  for (ValueCost& cost : instance.costs.values) {
    cost.page_in = {Seconds(0.5), Joules(0)};
    cost.page_out = {Seconds(0.5), Joules(0)};
  }
  const Limits limits = test::ram(6);
  const MethodAnswer answer = pofo({instance, limits, Semantics::device, {}});
  ASSERT_FALSE(answer.plans.empty());
  EXPECT_EQ(answer.note, "on a chain of 6 blocks (of 6 forward ops)");
  const Report report = replay(instance, answer.plans.front(), Semantics::device, limits);
  ASSERT_TRUE(report.valid) << report.violation;
  EXPECT_EQ(report.recomputations, 0);
  EXPECT_EQ(report.page_ins, 2);  // 2 B too many
  EXPECT_DOUBLE_EQ(report.runtime.value(), 12);
  // With a link that stands in the way, both transfers of each byte are 2 s of waiting in all; so is
  // recomputing instead, for one of two blocks.
  const MethodAnswer blocking = pofo_blocking({instance, limits, Semantics::device, {}});
  ASSERT_FALSE(blocking.plans.empty());
  const Report stopped = replay(instance, blocking.plans.front(), Semantics::device, limits);
  ASSERT_TRUE(stopped.valid) << stopped.violation;
  EXPECT_DOUBLE_EQ(stopped.runtime.value(), 14);
}

TEST(Pofo, BlockingTimeIsWhatTheProgramSays) {
  int paged = 0;
  int recomputed = 0;
  int merged = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    const Instance instance = chain_with_link(seed, 3 + static_cast<int>(seed % 8), 16);
    const Dataflow flow = dataflow(instance.graph);
    const Chain chain = chain_of(instance, flow);
    ASSERT_EQ(chain.reason, "");
    const std::vector<BlockMemory> memory =
        in_seconds(chain_memory(instance, flow, chain, Semantics::device));
    const Report keep_all = replay_keep_all(instance, Semantics::device);
    for (const int percent : {50, 70, 90}) {
      const Bytes budget(keep_all.peak_ram.value() * percent / 100);
      const RotorTable times(chain, memory, budget);
      const PofoPlan plan = pofo_plan(chain, memory, times, budget, {128, 128, true}, {});
      const MethodAnswer answer = pofo_blocking({instance, test::ram(budget.value()), Semantics::device, {}});
      if (answer.plans.empty()) {
        EXPECT_TRUE(plan.pieces.empty());
        continue;
      }
      const Report report =
          replay(instance, answer.plans.front(), Semantics::device, test::ram(budget.value()));
      ASSERT_TRUE(report.valid) << report.violation;
      // Rarely the grid loses what rotor finds; then the answer is rotor's.
      merged += plan.pieces.empty() ? 1 : 0;
      if (plan.pieces.empty()) continue;
      EXPECT_NEAR(report.runtime.value(), plan.seconds, 1e-9);
      paged += report.page_ins > 0 ? 1 : 0;
      recomputed += report.recomputations > 0 ? 1 : 0;
    }
  }
  EXPECT_GT(paged, 20);
  EXPECT_GT(recomputed, 20);
  EXPECT_LE(merged, 2);
}

// Overlapping: no slower than rotor's fastest, and close to what the program promises.
TEST(Pofo, OverlapTakesPlace) {
  int paged = 0;
  int prompt = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    const Instance instance = chain_with_link(seed, 6 + static_cast<int>(seed % 8), 64);
    const Dataflow flow = dataflow(instance.graph);
    const Chain chain = chain_of(instance, flow);
    const std::vector<BlockMemory> memory =
        in_seconds(chain_memory(instance, flow, chain, Semantics::device));
    const Report keep_all = replay_keep_all(instance, Semantics::device);
    const Limits limits = test::ram(keep_all.peak_ram.value() * 6 / 10);
    const RotorTable times(chain, memory, limits.ram_budget);
    const PofoPlan plan = pofo_plan(chain, memory, times, limits.ram_budget, {512, 512, false}, {});
    const MethodAnswer answer = pofo({instance, limits, Semantics::device, {}});
    ASSERT_EQ(plan.pieces.empty(), answer.plans.empty());
    if (plan.pieces.empty()) continue;
    const Report report = replay(instance, answer.plans.front(), Semantics::device, limits);
    ASSERT_TRUE(report.valid) << report.violation;
    if (report.page_ins == 0) continue;
    ++paged;
    prompt += report.runtime.value() <= plan.seconds * 1.01 ? 1 : 0;
    EXPECT_LE(report.runtime.value(), plan.seconds * 1.2);
  }
  EXPECT_GT(paged, 20);
  EXPECT_GT(10 * prompt, 9 * paged);
}

TEST(Pofo, KeepsEverythingWhereItFits) {
  const Instance instance = test::unit_blocks(10);
  const Report keep_all = replay_keep_all(instance, Semantics::device);
  for (const auto method : {pofo, pofo_blocking}) {
    const MethodAnswer answer =
        method({instance, test::ram(keep_all.peak_ram.value()), Semantics::device, {}});
    ASSERT_EQ(answer.plans.size(), 1U);
    const Report report = replay(instance, answer.plans.front(), Semantics::device, no_limits());
    EXPECT_EQ(report.recomputations + report.page_ins + report.page_outs, 0);
  }
}

TEST(Pofo, SaysWhereItIsNotDefined) {
  Instance instance = test::unit_blocks(5);
  const MethodAnswer staged = pofo({instance, test::ram(9), Semantics::staged, {}});
  EXPECT_FALSE(staged.treats_graph);
  EXPECT_EQ(staged.reason, "transfers last whole stages under staged rules");
  instance.costs.has_storage = false;
  const MethodAnswer without = pofo_blocking({instance, test::ram(9), Semantics::device, {}});
  EXPECT_FALSE(without.treats_graph);
  EXPECT_EQ(without.reason, "there is no storage to offload to");
  instance.costs.has_storage = true;
  const MethodAnswer tight = pofo({instance, test::ram(2), Semantics::device, {}});
  EXPECT_TRUE(tight.treats_graph);
  EXPECT_TRUE(tight.plans.empty());
  EXPECT_NE(tight.reason, "");
}

TEST(Pofo, StopsWhenAsked) {
  const Instance instance = test::unit_blocks(8);
  SolveOptions options;
  options.interrupted = [] { return true; };
  // At once: what needs no search is rotor's schedule.
  const MethodAnswer answer = pofo({instance, test::ram(7), Semantics::device, options});
  ASSERT_EQ(answer.plans.size(), 1U);
  EXPECT_EQ(replay(instance, answer.plans.front(), Semantics::device, no_limits()).page_ins, 0);
}

}  // namespace
}  // namespace poet
