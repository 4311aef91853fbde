// Orders of little RAM: the replay of the reordered instance finds the peak that the search claims, no order
// at all of a small graph has a lower one, and mostly it is the lowest; never more than the given order
// takes, and always the same.

#include "poet/optimize/order/least_peak.h"
#include "poet/base/stop.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "poet/cost/reorder.h"
#include "poet/graph/precedence.h"
#include "poet/optimize/order/list_orders.h"
#include "poet/optimize/order/moving_order.h"
#include "poet/verify/replay.h"
#include "tests/support/effort.h"
#include "tests/support/random_instance.h"
#include "tests/support/random_layered_graph.h"
#include "tests/support/random_training_graph.h"
#include "tests/support/small_graphs.h"

namespace poet {
namespace {

using test::chance;
using test::pick;
using test::Rng;

/// Ops that read up to two of all earlier values, some through views, and some parameters, which some ops
/// update. Most can write their result over an operand; some values
/// are not counted.
Instance random_dag(Rng& rng, int ops) {
  Instance instance;
  Graph& graph = instance.graph;
  std::vector<ValueId> weights;
  std::vector<ValueId> values;
  const auto some = [&rng](std::vector<ValueId>& list) {
    return list[static_cast<std::size_t>(pick(rng, 0, static_cast<int>(list.size()) - 1))];
  };
  const auto bytes = [&rng] { return chance(rng, 0.5) ? 40 : 10 * pick(rng, 1, 9); };
  for (int i = 0; i < 2; ++i) weights.push_back(test::add_persistent(graph, fmt::format("w{}", i), 40));
  std::vector<ValueId> frozen = weights;  // not updated so far
  for (int i = 0; i < ops; ++i) {
    std::vector<ValueId> operands;
    for (int reads = pick(rng, 0, 2); reads > 0 && !values.empty(); --reads) operands.push_back(some(values));
    if (!frozen.empty() && chance(rng, 0.2)) {
      const ValueId updated = some(frozen);
      std::erase(frozen, updated);
      test::add_update(graph, fmt::format("u{}", i), operands, {updated});
      continue;
    }
    if (!frozen.empty() && chance(rng, 0.3)) operands.push_back(some(frozen));
    values.push_back(test::add_node(graph, fmt::format("n{}", i), operands, bytes()));
    if (chance(rng, 0.2)) values.push_back(test::add_alias(graph, fmt::format("v{}", i), values.back()));
  }
  test::choose_kinds(rng, graph, true);
  for (const OpId op : ids<OpId>(graph.ops.size()))
    instance.costs.ops.push_back({Seconds(op.index + 1.0), Joules(1), Bytes(10 * pick(rng, 0, 4))});
  for (const Value& value : graph.values) {
    ValueCost cost;
    if (!value.alias_of.valid() && chance(rng, 0.9)) cost.bytes = value.bytes;
    if (is_persistent(value.persistence)) instance.costs.persistent += cost.bytes;
    instance.costs.values.push_back(cost);
  }
  verify(instance);
  return instance;
}

Bytes peak_of(const Instance& instance, const std::vector<OpId>& order, Semantics semantics) {
  const Report report = replay_keep_all(reordered(instance, order), semantics);
  EXPECT_TRUE(report.valid) << report.violation;
  return report.peak_ram;
}

/// Over all orders.
class AllOrders {
 public:
  AllOrders(const Instance& instance, Semantics semantics)
      : instance_(instance), semantics_(semantics), before_(predecessors(instance.graph)) {
    extend();
  }
  [[nodiscard]] Bytes least() const { return least_; }
  [[nodiscard]] int count() const { return count_; }

 private:
  [[nodiscard]] bool listed(OpId op) const {
    return std::find(order_.begin(), order_.end(), op) != order_.end();
  }

