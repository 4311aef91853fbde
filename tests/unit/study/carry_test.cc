// Plans and bounds carried between the limits of a sweep's points, by hand.

#include "poet/study/carry.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

namespace poet {
namespace {

SweepResult point(std::int64_t ram, std::optional<double> deadline, std::optional<double> joules,
                  std::optional<double> bound) {
  SweepResult out;
  out.instance = "i";
  out.method = "poet";
  out.ram = std::to_string(ram);
  out.deadline = deadline ? "given" : "none";
  out.verdict = to_string(joules ? Verdict::holds : Verdict::no_plan);
  out.reason = joules ? "" : "no schedule found in the time allowed";
  out.ram_budget_bytes = ram;
  out.deadline_seconds = deadline;
  out.baseline_joules = 10;
  out.energy_joules = joules;
  out.bound_joules = bound;
  if (joules) out.peak_ram_bytes = ram;
  return out;
}

TEST(CarryBetweenLimits, NothingBetweenOtherParts) {
  SweepResult small = point(50, {}, 12, 10.5), large = point(100, {}, 13, 11);
  small.split = large.split = "auto";
  carry_between_limits({&small, &large});
  EXPECT_EQ(small.bound_joules, 10.5);
  EXPECT_EQ(large.energy_joules, 13);
}

// A step that accumulates, clips or smooths is another network's, and so are its plans and bounds.
TEST(CarryBetweenLimits, NothingBetweenOtherWaysToTrain) {
  SweepPoint plain;
  plain.network.name = "linear";
  std::vector<SweepPoint> ways(4, plain);
  ways[0].accumulate = 4;
  ways[1].clip_norm = 0.5;
  ways[2].label_smoothing = 0.1;
  ways[3].precision = "bf16-mixed";
  for (const SweepPoint& way : ways) {
    SweepResult small = point(50, {}, 12, 10.5), large = point(100, {}, 13, 11);
    small.instance = result_of(plain, "1").instance;
    large.instance = result_of(way, "1").instance;
    carry_between_limits({&small, &large});
    EXPECT_EQ(small.bound_joules, 10.5);
    EXPECT_EQ(large.energy_joules, 13);
  }
}

TEST(CarryBetweenLimits, PlansToLooserLimitsAndBoundsToTighterOnes) {
  SweepResult small = point(50, {}, 12, 10.5);
  // Less energy, but of a point with a deadline: a plan without, too.
  SweepResult hurried = point(60, 3.0, 11, 10);
  SweepResult large = point(100, {}, 13, 11);  // a worse answer, a better bound
  SweepResult none = point(80, {}, {}, {});
  carry_between_limits({&small, &hurried, &large, &none});

  EXPECT_EQ(small.energy_joules, 12);
  EXPECT_EQ(small.bound_joules, 11);  // of the largest budget
  EXPECT_DOUBLE_EQ(*small.gap, 0.5);
  EXPECT_EQ(hurried.energy_joules, 11);
  EXPECT_EQ(hurried.bound_joules, 11);
  EXPECT_EQ(hurried.gap, 0);
  EXPECT_EQ(large.energy_joules, 11);
  EXPECT_EQ(large.peak_ram_bytes, 60);
  EXPECT_EQ(large.note, "plan of RAM 60, deadline given");
  EXPECT_NEAR(*large.overhead, 0.1, 1e-12);
  EXPECT_EQ(none.verdict, to_string(Verdict::holds));
  EXPECT_EQ(none.energy_joules, 11);
  EXPECT_EQ(none.bound_joules, 11);
  EXPECT_TRUE(none.reason.empty());
}

TEST(CarryBetweenLimits, NotAcrossInstancesMethodsOrToTighterLimits) {
  SweepResult small = point(50, {}, 20, 10);
  SweepResult large = point(100, {}, 11, 10);
  SweepResult other = point(40, {}, 10.5, 10.5);
  other.instance = "j";
  SweepResult heuristic = point(40, {}, 10.2, {});  // proves no bound: what it finds is its own
  heuristic.method = "chen";
  SweepResult heuristic_more = point(90, {}, 19, {});
  heuristic_more.method = "chen";
  carry_between_limits({&small, &large, &other, &heuristic, &heuristic_more});
  EXPECT_EQ(small.energy_joules, 20);
  EXPECT_EQ(large.energy_joules, 11);
  EXPECT_EQ(heuristic_more.energy_joules, 19);
}

}  // namespace
}  // namespace poet
