// The exhaustive search over linear plans against cases worked out by hand, against itself without any
// shortcut, and against the verifier: both replay the same plans by rules written out twice.

#include "tests/support/linear_search.h"
#include "tests/support/effort.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "poet/verify/replay.h"
#include "tests/support/exhaustive.h"
#include "tests/support/linear_cases.h"
#include "tests/support/tiny_instance.h"

namespace poet {
namespace {

using test::LinearCase;
using test::LinearPlan;
using test::LinearSearchOptions;
using test::LinearSearchResult;

// The plan of least energy, which the verifier accepts with the same energy and time.
std::optional<LinearPlan> least(const Instance& instance, Semantics semantics, const Limits& limits,
                                const LinearSearchOptions& options = {}) {
  const LinearSearchResult result = test::search_linear_plans(instance, semantics, limits, options);
  EXPECT_TRUE(result.finished);
  if (!result.best) return std::nullopt;
  const Report report = replay(instance, result.best->plan, semantics, limits);
  EXPECT_TRUE(report.valid) << report.violation;
  if (!options.any_plan) {
    EXPECT_NEAR(report.energy.value(), result.best->joules, 1e-9);
    EXPECT_NEAR(report.runtime.value(), result.best->seconds, 1e-9);
  }
  return result.best;
}

void expect_plan(const std::optional<LinearPlan>& plan, double joules, double seconds) {
  ASSERT_TRUE(plan.has_value());
  EXPECT_NEAR(plan->joules, joules, 1e-9);
  EXPECT_NEAR(plan->seconds, seconds, 1e-9);
}

LinearSearchOptions only_paging() {
  LinearSearchOptions options;
  options.rematerialization = false;
  return options;
}

// chain(): a (10 B) is read by b (20 B) and d; c (5 B) reads b. Keeping everything takes 35 B.

TEST(LinearSearch, KeepsWhatFitsAndRecomputesWhatDoesNot) {
  const Instance chain = test::chain();
  for (const Semantics semantics : kAllSemantics) {
    SCOPED_TRACE(to_string(semantics));
    expect_plan(least(chain, semantics, test::ram(35)), 8, 4);
    // a beside b and c has no room: once more before d.
    expect_plan(least(chain, semantics, test::ram(34)), 10, 5);
    expect_plan(least(chain, semantics, test::ram(30)), 10, 5);
    EXPECT_FALSE(least(chain, semantics, test::ram(29)));  // b beside a
    LinearSearchOptions neither = only_paging();
    neither.paging = false;
    EXPECT_FALSE(least(chain, semantics, test::ram(34), neither));
  }
}

TEST(LinearSearch, PagesWhatMayNotBeRecomputed) {
  Instance chain = test::chain();
  const Limits limits = test::ram(34);
  expect_plan(least(chain, Semantics::published, limits, only_paging()), 15, 4);
  // A page-in needs its stage's RAM, and a is read by d: beside b and c there is no room for it.
  EXPECT_FALSE(least(chain, Semantics::staged, limits, only_paging()));
  // a leaves while b is computed, and returns after c: one second of waiting.
  Limits in_time = limits;
  in_time.deadline = Seconds(5);
  expect_plan(least(chain, Semantics::device, in_time, only_paging()), 15, 5);
  chain.costs.timing.idle = Watts(1);
  expect_plan(least(chain, Semantics::device, limits, only_paging()), 20, 5);
  // Waking up: a has left half a second after b's end, and arrives a second and a half after c's.
  chain.costs.timing.wake_time = Seconds(0.5);
  chain.costs.timing.wake_energy = Joules(0.25);
  expect_plan(least(chain, Semantics::device, limits, only_paging()), 15 + 6 + 0.5, 6);
  // A channel that blocks: 4 s of computing, two transfers, two times waking up.
  chain.costs.timing.concurrent = false;
  expect_plan(least(chain, Semantics::device, limits, only_paging()), 15 + 7 + 0.5, 7);
}

TEST(LinearSearch, ObeysLimits) {
  Instance chain = test::chain();
  Limits limits = test::ram(34);
  limits.deadline = Seconds(5);
  expect_plan(least(chain, Semantics::device, limits, only_paging()), 15, 5);
  chain.costs.timing.concurrent = false;
  EXPECT_FALSE(least(chain, Semantics::device, limits, only_paging()));
  expect_plan(least(chain, Semantics::device, limits), 10, 5);
  limits.deadline = Seconds(4.9);
  EXPECT_FALSE(least(chain, Semantics::device, limits));
  limits.deadline = Seconds(6);
  limits.max_bytes_written = Bytes(10);
  expect_plan(least(chain, Semantics::device, limits, only_paging()), 15, 6);
  limits.max_bytes_written = Bytes(9);
  EXPECT_FALSE(least(chain, Semantics::device, limits, only_paging()));
  chain.costs.has_storage = false;
  limits.max_bytes_written.reset();
  EXPECT_FALSE(least(chain, Semantics::device, limits, only_paging()));
}

TEST(LinearSearch, WorkspaceCountsOnDevices) {
  Instance chain = test::chain();
  chain.costs.ops[OpId(2)].workspace = Bytes(1);  // of c, beside a and b
  expect_plan(least(chain, Semantics::published, test::ram(35)), 8, 4);
  expect_plan(least(chain, Semantics::staged, test::ram(35)), 8, 4);
  expect_plan(least(chain, Semantics::device, test::ram(35)), 10, 5);
}

// a (10 B) reads a parameter w (4 B); b (20 B) reads a; u updates w from b; c (5 B) reads b; d reads a and c.
// In 34 B a has no room beside b and c, and cannot be computed again once w is updated.
TEST(LinearSearch, NothingIsRecomputedFromUpdatedParameters) {
  Graph graph;
  const ValueId w = test::add_persistent(graph, "w", 4);
  const ValueId a = test::add_node(graph, "a", {w}, 10);
  const ValueId b = test::add_node(graph, "b", {a}, 20);
  test::add_update(graph, "u", {w, b}, {w});
  const ValueId c = test::add_node(graph, "c", {b}, 5);
  test::add_node(graph, "d", {a, c}, 1);
  const Instance instance = test::instance_of(std::move(graph));
  LinearSearchOptions no_paging;
  no_paging.paging = false;
  for (const Semantics semantics : kAllSemantics) {
    expect_plan(least(instance, semantics, test::ram(39), no_paging), 10, 5);
    EXPECT_FALSE(least(instance, semantics, test::ram(38), no_paging));
  }
  expect_plan(least(instance, Semantics::published, test::ram(34)), 17, 5);
  Limits limits = test::ram(34);  // a leaves while b is computed, and returns when c has been
  limits.deadline = Seconds(6);
  expect_plan(least(instance, Semantics::device, limits), 17, 6);
}

// What time costs nothing is left out here: the other oracle has no clock.
TEST(LinearSearch, StagedSchedulesAreAmongThePlans) {
  int cheaper = 0, both = 0;
  for (int n = 1; n <= test::effort(500, 5); ++n) {
    const auto seed = static_cast<std::uint64_t>(n);
    SCOPED_TRACE(fmt::format("seed {}", seed));
    LinearCase c = test::linear_case(seed, 3, 5);
    if (c.instance.graph.values.size() > 6) continue;
    if (c.semantics == Semantics::device) {
      c.instance.costs.timing = {};
      c.limits.deadline.reset();
    }
    test::ExhaustiveOptions stages;
    stages.paging = c.paging;
    stages.rematerialization = c.rematerialization;
    const auto staged = test::least_energy(c.instance, c.semantics, c.limits, stages);
    LinearSearchOptions options;
    options.paging = c.paging;
    options.rematerialization = c.rematerialization;
    const auto linear = least(c.instance, c.semantics, c.limits, options);
    if (!staged) continue;
    ASSERT_TRUE(linear.has_value());
    EXPECT_LE(linear->joules, *staged + 1e-9);
    ++both;
    cheaper += linear->joules < *staged - 1e-9;
  }
  EXPECT_GT(both, test::enough(150, 5));
  EXPECT_GT(cheaper, test::enough(0, 5));
}

// What the search passes over (late frees, late issue, steps in vain, dominated states) costs nothing.
TEST(LinearSearch, ShortcutsLoseNoPlan) {
  int compared = 0, answered = 0;
  for (int n = 1; n <= test::effort(600, 5); ++n) {
    const auto seed = static_cast<std::uint64_t>(n);
    SCOPED_TRACE(fmt::format("seed {}", seed));
    const LinearCase c = test::linear_case(seed, 3, 5);
    LinearSearchOptions options;
    options.paging = c.paging;
    options.rematerialization = c.rematerialization;
    const auto quick = least(c.instance, c.semantics, c.limits, options);
    options.any_plan = true;
    EXPECT_EQ(least(c.instance, c.semantics, c.limits, options).has_value(), quick.has_value());
    options.any_plan = false;
    options.reductions = false;
    options.most_states = 100'000;
    const LinearSearchResult slow = test::search_linear_plans(c.instance, c.semantics, c.limits, options);
    if (!slow.finished) continue;
    ++compared;
    ASSERT_EQ(slow.best.has_value(), quick.has_value());
    if (!quick) continue;
    ++answered;
    EXPECT_NEAR(slow.best->joules, quick->joules, 1e-9);
  }
  EXPECT_GT(compared, test::enough(570, 5));
  EXPECT_GT(answered, test::enough(300, 5));
}

// On devices: what could not be done, or only for more, if no result were written over an operand.
TEST(LinearSearch, ResultsInPlaceMakeADifference) {
  int cheaper = 0, alone = 0;
  for (int n = 1; n <= test::effort(500, 5); ++n) {
    const auto seed = static_cast<std::uint64_t>(n);
    SCOPED_TRACE(fmt::format("seed {}", seed));
    LinearCase c = test::linear_case(seed, 3, 6);
    if (c.semantics != Semantics::device) continue;
    LinearSearchOptions options;
    options.paging = c.paging;
    options.rematerialization = c.rematerialization;
    const auto in_place = least(c.instance, c.semantics, c.limits, options);
    for (Op& op : c.instance.graph.ops) op.kind = "published";
    const auto apart = least(c.instance, c.semantics, c.limits, options);
    if (!apart) {
      alone += in_place.has_value();
      continue;
    }
    ASSERT_TRUE(in_place.has_value());
    EXPECT_LE(in_place->joules, apart->joules + 1e-9);
    cheaper += in_place->joules < apart->joules - 1e-9;
  }
  EXPECT_GT(cheaper, test::enough(3, 5));
  EXPECT_GT(alone, test::enough(10, 5));
}

TEST(LinearSearch, EveryPlanIsWhatTheVerifierSays) {
  int answered = 0;
  for (std::uint64_t seed = 1; seed <= 500; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    const LinearCase c = test::linear_case(seed, 6, 7);
    LinearSearchOptions options;
    options.paging = c.paging;
    options.rematerialization = c.rematerialization;
    options.most_states = 50'000;
    const LinearSearchResult result = test::search_linear_plans(c.instance, c.semantics, c.limits, options);
    if (!result.best) continue;
    ++answered;
    const Report report = replay(c.instance, result.best->plan, c.semantics, c.limits);
    EXPECT_TRUE(report.valid) << report.violation;
    EXPECT_NEAR(report.energy.value(), result.best->joules, 1e-9);
    EXPECT_NEAR(report.runtime.value(), result.best->seconds, 1e-9);
  }
  EXPECT_GT(answered, test::enough(250, 5));
}

}  // namespace
}  // namespace poet
