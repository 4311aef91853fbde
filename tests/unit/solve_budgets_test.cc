// Answers for several RAM budgets: more RAM never costs more energy, and what is proven holds for less RAM.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apps/cli/solve/family.h"
#include "poet/verify/replay_layout.h"
#include "tests/support/input_error.h"

namespace poet::cli {
namespace {

using test::input_error;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

ProblemOptions options(const std::string& budgets) {
  ProblemOptions options;
  options.input.model = "linear";
  options.input.platform = "m0";
  options.limits.ram_budget = budgets;
  options.solver.quiet = true;
  options.solver.gap = "0.9";
  options.solver.time_limit = "5s";
  return options;
}

const std::vector<Solved>& three() {
  static const std::vector<Solved> answers = solve_budgets(options("100KiB,250KB,24KiB"));
  return answers;
}

double energy(const Solved& solved) { return solved.result.report.energy.value(); }
double bound(const Solved& solved) { return solved.result.certificate.bounds.every_plan.value(); }

void expect_sound(const Solved& solved) {
  const CompileRequest& request = solved.request;
  EXPECT_TRUE(has_plan(solved));
  const Report report = replay(request.instance, solved.result.plan, request.semantics, request.limits);
  EXPECT_TRUE(report.valid) << report.violation;
  EXPECT_TRUE(replay_layout(request.instance, solved.result.plan, solved.result.layout, request.semantics,
                            request.limits)
                  .valid);
  EXPECT_EQ(report.energy, solved.result.report.energy);
  EXPECT_EQ(solved.result.certificate.energy, report.energy);
  EXPECT_LE(bound(solved), energy(solved) * (1 + 1e-9));
}

TEST(SolveBudgets, SortsThem) {
  LimitOptions limits;
  EXPECT_THAT(ram_budgets(limits), IsEmpty());
  limits.ram_budget = "2MB";
  EXPECT_THAT(ram_budgets(limits), ElementsAre("2MB"));
  limits.ram_budget = "300KiB,2MB,1000";
  EXPECT_THAT(ram_budgets(limits), ElementsAre("2MB", "300KiB", "1000"));
  limits.ram_budget = "1KB,2MB,1000";
  EXPECT_EQ(input_error([&] { static_cast<void>(ram_budgets(limits)); }),
            "--ram-budget: names 1,000 B twice");
  limits.ram_budget = "1";
  for (int i = 2; i <= 65; ++i) *limits.ram_budget += "," + std::to_string(i);
  EXPECT_EQ(input_error([&] { static_cast<void>(ram_budgets(limits)); }),
            "--ram-budget: names 65 budgets; at most 64 plans go into one file");
}

TEST(SolveBudgets, HasAPlanOfTheSameGraphForEach) {
  const std::vector<Solved>& answers = three();
  ASSERT_EQ(answers.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) {
    expect_sound(answers[i]);
    EXPECT_EQ(answers[i].request.instance.graph.ops.size(), answers[0].request.instance.graph.ops.size());
    if (i == 0) continue;
    EXPECT_GT(answers[i - 1].request.limits.ram_budget, answers[i].request.limits.ram_budget);
    EXPECT_LT(energy(answers[i - 1]), energy(answers[i]));
    EXPECT_LE(bound(answers[i - 1]), bound(answers[i]));
  }
  EXPECT_EQ(family_of_answers(answers).plans.size(), 3U);
}

TEST(SolveBudgets, AWorseAnswerTakesThePlanOfLessRam) {
  std::vector<Solved> answers = three();
  const double lower = bound(answers[0]);
  // The first is found to need as much as the last, which the second is better than.
  answers[0].result = three()[2].result;
  answers[0].request.instance = three()[2].request.instance;
  answers[0].result.certificate.bounds = three()[0].result.certificate.bounds;
  carry_between_budgets(answers);
  EXPECT_EQ(energy(answers[0]), energy(three()[1]));
  EXPECT_EQ(answers[0].result.paged, three()[1].result.paged);
  EXPECT_EQ(bound(answers[0]), lower);
  EXPECT_EQ(energy(answers[2]), energy(three()[2]));
  for (const Solved& solved : answers) expect_sound(solved);
  EXPECT_EQ(answers[0].request.limits.ram_budget, Bytes(250'000));
}

TEST(SolveBudgets, WithoutAnAnswerTakesThePlanOfLessRam) {
  std::vector<Solved> answers = three();
  answers[0].result = {};
  answers[0].result.keep_all = three()[0].result.keep_all;
  answers[0].result.certificate.status = Status::unknown;
  EXPECT_FALSE(all_answered(answers));
  carry_between_budgets(answers);
  EXPECT_TRUE(all_answered(answers));
  EXPECT_EQ(energy(answers[0]), energy(three()[1]));
  expect_sound(answers[0]);
  // Not the other way round.
  answers = three();
  answers[2].result = {};
  answers[2].result.certificate.status = Status::unknown;
  carry_between_budgets(answers);
  EXPECT_FALSE(has_plan(answers[2]));
}

TEST(SolveBudgets, WhatIsProvenHoldsForLessRam) {
  std::vector<Solved> answers = three();
  answers[2].result.certificate.bounds.every_plan = Joules(0);
  carry_between_budgets(answers);
  EXPECT_EQ(bound(answers[2]), bound(three()[1]));
  expect_sound(answers[2]);
}

}  // namespace
}  // namespace poet::cli
