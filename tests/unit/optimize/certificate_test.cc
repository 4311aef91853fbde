// What an answer claims: gaps on the overhead, and bounds that speak of every plan or of staged schedules
// only.

#include "poet/optimize/certificate.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "poet/base/error.h"

namespace poet {
namespace {

constexpr double kWanted = 0.01;

Bounds bounds(double every_plan) { return {Joules(every_plan), std::nullopt}; }
Bounds bounds(double every_plan, double staged) { return {Joules(every_plan), Joules(staged)}; }

TEST(OverheadGap, IsThePartOfTheOverheadThatIsOpen) {
  EXPECT_DOUBLE_EQ(overhead_gap(10, 9, 8), 0.5);
  EXPECT_DOUBLE_EQ(overhead_gap(10, 8, 8), 1);
  EXPECT_EQ(overhead_gap(10, 10, 8), 0);
  EXPECT_EQ(overhead_gap(10, 11, 8), 0);       // the plan needs less than what the bound speaks of
  EXPECT_EQ(overhead_gap(8, 8, 8), 0);         // nothing is above the baseline
  EXPECT_EQ(overhead_gap(8 + 1e-9, 8, 8), 0);  // rounding: 1e-9 of the baseline
  EXPECT_GT(overhead_gap(8 + 1e-7, 8, 8), 0.9);
}

TEST(Certificate, OptimalWithinTheGapAskedFor) {
  const Certificate close = certify(Joules(10), Joules(8), bounds(9.99), kWanted);
  EXPECT_EQ(close.status, Status::optimal);
  EXPECT_NEAR(close.gap, 0.005, 1e-12);
  EXPECT_NEAR(close.energy_gap, 0.001, 1e-12);
  EXPECT_EQ(close.staged_gap, close.gap);
  const Certificate open = certify(Joules(10), Joules(8), bounds(9.9), kWanted);
  EXPECT_EQ(open.status, Status::feasible);
  EXPECT_NEAR(open.gap, 0.05, 1e-12);
}

// A proof about staged schedules alone proves nothing of other plans.
TEST(Certificate, StagedBoundsDoNotMakeAnAnswerOptimal) {
  const Certificate staged = certify(Joules(10), Joules(8), bounds(9, 10), kWanted);
  EXPECT_EQ(staged.status, Status::feasible);
  EXPECT_NEAR(staged.gap, 0.5, 1e-12);
  EXPECT_EQ(staged.staged_gap, 0);
  EXPECT_EQ(staged.bounds.of_staged(), Joules(10));
}

// No bound is lowered to the energy of the plan beside it.
TEST(Certificate, APlanMayNeedLessThanAnyStagedSchedule) {
  const Certificate below = certify(Joules(10), Joules(8), bounds(9.5, 10.5), kWanted);
  EXPECT_EQ(below.bounds.staged, Joules(10.5));
  EXPECT_EQ(below.staged_gap, 0);
  EXPECT_NEAR(below.gap, 0.25, 1e-12);
}

/// With POET_STRICT_BOUNDS, or without it.
class WrongBound : public testing::Test {
 protected:
  ~WrongBound() override { setenv("POET_STRICT_BOUNDS", "1", 1); }
};

TEST_F(WrongBound, IsAnInternalErrorInTests) {
  setenv("POET_STRICT_BOUNDS", "1", 1);
  EXPECT_THROW((void)certify(Joules(10), Joules(8), bounds(10.1), kWanted), InternalError);
}

TEST_F(WrongBound, IsDroppedForUsers) {
  unsetenv("POET_STRICT_BOUNDS");
  const Certificate dropped = certify(Joules(10), Joules(8), bounds(10.1, 11), kWanted);
  EXPECT_EQ(dropped.status, Status::feasible);
  EXPECT_EQ(dropped.bounds.every_plan, Joules(8));
  EXPECT_FALSE(dropped.bounds.staged);
  EXPECT_EQ(dropped.gap, 1);
  EXPECT_NE(dropped.note.find("exceeded the energy of the verified plan"), std::string::npos);
  EXPECT_EQ(certify(Joules(10), Joules(8), bounds(9), kWanted).note, "");
}

TEST(Certificate, ToleratesRoundingInTheSolver) {
  EXPECT_EQ(certify(Joules(10), Joules(8), bounds(10 + 1e-9), kWanted).gap, 0);
}

TEST(Certificate, WithoutAPlan) {
  EXPECT_EQ(certify_none(Status::infeasible, bounds(8)).status, Status::infeasible);
  EXPECT_EQ(certify_none(Status::unknown, bounds(8)).bounds.every_plan, Joules(8));
  EXPECT_THROW((void)certify_none(Status::optimal, bounds(8)), InternalError);
}

}  // namespace
}  // namespace poet
