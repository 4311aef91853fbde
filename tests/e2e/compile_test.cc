// compile() from a built-in network to a replayed plan.

#include <gtest/gtest.h>

#include <string>

#include "poet/autodiff/differentiate.h"
#include "poet/compile.h"
#include "poet/cost/device.h"
#include "poet/cost/tabulate.h"
#include "poet/frontend/zoo.h"

namespace poet {
namespace {

// A training step of a built-in network on the shipped profile of a Cortex-M4 board.
CompileRequest on_m4(const std::string& network, PersistentPolicy persistent = PersistentPolicy::excluded) {
  CompileRequest request;
  request.instance.graph = differentiate(build_network(network));
  request.instance.costs = tabulate(request.instance.graph, find_device("m4"), persistent);
  request.instance.model = network;
  request.instance.platform = "m4";
  request.instance.has_device = true;
  request.options.time_limit_seconds = 1;
  return request;
}

// Half way between the largest working set and what keeping everything takes, and so on.
Bytes between(const CompileRequest& request, double fraction) {
  CompileRequest impossible = request;
  impossible.limits.ram_budget = Bytes(1);
  impossible.options.time_limit_seconds = 0.1;
  const CompileResult result = compile(impossible);
  const std::int64_t floor = result.outcome.explanation.floor_ram->value();
  const std::int64_t all = result.keep_all.peak_ram.value();
  return Bytes(floor + static_cast<std::int64_t>(fraction * static_cast<double>(all - floor)));
}

void expect_answer(const CompileRequest& request, const CompileResult& result) {
  EXPECT_TRUE(result.certificate.status == Status::optimal || result.certificate.status == Status::feasible);
  EXPECT_FALSE(result.plan.steps.empty());
  EXPECT_TRUE(result.report.valid) << result.report.violation;
  EXPECT_TRUE(result.schedule_report.valid) << result.schedule_report.violation;
  // Plan and schedule are replayed in different ways; the plan moves transfers to better moments.
  const double energy = result.report.energy.value();
  EXPECT_LE(energy, result.schedule_report.energy.value() * (1 + 1e-9));
  EXPECT_GE(energy, 0.95 * result.schedule_report.energy.value());
  EXPECT_LE(result.report.runtime.value(), result.schedule_report.runtime.value() * (1 + 1e-9));
  EXPECT_EQ(result.schedule_report.compute_energy, result.report.compute_energy);
  EXPECT_EQ(result.schedule_report.bytes_written, result.report.bytes_written);
  EXPECT_EQ(result.schedule_report.recomputations, result.report.recomputations);
  EXPECT_LE(result.report.peak_ram, request.limits.ram_budget);
  EXPECT_TRUE(result.arena.valid) << result.arena.violation;
  if (request.semantics == Semantics::device) {
    EXPECT_LE(result.arena.ram, request.limits.ram_budget);
  }
  if (request.limits.deadline) {
    EXPECT_LE(result.report.runtime.value(), request.limits.deadline->value() * (1 + 1e-9));
  }
  // The figures derived from them.
  const double baseline = result.keep_all.energy.value();
  const double bound = result.certificate.bounds.every_plan.value();
  EXPECT_LE(bound, energy * (1 + 1e-9));
  EXPECT_GE(energy, baseline * (1 - 1e-9));
  EXPECT_NEAR(result.overhead, energy / baseline - 1, 1e-12);
  const bool open = energy - bound > 1e-9 * baseline;
  EXPECT_NEAR(result.certificate.gap, open ? (energy - bound) / (energy - baseline) : 0, 1e-9);
  EXPECT_EQ(result.certificate.status == Status::optimal, result.certificate.gap <= request.options.gap);
}

class CompileOnM4 : public testing::TestWithParam<const char*> {};

TEST_P(CompileOnM4, EverythingFits) {
  CompileRequest request = on_m4(GetParam());
  request.limits.ram_budget = between(request, 1);
  const CompileResult result = compile(request);
  expect_answer(request, result);
  EXPECT_EQ(result.outcome.solver, "none needed");
  EXPECT_EQ(result.overhead, 0);
  EXPECT_EQ(result.certificate.gap, 0);
  EXPECT_EQ(result.report.energy, result.keep_all.energy);
  EXPECT_EQ(result.report.peak_ram, result.keep_all.peak_ram);
}

TEST_P(CompileOnM4, TightBudgets) {
  CompileRequest request = on_m4(GetParam());
  for (const double fraction : {0.6, 0.3, 0.15}) {
    SCOPED_TRACE(fraction);
    request.limits.ram_budget = between(request, fraction);
    const CompileResult result = compile(request);
    expect_answer(request, result);
    EXPECT_GT(result.report.recomputations + result.report.page_ins, 0);
    EXPECT_GT(result.overhead, 0);
  }
}

TEST_P(CompileOnM4, TightBudgetAndDeadline) {
  CompileRequest request = on_m4(GetParam());
  request.limits.ram_budget = between(request, 0.5);
  const double once = replay_keep_all(request.instance, Semantics::device).runtime.value();
  request.limits.deadline = Seconds(1.3 * once);
  expect_answer(request, compile(request));
}

TEST_P(CompileOnM4, OneWayOnly) {
  CompileRequest request = on_m4(GetParam());
  request.limits.ram_budget = between(request, 0.85);
  request.options.paging = false;
  CompileResult result = compile(request);
  expect_answer(request, result);
  EXPECT_EQ(result.report.page_ins + result.report.page_outs, 0);
  request.options.paging = true;
  request.options.rematerialization = false;
  result = compile(request);
  expect_answer(request, result);
  EXPECT_EQ(result.report.recomputations, 0);
}

TEST_P(CompileOnM4, OtherSemantics) {
  CompileRequest request = on_m4(GetParam());
  for (const Semantics semantics : {Semantics::published, Semantics::staged}) {
    SCOPED_TRACE(to_string(semantics));
    request.semantics = semantics;
    request.limits.ram_budget = between(request, 0.5);
    const CompileResult result = compile(request);
    expect_answer(request, result);
    EXPECT_EQ(result.report.idle_energy, Joules(0));
  }
}

// No schedule: the explanation's limits are those of a schedule that a second solve finds.
void expect_suggestion(const CompileRequest& request, const CompileResult& result) {
  EXPECT_TRUE(result.plan.steps.empty());
  EXPECT_TRUE(result.outcome.schedule.stages.empty());
  const Explanation& why = result.outcome.explanation;
  EXPECT_FALSE(why.reason.empty());
  ASSERT_TRUE(why.floor_ram.has_value());
  EXPECT_TRUE(request.instance.graph.ops.contains(why.binding_op));
  ASSERT_TRUE(why.least_ram.has_value());
  EXPECT_GE(*why.least_ram, *why.floor_ram);
  EXPECT_GT(*why.least_ram, request.limits.ram_budget);
  CompileRequest again = request;
  again.limits.ram_budget = *why.least_ram;
  expect_answer(again, compile(again));
}

TEST_P(CompileOnM4, BelowTheFloor) {
  CompileRequest request = on_m4(GetParam());
  request.limits.ram_budget = between(request, 0) - Bytes(1);
  const CompileResult result = compile(request);
  EXPECT_EQ(result.certificate.status, Status::infeasible);
  EXPECT_EQ(*result.outcome.explanation.floor_ram, request.limits.ram_budget + Bytes(1));
  EXPECT_EQ(result.outcome.explanation.reason, "one op's operands and results alone exceed the RAM budget");
  expect_suggestion(request, result);
}

// At the floor itself, with no time to recompute anything: whether or not it is proven, there is a way out.
TEST_P(CompileOnM4, AtTheFloorWithoutTime) {
  CompileRequest request = on_m4(GetParam());
  request.limits.ram_budget = between(request, 0);
  request.limits.deadline = replay_keep_all(request.instance, Semantics::device).runtime;
  const CompileResult result = compile(request);
  if (result.certificate.status == Status::optimal || result.certificate.status == Status::feasible)
    expect_answer(request, result);
  else
    expect_suggestion(request, result);
}

TEST_P(CompileOnM4, ParametersCount) {
  CompileRequest request = on_m4(GetParam(), PersistentPolicy::resident);
  const Bytes persistent = request.instance.costs.persistent;
  ASSERT_GT(persistent, Bytes(0));
  request.limits.ram_budget = persistent - Bytes(1);
  CompileResult result = compile(request);
  EXPECT_EQ(result.certificate.status, Status::infeasible);
  EXPECT_EQ(result.outcome.explanation.reason, "parameters and optimiser state alone exceed the RAM budget");
  EXPECT_GT(*result.outcome.explanation.floor_ram, persistent);
  expect_suggestion(request, result);
  request.limits.ram_budget = between(request, 0.5);
  result = compile(request);
  expect_answer(request, result);
  EXPECT_GT(result.report.peak_ram, persistent);
}

INSTANTIATE_TEST_SUITE_P(Networks, CompileOnM4, testing::Values("linear", "resnet14_cifar"));

}  // namespace
}  // namespace poet
