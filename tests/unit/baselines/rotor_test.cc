// rotor's table against all schedules of its kind, each replayed by the verifier.

#include "poet/baselines/rotor.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "poet/baselines/compute_order.h"
#include "poet/verify/replay.h"
#include "tests/support/random_chain.h"
#include "tests/support/tiny_instance.h"

namespace poet {
namespace {

using test::Rng;

// What to do with a piece of the chain: record its first block (0), or advance that far.
using Decisions = std::vector<std::size_t>;

// Every schedule: pieces are decided on in the order in which they come up.
class Every {
 public:
  Every(const Instance& instance, Semantics semantics)
      : instance_(instance),
        semantics_(semantics),
        flow_(dataflow(instance.graph)),
        chain_(chain_of(instance, flow_)) {}

  // Peak and energy of each.
  std::vector<std::pair<Bytes, double>> reports() {
    std::vector<std::pair<Bytes, double>> all;
    std::vector<Decisions> open = {{}};
    while (!open.empty()) {
      const Decisions decisions = open.back();
      open.pop_back();
      ChainOrder order(chain_);
      std::size_t at = 0;
      std::size_t choices = 0;
      run(0, chain_.blocks.size() - 1, decisions, at, choices, order);
      if (choices > 0) {
        for (std::size_t c = 0; c < choices; ++c) {
          open.push_back(decisions);
          open.back().push_back(c);
        }
        continue;
      }
      const Plan plan = plan_of_order({instance_, no_limits(), semantics_, {}}, order.ops());
      const Report report = replay(instance_, plan, semantics_, no_limits());
      EXPECT_TRUE(report.valid) << report.violation;
      all.emplace_back(report.peak_ram, report.energy.value());
    }
    return all;
  }

 private:
  // Sets `choices` and stops at the first piece that is not decided.
  void run(std::size_t first, std::size_t last, const Decisions& decisions, std::size_t& at,
           std::size_t& choices, ChainOrder& order) {
    if (choices > 0) return;
    if (first == last) {
      order.turn(first);
      order.backward(first);
      return;
    }
    if (at == decisions.size()) {
      choices = last - first + 1;
      return;
    }
    const std::size_t choice = decisions[at++];
    if (choice == 0) {
      order.record(first);
      run(first + 1, last, decisions, at, choices, order);
      if (choices == 0) order.backward(first);
      return;
    }
    for (std::size_t b = first; b < first + choice; ++b) order.advance(b);
    run(first + choice, last, decisions, at, choices, order);
    run(first, first + choice - 1, decisions, at, choices, order);
  }

  const Instance& instance_;
  const Semantics semantics_;
  const Dataflow flow_;
  const Chain chain_;
};

std::optional<double> least(const std::vector<std::pair<Bytes, double>>& reports, Bytes budget) {
  std::optional<double> best;
  for (const auto& [peak, energy] : reports)
    if (peak <= budget && (!best || energy < *best)) best = energy;
  return best;
}

TEST(Rotor, LeastEnergyOfAllPersistentSchedules) {
  int recomputing = 0;
  int none = 0;
  for (int i = 0; i < 120; ++i) {
    SCOPED_TRACE(fmt::format("seed {}", i));
    Rng rng(static_cast<std::uint64_t>(i) + 1);
    test::RandomChainOptions options;
    options.blocks = test::pick(rng, 3, 5);
    options.input = i % 4 != 0;
    options.updates = i % 3 == 0;
    options.device = i % 2 == 0;
    const Semantics semantics = options.device ? Semantics::device : Semantics::published;
    const Instance instance = test::random_chain(rng, options);
    const Chain chain = chain_of(instance, dataflow(instance.graph));
    ASSERT_EQ(chain.reason, "");
    ASSERT_EQ(chain.blocks.size(), static_cast<std::size_t>(options.blocks));
    const auto reports = Every(instance, semantics).reports();
    std::set<Bytes> budgets;
    for (const auto& [peak, energy] : reports) budgets.insert({peak, peak - Bytes(1)});
    const double once = replay_keep_all(instance, semantics).energy.value();
    for (const Bytes budget : budgets) {
      const MethodAnswer answer = rotor({instance, test::ram(budget.value()), semantics, {}});
      const std::optional<double> best = least(reports, budget);
      ASSERT_EQ(!answer.plans.empty(), best.has_value()) << budget.value();
      none += best ? 0 : 1;
      if (!best) continue;
      const Report report = replay(instance, answer.plans.front(), semantics, test::ram(budget.value()));
      ASSERT_TRUE(report.valid) << report.violation;
      ASSERT_NEAR(report.energy.value(), *best, 1e-9) << budget.value();
      recomputing += report.energy.value() > once + 1e-9 ? 1 : 0;
    }
  }
  EXPECT_GT(recomputing, 200);
  EXPECT_GT(none, 100);
}

TEST(Rotor, CoarseSlotsStayWithinTheBudget) {
  int feasible = 0;
  for (int i = 0; i < 60; ++i) {
    SCOPED_TRACE(fmt::format("seed {}", i));
    Rng rng(static_cast<std::uint64_t>(i) + 1);
    test::RandomChainOptions options;
    options.blocks = test::pick(rng, 6, 20);
    options.targets = i % 2 == 0;
    options.updates = i % 3 == 0;
    options.device = true;
    options.most_bytes = 1000;
    const Instance instance = test::random_chain(rng, options);
    const Dataflow flow = dataflow(instance.graph);
    const Chain chain = chain_of(instance, flow);
    const std::vector<BlockMemory> memory = chain_memory(instance, flow, chain, Semantics::device);
    const Report keep_all = replay_keep_all(instance, Semantics::device);
    for (const int percent : {40, 60, 80, 100}) {
      const Bytes budget(keep_all.peak_ram.value() * percent / 100);
      const RotorTable table(chain, memory, budget - instance.costs.persistent, 60);
      const std::size_t last = chain.blocks.size() - 1;
      if (table.cost(Bytes(), 0, last, false) > 1e300) continue;
      ++feasible;
      ChainOrder order(chain);
      table.emit(Bytes(), 0, last, false, order);
      const MethodRequest request{instance, test::ram(budget.value()), Semantics::device, {}};
      const Report report =
          replay(instance, plan_of_order(request, order.ops()), Semantics::device, request.limits);
      EXPECT_TRUE(report.valid) << report.violation;
    }
  }
  EXPECT_GT(feasible, 100);
}

TEST(Rotor, KeepsEverythingWhereItFits) {
  const Instance instance = test::unit_blocks(12);
  const Report keep_all = replay_keep_all(instance, Semantics::device);
  const MethodAnswer answer = rotor({instance, test::ram(keep_all.peak_ram.value()), Semantics::device, {}});
  ASSERT_EQ(answer.plans.size(), 1U);
  EXPECT_EQ(replay(instance, answer.plans.front(), Semantics::device, no_limits()).recomputations, 0);
}

}  // namespace
}  // namespace poet
