// From measured times to a device profile, and what solving with it predicts.

#include "poet/runtime/profile/profiler.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "poet/autodiff/differentiate.h"
#include "poet/cost/tabulate.h"
#include "poet/frontend/zoo.h"

namespace poet::runtime {
namespace {

Graph small_training_graph() {
  return differentiate(build_network("linear", {.batch_size = 4, .sequence_length = {}}));
}

Measurements made_up(const Graph& training) {
  OpTimesOptions options;
  options.kernels.library = KernelLibrary::reference;
  options.budget = Seconds(0.05);
  Measurements measured;
  TrainingStep step(training, options.kernels);
  measured.ops = measure_ops(training, &step, options);
  // Times that a sum can be checked by: 1 ms, 2 ms, ...
  double milliseconds = 0;
  for (OpTime& time : measured.ops.times) time.median = Seconds(1e-3 * ++milliseconds);
  StorageSpeed speed;
  speed.page_out = {Seconds(1e-3), 1e6, 0.1, 1.5};
  speed.page_in = {Seconds(2e-3), 4e6, 0.2, 3};
  speed.concurrent = true;
  speed.storage = "a card";
  measured.storage = speed;
  measured.ram = Bytes(1 << 30);
  measured.storage_free = Bytes(1 << 20);
  measured.date = "2026-01-31";
  measured.machine = "a board";
  measured.kernels = "reference kernels, 1 thread";
  return measured;
}

TEST(Profile, PredictsTheSumOfWhatWasMeasured) {
  const Graph training = small_training_graph();
  const Measurements measured = made_up(training);
  const DeviceProfile device = profile_of("board", training, measured);
  const CostTable costs = tabulate(training, device);
  double predicted = 0;
  for (const OpId op : ids<OpId>(training.ops.size()))
    if (training.ops[op].kind != "input") predicted += costs.ops[op].runtime.value();
  double expected = 0;
  for (const OpTime& time : measured.ops.times) expected += time.ops * time.median.value();
  EXPECT_NEAR(predicted, expected, 1e-12);
  EXPECT_TRUE(costs.timing.concurrent);
}

TEST(Profile, SaysWhereEveryFigureComesFrom) {
  const Graph training = small_training_graph();
  Measurements measured = made_up(training);
  DeviceProfile device = profile_of("board", training, measured);
  EXPECT_EQ(device.active, Watts(1));
  EXPECT_EQ(device.storage->page_in.power, Watts(0.05));
  EXPECT_TRUE(device.origins.at("/active_watts").starts_with("assumed: "))
      << device.origins.at("/active_watts");
  EXPECT_TRUE(device.origins.at("/overrides").starts_with("measured: 2026-01-31"))
      << device.origins.at("/overrides");
  EXPECT_TRUE(device.origins.at("/page_out").starts_with("measured: 2026-01-31"));

  measured.power = {Watts(3),         Watts(0.5),      Watts(0.25), "measured: a sensor",
                    "assumed: typed", "assumed: typed"};
  device = profile_of("board", training, measured);
  EXPECT_EQ(device.active, Watts(3));
  EXPECT_EQ(device.idle, Watts(0.5));
  EXPECT_EQ(device.storage->page_out.power, Watts(0.25));
  EXPECT_EQ(device.origins.at("/active_watts"), "measured: a sensor");
  EXPECT_EQ(device.origins.at("/idle_watts"), "assumed: typed");
  EXPECT_DOUBLE_EQ(device.overrides[1].energy.value(), 3 * 2e-3);
}

TEST(Profile, ComesBackFromItsFile) {
  const Graph training = small_training_graph();
  const DeviceProfile device = profile_of("board", training, made_up(training));
  const nlohmann::ordered_json json = to_json(device);
  const DeviceProfile again = device_from_json(json, "board.json");
  EXPECT_EQ(to_json(again), json);
  ASSERT_EQ(again.overrides.size(), device.overrides.size());
  EXPECT_EQ(again.overrides[0].workspace, device.overrides[0].workspace);
  EXPECT_EQ(again.overrides[0].spread, device.overrides[0].spread);
  ASSERT_TRUE(again.variation);
  EXPECT_EQ(again.variation, device.variation);
  EXPECT_EQ(again.variation->page_out, 1.5);
  EXPECT_EQ(again.variation->page_in, 3);
  EXPECT_GE(again.variation->op, 1);
  EXPECT_TRUE(again.origins.at("/p95_over_median").starts_with("measured: 2026-01-31"));
}

TEST(OpTimes, HaveEveryKindAndShapeInOrAloneWithEveryOpCounted) {
  const Graph training = small_training_graph();
  OpTimesOptions options;
  options.kernels.library = KernelLibrary::reference;
  options.budget = Seconds(0.2);
  const Bytes needed = TrainingStep::bytes_of(TrainingStep::plan_of(training, options.kernels));
  EXPECT_EQ(training_step_within(needed, training, options.kernels), nullptr);
  const auto step = training_step_within(needed + Bytes(100'000'000), training, options.kernels);
  ASSERT_TRUE(step);
  const OpTimes in_steps = measure_ops(training, step.get(), options);
  EXPECT_TRUE(in_steps.in_context);
  EXPECT_GT(in_steps.step, Seconds(0));
  const OpTimes alone = measure_ops(training, nullptr, options);
  EXPECT_FALSE(alone.in_context);
  ASSERT_EQ(in_steps.times.size(), alone.times.size());
  int ops = 0;
  for (std::size_t i = 0; i < in_steps.times.size(); ++i) {
    EXPECT_EQ(in_steps.times[i].kind, alone.times[i].kind);
    EXPECT_EQ(in_steps.times[i].shape_class, alone.times[i].shape_class);
    EXPECT_GE(in_steps.times[i].samples, 3);
    EXPECT_GE(alone.times[i].samples, 3);
    EXPECT_GT(in_steps.times[i].median, Seconds(0));
    EXPECT_GT(alone.times[i].median, Seconds(0));
    ops += in_steps.times[i].ops;
  }
  // All but the two `input` ops.
  EXPECT_EQ(ops, static_cast<int>(training.ops.size()) - 2);
}

}  // namespace
}  // namespace poet::runtime
