// Annealing through overflow: what it returns is within all limits and costs what it says, it is never below
// the best there is, it finds schedules where mending each change at once finds none, and it always finds the
// same.

#include "poet/optimize/heuristic/oscillation.h"
#include "poet/base/stop.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "poet/optimize/heuristic/greedy.h"
#include "poet/plan/allowance.h"
#include "poet/verify/replay.h"
#include "tests/support/effort.h"
#include "tests/support/exhaustive.h"
#include "tests/support/random_instance.h"
#include "tests/support/random_layered_graph.h"

namespace poet {
namespace {

std::optional<Candidate> search(const Problem& problem, long changes, std::uint64_t seed = 1) {
  Oscillation oscillation(problem, seed);
  oscillation.run(changes, Stop());
  return oscillation.best();
}

void expect_valid_plan(const Instance& instance, const Problem& problem, const Limits& limits,
                       const Candidate& candidate) {
  EXPECT_TRUE(candidate.within(problem));
  const Report report =
      replay(instance, to_schedule(problem, instance, candidate), problem.semantics, limits);
  EXPECT_TRUE(report.valid) << report.violation;
  EXPECT_NEAR(report.energy.value(), candidate.joules, 1e-9 * candidate.joules);
}

class OscillationOf : public testing::TestWithParam<Semantics> {};

TEST_P(OscillationOf, SmallProblemsIsNeverBelowTheBestAndMostlyThere) {
  test::Rng rng(7);
  int answered = 0;
  int best_found = 0;
  for (int i = 0; i < test::effort(200); ++i) {
    SCOPED_TRACE(fmt::format("case {}", i));
    test::RandomInstanceOptions options;
    options.ops = test::pick(rng, 3, 5);
    options.updates = test::chance(rng, 0.3);
    options.storage = test::chance(rng, 0.7);
    Instance instance = test::random_instance(rng, options);
    instance.costs.timing = {};
    const Report all = replay_keep_all(instance, GetParam());
    Limits limits;
    const auto floor = static_cast<int>(ram_floor(instance, GetParam()).bytes().value());
    limits.ram_budget = Bytes(test::pick(rng, floor, static_cast<int>(all.peak_ram.value())));
    if (test::chance(rng, 0.5)) limits.deadline = Seconds(all.runtime.value() * 1.25);
    if (test::chance(rng, 0.2)) limits.max_bytes_written = Bytes(test::pick(rng, 0, 200));
    const Problem problem = make_problem({instance, limits, GetParam()}, {});
    const auto best = test::least_energy(instance, GetParam(), limits);
    const auto found = search(problem, 2'000);
    if (!best) {
      EXPECT_FALSE(found.has_value());
      continue;
    }
    ++answered;
    if (!found) continue;
    expect_valid_plan(instance, problem, limits, *found);
    EXPECT_GE(found->joules, *best * (1 - 1e-9));
    best_found += found->joules <= *best * (1 + 1e-9);
  }
  EXPECT_GT(answered, test::enough(60));
  EXPECT_GE(best_found, answered * 8 / 10);
}

INSTANTIATE_TEST_SUITE_P(Semantics, OscillationOf, testing::Values(Semantics::published, Semantics::staged),
                         [](const auto& semantics) { return std::string(to_string(semantics.param)); });

struct Layered {
  Instance instance;
  Limits limits;
  Problem problem;
};

// At a fraction of the way from the largest working set to keeping everything.
Layered layered(int ops, std::uint64_t seed, double fraction) {
  test::RandomLayeredGraphOptions options;
  options.ops = ops;
  Layered made{test::random_layered_graph(seed, options), {}, {}};
  const double most =
      static_cast<double>(replay_keep_all(made.instance, Semantics::published).peak_ram.value());
  const auto least = static_cast<double>(ram_floor(made.instance, Semantics::published).bytes().value());
  made.limits.ram_budget = Bytes(static_cast<std::int64_t>(least + fraction * (most - least)));
  made.problem = make_problem({made.instance, made.limits, Semantics::published}, {});
  return made;
}

TEST(Oscillation, FindsSchedulesOfGraphsThatAreNoTrainingSteps) {
  for (const int ops : {60, 150, 300})
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      SCOPED_TRACE(fmt::format("{} ops, seed {}", ops, seed));
      const Layered made = layered(ops, seed, 0.5);
      const auto found = search(made.problem, 20'000);
      ASSERT_TRUE(found.has_value());
      expect_valid_plan(made.instance, made.problem, made.limits, *found);
    }
}

TEST(Oscillation, FindsTheSameAgain) {
  const Layered made = layered(100, 2, 0.3);
  const auto once = search(made.problem, 5'000);
  const auto again = search(made.problem, 5'000);
  ASSERT_EQ(once.has_value(), again.has_value());
  ASSERT_TRUE(once.has_value());
  EXPECT_EQ(once->decisions.recompute, again->decisions.recompute);
  EXPECT_EQ(once->joules, again->joules);
}

TEST(Oscillation, GoesOnFromWhatItIsGiven) {
  const Layered made = layered(100, 3, 0.3);
  Oscillation oscillation(made.problem, 1);
  EXPECT_FALSE(oscillation.best().has_value());  // not everything can be kept
  ASSERT_TRUE(oscillation.run(20'000, Stop()));
  const Candidate first = *oscillation.best();
  oscillation.start_from(first.decisions);
  oscillation.run(20'000, Stop());
  EXPECT_LE(oscillation.best()->joules, first.joules);
  // Stopped at once it changes nothing.
  const double before = oscillation.best()->joules;
  EXPECT_FALSE(oscillation.run(20'000, [] { return true; }));
  EXPECT_EQ(oscillation.best()->joules, before);
}

}  // namespace
}  // namespace poet
