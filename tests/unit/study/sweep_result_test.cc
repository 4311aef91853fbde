// What is remembered of a point, from verdicts made by hand.

#include "poet/study/sweep_result.h"

#include <gtest/gtest.h>

namespace poet {
namespace {

SweepResult judged_as(Verdict verdict, Bytes peak) {
  SweepResult result;
  result.ram_budget_bytes = 100;
  result.least_bytes_read = 20;
  result.least_bytes_written = 10;
  result.least_bytes_moved = 30;
  Judged judged;
  judged.verdict = verdict;
  judged.plan.steps.emplace_back();
  judged.report.peak_ram = peak;
  add_verdict(result, judged, std::nullopt);
  return result;
}

TEST(SweepResult, BoundsTransfersOfPlansWithinTheRamOnly) {
  EXPECT_EQ(judged_as(Verdict::holds, Bytes(100)).least_bytes_moved, 30);
  // The nearest plan may break another limit.
  EXPECT_EQ(judged_as(Verdict::over_limits, Bytes(100)).least_bytes_moved, 30);
  const SweepResult larger = judged_as(Verdict::over_limits, Bytes(101));
  EXPECT_EQ(larger.least_bytes_read, std::nullopt);
  EXPECT_EQ(larger.least_bytes_written, std::nullopt);
  EXPECT_EQ(larger.least_bytes_moved, std::nullopt);
}

}  // namespace
}  // namespace poet
