// A problem with its answer, as the program and the Python package have them.

#include "poet/answer/answer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "poet/answer/answer_json.h"
#include "poet/cost/instance_json.h"
#include "tests/support/input_error.h"
#include "tests/support/ladder.h"

namespace poet {
namespace {

using ::testing::HasSubstr;

Answer answer_within(std::int64_t ram, CompileRequest how = {}, Policy policy = {}) {
  policy.ram = Bytes(ram);
  const NetworkSpec network{test::ladder(), {}, {}, {}};
  return answered(posed_answer(std::move(how), load(network, {}, policy), policy));
}

TEST(Answer, HasItsPlanAndFiguresAsJson) {
  const Answer answer = answer_within(1000);
  ASSERT_TRUE(has_plan(answer));
  const nlohmann::ordered_json json = to_json(answer);
  EXPECT_EQ(json["status"], "optimal");
  EXPECT_EQ(json["energy_joules"], answer.result.report.energy.value());
  EXPECT_EQ(json["semantics"], "staged");
  EXPECT_EQ(json["ram_budget_bytes"], 1000);
  EXPECT_EQ(json["origin"], "instance");
  EXPECT_TRUE(json["explanation"]["reason"].is_null());
}

TEST(Answer, SaysWhyThereIsNoPlan) {
  const Answer answer = answer_within(1);
  EXPECT_FALSE(has_plan(answer));
  const nlohmann::ordered_json json = to_json(answer);
  EXPECT_EQ(json["status"], "infeasible");
  EXPECT_TRUE(json["energy_joules"].is_null());
  EXPECT_TRUE(json["explanation"]["least_ram_bytes"].is_number());
  EXPECT_FALSE(json["explanation"]["reason"].is_null());
}

// Parameters live on storage in this plan: of the instance with all of them in RAM it would be none.
TEST(Answer, HasTheInstanceThatItsPlanIsOf) {
  Policy policy;
  policy.persistent = PersistentPolicy::automatic;
  policy.ram = Bytes(240'000);
  const NetworkSpec network{BuiltInNetwork{"linear", std::nullopt}, {}, {}, {}};
  CompileRequest how;
  how.options.time_limit_seconds = 10;
  const Answer answer = answered(posed_answer(how, load(network, {"m4", {}}, policy), policy));
  ASSERT_TRUE(has_plan(answer));
  ASSERT_FALSE(answer.result.paged.empty());
  const CompileRequest& request = answer.request;
  const Report report = replay(request.instance, answer.result.plan, request.semantics, request.limits);
  EXPECT_EQ(report.violation, "");
  EXPECT_EQ(report.energy, answer.result.report.energy);
}

TEST(Answer, ObeysThePolicysMechanisms) {
  Policy policy;
  policy.paging = false;
  const Answer answer = answer_within(1000, {}, policy);
  EXPECT_FALSE(answer.request.options.paging);
  EXPECT_EQ(answer.result.report.page_ins, 0);
}

TEST(Answer, LetsGoOfCallbacksAndKeepsThatItWasStopped) {
  CompileRequest how;
  how.options.interrupted = [] { return true; };
  how.options.on_progress = [](const Progress&) {};
  const Answer answer = answer_within(1000, how);
  EXPECT_TRUE(answer.interrupted);
  EXPECT_FALSE(answer.request.options.interrupted);
  EXPECT_FALSE(answer.request.options.on_progress);
}

TEST(Answer, RefusesTheFormulationOfOtherRules) {
  CompileRequest how;
  how.options.formulation = Formulation::published;
  EXPECT_THAT(test::input_error([&] { (void)answer_within(1000, how); }), HasSubstr("formulation: "));
}

}  // namespace
}  // namespace poet