  void extend() {
    if (order_.size() == instance_.graph.ops.size()) {
      ++count_;
      least_ = std::min(least_, peak_of(instance_, order_, semantics_));
      return;
    }
    for (const OpId op : ids<OpId>(instance_.graph.ops.size())) {
      const std::vector<OpId>& before = before_[op];
      if (listed(op) || !std::all_of(before.begin(), before.end(), [&](OpId b) { return listed(b); }))
        continue;
      order_.push_back(op);
      extend();
      order_.pop_back();
    }
  }

  const Instance& instance_;
  Semantics semantics_;
  IdVector<OpId, std::vector<OpId>> before_;
  std::vector<OpId> order_;
  Bytes least_{std::numeric_limits<std::int64_t>::max()};
  int count_ = 0;
};

/// The same for more ops, over all sets of them that an order may begin with: what is in RAM is a matter of
/// the set. At most 20 ops.
std::int64_t least_by_sets(const OrderCosts& costs) {
  const auto mask = [](const std::vector<int>& ops) {
    std::uint32_t set = 0;
    for (const int op : ops) set |= 1U << op;
    return set;
  };
  constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();
  const std::uint32_t all = (1U << costs.ops) - 1;
  std::vector<std::int64_t> peak(all + 1, kNever);  // until the set is computed
  std::vector<std::int64_t> left(all + 1, 0);       // in RAM then
  peak[0] = 0;
  for (std::uint32_t set = 0; set < all; ++set) {
    if (peak[set] == kNever) continue;
    for (std::size_t op = 0; op < costs.before.size(); ++op) {
      const std::uint32_t then = set | 1U << op;
      if (then == set || (mask(costs.before[op]) & ~set) != 0) continue;
      std::int64_t ram = left[set] + costs.produced[op];
      std::int64_t covered = 0, freed = costs.unread[op];
      for (const int v : costs.reads[op]) {
        if ((mask(costs.users[static_cast<std::size_t>(v)]) & ~then) != 0) continue;
        freed += costs.bytes[static_cast<std::size_t>(v)];
        const std::vector<int>& may = costs.may_cover[op];
        if (std::find(may.begin(), may.end(), v) != may.end())
          covered = costs.bytes[static_cast<std::size_t>(v)];
      }
      left[then] = ram - freed;
      peak[then] = std::min(peak[then], std::max(peak[set], ram + costs.workspace[op] - covered));
    }
  }
  return peak[all];
}

/// What holds of every answer.
void expect_sound(const Instance& instance, const LeastPeak& found, Semantics semantics) {
  ASSERT_TRUE(respects(instance.graph, found.order));
  const Instance better = reordered(instance, found.order);
  verify(better);
  const Report given = replay_keep_all(instance, semantics);
  const Report report = replay_keep_all(better, semantics);
  ASSERT_TRUE(report.valid) << report.violation;
  EXPECT_EQ(report.peak_ram, found.peak);
  EXPECT_EQ(given.peak_ram, found.given);
  EXPECT_LE(found.peak, found.given);
  EXPECT_NEAR(report.energy.value(), given.energy.value(), 1e-9 * given.energy.value());
}

class LeastPeakOf : public testing::TestWithParam<Semantics> {};

TEST_P(LeastPeakOf, SmallGraphsIsThatOfTheBestOrder) {
  Rng rng(11);
  LeastPeakOptions options;
  options.evaluations = 5'000;
  int improved = 0, best = 0;
  const int cases = test::effort(240);
  for (int i = 0; i < cases; ++i) {
    SCOPED_TRACE(fmt::format("case {}", i));
    const Instance instance = random_dag(rng, i % 40 == 0 ? 8 : pick(rng, 4, 7));
    const LeastPeak found = least_peak_order(instance, GetParam(), options, Stop());
    expect_sound(instance, found, GetParam());
    const AllOrders all(instance, GetParam());
    EXPECT_GE(found.peak, all.least());
    best += found.peak == all.least();
    improved += found.peak < found.given;
  }
  EXPECT_GE(best, cases * 95 / 100);
  EXPECT_GT(improved, test::enough(50));
}

TEST_P(LeastPeakOf, TrainingStepsHolds) {
  LeastPeakOptions options;
  options.evaluations = 3'000;
  for (int seed = 1; seed <= test::effort(200); ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    Rng rng(static_cast<std::uint64_t>(seed));
    test::RandomInstanceOptions shape;
    shape.ops = pick(rng, 2, 60);
    shape.multi_output = chance(rng, 0.3);
    shape.updates = chance(rng, 0.5);
    shape.views = chance(rng, 0.3);
    shape.inputs = chance(rng, 0.5);
    shape.device = chance(rng, 0.5);
    shape.in_place = chance(rng, 0.5);
    Instance instance = test::random_instance(rng, shape);
    if (chance(rng, 0.5)) instance = with_paged(instance, pageable(instance));
    expect_sound(instance, least_peak_order(instance, GetParam(), options, Stop()), GetParam());
  }
}

INSTANTIATE_TEST_SUITE_P(Semantics, LeastPeakOf, testing::ValuesIn(kAllSemantics),
                         [](const auto& semantics) { return std::string(to_string(semantics.param)); });

TEST(LeastPeak, IsMostlyTheLeastOfMoreThanAFewOps) {
  Rng rng(5);
  int best = 0, improved = 0;
  const int cases = test::effort(40);
  for (int i = 0; i < cases; ++i) {
    SCOPED_TRACE(fmt::format("case {}", i));
    test::RandomLayeredGraphOptions shape;
    shape.ops = 16;
    shape.width = 1;
    const Instance instance =
        i % 2 == 0 ? random_dag(rng, 14) : test::random_layered_graph(static_cast<std::uint64_t>(i), shape);
    LeastPeakOptions options;
    options.evaluations = 10'000;
    const LeastPeak found = least_peak_order(instance, Semantics::device, options, Stop());
    expect_sound(instance, found, Semantics::device);
    const OrderCosts costs = order_costs(instance, Semantics::device);
    const std::int64_t least = least_by_sets(costs) + costs.persistent;
    EXPECT_GE(found.peak.value(), least);
    best += found.peak.value() == least;
    improved += found.peak < found.given;
  }
  EXPECT_GE(best, cases * 9 / 10);
  EXPECT_GT(improved, test::enough(16));
}

TEST(LeastPeak, FallsWellBelowOrdersByChance) {
  for (const std::uint64_t seed : {1, 2, 3}) {
    test::RandomLayeredGraphOptions shape;
    shape.ops = 250;
    const Instance instance = test::random_layered_graph(seed, shape);
    LeastPeakOptions options;
    options.evaluations = 50'000;
    const LeastPeak found = least_peak_order(instance, Semantics::device, options, Stop());
    expect_sound(instance, found, Semantics::device);
    EXPECT_LT(found.peak.value(), 0.85 * static_cast<double>(found.given.value()));
  }
}

TEST(LeastPeak, IsTheSameForTheSameSeed) {
  test::RandomLayeredGraphOptions shape;
  shape.ops = 120;
  const Instance instance = test::random_layered_graph(4, shape);
  LeastPeakOptions options;
  options.evaluations = 20'000;
  const LeastPeak once = least_peak_order(instance, Semantics::device, options, Stop());
  const LeastPeak again = least_peak_order(instance, Semantics::device, options, Stop());
  options.seed = 2;
  const LeastPeak other = least_peak_order(instance, Semantics::device, options, Stop());
  EXPECT_EQ(once.order, again.order);
  EXPECT_EQ(once.evaluations, 20'000);
  EXPECT_NE(once.order, other.order);
}

TEST(LeastPeak, EndsWhenToldTo) {
  const Instance instance = test::random_training_graph(1);
  int polls = 0;
  const LeastPeak found = least_peak_order(instance, Semantics::device, {}, [&polls] { return ++polls > 3; });
  expect_sound(instance, found, Semantics::device);
  EXPECT_LT(found.evaluations, 1'000);
}

TEST(LeastPeak, ChainsStayAsTheyAre) {
  Instance instance;
  ValueId last = test::add_node(instance.graph, "first", {});
  for (int i = 0; i < 5; ++i) last = test::add_node(instance.graph, fmt::format("n{}", i), {last});
  for (const Value& value : instance.graph.values) {
    instance.costs.ops.push_back({});
    ValueCost cost;
    cost.bytes = value.bytes;
    instance.costs.values.push_back(cost);
  }
  const LeastPeak found = least_peak_order(instance, Semantics::device, {}, Stop());
  for (std::size_t i = 0; i < found.order.size(); ++i) EXPECT_EQ(found.order[i], OpId(i));
  EXPECT_EQ(found.peak, Bytes(8));
}

TEST(LeastPeak, NothingTakesWhatIsPersistent) {
  Instance instance;
  test::add_persistent(instance.graph, "w", 40);
  instance.costs.values.push_back({Bytes(40), {}, {}});
  instance.costs.persistent = Bytes(40);
  const LeastPeak found = least_peak_order(instance, Semantics::device, {}, Stop());
  EXPECT_TRUE(found.order.empty());
  EXPECT_EQ(found.peak, Bytes(40));
}

TEST(ListOrder, PutsUpdatesWhereTheyMayRunFirst) {
  Instance instance = test::random_training_graph(5);
  const OrderCosts costs = order_costs(instance, Semantics::device);
  for (const ListRule rule : kListRules) {
    std::vector<int> place(static_cast<std::size_t>(costs.ops));
    const std::vector<int> order = list_order(costs, rule);
    ASSERT_EQ(order.size(), place.size());
    for (std::size_t i = 0; i < order.size(); ++i)
      place[static_cast<std::size_t>(order[i])] = static_cast<int>(i);
    for (int op = 0; op < costs.ops; ++op) {
      if (costs.updates[static_cast<std::size_t>(op)] == 0) continue;
      // Nothing but updates between it and the last op that it waits for.
      int ready = 0;
      for (const int other : costs.before[static_cast<std::size_t>(op)])
        ready = std::max(ready, place[static_cast<std::size_t>(other)] + 1);
      for (int i = ready; i < place[static_cast<std::size_t>(op)]; ++i)
        EXPECT_NE(costs.updates[static_cast<std::size_t>(order[static_cast<std::size_t>(i)])], 0);
    }
  }
}

// Against counting anew after every move, and moving back.
TEST(MovingOrder, CountsAsIfItHadAlwaysBeenSo) {
  for (int seed = 1; seed <= test::effort(40); ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    Rng rng(static_cast<std::uint64_t>(seed));
    const Instance instance = random_dag(rng, pick(rng, 2, 150));
    const OrderCosts costs = order_costs(instance, Semantics::device);
    constexpr std::int64_t kShare = 200;
    MovingOrder moving(costs, list_order(costs, ListRule::given), kShare);
    for (int i = 0; i < 100; ++i) {
      const std::vector<int> before = moving.order();
      const OrderRam ram_before = moving.ram();
      const int count = pick(rng, 1, std::min(4, costs.ops));
      const int first = pick(rng, 0, costs.ops - count);
      const auto [earliest, latest] = moving.window(first, count);
      ASSERT_LE(earliest, first);
      ASSERT_GE(latest, first);
      const int to = pick(rng, earliest, latest);
      moving.move(first, count, to);
      EXPECT_EQ(moving.ram(), ram_of(costs, moving.order(), kShare));
      std::vector<OpId> order;
      for (const int op : moving.order()) order.emplace_back(op);
      EXPECT_EQ(Bytes(moving.ram().peak + costs.persistent), peak_of(instance, order, Semantics::device));
      if (chance(rng, 0.7)) continue;
      moving.move(to, count, first);
      EXPECT_EQ(moving.order(), before);
      EXPECT_EQ(moving.ram(), ram_before);
    }
  }
}

}  // namespace
}  // namespace poet
