#include "poet/base/stop.h"

#include <gtest/gtest.h>

#include <limits>

namespace poet {
namespace {

constexpr double kForever = std::numeric_limits<double>::infinity();

TEST(Stop, ComesByItselfOnlyWithALimit) {
  const Stop never;
  EXPECT_FALSE(never());
  EXPECT_EQ(never.remaining(), kForever);
  EXPECT_TRUE(Stop(0)());
  EXPECT_TRUE(Stop(-1)());
  const Stop soon(0.01);
  const double before = soon.elapsed();
  for (const double begin = work_seconds(); work_seconds() < begin + 0.015;) continue;
  EXPECT_TRUE(soon());
  EXPECT_TRUE(soon.expired());
  EXPECT_FALSE(soon.cancelled());
  EXPECT_LE(soon.remaining(), 0);
  EXPECT_GE(soon.elapsed() - before, 0.0149);
}

TEST(Stop, CanBeCancelledThroughEveryCopy) {
  bool cancelled = false;
  const Stop stop(1000, [&] { return cancelled; });
  const Stop part = stop.at_most(10);
  const Stop grace = stop.at_least(2000);
  EXPECT_FALSE(stop() || part() || grace());
  cancelled = true;
  EXPECT_TRUE(stop() && part() && grace());
  EXPECT_FALSE(stop.expired());
}

TEST(Stop, PartsEndNoLaterThanTheWholeAndGraceNoEarlier) {
  const Stop stop(1000);
  EXPECT_LE(stop.at_most(10).remaining(), 10);
  EXPECT_LE(stop.at_most(2000).remaining(), 1000);
  EXPECT_GT(stop.at_most(2000).remaining(), 900);
  EXPECT_GT(stop.at_least(2000).remaining(), 1900);
  EXPECT_GT(stop.at_least(1).remaining(), 900);
  const Stop over(0);
  EXPECT_TRUE(over.at_most(10)());
  EXPECT_FALSE(over.at_least(10)());
  EXPECT_EQ(Stop().at_most(kForever).remaining(), kForever);
}

}  // namespace
}  // namespace poet
