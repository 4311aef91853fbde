// Greedy schedules, retiming and local search on random problems: what they return is within the limits, what
// it claims to be, never worse than what it was made from, and close to the best there is where that is
// known.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "poet/base/stop.h"
#include "poet/optimize/heuristic/greedy.h"
#include "poet/optimize/heuristic/local_search.h"
#include "poet/optimize/heuristic/retime.h"
#include "poet/verify/replay.h"
#include "tests/support/exhaustive.h"
#include "tests/support/random_instance.h"
#include "tests/support/random_training_graph.h"

namespace poet {
namespace {

class LocalSearch : public testing::TestWithParam<Semantics> {};

void expect_valid(const Instance& instance, const Problem& problem, const Limits& limits,
                  const Candidate& candidate) {
  EXPECT_TRUE(candidate.within(problem));
  const Report report =
      replay(instance, to_schedule(problem, instance, candidate), problem.semantics, limits);
  EXPECT_TRUE(report.valid) << report.violation;
  EXPECT_NEAR(report.energy.value(), candidate.joules, 1e-9 * candidate.joules);
}

struct Solved {
  Problem problem;
  Candidate greedy;
  Candidate annealed;
};

// At a fraction of the way from the largest working set to keeping everything.
std::optional<Solved> solve(const Instance& instance, Semantics semantics, double fraction, double deadline,
                            long evaluations) {
  Problem problem = make_problem({instance, {}, semantics}, {});
  std::int64_t least = 0;
  for (int t = 0; t < problem.ops; ++t) least = std::max(least, working_set(problem, t));
  const std::int64_t most = complete(problem, no_decisions(problem)).peak;
  Limits limits;
  limits.ram_budget = Bytes(problem.persistent + least +
                            static_cast<std::int64_t>(fraction * static_cast<double>(most - least)));
  limits.deadline = Seconds(problem.baseline_seconds * deadline);
  problem = make_problem({instance, limits, semantics}, {});
  const auto start = greedy(problem, Stop());
  if (!start) return std::nullopt;
  expect_valid(instance, problem, limits, *start);
  const Candidate retimed = retime(problem, *start, Stop());
  expect_valid(instance, problem, limits, retimed);
  EXPECT_LE(retimed.joules, start->joules * (1 + 1e-12));
  LocalSearchOptions options;
  options.evaluations = evaluations;
  const Candidate annealed = anneal(problem, retimed, options, Stop());
  expect_valid(instance, problem, limits, annealed);
  EXPECT_LE(annealed.joules, retimed.joules * (1 + 1e-12));
  return Solved{problem, *start, annealed};
}

TEST_P(LocalSearch, OnTrainingGraphs) {
  int solved = 0;
  int improved = 0;
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    test::RandomTrainingGraphOptions options;
    options.ops = 150;
    const Instance instance = test::random_training_graph(seed, options);
    for (const double fraction : {0.1, 0.3, 0.6}) {
      const auto found = solve(instance, GetParam(), fraction, 1.3, 5000);
      if (!found) continue;
      ++solved;
      improved += found->annealed.joules < found->greedy.joules * (1 - 1e-9);
    }
  }
  EXPECT_GE(solved, 15);
  EXPECT_GE(improved, 9);
}

TEST_P(LocalSearch, SameSeedSameSchedule) {
  const Instance instance = test::random_training_graph(11);
  const auto a = solve(instance, GetParam(), 0.3, 1.3, 3000);
  const auto b = solve(instance, GetParam(), 0.3, 1.3, 3000);
  ASSERT_TRUE(a && b);
  EXPECT_EQ(a->annealed.joules, b->annealed.joules);
  EXPECT_EQ(a->annealed.decisions.recompute, b->annealed.decisions.recompute);
  EXPECT_EQ(a->annealed.decisions.page_in, b->annealed.decisions.page_in);
}

TEST_P(LocalSearch, ImprovesTheIncumbentOfASearch) {
  SolveOptions options;
  options.time_limit_seconds = 1e6;
  LocalSearchOptions effort;
  effort.evaluations = 10'000;
  int improved = 0;
  for (std::uint64_t seed = 31; seed < 35; ++seed) {
    const Instance instance = test::random_training_graph(seed);
    Problem problem = make_problem({instance, {}, GetParam()}, {});
    problem.budget = complete(problem, no_decisions(problem)).peak / 3;
    Search search(problem, options);
    EXPECT_FALSE(local_search(search, effort));  // nothing to start from
    const auto start = greedy(problem, Stop());
    ASSERT_TRUE(start.has_value());
    ASSERT_TRUE(search.offer(*start));
    const double before = search.incumbent().joules;
    const bool better = local_search(search, effort);
    EXPECT_EQ(better, search.incumbent().joules < before);
    improved += better;
  }
  EXPECT_GE(improved, 2);
}

TEST_P(LocalSearch, KeepsTheWriteLimit) {
  int limited = 0;
  for (std::uint64_t seed = 20; seed < 26; ++seed) {
    const Instance instance = test::random_training_graph(seed);
    Problem problem = make_problem({instance, {}, GetParam()}, {});
    problem.budget = complete(problem, no_decisions(problem)).peak / 2;
    const auto start = greedy(problem, Stop());
    ASSERT_TRUE(start.has_value());
    problem.max_bytes_written = start->bytes_written / 2;
    const auto less = greedy(problem, Stop());
    if (!less) continue;
    EXPECT_TRUE(less->within(problem));
    LocalSearchOptions options;
    options.evaluations = 3000;
    EXPECT_TRUE(anneal(problem, *less, options, Stop()).within(problem));
    ++limited;
  }
  EXPECT_GE(limited, 3);
}

// With brute force for a judge. The search is a heuristic: nearly always, not always.
TEST_P(LocalSearch, FindsTheBestOfSmallProblems) {
  test::Rng rng(17);
  int cases = 0;
  int best = 0;
  for (int i = 0; i < 60; ++i) {
    test::RandomInstanceOptions options;
    options.ops = 5;
    options.multi_output = test::chance(rng, 0.3);
    const Instance instance = test::random_instance(rng, options);
    Problem problem = make_problem({instance, {}, GetParam()}, {});
    const std::int64_t peak = complete(problem, no_decisions(problem)).peak;
    Limits limits;
    limits.ram_budget = Bytes(problem.persistent + peak - 1 - test::pick(rng, 0, static_cast<int>(peak / 4)));
    problem = make_problem({instance, limits, GetParam()}, {});
    const auto start = greedy(problem, Stop());
    if (!start) continue;
    LocalSearchOptions effort;
    effort.evaluations = 1000;
    const Candidate found = anneal(problem, *start, effort, Stop());
    test::ExhaustiveOptions as_good;
    as_good.at_most_joules = found.joules * (1 + 1e-9);
    const auto least = test::least_energy(instance, GetParam(), limits, as_good);
    ASSERT_TRUE(least.has_value());
    ++cases;
    best += found.joules <= *least * (1 + 1e-9);
  }
  EXPECT_GE(cases, 10);
  EXPECT_GE(best * 10, cases * 8) << best << " of " << cases;
}

INSTANTIATE_TEST_SUITE_P(All, LocalSearch,
                         testing::Values(Semantics::published, Semantics::staged, Semantics::device),
                         [](const auto& semantics) { return std::string(to_string(semantics.param)); });

}  // namespace
}  // namespace poet
