// Answers for several RAM budgets: more RAM never costs more energy, and what is proven holds for less RAM.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apps/cli/solve/family.h"
#include "apps/cli/solve/ram_budget.h"
#include "poet/base/amounts.h"
#include "poet/verify/replay_layout.h"
#include "tests/support/input_error.h"

namespace poet::cli {
namespace {

using test::input_error;
using ::testing::ElementsAre;

ProblemOptions options(const std::string& budgets) {
  ProblemOptions options;
  options.input.model = "linear";
  options.input.platform = "m0";
  options.limits.ram_budget = budgets;
  options.limits.beyond_device_ram = true;  // of 32 KiB
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

/// --ram-budget in bytes.
std::vector<Bytes> settled_bytes(const std::string& typed) {
  std::vector<Bytes> bytes;
  for (const SettledRam& ram : settled_budgets(options(typed))) bytes.push_back(std::get<Bytes>(ram.ram));
  return bytes;
}

TEST(SolveBudgets, AreSeveralOrNone) {
  LimitOptions limits;
  EXPECT_THAT(ram_budgets(limits), ElementsAre(RamBudget(DeviceRam{})));
  limits.ram_budget = "300KiB, 2MB,50%";
  const std::vector<RamBudget> three = ram_budgets(limits);
  ASSERT_EQ(three.size(), 3U);
  EXPECT_EQ(three[0], RamBudget(Bytes(300 * 1024)));
  EXPECT_EQ(three[1], RamBudget(Bytes(2'000'000)));
  EXPECT_EQ(three[2], RamBudget(RamOfKeepAll{0.5}));
  EXPECT_EQ(input_error([&] { static_cast<void>(solve_budgets(options("1KB,2MB,1000"))); }),
            "--ram-budget: names 1,000 B twice");
  std::string many = "1";
  for (int i = 2; i <= 65; ++i) many += "," + std::to_string(i);
  EXPECT_EQ(input_error([&] { static_cast<void>(solve_budgets(options(many))); }),
            "--ram-budget: names 65 budgets; at most 64 plans go into one file");
  EXPECT_EQ(input_error([&] { static_cast<void>(solve_budgets(options("30KB,least"))); }),
            "--ram-budget: least has to stand alone: its plan cuts operators into other parts than those of "
            "other budgets");
}

// linear keeps everything in 260,416 B, parameters and all.
TEST(RamBudget, IsSettledInBytes) {
  EXPECT_THAT(settled_bytes("7KB"), ElementsAre(Bytes(7'000)));
  EXPECT_THAT(settled_bytes("50%"), ElementsAre(Bytes(130'208)));
  EXPECT_THAT(settled_bytes("12.5%,100%"), ElementsAre(Bytes(32'552), Bytes(260'416)));
  // Not half a byte, which would be no budget at all.
  EXPECT_THAT(settled_bytes("0.0001%"), ElementsAre(Bytes(1)));
  for (const char* wrong : {"0%", "-5%", "%", "nan%"})
    EXPECT_EQ(input_error([&] { (void)settled_bytes(wrong); }),
              std::string("--ram-budget: \"") + wrong + "\" is no percentage above 0");
  EXPECT_EQ(input_error([] { (void)settled_bytes("much"); }),
            "--ram-budget: \"much\" is not an amount of RAM (try 300KiB, 2MB, 737719, 50% or least)");
  ProblemOptions none = options("");
  none.limits.ram_budget.reset();
  const Solved solved = pose_problem(settled(none));
  EXPECT_EQ(solved.request.limits.ram_budget, solved.workload.device->ram);
}

TEST(RamBudget, LeastHasAPlanAndAByteLessThanAllOperatorsNeedHasNone) {
  const ProblemOptions least = settled(options("Least"));
  ASSERT_TRUE(least.ram && least.ram->has_plan);
  const Solved solved = solve_problem(least);
  expect_sound(solved);
  EXPECT_EQ(solved.request.limits.ram_budget, std::get<Bytes>(least.ram->ram));
  // Not much more than what one op's operands and results take.
  EXPECT_LE(solved.request.limits.ram_budget.value(),
            1.1 * static_cast<double>(solved.figures.floor.bytes().value()));
}

TEST(RamBudget, AboveTheDevicesIsRefusedUnlessAskedFor) {
  ProblemOptions much = options("1MiB");
  much.limits.beyond_device_ram = false;
  EXPECT_EQ(
      input_error([&] { static_cast<void>(solve_problem(much)); }),
      "ram_budget: 1 MiB is more than the 32 KiB of RAM that m0 has; `beyond_device_ram` plans for it all "
      "the same");
  much.limits.beyond_device_ram = true;
  EXPECT_TRUE(has_plan(solve_problem(much)));
  set_byte_units(ByteUnits::decimal);
}

// What is typed in KiB is answered in KiB.
TEST(RamBudget, SaysInWhichUnitsToAnswer) {
  const auto half = [](const std::string& typed) {
    (void)settled_budgets(options(typed));
    const std::string text = format_bytes(Bytes(262144));
    set_byte_units(ByteUnits::decimal);
    return text;
  };
  EXPECT_EQ(half("100KiB"), "256 KiB");
  EXPECT_EQ(half("0.1mib,100KB"), "256 KiB");
  EXPECT_EQ(half("131072"), "256 KiB");
  EXPECT_EQ(half("100KB"), "262.1 KB");
  EXPECT_EQ(half("1024000"), "262.1 KB");
  EXPECT_EQ(half("50%"), "256 KiB");  // as the device's RAM
  EXPECT_EQ(half("100KiB,100000"), "256 KiB");
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
