// What becomes of the paper's statements, and what Table 3 asks POET for.

#include "apps/cli/reproduce/claims.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apps/cli/reproduce/deadline_points.h"

namespace poet::cli {
namespace {

Claim tried(const std::vector<Finding>& findings) {
  Claim claim{"what", "paper", {}, "why"};
  for (const Finding finding : findings) claim.trials.push_back({"where", "here", finding});
  return claim;
}

TEST(Claims, HoldInEverySettingOrInPart) {
  EXPECT_EQ(finding_of(tried({Finding::holds, Finding::holds})), Finding::holds);
  EXPECT_EQ(finding_of(tried({Finding::fails, Finding::fails})), Finding::fails);
  EXPECT_EQ(finding_of(tried({Finding::holds, Finding::fails})), Finding::partly);
  EXPECT_EQ(finding_of(tried({Finding::holds, Finding::partly})), Finding::partly);
  EXPECT_EQ(finding_of(tried({Finding::beyond})), Finding::beyond);
}

TEST(Claims, AreUndecidedIfTheyDependOnWhatIs) {
  EXPECT_EQ(finding_of(tried({Finding::undecided})), Finding::undecided);
  EXPECT_EQ(finding_of(tried({Finding::holds, Finding::undecided})), Finding::undecided);
  EXPECT_EQ(finding_of(tried({Finding::fails, Finding::undecided})), Finding::undecided);
  EXPECT_EQ(finding_of(tried({Finding::partly, Finding::undecided})), Finding::partly);
}

// "Up to 35%": of the best of all budgets.
TEST(Claims, UpToSaysNothingOnFewBudgets) {
  Range below;
  below.add(0.02);
  below.add(0.2);
  Range reached = below;
  reached.add(0.36);
  EXPECT_EQ(finding_of_up_to(0.35, reached, Budgets::few), Finding::holds);
  EXPECT_EQ(finding_of_up_to(0.35, reached, Budgets::all), Finding::holds);
  EXPECT_EQ(finding_of_up_to(0.35, below, Budgets::few), Finding::undecided);
  EXPECT_EQ(finding_of_up_to(0.35, below, Budgets::all), Finding::partly);
  EXPECT_EQ(finding_of_up_to(0.35, {}, Budgets::few), Finding::undecided);
  EXPECT_EQ(finding_of_up_to(0.35, {}, Budgets::all), Finding::fails);
}

TEST(Claims, CountOnce) {
  ClaimCounts counts;
  count_claim(tried({Finding::holds, Finding::holds, Finding::holds}), counts);
  count_claim(tried({Finding::holds, Finding::partly}), counts);
  count_claim(tried({Finding::fails}), counts);
  count_claim(tried({Finding::beyond}), counts);
  EXPECT_EQ(counts_text(counts), "Of the paper's 3 claims 1 holds, 1 in part, and 1 does not.");
  count_claim(tried({Finding::undecided}), counts);
  EXPECT_EQ(counts_text(counts),
            "Of the paper's 4 claims 1 holds, 1 in part, and 1 does not. One is undecided, with so few "
            "budgets.");
}

// POFO's plan of 1,000 B and 2 s: equal limits, 8.3% less RAM, 13% more throughput, both. A plan that it has
// at two budgets is asked for once.
TEST(DeadlinePoints, AskForPofosTimeInItsRam) {
  SweepPoint point;
  point.network.name = "resnet18";
  point.method = "pofo";
  point.ram = RamAboveFloor{0.5};
  SweepPoint larger = point;
  larger.ram = RamAboveFloor{0.6};
  SweepPoint other = point;
  other.method = "poet";
  SweepResult result;
  result.method = "pofo";
  result.verdict = to_string(Verdict::holds);
  result.peak_ram_bytes = 1000;
  result.runtime_seconds = 2;
  SweepResult poets = result;
  poets.method = "poet";
  const std::vector<SweepPoint> points = deadline_points({point, larger, other}, {result, result, poets});
  ASSERT_EQ(points.size(), 4U);
  for (const SweepPoint& one : points) {
    EXPECT_EQ(one.method, "poet");
    EXPECT_TRUE(std::holds_alternative<Bytes>(one.ram));
  }
  EXPECT_EQ(points[0].ram, RamBudget(Bytes(1000)));
  EXPECT_EQ(points[0].deadline.time, Seconds(2));
  EXPECT_EQ(points[1].ram, RamBudget(Bytes(917)));
  EXPECT_EQ(points[1].deadline.time, Seconds(2));
  EXPECT_EQ(points[2].ram, RamBudget(Bytes(1000)));
  EXPECT_DOUBLE_EQ(points[2].deadline.time->value(), 2 / 1.13);
  EXPECT_EQ(points[3].ram, RamBudget(Bytes(917)));
  EXPECT_DOUBLE_EQ(points[3].deadline.time->value(), 2 / 1.13);
}

}  // namespace
}  // namespace poet::cli
