#pragma once

// What small ONNX models compute, and whether their gradients are the slopes of their loss, in the reference
// kernels and double precision. The loss is over the output's elements, so that outputs may have any shape.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "poet/autodiff/differentiate.h"
#include "poet/frontend/onnx/import.h"
#include "tests/support/graph_text.h"
#include "tests/support/reference_kernels.h"

namespace poet::test {

using OnnxNumbers = std::vector<double>;
using OnnxGiven = std::map<std::string, OnnxNumbers>;

inline ImportedModel import_as_numbers(const onnx::Model& model) {
  ImportOptions options;
  options.loss = Loss::mean_squared_error;
  return import_model(model, options);
}

inline OnnxNumbers numbers_of(const onnx::Tensor& tensor) {
  if (!tensor.integers.empty()) return {tensor.integers.begin(), tensor.integers.end()};
  if (!tensor.reals.empty() || !tensor.fill) return tensor.reals;
  return OnnxNumbers(static_cast<std::size_t>(element_count(tensor.shape)), *tensor.fill);
}

/// Of everything that no op computes, by names: as given, as in the file, or at random.
inline OnnxGiven onnx_data(const ImportedModel& imported, const onnx::Model& model, const OnnxGiven& given) {
  std::mt19937_64 random(7);
  std::normal_distribution<double> normal(0.0, 0.7);
  OnnxGiven data;
  for (const Value& value : imported.forward.values) {
    if (value.alias_of.valid()) continue;
    if (!is_persistent(value.persistence) && value.persistence != Persistence::input) continue;
    OnnxNumbers& numbers = data[value.name];
    if (given.contains(value.name)) {
      numbers = given.at(value.name);
    } else if (imported.contents.contains(value.name)) {
      numbers = numbers_of(imported.contents.at(value.name));
    } else if (model.initializers.contains(value.name)) {
      numbers = numbers_of(model.initializers.at(value.name));
    }
    const auto count = static_cast<std::size_t>(element_count(value.shape));
    while (numbers.size() < count) numbers.push_back(normal(random));
  }
  return data;
}

inline void set_by_name(reference::Interpreter& run, const Graph& graph, const OnnxGiven& data) {
  for (const ValueId v : ids<ValueId>(graph.values.size())) {
    const Value& value = graph.values[v];
    if (value.alias_of.valid()) continue;
    if (!is_persistent(value.persistence) && value.persistence != Persistence::input) continue;
    const auto found = data.find(value.name);
    const auto count = static_cast<std::size_t>(element_count(value.shape));
    run.set(v, found != data.end() ? found->second : OnnxNumbers(count, 0.0));
  }
}

/// The elements of the output in their order.
inline OnnxNumbers onnx_output(const onnx::Model& model, const OnnxGiven& given = {}) {
  const ImportedModel imported = import_as_numbers(model);
  reference::Interpreter run(imported.forward);
  set_by_name(run, imported.forward, onnx_data(imported, model, given));
  run.run();
  return run.get(op_of_kind(imported.forward, "mse_loss").inputs[0]).data;
}

/// Compares the gradient of every parameter with central differences of the loss.
inline void expect_true_onnx_gradients(const onnx::Model& model, const OnnxGiven& given = {}) {
  const ImportedModel imported = import_as_numbers(model);
  const Graph training = differentiate(imported.forward);
  OnnxGiven data = onnx_data(imported, model, given);
  const auto loss = [&] {
    reference::Interpreter run(imported.forward);
    set_by_name(run, imported.forward, data);
    run.run();
    return run.get(op_of_kind(imported.forward, "mse_loss").outputs.front()).data.front();
  };
  reference::Interpreter run(training);
  set_by_name(run, training, data);
  run.run();
  int checked = 0;
  for (const OpId id : ids<OpId>(training.ops.size())) {
    const Op& op = training.ops[id];
    if (op.pass != Pass::update) continue;
    const std::string& name = training.values[op.inputs.at(0)].name;
    const OnnxNumbers gradient = run.input_at_run(id, 1).data;
    for (std::size_t i = 0; i < gradient.size(); ++i, ++checked) {
      constexpr double kStep = 1e-5;
      const double before = data.at(name)[i];
      data[name][i] = before + kStep;
      const double above = loss();
      data[name][i] = before - kStep;
      const double slope = (above - loss()) / (2 * kStep);
      data[name][i] = before;
      ASSERT_NEAR(gradient[i], slope, 1e-7 * std::max(1.0, std::abs(slope))) << name << "[" << i << "]";
    }
  }
  EXPECT_GT(checked, 0);
}

}  // namespace poet::test
