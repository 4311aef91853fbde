// How times vary: quantiles, the field of profiles and instances, and what simulated steps take.

#include "poet/plan/timing/variation.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "poet/base/quantile.h"
#include "poet/cost/device.h"
#include "poet/cost/instance_json.h"
#include "poet/plan/canonical.h"
#include "poet/plan/timing/timeline.h"
#include "tests/support/tiny_instance.h"

namespace poet {
namespace {

TEST(Quantile, LiesBetweenFigures) {
  EXPECT_EQ(quantile({5}, 0.95), 5);
  EXPECT_EQ(quantile({3, 1, 2}, 0), 1);
  EXPECT_EQ(quantile({3, 1, 2}, 0.5), 2);
  EXPECT_EQ(quantile({3, 1, 2}, 1), 3);
  EXPECT_DOUBLE_EQ(quantile({0, 10}, 0.95), 9.5);
}

TEST(TimeVariation, OfAProfileIsOptionalAndStays) {
  DeviceProfile device = find_device("m4");
  EXPECT_FALSE(device.variation);
  device.variation = TimeVariation{1.01, 1.2, 1.5, 2.25};
  const DeviceProfile read = device_from_json(to_json(device), "my.json");
  EXPECT_EQ(read.variation, device.variation);
  EXPECT_EQ(to_json(read)["p95_over_median"]["page_out"], 2.25);
  device.storage.reset();
  device.origins.clear();
  EXPECT_FALSE(to_json(device)["p95_over_median"].contains("page_in"));
}

TEST(TimeVariation, OfAnInstanceIsOptionalAndStays) {
  Instance instance = test::chain();
  EXPECT_FALSE(to_json(instance).dump().find("p95_over_median") != std::string::npos);
  for (const bool device : {false, true}) {
    instance.has_device = device;
    instance.costs.timing.variation = TimeVariation{1, 1.0625, 1.5, 3};
    const Instance read = instance_from_json(to_json(instance), "my.json");
    EXPECT_EQ(read.costs.timing.variation, instance.costs.timing.variation);
  }
}

/// Two chained ops of a second each and what one of them computes paged out and in between; the second waits.
struct Paging {
  Instance instance;
  Plan plan;
};

Paging paging() {
  Graph graph;
  const ValueId a = test::add_node(graph, "a", {}, 10);
  const ValueId b = test::add_node(graph, "b", {a}, 1);
  test::add_node(graph, "c", {a, b}, 1);
  Paging made{test::instance_of(std::move(graph)), {}};
  const auto step = [](StepKind kind, int v) { return Step{kind, OpId(), ValueId(v)}; };
  const auto compute = [](int op) { return Step{StepKind::compute, OpId(op), ValueId()}; };
  made.plan = canonicalize(made.instance,
                           {{compute(0), step(StepKind::page_out, 0), compute(1), step(StepKind::wait, 0),
                             step(StepKind::page_in, 0), compute(2)}},
                           Semantics::device);
  return made;
}

TEST(Simulate, WithoutVariationIsTheTimeline) {
  Paging made = paging();
  const Timeline line = timeline_of(made.instance, made.plan);
  for (const auto& variation : {std::optional<TimeVariation>(), std::optional(TimeVariation{})}) {
    made.instance.costs.timing.variation = variation;
    const SimulatedSteps steps = simulate(made.instance, made.plan);
    for (const Seconds time : {steps.runtime.median, steps.runtime.mean, steps.runtime.high})
      EXPECT_DOUBLE_EQ(time.value(), line.makespan);
    EXPECT_DOUBLE_EQ(steps.stalled.median.value(), line.stalled);
    EXPECT_EQ(steps.share_within(Seconds(line.makespan)), 1);
    EXPECT_EQ(steps.share_within(Seconds(0.9 * line.makespan)), 0);
  }
}

TEST(Simulate, AStepThatComputesAlone) {
  // One factor for all ops: the runtime has the factor's distribution.
  Paging made = paging();
  made.instance.costs.timing.variation = TimeVariation{1.5, 1, 1, 1};
  Plan plan;
  for (const OpId op : ids<OpId>(made.instance.graph.ops.size()))
    plan.steps.push_back({StepKind::compute, op, ValueId()});
  const double median = timeline_of(made.instance, plan).makespan;
  const SimulatedSteps steps = simulate(made.instance, plan, 20'000);
  EXPECT_NEAR(steps.runtime.median.value(), median, 0.01 * median);
  EXPECT_NEAR(steps.runtime.high.value(), 1.5 * median, 0.02 * median);
  const double sigma = std::log(1.5) / 1.6448536;
  EXPECT_NEAR(steps.runtime.mean.value(), std::exp(sigma * sigma / 2) * median, 0.01 * median);
  EXPECT_NEAR(steps.share_within(1.5 * Seconds(median)), 0.95, 0.01);
  EXPECT_LE(steps.share_within(0.999999 * steps.deadline_for(0.9)), 0.9);
  EXPECT_GE(steps.share_within(steps.deadline_for(0.9)), 0.9);
}

TEST(Simulate, FactorsOfOpsHaveAMeanOfOne) {
  Paging made = paging();
  made.instance.costs.timing.variation = TimeVariation{1, 2, 1, 1};
  Plan plan;
  for (const OpId op : ids<OpId>(made.instance.graph.ops.size()))
    plan.steps.push_back({StepKind::compute, op, ValueId()});
  const double sum = timeline_of(made.instance, plan).makespan;
  EXPECT_NEAR(simulate(made.instance, plan, 20'000).runtime.mean.value(), sum, 0.01 * sum);
}

TEST(Simulate, SlowTransfersMakeComputeWaitAndSeedsDiffer) {
  Paging made = paging();
  made.instance.costs.timing.variation = TimeVariation{1, 1, 2, 2};
  const SimulatedSteps one = simulate(made.instance, made.plan);
  const SimulatedSteps same = simulate(made.instance, made.plan);
  const SimulatedSteps other = simulate(made.instance, made.plan, kSimulatedSteps, 2);
  EXPECT_EQ(one.runtimes, same.runtimes);
  EXPECT_NE(one.runtimes, other.runtimes);
  EXPECT_NEAR(one.runtime.median.value(), other.runtime.median.value(), 0.1 * one.runtime.median.value());
  EXPECT_GT(one.stalled.high, one.stalled.median);
  EXPECT_EQ(one.runtimes.size(), static_cast<std::size_t>(kSimulatedSteps));
}

}  // namespace
}  // namespace poet
