#include "poet/runtime/training/learning_rate.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "poet/runtime/training/schedule_in_c.h"
#include "tests/support/input_error.h"

namespace poet::runtime {
namespace {

using Kind = LearningRateSchedule::Kind;

TEST(LearningRate, IsConstantUnlessAskedFor) {
  for (const std::int64_t update : {1, 2, 1000}) EXPECT_EQ(rate_factor({}, update), 1.0);
  EXPECT_EQ(describe_schedule({}), "constant");
}

TEST(LearningRate, WarmsUp) {
  LearningRateSchedule schedule;
  schedule.warmup = 4;
  EXPECT_EQ(rate_factor(schedule, 1), 0.25);
  EXPECT_EQ(rate_factor(schedule, 3), 0.75);
  EXPECT_EQ(rate_factor(schedule, 4), 1.0);
  EXPECT_EQ(rate_factor(schedule, 5), 1.0);
  EXPECT_EQ(describe_schedule(schedule), "constant warmup=4");
}

TEST(LearningRate, FallsInSteps) {
  LearningRateSchedule schedule;
  schedule.kind = Kind::step;
  schedule.step_size = 3;
  schedule.gamma = 0.5;
  schedule.warmup = 2;
  EXPECT_EQ(rate_factor(schedule, 1), 0.5);
  EXPECT_EQ(rate_factor(schedule, 5), 1.0);  // the third of the schedule
  EXPECT_EQ(rate_factor(schedule, 6), 0.5);
  EXPECT_EQ(rate_factor(schedule, 9), 0.25);
  EXPECT_EQ(describe_schedule(schedule), "step gamma=0.5 step_size=3 warmup=2");
}

// Half way down a cosine is the middle between 1 and 0.2; a third of the way, cos(60 degrees) = 1/2: 0.8.
TEST(LearningRate, FallsAlongACosine) {
  LearningRateSchedule schedule;
  schedule.kind = Kind::cosine;
  schedule.length = 6;
  schedule.least = 0.2;
  EXPECT_EQ(rate_factor(schedule, 1), 1.0);
  EXPECT_NEAR(rate_factor(schedule, 3), 0.2 + 0.8 * 0.75, 1e-15);
  EXPECT_NEAR(rate_factor(schedule, 4), 0.6, 1e-15);
  EXPECT_EQ(rate_factor(schedule, 7), 0.2);
  EXPECT_EQ(rate_factor(schedule, 700), 0.2);
}

TEST(LearningRate, IsThatOfTheFormulas) {
  LearningRateSchedule cosine;
  cosine.kind = Kind::cosine;
  cosine.length = 1000;
  cosine.least = 0.01;
  LearningRateSchedule steps;
  steps.kind = Kind::step;
  steps.step_size = 7;
  steps.gamma = 0.97;
  for (std::int64_t done = 0; done < 1000; ++done) {
    const double turn = std::numbers::pi * static_cast<double>(done) / 1000;
    EXPECT_NEAR(rate_factor(cosine, done + 1), 0.01 + 0.99 * 0.5 * (1 + std::cos(turn)), 1e-15);
    const auto falls = done / 7;
    const double wanted = std::pow(0.97, static_cast<double>(falls));
    EXPECT_NEAR(rate_factor(steps, done + 1), wanted, 1e-13 * wanted);
  }
}

TEST(LearningRate, IsTheSameToBoardsAndBack) {
  for (const Kind kind : {Kind::constant, Kind::step, Kind::cosine}) {
    LearningRateSchedule schedule;
    schedule.kind = kind;
    schedule.warmup = 3;
    if (kind == Kind::step) schedule.step_size = 5, schedule.gamma = 0.25;
    if (kind == Kind::cosine) schedule.length = 4'294'967'295, schedule.least = 0.125;
    check_schedule(schedule);
    EXPECT_EQ(schedule_from_c(schedule_in_c(schedule)), schedule);
  }
}

TEST(LearningRate, OutOfRangeIsRefused) {
  const auto refused = [](auto change) {
    LearningRateSchedule schedule;
    schedule.step_size = schedule.length = 1;
    change(schedule);
    return test::input_error([&] { check_schedule(schedule); });
  };
  EXPECT_EQ(refused([](auto& s) { s.warmup = -1; }), "lr_warmup: must be at least 0");
  EXPECT_EQ(refused([](auto& s) { s.kind = Kind::step, s.step_size = 0; }),
            "lr_step_size: must be at least 1 update");
  EXPECT_EQ(refused([](auto& s) { s.kind = Kind::step, s.gamma = 0; }),
            "lr_gamma: must be above 0 and at most 1");
  EXPECT_EQ(refused([](auto& s) { s.kind = Kind::cosine, s.length = 0; }),
            "lr_length: must be at least 1 update");
  EXPECT_EQ(refused([](auto& s) { s.kind = Kind::cosine, s.least = 1.5; }),
            "lr_least: must be from 0 to 1, a part of the learning rate");
  EXPECT_EQ(refused([](auto& s) { s.warmup = 4'294'967'296; }),
            "lr_warmup: must be at most 4294967295 updates");
}

}  // namespace
}  // namespace poet::runtime
