// A run that goes over between plans of a family: the same bits as by one of them, within each one's RAM.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>

#include "poet/runtime/sensors/process_memory.h"
#include "poet/runtime/storage/left_run.h"
#include "poet/runtime/storage/page_cipher.h"
#include "poet/runtime/training/trainer.h"
#include "tests/support/background.h"
#include "tests/support/input_error.h"
#include "tests/support/program.h"
#include "tests/support/runs_with_pages.h"
#include "tests/support/small_family.h"

namespace poet::test {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using namespace runtime;

/// By which plan each step is to run.
std::function<std::optional<PlanRequest>(std::int64_t, std::size_t)> by(std::vector<std::size_t> plans) {
  return [plans = std::move(plans)](std::int64_t step, std::size_t) {
    return PlanRequest{plans[(static_cast<std::size_t>(step) - 1) % plans.size()], "as told"};
  };
}

class PlanChangeTest : public ::testing::Test {
 protected:
  [[nodiscard]] std::string file(const std::string& name) const { return folder_.file(name); }

  /// The checkpoint after so many steps by one plan.
  [[nodiscard]] std::string by_one(std::int64_t steps, std::size_t plan = 0) const {
    Trainer trainer(plan_of(small_family(), plan), paging_to(""));
    trainer.train({.steps = steps, .checkpoint = file("one")});
    return file_text(file("one"));
  }

