#include "tests/support/runtime_kernel_check.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "poet/graph/in_place.h"
#include "tests/support/reference_kernels.h"

namespace poet::test {
namespace {

using Doubles = std::vector<double>;

Doubles drawn(const Value& value, std::mt19937_64& random, int classes) {
  std::normal_distribution<double> normal(0.0, 0.7);
  Doubles numbers;
  for (std::int64_t i = 0; i < element_count(value.shape); ++i) {
    const double number = value.dtype == DType::float32
                              ? normal(random)
                              : static_cast<double>(random() % static_cast<unsigned>(classes));
    numbers.push_back(number);
  }
  return numbers;
}

/// Second moments and running variances are never negative.
bool is_variance(const std::string& name) {
  const auto ends_in = [&name](const std::string& suffix) {
    return name.size() >= suffix.size() &&
           name.compare(name.size() - suffix.size(), suffix.size(), suffix) == 0;
  };
  return ends_in(".exp_avg_sq") || ends_in(".running_var");
}

double largest_of(const Doubles& numbers) {
  double largest = 0.0;
  for (const double n : numbers) {
    if (std::isfinite(n)) largest = std::max(largest, std::abs(n));
  }
  return largest;
}

/// Of what a result is the difference: that of a norm's gradient, of which the mean and the projection are
/// taken off, may be much smaller than the gradient that arrived.
double terms(const Op& op, const std::vector<Doubles>& inputs) {
  if (op.kind.find("norm_backward") == std::string::npos) return 0.0;
  return largest_of(inputs.at(0)) * largest_of(inputs.at(2)) * largest_of(inputs.at(4));
}

void expect_near(const Doubles& actual, const Doubles& wanted, double tolerance, double scale,
                 const std::string& what) {
  ASSERT_EQ(actual.size(), wanted.size());
  const double largest = std::max(scale, largest_of(wanted));
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (std::isnan(wanted[i]) && std::isnan(actual[i])) continue;
    // What does not pass is 0, whatever arrives; the reference multiplies what arrives by a slope of 0.
    if (std::isnan(wanted[i]) && actual[i] == 0) continue;
    if (actual[i] == wanted[i]) continue;
    if (std::abs(wanted[i]) > std::numeric_limits<float>::max() && std::isinf(actual[i])) continue;
    ASSERT_NEAR(actual[i], wanted[i], tolerance * (std::abs(wanted[i]) + 0.5 * largest) + 1e-30)
        << what << "[" << i << "] of " << wanted.size();
  }
}

/// A dropout's mask is the kernel's own: y belongs to it, and it drops about as often as it should.
void expect_dropout(const RuntimeInterpreter& run, const Op& op, const Doubles& x, double tolerance) {
  const double p = std::get<double>(op.attributes.at("p"));
  const Doubles y = run.get(op.outputs.at(0));
  const Doubles mask = run.get(op.outputs.at(1));
  double kept = 0.0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    ASSERT_TRUE(mask[i] == 0.0 || mask[i] == 1.0);
    ASSERT_NEAR(y[i], mask[i] * x[i] / (1.0 - p), tolerance * std::abs(x[i]) / (1.0 - p)) << i;
    kept += mask[i];
  }
  const auto n = static_cast<double>(x.size());
  // Six standard deviations of a binomial distribution.
  EXPECT_NEAR(kept, n * (1.0 - p), 6.0 * std::sqrt(n * p * (1.0 - p)) + 1e-9) << op.name;
}

void expect_values(const Graph& alone, const RuntimeInterpreter& run, const std::vector<Doubles>& inputs,
                   const KernelCheckOptions& options) {
  const OpId id(alone.ops.size() - 1);
  const Op& op = alone.ops[id];
  if (op.kind == "dropout") {
    const bool narrow = alone.values[op.outputs[0]].dtype == DType::bfloat16;
    return expect_dropout(run, op, inputs.at(0), narrow ? options.tolerance : 1e-6);
  }
  reference::Interpreter oracle(alone);
  for (std::size_t i = 0; i < op.inputs.size(); ++i) oracle.set(op.inputs[i], inputs[i]);
  oracle.run(options.step);
  for (const ValueId v : op.outputs) {
    expect_near(run.get(v), oracle.get(v).data, options.tolerance, terms(op, inputs),
                op.kind + " -> " + alone.values[v].name);
  }
  for (const ValueId v : op.updates) {
    expect_near(run.get(v), oracle.get(v).data, options.tolerance, terms(op, inputs),
                op.kind + " ! " + alone.values[v].name);
  }
}

