// The feedback from addresses to the schedule: what compile() returns fits with its addresses, or says with
// how much RAM something would.

#include "poet/compile.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <utility>

#include "poet/pipeline/pose.h"
#include "tests/support/effort.h"
#include "tests/support/random_instance.h"
#include "tests/support/tiny_instance.h"

namespace poet {
namespace {

using test::Rng;

void expect_fit(const CompileRequest& request, const CompileResult& result) {
  const Instance& instance = request.instance;
  EXPECT_TRUE(replay(instance, result.plan, Semantics::device, request.limits).valid);
  const ArenaReport arena =
      replay_layout(instance, result.plan, result.layout, Semantics::device, request.limits);
  EXPECT_TRUE(arena.valid) << arena.violation;
  EXPECT_LE(arena.ram, request.limits.ram_budget);
  EXPECT_LE(result.certificate.bounds.every_plan, result.report.energy);
  EXPECT_EQ(result.certificate.status,
            result.certificate.gap <= request.options.gap ? Status::optimal : Status::feasible);
  EXPECT_EQ(result.reserve > Bytes(0), result.solves > 1);
}

TEST(CompileProperty, AddressesFitTheBudget) {
  int answers = 0;
  for (int seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    Rng rng(static_cast<std::uint64_t>(seed) + 77);
    test::RandomInstanceOptions options;
    options.ops = test::pick(rng, 5, 9);
    options.in_place = test::chance(rng, 0.5);
    options.multi_output = test::chance(rng, 0.5);
    options.device = true;
    CompileRequest request;
    request.instance = test::random_instance(rng, options);
    request.instance.costs.alignment = Bytes(seed % 3 == 0 ? 16 : 1);
    align_sizes(request.instance.graph, request.instance.costs);
    request.options.time_limit_seconds = 0.5;
    request.options.gap = 0.05;
    const Report all = replay_keep_all(request.instance, Semantics::device);
    request.limits.ram_budget = Bytes(all.peak_ram.value() * test::pick(rng, 70, 101) / 100);
    const CompileResult result = compile(request);
    if (result.plan.steps.empty()) continue;
    ++answers;
    expect_fit(request, result);
  }
  EXPECT_GT(answers, 20);
}

CompileRequest with_a_gap() {
  CompileRequest request;
  request.instance = test::with_a_gap();
  request.limits.ram_budget = Bytes(17);
  return request;
}

TEST(Feedback, SolvesAgainWithLessRam) {
  const CompileRequest request = with_a_gap();
  const CompileResult result = compile(request);
  EXPECT_EQ(result.keep_all.peak_ram, Bytes(17));
  ASSERT_FALSE(result.plan.steps.empty()) << result.outcome.explanation.reason;
  expect_fit(request, result);
  EXPECT_GT(result.solves, 1);
  EXPECT_GT(result.overhead, 0);
  EXPECT_LE(result.certificate.bounds.every_plan, result.keep_all.energy);  // what the whole budget allows
  EXPECT_EQ(result.certificate.status, Status::feasible);
}

TEST(Feedback, GivesUpWithASuggestion) {
  CompileRequest request = with_a_gap();
  request.instance.costs.has_storage = false;
  for (ValueCost& cost : request.instance.costs.values) cost.page_in = cost.page_out = {};
  for (const OpId op : ids<OpId>(request.instance.graph.ops.size()))
    request.instance.graph.ops[op].recomputable = false;
  const CompileResult result = compile(request);
  EXPECT_TRUE(result.plan.steps.empty());
  EXPECT_EQ(result.certificate.status, Status::unknown);
  EXPECT_EQ(result.reserve, Bytes(0));
  EXPECT_TRUE(result.outcome.schedule.stages.empty());
  EXPECT_NE(result.outcome.explanation.reason.find("address"), std::string::npos);
  EXPECT_EQ(result.outcome.explanation.least_ram, Bytes(18));
  request.limits.ram_budget = Bytes(18);
  const CompileResult wider = compile(request);
  ASSERT_FALSE(wider.plan.steps.empty());
  expect_fit(request, wider);
}

TEST(Feedback, TheOtherSemanticsHaveNoAddressesToFit) {
  CompileRequest request = with_a_gap();
  for (const Semantics semantics : {Semantics::published, Semantics::staged}) {
    request.semantics = semantics;
    const CompileResult result = compile(request);
    EXPECT_EQ(result.solves, 1);
    EXPECT_EQ(result.overhead, 0);
    EXPECT_EQ(result.arena.arena, Bytes(18));
    EXPECT_TRUE(result.arena.valid) << result.arena.violation;
  }
}

// What the search for synchronous plans finds cheapest without waiting may wait too long for the deadline,
// where its first schedule does not: both are planned.
TEST(Synchronous, AFirstScheduleThatKeepsTheDeadlineIsNotLost) {
  Policy policy;
  policy.ram.bytes = Bytes(1'492'200);
  policy.deadline.time = Seconds(102.748029);
  Posed posed = pose({BuiltInNetwork{"resnet14_cifar", {}}, 4, {}, {}}, {"m4", {}}, policy);
  CompileRequest request;
  request.instance = std::move(posed.workload.instance);
  request.limits = posed.limits;
  request.options.time_limit_seconds = test::kSanitized ? 40 : 6;
  const CompileResult result = compile(request);
  EXPECT_EQ(result.certificate.status, Status::feasible);
  EXPECT_TRUE(result.report.valid) << result.report.violation;
}

}  // namespace
}  // namespace poet
