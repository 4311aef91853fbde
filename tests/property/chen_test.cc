// Chen et al.'s plans against a simulation of their section 3 that knows only chains, over every set of
// checkpoints of small chains with random costs.

#include "poet/baselines/chen.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "poet/baselines/segments.h"
#include "poet/verify/replay.h"
#include "tests/support/random_instance.h"
#include "tests/support/unit_chain.h"

namespace poet {
namespace {

using test::pick;
using test::Rng;

struct Chain {
  int steps;
  Instance instance;  // unit_chain's ops with random bytes and joules
  [[nodiscard]] std::int64_t bytes(int op) const { return instance.costs.values[ValueId(op)].bytes.value(); }
  [[nodiscard]] double joules(int op) const { return instance.costs.ops[OpId(op)].energy.value(); }
  [[nodiscard]] int backward(int k) const { return 2 * steps + 1 - k; }
};

Chain random_chain(Rng& rng) {
  Chain chain{pick(rng, 3, 8), {}};
  chain.instance = test::unit_chain(chain.steps);
  for (const OpId op : ids<OpId>(chain.instance.graph.ops.size())) {
    chain.instance.costs.ops[op].energy = Joules(pick(rng, 1, 9));
    chain.instance.costs.values[ValueId(op.index)].bytes = Bytes(pick(rng, 1, 9));
  }
  return chain;
}

struct ChenFigures {
  std::int64_t peak = 0;
  double extra = 0;  // joules of what is computed again
  bool operator==(const ChenFigures&) const = default;
};

/// Step by step, with a set of what is in RAM. x stays to the end of its last use, b1.
class Simulation {
 public:
  Simulation(const Chain& chain, unsigned checkpoints) : chain_(chain), checkpoints_(checkpoints) {}

  ChenFigures run() {
    const int n = chain_.steps;
    enter(0);
    for (int k = 1; k <= n; ++k) {
      enter(k);
      // f[k-1] goes unless it is a checkpoint or of the segment that b[n], which reads f[n-1], starts with.
      const bool starts = !is_checkpoint(n - 1) && first_of(k - 1) == first_of(n - 1);
      if (!is_checkpoint(k - 1) && !starts) leave(k - 1);
    }
    for (int k = n; k >= 1; --k) {
      if (k > 1 && in_ram_.count(k - 1) == 0) recompute(first_of(k - 1), k - 1);
      enter(chain_.backward(k));
      leave(k == n ? n : chain_.backward(k + 1));
      leave(k - 1);
    }
    return figures_;
  }

 private:
  [[nodiscard]] bool is_checkpoint(int k) const { return k == 0 || ((checkpoints_ >> (k - 1)) & 1U) != 0; }
  [[nodiscard]] int first_of(int k) const {
    while (k > 1 && !is_checkpoint(k - 1)) --k;
    return k;
  }
  void recompute(int from, int to) {
    for (int k = from; k <= to; ++k) {
      enter(k);
      figures_.extra += chain_.joules(k);
    }
  }
  void enter(int op) {
    in_ram_[op] = chain_.bytes(op);
    figures_.peak =
        std::max(figures_.peak,
                 std::accumulate(in_ram_.begin(), in_ram_.end(), std::int64_t{0},
                                 [](std::int64_t sum, const auto& entry) { return sum + entry.second; }));
  }
  void leave(int op) { in_ram_.erase(op); }

  const Chain& chain_;
  const unsigned checkpoints_;  // bit k - 1: f[k]
  std::map<int, std::int64_t> in_ram_;
  ChenFigures figures_;
};

ChenFigures figures_of(const Chain& chain, const Plan& plan) {
  const Report report = replay(chain.instance, plan, Semantics::published, no_limits());
  const Report keep_all = replay_keep_all(chain.instance, Semantics::published);
  EXPECT_TRUE(report.valid) << report.violation;
  return {report.peak_ram.value(), report.energy.value() - keep_all.energy.value()};
}

std::vector<OpId> ops_of(unsigned checkpoints, int steps) {
  std::vector<OpId> ops;
  for (int k = 1; k <= steps; ++k)
    if (((checkpoints >> (k - 1)) & 1U) != 0) ops.emplace_back(k);
  return ops;
}

TEST(Chen, PlansCostWhatTheChainSaysForEverySetOfCheckpoints) {
  Rng rng(11);
  for (int i = 0; i < 30; ++i) {
    const Chain chain = random_chain(rng);
    const MethodRequest request{chain.instance, no_limits(), Semantics::published, {}};
    const Dataflow flow = dataflow(chain.instance.graph);
    for (unsigned checkpoints = 0; checkpoints < 1U << chain.steps; ++checkpoints) {
      SCOPED_TRACE(fmt::format("chain {}, checkpoints {:b}", i, checkpoints));
      const ChenFigures expected = Simulation(chain, checkpoints).run();
      const ChenFigures plan =
          figures_of(chain, plan_of_checkpoints(request, flow, ops_of(checkpoints, chain.steps)));
      EXPECT_EQ(plan.peak, expected.peak);
      EXPECT_DOUBLE_EQ(plan.extra, expected.extra);
    }
  }
}

TEST(Chen, GreedyIsOneOfTheSetsAndNeverBetterThanTheBest) {
  Rng rng(12);
  int best_found = 0;
  int budgets = 0;
  for (int i = 0; i < 30; ++i) {
    const Chain chain = random_chain(rng);
    const MethodRequest request{chain.instance, no_limits(), Semantics::published, {}};
    std::vector<ChenFigures> sets;
    for (unsigned checkpoints = 0; checkpoints < 1U << chain.steps; ++checkpoints)
      sets.push_back(Simulation(chain, checkpoints).run());
    std::vector<ChenFigures> greedy;
    for (const Plan& plan : chen_greedy(request).plans) greedy.push_back(figures_of(chain, plan));
    for (const ChenFigures& plan : greedy) EXPECT_NE(std::find(sets.begin(), sets.end(), plan), sets.end());
    // At every budget: the least extra energy of each.
    for (const ChenFigures& budget : sets) {
      const auto least = [&](const std::vector<ChenFigures>& of) {
        double extra = 1e300;
        for (const ChenFigures& f : of)
          if (f.peak <= budget.peak) extra = std::min(extra, f.extra);
        return extra;
      };
      EXPECT_GE(least(greedy), least(sets));
      ++budgets;
      best_found += least(greedy) == least(sets) ? 1 : 0;
    }
  }
  fmt::print("best set of checkpoints found at {} of {} budgets\n", best_found, budgets);
  EXPECT_GT(best_found, budgets / 3);
}

}  // namespace
}  // namespace poet
