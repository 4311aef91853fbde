// Ops computed in two parts along every axis that their schemas name are what they are in one.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "poet/graph/operators/schema.h"
#include "tests/support/kernel_graphs.h"
#include "tests/support/reference_kernels.h"
#include "tests/support/runtime_interpreter.h"

namespace poet {
namespace {

using Numbers = std::vector<double>;

/// One axis: a label, and which of its axes, counted from the last one, where it stands for several.
struct CutGraph {
  std::string label;
  std::size_t from_last = 0;
  bool summed = false;
};

std::int64_t groups_of(const Op& op) {
  const auto found = op.attributes.find("groups");
  return found == op.attributes.end() ? 1 : std::get<std::int64_t>(found->second);
}

bool stands_for_several(const AxisSpec& axis) {
  return axis.sort == AxisSpec::Sort::shared || axis.sort == AxisSpec::Sort::free;
}

std::size_t covered(const OperandSpec& spec, const Shape& shape) {
  return shape.size() + 1 - spec.axes.size();
}

/// The operand's axis along which it is cut, if it has it.
std::optional<std::size_t> axis_of(const OperandSpec& spec, const Shape& shape, const CutGraph& cut) {
  std::size_t at = 0;
  for (const AxisSpec& axis : spec.axes) {
    const bool several = stands_for_several(axis);
    const std::size_t covers = several ? covered(spec, shape) : 1;
    const bool follows = axis.label == "~" && cut.label == "...";
    if ((axis.label == cut.label && axis.factor == 1) || follows) {
      if (!several) return at;
      if (cut.from_last < covers) return at + covers - 1 - cut.from_last;
      return std::nullopt;
    }
    at += covers;
  }
  return std::nullopt;
}

struct Operand {
  ValueId value;
  const OperandSpec* spec;
};

/// Inputs, then outputs.
std::vector<Operand> operands_of(const Op& op, const OperatorSchema& schema) {
  std::vector<Operand> all;
  for (std::size_t i = 0; i < op.inputs.size(); ++i) all.push_back({op.inputs[i], &schema.inputs[i]});
  for (std::size_t i = 0; i < op.outputs.size(); ++i) all.push_back({op.outputs[i], &schema.outputs[i]});
  return all;
}

std::vector<CutGraph> cuts_of(const Graph& alone, const Op& op, const OperatorSchema& schema) {
  std::vector<CutGraph> cuts;
  const std::vector<Operand> operands = operands_of(op, schema);
  const bool has_bias = schema.inputs.back().optional && op.inputs.size() == schema.inputs.size();
  std::istringstream words{std::string(schema.parts)};
  for (std::string word; words >> word;) {
    const bool summed = word.front() == '+';
    if (summed) word.erase(0, 1);
    if (word.front() == '-' || word == "*" || (summed && has_bias)) continue;
    // Where a part begins counts there (Value::part): property/split_test.cc, indexed_tables_test.cc.
    if (word == "V" || schema.kind == "dropout" || schema.kind == "first_occurrences") continue;
    // Whole groups: an op of several is not cut here, nor a norm of one.
    const bool has_groups = groups_of(op) != 1 || schema.kind.starts_with("group_norm");
    if (has_groups && (word == "C" || word == "O")) continue;
    std::size_t axes = 1;
    if (word == "..." || word == "~") {
      axes = 0;
      for (const Operand& operand : operands) {
        for (const AxisSpec& axis : operand.spec->axes)
          if (stands_for_several(axis))
            axes = std::max(axes, covered(*operand.spec, alone.values[operand.value].shape));
      }
    }
    for (std::size_t i = 0; i < axes; ++i) cuts.push_back({word, i, summed});
  }
  return cuts;
}

/// Elements [begin, end) along an axis.
Numbers sliced(const Numbers& whole, const Shape& shape, std::size_t axis, std::int64_t begin,
               std::int64_t end) {
  const std::int64_t inner =
      element_count(Shape(shape.begin() + static_cast<std::ptrdiff_t>(axis) + 1, shape.end()));
  Numbers part;
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(whole.size()); ++i) {
    const std::int64_t at = i / inner % shape[axis];
    if (at >= begin && at < end) part.push_back(whole[static_cast<std::size_t>(i)]);
  }
  return part;
}

using Contents = std::map<ValueId, Numbers>;

/// What the graph's last op writes and changes.
Contents computed(const Graph& alone, const Contents& inputs) {
  reference::Interpreter run(alone);
  for (const auto& [v, numbers] : inputs) run.set(v, numbers);
  run.run(2);
  Contents results;
  const Op& op = alone.ops[OpId(alone.ops.size() - 1)];
  for (const ValueId v : op.outputs) results[v] = run.get(v).data;
  for (const ValueId v : op.updates) results[v] = run.get(v).data;
  return results;
}

void expect_near(const Numbers& actual, const Numbers& wanted, const std::string& what) {
  ASSERT_EQ(actual.size(), wanted.size()) << what;
  for (std::size_t i = 0; i < actual.size(); ++i) {
    if (actual[i] == wanted[i] || (std::isnan(wanted[i]) && std::isnan(actual[i]))) continue;
    ASSERT_NEAR(actual[i], wanted[i], 1e-9 * (1.0 + std::abs(wanted[i]))) << what << "[" << i << "]";
  }
}

/// Whether there was anything to cut.
bool expect_parts_alike(const Graph& alone, const OperatorSchema& schema, const CutGraph& cut,
                        const Contents& inputs, const Contents& whole) {
  const Op& op = alone.ops[OpId(alone.ops.size() - 1)];
  std::int64_t size = 1;
  std::map<ValueId, std::size_t> axes;
  for (const Operand& operand : operands_of(op, schema)) {
    const Shape& shape = alone.values[operand.value].shape;
    const std::optional<std::size_t> axis = axis_of(*operand.spec, shape, cut);
    if (!axis || shape[*axis] == 1) continue;  // whole, or stretched
    axes[operand.value] = *axis;
    size = std::max(size, shape[*axis]);
  }
  if (size < 2) return false;
  Contents sums;
  for (const auto& [begin, end] : {std::pair{std::int64_t{0}, size / 2}, std::pair{size / 2, size}}) {
    Graph part = alone;
    for (Value& value : part.values) value.strides.clear();
    Contents read = inputs;
    for (const auto& [v, axis] : axes) {
      Value& value = part.values[v];
      if (inputs.contains(v)) read[v] = sliced(inputs.at(v), value.shape, axis, begin, end);
      value.shape[axis] = end - begin;
      value.bytes = byte_count(value.shape, value.dtype);
    }
    verify(part);
    for (const auto& [v, numbers] : computed(part, read)) {
      const std::string what = schema.kind + " along " + cut.label + ", " + alone.values[v].name;
      const auto found = axes.find(v);
      const bool stretched = cut.label == "~" || cut.label == "...";
      if (found != axes.end()) {
        expect_near(numbers, sliced(whole.at(v), alone.values[v].shape, found->second, begin, end), what);
      } else if (cut.summed || stretched) {
        Numbers& sum = sums[v];
        sum.resize(numbers.size());
        for (std::size_t i = 0; i < numbers.size(); ++i) sum[i] += numbers[i];
      } else {
        expect_near(numbers, whole.at(v), what);
      }
    }
  }
  for (const auto& [v, sum] : sums)
    expect_near(sum, whole.at(v), schema.kind + ", added up along " + cut.label);
  return true;
}

bool tells_axes(const Op& op, const OperatorSchema& schema) {
  const std::set<ValueId> distinct(op.inputs.begin(), op.inputs.end());
  return !schema.parts.empty() && distinct.size() == op.inputs.size() &&
         std::none_of(schema.inputs.begin(), schema.inputs.end(),
                      [](const auto& s) { return s.any_shape; }) &&
         std::none_of(schema.outputs.begin(), schema.outputs.end(),
                      [](const auto& s) { return s.any_shape; });
}

/// Integers below this are sound indices of the op: those of a global pool are places in a plane.
std::int64_t integers_below(const Graph& alone, const Op& op) {
  constexpr std::int64_t kFew = 3;
  if (op.kind != "global_max_pool_backward") return kFew;
  const auto elements = [&](ValueId v) { return element_count(alone.values[v].shape); };
  return std::min(kFew, elements(op.outputs[0]) / elements(op.inputs[0]));
}

TEST(OperatorParts, MakeUpTheWhole) {
  std::set<std::string> seen;
  std::mt19937_64 random(5);
  for (const test::KernelGraphFamily& family : test::kernel_graph_families()) {
    for (int seed = 0; seed < std::min(family.seeds, 12); ++seed) {
      const Graph graph = family.make(static_cast<std::uint64_t>(seed));
      for (const OpId id : ids<OpId>(graph.ops.size())) {
        const OperatorSchema& schema = *find_operator(graph.ops[id].kind);
        const Graph alone = test::lone_op(graph, id);
        const Op& op = alone.ops[OpId(alone.ops.size() - 1)];
        if (!tells_axes(op, schema)) continue;
        SCOPED_TRACE(family.name + ", seed " + std::to_string(seed) + ", op " + op.name);
        Contents inputs;
        for (const ValueId v : op.inputs) {
          const Value& value = alone.values[v];
          std::normal_distribution<double> normal(0.0, 0.7);
          const auto choices = static_cast<std::uint64_t>(integers_below(alone, op));
          for (std::int64_t i = 0; i < element_count(value.shape); ++i)
            inputs[v].push_back(value.dtype == DType::float32 ? normal(random)
                                                              : static_cast<double>(random() % choices));
        }
        const Contents whole = computed(alone, inputs);
        for (const CutGraph& cut : cuts_of(alone, op, schema))
          if (expect_parts_alike(alone, schema, cut, inputs, whole)) seen.insert(schema.kind);
        ASSERT_FALSE(HasFatalFailure() || HasNonfatalFailure());
      }
    }
  }
  EXPECT_GT(seen.size(), 100U);
}

}  // namespace
}  // namespace poet