struct Bits {
  std::vector<std::vector<std::byte>> of;  // outputs, then updates
  bool operator==(const Bits&) const = default;
};

Bits bits_of(const RuntimeInterpreter& run, const Op& op) {
  Bits bits;
  for (const ValueId v : op.outputs) bits.of.push_back(run.bytes(v));
  for (const ValueId v : op.updates) bits.of.push_back(run.bytes(v));
  return bits;
}

void check_op(const Graph& alone, const std::vector<Doubles>& inputs, const KernelCheckOptions& options) {
  const OpId id(alone.ops.size() - 1);
  const Op& op = alone.ops[id];
  const std::string what = op.kind + " \"" + op.name + "\"";
  const auto set = [&](RuntimeInterpreter& run) {
    for (std::size_t i = 0; i < op.inputs.size(); ++i) run.set(op.inputs[i], inputs[i]);
  };
  RuntimeInterpreter run(alone, options.make);
  set(run);
  std::vector<std::vector<std::byte>> before;
  for (const ValueId v : op.inputs) before.push_back(run.bytes(v));
  run.run_op(id, options.step);
  const Bits bits = bits_of(run, op);
  expect_values(alone, run, inputs, options);
  EXPECT_TRUE(run.intact()) << what << " writes outside of its outputs";
  for (std::size_t i = 0; i < op.inputs.size(); ++i) {
    const bool updated = std::count(op.updates.begin(), op.updates.end(), op.inputs[i]) > 0;
    EXPECT_TRUE(updated || run.bytes(op.inputs[i]) == before[i]) << what << " changes input " << i;
  }

  set(run);
  run.run_op(id, options.step);
  EXPECT_TRUE(bits_of(run, op) == bits) << what << ": other bits on a second run";

  RuntimeInterpreter moved(alone, options.make, 4);
  set(moved);
  moved.run_op(id, options.step);
  EXPECT_TRUE(bits_of(moved, op) == bits) << what << ": other bits at other addresses";

  for (const std::size_t i : overwritable_inputs(alone, op)) {
    RuntimeInterpreter over(alone, options.make, 36);
    over.share(op.outputs.at(0), op.inputs[i]);
    set(over);
    over.run_op(id, options.step);
    EXPECT_TRUE(bits_of(over, op) == bits) << what << ": other bits over input " << i;
    EXPECT_TRUE(over.intact()) << what << " over input " << i << " writes outside of it";
  }
}

}  // namespace

void check_kernels(const Graph& graph, std::uint64_t seed, std::set<std::string>* kinds,
                   const KernelCheckOptions& options) {
  std::mt19937_64 random(seed);
  RuntimeInterpreter run(graph, options.make);
  for (const ValueId v : ids<ValueId>(graph.values.size())) {
    const Value& value = graph.values[v];
    if (value.alias_of.valid()) continue;
    if (!is_persistent(value.persistence) && value.persistence != Persistence::input) continue;
    Doubles numbers = drawn(value, random, options.classes);
    if (is_variance(value.name)) {
      for (double& n : numbers) n = std::abs(n);
    }
    run.set(v, numbers);
  }
  for (const OpId id : ids<OpId>(graph.ops.size())) {
    const Op& op = graph.ops[id];
    if (op.kind == "input") continue;
    if (kinds != nullptr) kinds->insert(op.kind);
    std::vector<Doubles> inputs;
    for (const ValueId v : op.inputs) inputs.push_back(run.get(v));
    check_op(lone_op(graph, id), inputs, options);
    if (testing::Test::HasFailure()) {
      ADD_FAILURE() << graph.name << ", seed " << seed;
      return;
    }
    run.run_op(id, options.step);
  }
}

}  // namespace poet::test