  TemporaryFolder folder_;
};

TEST_F(PlanChangeTest, GivesTheBitsOfEveryPlanAlone) {
  constexpr std::int64_t kSteps = 9;
  const std::string expected = by_one(kSteps);
  EXPECT_TRUE(by_one(kSteps, 1) == expected);
  EXPECT_TRUE(by_one(kSteps, 2) == expected);
  const std::vector<std::vector<std::size_t>> orders = {
      {0, 1, 2}, {2, 1, 0}, {0, 2}, {2, 0}, {1, 0, 2}, {0, 0, 0, 2, 2, 2, 1, 1, 1}, {1, 2, 2, 1}};
  for (const auto& order : orders) {
    for (const std::string pages : {"", "pages"}) {
      SCOPED_TRACE(::testing::PrintToString(order) + pages);
      TrainerOptions chosen = paging_to(pages.empty() ? "" : file(pages));
      chosen.plan = order.front();
      Trainer trainer(small_family(), chosen);
      const TrainResult result =
          trainer.train({.steps = kSteps, .checkpoint = file("c"), .choose_plan = by(order)});
      EXPECT_TRUE(file_text(file("c")) == expected);
      std::size_t changes = 0;
      std::size_t present = order.front();
      for (std::int64_t step = 1; step <= kSteps; ++step) {
        const std::size_t plan = order[static_cast<std::size_t>(step - 1) % order.size()];
        if (plan == present) continue;
        ASSERT_LT(changes, result.changes.size());
        EXPECT_EQ(result.changes[changes].step, step);
        EXPECT_EQ(result.changes[changes].from, present);
        EXPECT_EQ(result.changes[changes].to, plan);
        present = plan;
        ++changes;
      }
      EXPECT_EQ(result.changes.size(), changes);
      EXPECT_EQ(result.stretches.size(), changes + 1);
      trainer.discard_storage();
    }
    EXPECT_FALSE(fs::exists(file("pages")));
  }
}

TEST_F(PlanChangeTest, StaysWithinThePresentPlansBudget) {
  const PlanFamily& family = small_family();
  Trainer trainer(family, paging_to(""));
  const TrainResult result = trainer.train({.steps = 12, .choose_plan = by({0, 0, 1, 2, 2, 1})});
  std::int64_t steps = 0;
  for (const Stretch& stretch : result.stretches) {
    const Bytes budget = family.plans[stretch.plan].limits.ram_budget;
    EXPECT_LE(stretch.map.arena + stretch.map.persistent, budget);
    EXPECT_EQ(stretch.map.arena, family.plans[stretch.plan].layout.arena);
    EXPECT_LE(stretch.measured.high_water + stretch.map.persistent, budget);
    EXPECT_GT(stretch.measured.high_water, Bytes(0));
    EXPECT_EQ(stretch.first_step, steps + 1);
    EXPECT_GE(stretch.steps, 1);
    steps += stretch.steps;
    // A step by a plan moves what the verifier says that it moves.
    EXPECT_EQ(stretch.measured.transferred.written, trainer.setup().plans[stretch.plan].report.bytes_written);
  }
  EXPECT_EQ(steps, 12);
  EXPECT_EQ(result.losses.size(), 12U);
}

TEST_F(PlanChangeTest, AtAnyStepLeavesARunToGoOnFrom) {
  constexpr std::int64_t kSteps = 8;
  const std::string expected = by_one(kSteps);
  const std::string pages = file("pages");
  for (std::size_t first = 0; first < 3; ++first) {
    for (std::size_t then = 0; then < 3; ++then) {
      for (const bool has_step : {false, true}) {
        SCOPED_TRACE(::testing::Message() << first << then << has_step);
        {
          TrainerOptions chosen = paging_to(pages);
          chosen.plan = first;
          Trainer trainer(small_family(), chosen);
          for (int i = 0; i < 3; ++i) trainer.step();
          trainer.change_plan(then);
          if (has_step) trainer.step();
        }
        EXPECT_EQ(look_at_left_run(pages).record().step, has_step ? 4 : 3);
        Trainer trainer(small_family(), resuming(pages));
        EXPECT_EQ(trainer.setup().plan, then) << "by the plan by which it was left";
        EXPECT_TRUE(trainer.setup().goes_on);
        trainer.train({.steps = kSteps, .checkpoint = file("c"), .choose_plan = by({2, 0, 1, 0})});
        EXPECT_TRUE(file_text(file("c")) == expected);
        trainer.discard_storage();
      }
    }
  }
}

TEST_F(PlanChangeTest, OnlyTheSameFamilyGoesOn) {
  const std::string pages = file("pages");
  {
    Trainer trainer(small_family(), paging_to(pages));
    trainer.step();
    trainer.change_plan(1);
    trainer.step();
  }
  const std::string whole = file_text(pages);
  const auto refused = [&](PlanFamily family) {
    const std::string message =
        input_error([&] { const Trainer trainer(std::move(family), resuming(pages)); });
    EXPECT_TRUE(file_text(pages) == whole);
    return message;
  };
  const std::string other_plan = pages + ": holds a run by another plan: going on takes the same plan file";
  EXPECT_EQ(refused(make_small_family(7)),
            pages + ": holds a run of another network, or of one in other parts or another order");
  for (std::size_t i = 0; i < 3; ++i)
    EXPECT_EQ(refused(family_of({plan_of(small_family(), i)}, "one")), other_plan);
  EXPECT_EQ(refused(family_of({plan_of(small_family(), 0), plan_of(small_family(), 1)}, "two")), other_plan);
  // And the other way round.
  fs::remove(pages);
  {
    Trainer trainer(plan_of(small_family(), 1), paging_to(pages));
    trainer.step();
  }
  EXPECT_EQ(input_error([&] { const Trainer trainer(small_family(), resuming(pages)); }), other_plan);
}

TEST_F(PlanChangeTest, OfAnEncryptedRun) {
  if (!can_encrypt()) GTEST_SKIP() << "built without encryption";
  TrainerOptions secret = paging_to("");
  secret.storage.encrypt = true;
  Trainer trainer(small_family(), secret);
  trainer.train({.steps = 6, .checkpoint = file("c"), .choose_plan = by({0, 2, 1})});
  EXPECT_TRUE(file_text(file("c")) == by_one(6));
}

TEST_F(PlanChangeTest, ReadsParametersWhereverTheyAre) {
  Trainer trainer(small_family(), paging_to(""));
  for (int i = 0; i < 2; ++i) trainer.step();
  trainer.save(file("before"));
  for (const std::size_t plan : {2U, 0U, 1U, 1U, 2U, 0U}) {
    trainer.change_plan(plan);
    EXPECT_EQ(trainer.setup().plan, plan);
    EXPECT_EQ(trainer.file().limits.ram_budget, small_family().plans[plan].limits.ram_budget);
    trainer.save(file("after"));
    EXPECT_TRUE(file_text(file("after")) == file_text(file("before")));
  }
}

TEST_F(PlanChangeTest, RefusesPlansThatBreakARule) {
  PlanFamily family = small_family();
  family.plans[1].limits.ram_budget = family.plans[2].limits.ram_budget + Bytes(1);
  EXPECT_THAT(input_error([&] { const Trainer trainer(family, paging_to("")); }),
              HasSubstr("plan 2: is invalid: "));
}

}  // namespace
}  // namespace poet::test
