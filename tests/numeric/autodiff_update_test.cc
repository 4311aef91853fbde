// What updates do to parameters and statistics, by hand.

#include <gtest/gtest.h>

#include <cmath>
#include <optional>
#include <vector>

#include "poet/autodiff/differentiate.h"
#include "poet/graph/nn.h"
#include "tests/support/gradient_check.h"
#include "tests/support/random_network.h"
#include "tests/support/reference_kernels.h"

namespace poet::test {
namespace {

using reference::Interpreter;

/// fc (1 -> 2, no bias) on x = 3: logits (3a, 3b).
Graph two_weights() {
  GraphBuilder g("two_weights");
  const ValueId h = nn::linear(g, "fc", g.input("x", {1, 1}), 2, false);
  nn::softmax_cross_entropy(g, "loss", h, g.input("targets", {1}, DType::int32));
  return g.finish();
}

TEST(AutodiffUpdate, StepsByHand) {
  // a = b = 0: probabilities 1/2 each, target 0: dlogits (-1/2, 1/2), dweight (-3/2, 3/2).
  const auto after = [](Optimizer optimizer, int steps) {
    const Graph training = differentiate(two_weights(), {optimizer, nullptr});
    Interpreter run(training);
    for (const auto& entry : random_data(training, 0, 1)) run.set(entry.first, entry.second);
    run.set(find_value(training, "x"), {3.0});
    run.set(find_value(training, "fc.weight"), {0.0, 0.0});
    for (int step = 1; step <= steps; ++step) run.run(step);
    return run.get(find_value(training, "fc.weight")).data;
  };
  EXPECT_NEAR(after(Optimizer::sgd, 1)[0], 0.015, 1e-12);       // 0.01 x 1.5
  EXPECT_NEAR(after(Optimizer::momentum, 1)[0], 0.015, 1e-12);  // the velocity starts at zero
  EXPECT_NEAR(after(Optimizer::adam, 1)[0], 1e-3,
              1e-10);  // the first step is the rate, whatever the gradient
  // Second step, logits (0.045, -0.045): p0 = 1 / (1 + exp(-0.09)), dweight0 = 3 (p0 - 1).
  const double slope = 3.0 * (1.0 / (1.0 + std::exp(-0.09)) - 1.0);
  EXPECT_NEAR(after(Optimizer::sgd, 2)[0], 0.015 - 0.01 * slope, 1e-12);
  EXPECT_NEAR(after(Optimizer::momentum, 2)[0], 0.015 - 0.01 * (0.9 * -1.5 + slope), 1e-12);
}

TEST(AutodiffUpdate, ClippingAndAccumulatingByHand) {
  // As above: two steps with the same gradient (-3/2, 3/2) of norm sqrt(4.5), clipped to 1, and one update.
  const auto after = [](std::optional<double> clip_norm, int steps) {
    TrainingOptions options;
    options.accumulate = 2;
    options.clip_norm = clip_norm;
    const Graph training = differentiate(two_weights(), options);
    Interpreter run(training);
    for (const auto& entry : random_data(training, 0, 1)) run.set(entry.first, entry.second);
    run.set(find_value(training, "x"), {3.0});
    run.set(find_value(training, "fc.weight"), {0.0, 0.0});
    for (int step = 1; step <= steps; ++step) run.run(step);
    return run.get(find_value(training, "fc.weight")).data;
  };
  EXPECT_EQ(after(std::nullopt, 1)[0], 0.0);
  EXPECT_NEAR(after(std::nullopt, 2)[0], 0.015, 1e-12);
  EXPECT_EQ(after(std::nullopt, 3)[0], after(std::nullopt, 2)[0]);
  EXPECT_NEAR(after(1.0, 2)[0], 0.01 * 1.5 / (std::sqrt(4.5) + 1e-6), 1e-12);
  EXPECT_NEAR(after(5.0, 2)[0], 0.015, 1e-12);
}

TEST(AutodiffUpdate, RunningStatisticsMoveOnce) {
  // One channel, values 1 and 3: mean 2, unbiased variance ((1-2)² + (3-2)²) / 1 = 2. Momentum 0.1 from 0 and
  // 0.
  GraphBuilder g("stats");
  const ValueId h = nn::linear(g, "fc", nn::batch_norm(g, "bn", g.input("x", {2, 1})), 2, false);
  nn::softmax_cross_entropy(g, "loss", h, g.input("targets", {2}, DType::int32));
  const Graph training = differentiate(g.finish());
  Interpreter run(training);
  for (const auto& entry : random_data(training, 0, 2)) run.set(entry.first, entry.second);
  run.set(find_value(training, "x"), {1.0, 3.0});
  run.run();
  EXPECT_NEAR(run.get(find_value(training, "bn.running_mean")).data[0], 0.2, 1e-12);
  EXPECT_NEAR(run.get(find_value(training, "bn.running_var")).data[0], 0.2, 1e-9);
}

}  // namespace
}  // namespace poet::test
