#include "tests/support/gradient_check.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "tests/support/random_network.h"
#include "tests/support/reference_kernels.h"

namespace poet::test {
namespace {

double loss_of(const Graph& forward, const GradientData& data) {
  reference::Interpreter run(forward);
  for (const auto& entry : data) run.set(entry.first, entry.second);
  run.run();
  return run.get(forward.ops[find_op(forward, "loss")].outputs.front()).data.front();
}

}  // namespace

GradientData random_data(const Graph& graph, std::uint64_t seed, int classes) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal(0.0, 0.7);
  GradientData data;
  std::set<ValueId> moving;  // what is not constant from step to step and no parameter: starts at zero
  for (const Op& op : graph.ops) {
    for (const ValueId v : op.updates) {
      if (graph.values[v].persistence == Persistence::optimizer_state) moving.insert(v);
    }
  }
  for (const ValueId v : ids<ValueId>(graph.values.size())) {
    const Value& value = graph.values[v];
    if (value.alias_of.valid()) continue;
    if (!is_persistent(value.persistence) && value.persistence != Persistence::input) continue;
    std::vector<double>& numbers = data[v];
    for (std::int64_t i = 0; i < element_count(value.shape); ++i) {
      const bool is_state = moving.count(v) == 1;
      const double drawn = value.dtype == DType::float32
                               ? normal(random)
                               : static_cast<double>(random() % static_cast<unsigned>(classes));
      numbers.push_back(is_state ? 0.0 : drawn);
    }
  }
  return data;
}

void expect_true_gradients(const Graph& forward, const TrainingOptions& options, std::uint64_t seed,
                           std::set<std::string>* kinds) {
  const Graph training = differentiate(forward, options);
  const GradientData data = random_data(training, seed, 3);
  GradientData of_forward;
  for (const auto& entry : data) {
    if (forward.values.contains(entry.first)) of_forward.insert(entry);
  }
  reference::Interpreter run(training);
  for (const auto& entry : data) run.set(entry.first, entry.second);
  // The same gradient in every step that is accumulated: their mean is it, too.
  for (std::int64_t step = 1; step <= options.accumulate; ++step) run.run(step);

  int checked = 0;
  for (const OpId id : ids<OpId>(training.ops.size())) {
    const Op& op = training.ops[id];
    if (kinds != nullptr) kinds->insert(op.kind);
    if (op.pass != Pass::update || op.kind == "batch_norm_stats") continue;
    const ValueId parameter = op.inputs.at(0);
    const reference::Array& gradient = run.input_at_run(id, 1);
    EXPECT_EQ(gradient.shape, training.values[parameter].shape);
    for (std::size_t i = 0; i < gradient.data.size(); ++i) {
      constexpr double kStep = 1e-5;
      GradientData moved = of_forward;
      moved[parameter][i] = of_forward[parameter][i] + kStep;
      const double above = loss_of(forward, moved);
      moved[parameter][i] = of_forward[parameter][i] - kStep;
      const double below = loss_of(forward, moved);
      const double slope = (above - below) / (2 * kStep);
      ASSERT_NEAR(gradient.data[i], slope, 1e-7 * std::max(1.0, std::abs(slope)))
          << forward.name << ", seed " << seed << ": " << training.values[parameter].name << "[" << i << "]";
      ++checked;
    }
  }
  EXPECT_GT(checked, 0);
}

}  // namespace poet::test
