// Files of several plans: they come back as they were, in either form, next to files of one.

#include "poet/plan/file/plan_family.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "poet/cost/instance_json.h"
#include "poet/cost/json_reader.h"
#include "poet/plan/decoder/poet_plan.h"
#include "poet/report/loaded_plan.h"
#include "poet/report/picture_json.h"
#include "poet/verify/replay_layout.h"
#include "tests/support/input_error.h"
#include "tests/support/plan_files.h"
#include "tests/support/program.h"
#include "tests/support/small_family.h"

namespace poet {
namespace {

using test::small_family;
using ::testing::HasSubstr;

void expect_same(const PlanFamily& read, const PlanFamily& written) {
  ASSERT_EQ(read.plans.size(), written.plans.size());
  for (std::size_t i = 0; i < read.plans.size(); ++i) {
    SCOPED_TRACE(i);
    EXPECT_EQ(read.plans[i].paged, written.plans[i].paged);
    test::expect_equal(plan_of(read, i), plan_of(written, i));
  }
}

TEST(PlanFamily, HasPlansThatDifferInWhatIsOnStorage) {
  const PlanFamily& family = small_family();
  ASSERT_EQ(family.plans.size(), 3U);
  EXPECT_TRUE(family.plans[0].paged.empty());
  EXPECT_GT(family.plans[1].paged.size(), 3U);
  EXPECT_GT(family.plans[2].paged.size(), family.plans[1].paged.size());
  for (std::size_t i = 0; i < 3; ++i) {
    const PlanFile file = plan_of(family, i);
    EXPECT_TRUE(replay(file.instance, file.plan, file.semantics, file.limits).valid);
    EXPECT_TRUE(replay_layout(file.instance, file.plan, file.layout, file.semantics, file.limits).valid);
    if (i > 0) {
      EXPECT_LT(file.limits.ram_budget, family.plans[i - 1].limits.ram_budget);
    }
  }
}

TEST(PlanFamily, ComesBackAsItWas) {
  const PlanFamily& family = small_family();
  expect_same(plans_from_binary(to_binary(family), "f.plan"), family);
  expect_same(plans_from_json(to_json(family), "f.json"), family);
  expect_same(plans_from_json(parse_json(to_json(family).dump(), "f.json"), "f.json"), family);
}

TEST(PlanFamily, SaysOfEachPlanHowItWasMade) {
  PlanFamily family = small_family();
  family.plans[0].made = {"poet 0.1.0", "poet solve", "optimal", Joules(2)};
  family.plans[2].made = {"poet 0.1.0", "poet solve", "feasible"};
  expect_same(plans_from_binary(to_binary(family), "f.plan"), family);
  expect_same(plans_from_json(to_json(family), "f.json"), family);
}

// Also the one that is chosen, whose budget alone would read as KiB.
TEST(PlanFamily, AllPlansAreShownInTheSameUnits) {
  PlanFamily family = small_family();
  family.plans[0].limits.ram_budget = Bytes(1'000'000);
  family.plans[1].limits.ram_budget = Bytes(500 * 1024);
  const test::TemporaryFolder folder;
  const std::string file = folder.file("f.plan");
  const auto units = [&](const std::optional<Made>& made) {
    for (FamilyPlan& plan : family.plans) plan.made = made;
    write_plans(family, file);
    const ByteUnits all = load_plans(file).front().units;
    for (const LoadedPlan& one : load_plans(file)) EXPECT_EQ(one.units, all);
    EXPECT_EQ(load_plans(file, {}, Bytes(500 * 1024)).front().units, all);
    return all;
  };
  Made made{"poet 0.1.0", "poet solve", "feasible"};
  EXPECT_EQ(units({}), ByteUnits::decimal);
  EXPECT_EQ(units(made), ByteUnits::decimal);
  made.binary_units = true;
  EXPECT_EQ(units(made), ByteUnits::binary);
  made.binary_units = false;
  EXPECT_EQ(units(made), ByteUnits::decimal);
  const Picture chosen = load_plans(file, {}, Bytes(500 * 1024)).front().picture;
  EXPECT_EQ(picture_json(chosen)["byte_units"], "decimal");
}

// The graph is there once, so that three plans are smaller than three files.
TEST(PlanFamily, SharesItsGraph) {
  const PlanFamily& family = small_family();
  std::size_t apart = 0;
  for (std::size_t i = 0; i < 3; ++i) apart += to_binary(plan_of(family, i)).size();
  const std::size_t graph_and_costs =
      to_binary(plan_of(family, 0)).size() - to_device_image(plan_of(family, 0)).size();
  EXPECT_LT(to_binary(family).size(), apart - 3 * graph_and_costs / 2);
}

// What a device reads of each plan is an image of its own.
TEST(PlanFamily, HoldsAnImageOfEachPlan) {
  const PlanFamily& family = small_family();
  const std::vector<std::uint8_t> bytes = to_binary(family);
  poet_plan opened;
  EXPECT_EQ(poet_plan_open(&opened, bytes.data(), bytes.size()), POET_PLAN_BAD_VERSION);
  const std::uint8_t* payload = nullptr;
  std::uint32_t length = 0;
  ASSERT_EQ(poet_plan_section(bytes.data(), bytes.size(), POET_PLAN_PLANS, &payload, &length), POET_PLAN_OK);
  std::size_t at = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    ASSERT_LT(at + 4, length);
    const std::uint32_t size = payload[at] | payload[at + 1] << 8 | payload[at + 2] << 16;
    ASSERT_EQ(poet_plan_open(&opened, payload + at + 4, size), POET_PLAN_OK);
    EXPECT_EQ(opened.ops, family.instance.graph.ops.size());
    EXPECT_EQ(opened.allocations, family.plans[i].layout.allocations.size());
    EXPECT_EQ((opened.flags & POET_PLAN_PAGED) != 0, i > 0);
    at += 4 + size;
  }
  EXPECT_EQ(at, length);
}

TEST(PlanFamily, OfOnePlanIsAPlanFile) {
  for (const std::size_t i : {0U, 1U}) {
    const PlanFile file = plan_of(small_family(), i);
    const PlanFamily one = family_of({file}, "one");
    EXPECT_EQ(to_binary(one), to_binary(file));
    EXPECT_EQ(to_json(one), to_json(file));
    expect_same(plans_from_binary(to_binary(file), "p.plan"), one);
    expect_same(plans_from_json(to_json(file), "p.json"), one);
    EXPECT_EQ(to_json(plan_of(one, 0)), to_json(file));
  }
}

TEST(PlanFamily, IsWrittenAndReadAsAFile) {
  const test::TemporaryFolder folder;
  for (const char* name : {"f.plan", "f.json"}) {
    write_plans(small_family(), folder.file(name));
    expect_same(read_plans(folder.file(name)), small_family());
    EXPECT_THAT(test::input_error([&] { static_cast<void>(read_plan(folder.file(name))); }),
                HasSubstr(kSeveralPlans));
  }
  write_plans(family_of({plan_of(small_family(), 1)}, "one"), folder.file("one.plan"));
  test::expect_equal(read_plan(folder.file("one.plan")), plan_of(small_family(), 1));
}

TEST(PlanFamily, OrdersItsPlansAndChoosesByBudget) {
  const PlanFamily& family = small_family();
  const PlanFamily turned = family_of({plan_of(family, 2), plan_of(family, 0), plan_of(family, 1)}, "turned");
  EXPECT_EQ(to_json(turned), to_json(family));
  const Bytes largest = family.plans[0].limits.ram_budget;
  const Bytes smallest = family.plans[2].limits.ram_budget;
  EXPECT_EQ(plan_within(family, largest), 0U);
  EXPECT_EQ(plan_within(family, largest - Bytes(1)), 1U);
  EXPECT_EQ(plan_within(family, smallest), 2U);
  EXPECT_EQ(plan_within(family, smallest - Bytes(1)), std::nullopt);
}

TEST(PlanFamily, TakesOnlyPlansThatBelongTogether) {
  const auto refused = [](std::vector<PlanFile> plans) {
    return test::input_error([&] { static_cast<void>(family_of(std::move(plans), "plans")); });
  };
  const PlanFamily& family = small_family();
  EXPECT_EQ(refused({}), "plans: holds no plan");
  EXPECT_EQ(refused({plan_of(family, 1), plan_of(family, 1)}),
            "plans: plan 2: its RAM budget must be below that of the plan before it");
  EXPECT_EQ(refused({plan_of(family, 0), plan_of(test::make_small_family(7), 2)}),
            "plans: plans of one family must be for the same graph and costs");
  PlanFile other_rules = plan_of(family, 1);
  other_rules.semantics = Semantics::staged;
  EXPECT_EQ(refused({plan_of(family, 0), other_rules}),
            "plans: plans of one family must have the same semantics");
}

}  // namespace
}  // namespace poet
