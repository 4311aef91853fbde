// The incremental replay against the whole one, after any sequence of edits, and after undoing them.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "poet/optimize/heuristic/incremental.h"
#include "tests/support/random_instance.h"
#include "tests/support/random_training_graph.h"

namespace poet {
namespace {

class Incremental : public testing::TestWithParam<Semantics> {};

void expect_agreement(const Problem& problem, const IncrementalReplay& replay) {
  const Decisions decisions = replay.decisions();
  const Candidate whole = complete(problem, decisions);
  EXPECT_EQ(whole.decisions.recompute, decisions.recompute);  // nothing useless is left
  EXPECT_EQ(whole.decisions.page_in, decisions.page_in);
  EXPECT_EQ(whole.decisions.page_out, decisions.page_out);
  EXPECT_EQ(whole.stage_peak, replay.stage_peak());
  EXPECT_EQ(whole.bytes_written, replay.bytes_written());
  const IncrementalReplay::Total total = replay.total();
  EXPECT_NEAR(whole.joules, total.joules, 1e-9 * whole.joules);
  EXPECT_NEAR(whole.seconds, total.seconds, 1e-9 * whole.seconds);
  EXPECT_LE(replay.least_joules(), total.joules * (1 + 1e-9));
  std::int64_t overflow = 0;
  for (std::int64_t peak : whole.stage_peak) overflow += std::max<std::int64_t>(0, peak - problem.budget);
  EXPECT_EQ(overflow, replay.overflow());
  for (int t = 0; t < problem.ops; ++t)
    for (int v = 0; v < problem.values; ++v) {
      const auto& retain = whole.retain[static_cast<std::size_t>(t)];
      ASSERT_EQ(std::binary_search(retain.begin(), retain.end(), v),
                problem.active[static_cast<std::size_t>(v)] && replay.is_retained(v, t));
    }
}

// Whether something was changed.
bool edit_at_random(test::Rng& rng, const Problem& problem, IncrementalReplay& replay) {
  const int stage = test::pick(rng, 0, problem.ops - 1);
  const int op = test::pick(rng, 0, stage);
  const auto& writes = problem.writes[static_cast<std::size_t>(op)];
  switch (test::pick(rng, 0, 5)) {
    case 0:
      return replay.remove_recompute(op, stage);
    case 1:
      return !writes.empty() && replay.remove_page_in(writes.front(), stage);
    case 2:
    case 3:
      return replay.add_recompute(op, stage);
    case 4:
      if (writes.empty()) return false;
      replay.pin_page_out(writes.back(), test::pick(rng, -1, problem.ops - 1));
      return true;
    default:
      return !writes.empty() && replay.add_page_in(writes.back(), stage);
  }
}

void check(test::Rng& rng, const Instance& instance, Semantics semantics, int rounds, int most_edits) {
  Limits limits;
  Problem problem = make_problem({instance, limits, semantics}, {});
  const std::int64_t keep_all = complete(problem, no_decisions(problem)).peak;
  EXPECT_EQ(keep_all_peak(problem), keep_all);
  problem.budget = test::pick(rng, 0, static_cast<int>(keep_all));
  IncrementalReplay replay(problem);
  expect_agreement(problem, replay);
  for (int round = 0; round < rounds; ++round) {
    const Decisions before = replay.decisions();
    const double joules = replay.total().joules;
    const int edits = test::pick(rng, 1, most_edits);
    for (int i = 0; i < edits; ++i) {
      edit_at_random(rng, problem, replay);
      if (test::chance(rng, 0.3)) replay.update();
    }
    if (test::chance(rng, 0.5)) {
      replay.update();
      expect_agreement(problem, replay);
    }
    if (test::chance(rng, 0.5)) {
      replay.rollback();
      EXPECT_EQ(before.recompute, replay.decisions().recompute);
      EXPECT_EQ(before.page_in, replay.decisions().page_in);
      EXPECT_EQ(before.page_out, replay.decisions().page_out);
      EXPECT_EQ(joules, replay.total().joules);
    } else {
      replay.update();
      replay.commit();
    }
    expect_agreement(problem, replay);
    if (testing::Test::HasFailure()) return;
  }
}

TEST_P(Incremental, AgreesWithTheWholeReplay) {
  test::Rng rng(7);
  for (int i = 0; i < 600 && !HasFailure(); ++i) {
    SCOPED_TRACE(fmt::format("case {}", i));
    test::RandomInstanceOptions options;
    options.ops = test::pick(rng, 3, 16);
    options.in_place = test::chance(rng, 0.5);
    options.multi_output = test::chance(rng, 0.5);
    options.updates = test::chance(rng, 0.3);
    options.views = test::chance(rng, 0.3);
    options.device = GetParam() == Semantics::device;
    check(rng, test::random_instance(rng, options), GetParam(), 20, 6);
  }
}

TEST_P(Incremental, AgreesOnTrainingGraphs) {
  test::Rng rng(8);
  for (std::uint64_t seed = 0; seed < 10 && !HasFailure(); ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    test::RandomTrainingGraphOptions options;
    options.ops = 120;
    check(rng, test::random_training_graph(seed, options), GetParam(), 40, 40);
  }
}

TEST_P(Incremental, ReturnsToTheMark) {
  test::Rng rng(10);
  test::RandomTrainingGraphOptions options;
  options.ops = 100;
  const Instance instance = test::random_training_graph(3, options);
  const Problem problem = make_problem({instance, {}, GetParam()}, {});
  IncrementalReplay replay(problem);
  for (int round = 0; round < 20; ++round) {
    replay.mark();
    const Decisions marked = replay.decisions();
    for (int i = 0; i < 200; ++i) {
      edit_at_random(rng, problem, replay);
      replay.update();
      test::chance(rng, 0.5) ? replay.commit() : replay.rollback();
    }
    if (test::chance(rng, 0.5)) continue;
    replay.rollback();
    replay.return_to_mark();
    EXPECT_EQ(marked.recompute, replay.decisions().recompute);
    EXPECT_EQ(marked.page_in, replay.decisions().page_in);
    EXPECT_EQ(marked.page_out, replay.decisions().page_out);
    expect_agreement(problem, replay);
  }
}

TEST_P(Incremental, LoadsAnyDecisions) {
  test::Rng rng(9);
  for (int i = 0; i < 300 && !HasFailure(); ++i) {
    test::RandomInstanceOptions options;
    options.multi_output = test::chance(rng, 0.5);
    options.device = GetParam() == Semantics::device;
    const Instance instance = test::random_instance(rng, options);
    const Problem problem = make_problem({instance, {}, GetParam()}, {});
    IncrementalReplay first(problem);
    for (int k = 0; k < 12; ++k) edit_at_random(rng, problem, first);
    first.update();
    IncrementalReplay second(problem);
    for (int k = 0; k < 12; ++k) edit_at_random(rng, problem, second);
    second.update();
    second.commit();
    second.load(first.decisions());
    EXPECT_EQ(first.stage_peak(), second.stage_peak());
    EXPECT_EQ(first.decisions().page_out, second.decisions().page_out);
    EXPECT_EQ(first.decisions().recompute, second.decisions().recompute);
    expect_agreement(problem, second);
  }
}

INSTANTIATE_TEST_SUITE_P(All, Incremental,
                         testing::Values(Semantics::published, Semantics::staged, Semantics::device),
                         [](const auto& semantics) { return std::string(to_string(semantics.param)); });

}  // namespace
}  // namespace poet
