// Why there is no answer and the nearest limits that have one, on chains where both can be worked out.

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "poet/optimize/explain.h"
#include "poet/optimize/solve.h"
#include "poet/verify/replay.h"
#include "tests/support/ladder.h"

namespace poet {
namespace {

constexpr Semantics kEvery[] = {Semantics::published, Semantics::staged, Semantics::device};

Limits limits(std::int64_t bytes, double deadline) {
  Limits both = test::ram(bytes);
  both.deadline = Seconds(deadline);
  return both;
}

SolveOptions recomputing_only() {
  SolveOptions options;
  options.paging = false;
  return options;
}

SolveOptions paging_only() {
  SolveOptions options;
  options.rematerialization = false;
  return options;
}

Problem problem_of(const Instance& instance, const Limits& limits,
                   Semantics semantics = Semantics::published) {
  return make_problem({instance, limits, semantics}, {});
}

TEST(Floor, IsTheLargestWorkingSet) {
  const Explanation floor = ram_floor(problem_of(test::ladder(), test::ram(1000)));
  EXPECT_EQ(floor.floor_ram, Bytes(50));  // b and c
  EXPECT_EQ(floor.binding_op, OpId(2));
}

TEST(Floor, CountsPersistentBytesAndOnDevicesWorkspace) {
  Instance instance = test::ladder();
  instance.costs.persistent = Bytes(100);
  instance.costs.ops[OpId(4)].workspace = Bytes(15);  // 36 + 15
  const Explanation staged = ram_floor(problem_of(instance, test::ram(1000), Semantics::staged));
  EXPECT_EQ(staged.floor_ram, Bytes(150));
  EXPECT_EQ(staged.binding_op, OpId(2));
  const Explanation device = ram_floor(problem_of(instance, test::ram(1000), Semantics::device));
  EXPECT_EQ(device.floor_ram, Bytes(151));
  EXPECT_EQ(device.binding_op, OpId(4));
}

// Empty: the argument does not apply.
std::string impossible(const Instance& instance, const Limits& limits) {
  const Problem problem = problem_of(instance, limits);
  Explanation explanation = ram_floor(problem);
  const bool shown = explain_impossible(problem, explanation);
  EXPECT_EQ(shown, !explanation.reason.empty());
  return explanation.reason;
}

TEST(Impossible, NamesTheReason) {
  EXPECT_EQ(impossible(test::ladder(), test::ram(49)),
            "one op's operands and results alone exceed the RAM budget");
  EXPECT_EQ(impossible(test::ladder(), test::ram(50)), "");
  EXPECT_EQ(impossible(test::ladder(), limits(1000, 4.999)),
            "the deadline is shorter than computing every op once");
  EXPECT_EQ(impossible(test::ladder(), limits(1000, 5)), "");
  Instance trained = test::ladder();
  trained.costs.persistent = Bytes(100);
  EXPECT_EQ(impossible(trained, test::ram(99)), "parameters and optimiser state alone exceed the RAM budget");
  EXPECT_EQ(impossible(trained, test::ram(149)),
            "parameters and one op's operands and results alone exceed the RAM budget");
  EXPECT_EQ(impossible(trained, test::ram(150)), "");
  trained.costs.persistent_of = "parameters and the batch";
  EXPECT_EQ(impossible(trained, test::ram(99)), "parameters and the batch alone exceed the RAM budget");
  EXPECT_EQ(impossible(trained, test::ram(149)),
            "parameters and the batch and one op's operands and results alone exceed the RAM budget");
}

std::optional<Bytes> least(const Instance& instance, const Limits& limits, Semantics semantics,
                           SolveOptions options) {
  options.time_limit_seconds = 10;
  return least_ram({instance, limits, semantics}, options);
}

TEST(LeastRam, RecomputingReachesTheFloor) {
  for (const Semantics semantics : kEvery)
    EXPECT_EQ(least(test::ladder(), test::ram(1), semantics, {}), Bytes(50)) << to_string(semantics);
}

TEST(LeastRam, EachSecondBuysAStep) {
  for (const Semantics semantics : kEvery) {
    SCOPED_TRACE(to_string(semantics));
    const auto at = [&](double deadline) {
      return least(test::ladder(), limits(1, deadline), semantics, recomputing_only());
    };
    EXPECT_EQ(at(4), std::nullopt);  // less than once
    EXPECT_EQ(at(5), Bytes(65));
    EXPECT_EQ(at(5.9), Bytes(65));
    EXPECT_EQ(at(6), Bytes(55));
    EXPECT_EQ(at(7), Bytes(50));
    EXPECT_EQ(at(100), Bytes(50));
  }
}

TEST(LeastRam, PagingHelpsWhereArrivalsTakeNoRam) {
  EXPECT_EQ(least(test::ladder(), limits(1, 5), Semantics::published, paging_only()), Bytes(50));
  EXPECT_EQ(least(test::ladder(), limits(1, 5), Semantics::staged, paging_only()), Bytes(65));
  // a arrives while d is computed, 45 B with c; b is recomputed from it.
  EXPECT_EQ(least(test::ladder(), limits(1, 6), Semantics::staged, {}), Bytes(50));
}

TEST(LeastRam, KeepsTheWriteLimit) {
  Limits both = test::ram(1);
  both.max_bytes_written = Bytes(10);  // a, not b
  EXPECT_EQ(least(test::ladder(), both, Semantics::published, paging_only()), Bytes(55));
  both.max_bytes_written = Bytes(9);
  EXPECT_EQ(least(test::ladder(), both, Semantics::published, paging_only()), Bytes(65));
}

TEST(LeastRam, CountsPersistentBytes) {
  Instance trained = test::ladder();
  trained.costs.persistent = Bytes(100);
  EXPECT_EQ(least(trained, test::ram(1), Semantics::staged, {}), Bytes(150));
}

/// Solves for limits without an answer, and again at each of those that the explanation names.
Explanation explained(const Limits& limits, const SolveOptions& options, Semantics semantics) {
  const Instance instance = test::ladder();
  const Outcome outcome = solve({instance, limits, semantics}, options);
  EXPECT_EQ(outcome.certificate.status, Status::infeasible);
  EXPECT_TRUE(outcome.schedule.stages.empty());
  const auto solvable = [&](const Limits& named) {
    const Outcome again = solve({instance, named, semantics}, options);
    EXPECT_EQ(again.certificate.status, Status::optimal);
    const Report report = replay(instance, again.schedule, semantics, named);
    EXPECT_TRUE(report.valid) << report.violation;
  };
  if (outcome.explanation.least_ram) {
    Limits named = limits;
    named.ram_budget = *outcome.explanation.least_ram;
    solvable(named);
  }
  if (outcome.explanation.least_deadline) {
    Limits named = limits;
    named.deadline = *outcome.explanation.least_deadline;
    solvable(named);
  }
  return outcome.explanation;
}

TEST(NoAnswer, BelowTheFloorOnlyRamHelps) {
  for (const Semantics semantics : kEvery) {
    SCOPED_TRACE(to_string(semantics));
    const Explanation why = explained(limits(49, 7), {}, semantics);
    EXPECT_EQ(why.reason, "one op's operands and results alone exceed the RAM budget");
    EXPECT_EQ(why.floor_ram, Bytes(50));
    EXPECT_EQ(why.binding_op, OpId(2));
    EXPECT_EQ(why.least_ram, Bytes(50));
    EXPECT_FALSE(why.least_deadline.has_value());
  }
}

TEST(NoAnswer, BelowTheBaselineOnlyTimeHelps) {
  for (const Semantics semantics : kEvery) {
    SCOPED_TRACE(to_string(semantics));
    const Explanation why = explained(limits(55, 4), recomputing_only(), semantics);
    EXPECT_EQ(why.reason, "the deadline is shorter than computing every op once");
    EXPECT_FALSE(why.least_ram.has_value());
    ASSERT_TRUE(why.least_deadline.has_value());
    EXPECT_NEAR(why.least_deadline->value(), 6, 1e-9);
  }
}

// 55 B take 6 s and 5.5 s take 65 B: neither limit is impossible alone.
TEST(NoAnswer, LimitsThatExcludeEachOther) {
  for (const Semantics semantics : kEvery) {
    SCOPED_TRACE(to_string(semantics));
    const Explanation why = explained(limits(55, 5.5), recomputing_only(), semantics);
    EXPECT_EQ(why.reason, "no plan fits the RAM budget together with the other limits");
    EXPECT_EQ(why.least_ram, Bytes(65));
    ASSERT_TRUE(why.least_deadline.has_value());
    EXPECT_NEAR(why.least_deadline->value(), 6, 1e-9);
    EXPECT_EQ(why.floor_ram, Bytes(50));
  }
}

TEST(NoAnswer, InterruptedIsUnknown) {
  const Instance instance = test::ladder();
  SolveOptions options;
  options.interrupted = [] { return true; };
  const Outcome outcome = solve({instance, test::ram(50), Semantics::staged}, options);
  EXPECT_EQ(outcome.certificate.status, Status::unknown);
  EXPECT_EQ(outcome.explanation.reason, "interrupted before a plan was found");
  EXPECT_EQ(outcome.explanation.floor_ram, Bytes(50));
}

// What is impossible stays so, whoever interrupts.
TEST(NoAnswer, InterruptedBelowTheFloorIsInfeasible) {
  const Instance instance = test::ladder();
  SolveOptions options;
  options.interrupted = [] { return true; };
  EXPECT_EQ(solve({instance, test::ram(49), Semantics::staged}, options).certificate.status,
            Status::infeasible);
}

}  // namespace
}  // namespace poet
