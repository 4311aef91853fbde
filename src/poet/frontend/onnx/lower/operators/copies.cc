// Operators that concatenate, slice and repeat.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "poet/base/error.h"
#include "poet/frontend/onnx/lower/operators.h"
#include "poet/frontend/onnx/lower/sliced.h"
#include "poet/graph/nn.h"

namespace poet::onnx {
namespace {

/// Returns input `i`, expanded to the batch if the file has it for a batch of one and the batch is larger.
ValueId following_batch(Lowering& net, const Node& node, std::size_t i) {
  const ValueId x = any_value(net, node, i);
  const auto batch = net.sizes.rescaled_batch;
  Shape to = net.builder.shape(x);
  if (!batch || batch->in_file != 1 || to.empty() || to.front() != 1) return x;
  for (std::size_t k = 0; k < node.inputs.size(); ++k) {
    const Shape other = shape_of(net, node, k);
    if (other.size() != to.size() || other.front() != batch->times) continue;
    net.notices.add("Concat for a batch of one follows the batch size chosen");
    to.front() = batch->times;
    return nn::expand(net.builder, fmt::format("{}.{}.batch", name_of(node), i), x, to);
  }
  return x;
}

void concat(Lowering& net, const Node& node) {
  const auto axis =
      static_cast<std::int64_t>(checked_axis(integer(node, "axis", 1), shape_of(net, node, 0).size()));
  std::vector<ValueId> inputs;
  for (std::size_t i = 0; i < node.inputs.size(); ++i)
    inputs.push_back(axis == 0 ? any_value(net, node, i) : following_batch(net, node, i));
  if (inputs.size() == 1) return set_result(net, node, inputs.front());
  set_result(net, node, nn::concat(net.builder, name_of(node), inputs, axis));
}

/// Copies along axes of size 1, for example the class token of vision transformers for each sample.
void expand(Lowering& net, const Node& node) {
  const Shape from = shape_of(net, node, 0);
  const Shape to = broadcast(from, known_integers(net, node, 1));
  if (to == from) return set_result(net, node, operand_of(net, node, 0));
  set_result(net, node, nn::expand(net.builder, name_of(node), any_value(net, node, 0), to));
}

/// Repeats x `repeats` times along each axis: reshapes x with an axis of size 1 before each repeated axis and
/// expands these axes.
void tile(Lowering& net, const Node& node) {
  const Shape from = shape_of(net, node, 0);
  const std::vector<std::int64_t>& repeats = known_integers(net, node, 1);
  if (repeats.size() != from.size())
    throw InputError(fmt::format("has {} repeats for {} axes", repeats.size(), from.size()));
  Shape apart;
  Shape stretched;
  Shape to;
  for (std::size_t axis = 0; axis < from.size(); ++axis) {
    if (repeats[axis] < 1) throw InputError(fmt::format("repeats an axis {} times", repeats[axis]));
    if (repeats[axis] != 1) {
      apart.push_back(1);
      stretched.push_back(repeats[axis]);
    }
    apart.push_back(from[axis]);
    stretched.push_back(from[axis]);
    to.push_back(element_count({from[axis], repeats[axis]}));
  }
  if (to == from) return set_result(net, node, operand_of(net, node, 0));
  GraphBuilder& g = net.builder;
  const std::string name = name_of(node);
  const ValueId x = nn::reshape(g, name + ".apart", any_value(net, node, 0), apart);
  const ValueId y = nn::expand(g, name, x, stretched);
  set_result(net, node, stretched == to ? y : nn::reshape(g, name + ".shape", y, to));
}

void slice(Lowering& net, const Node& node) {
  const Shape from = shape_of(net, node, 0);
  const std::vector<Range> ranges =
      slice_ranges(from, integers_of(net, node, 1, "starts"), integers_of(net, node, 2, "ends"),
                   integers_of(net, node, 3, "axes"), integers_of(net, node, 4, "steps"));
  std::vector<std::int64_t> starts;
  std::vector<std::int64_t> ends;
  std::vector<std::int64_t> steps;
  std::vector<std::int64_t> reversed;
  Shape to;
  for (const Range& range : ranges) {
    const std::int64_t length = range_length(range);
    // Takes the same elements in ascending order and flips them afterwards.
    const bool back = range.step < 0 && length > 0;
    if (back && length > 1) reversed.push_back(static_cast<std::int64_t>(to.size()));
    starts.push_back(back ? range.start + (length - 1) * range.step : range.start);
    ends.push_back(back ? range.start + 1 : range.end);
    steps.push_back(range.step < 0 ? -range.step : range.step);
    to.push_back(length);
  }
  const std::string name = name_of(node);
  if (to == from && reversed.empty()) return set_result(net, node, operand_of(net, node, 0));
  ValueId y = type_of(net, node, 0) == Type::real ? value_of(net, node, 0) : any_value(net, node, 0);
  if (to != from) y = sliced(net.builder, reversed.empty() ? name : name + ".part", y, starts, ends, steps);
  if (!reversed.empty()) y = nn::flip(net.builder, name, row_major(net.builder, name, y), reversed);
  set_result(net, node, y);
}

void split(Lowering& net, const Node& node) {
  const Shape from = shape_of(net, node, 0);
  const std::size_t axis = checked_axis(integer(node, "axis", 0), from.size());
  std::vector<std::int64_t> sizes = integers_of(net, node, 1, "split");
  if (sizes.empty()) {
    const auto parts = static_cast<std::int64_t>(node.outputs.size());
    if (integer(node, "num_outputs", parts) != parts)
      throw InputError("attribute 'num_outputs'", fmt::format("is not the number of outputs, {}", parts));
    // Since opset 18 the last part may be smaller.
    if (net.model.opset < 18 && from[axis] % parts != 0)
      throw InputError(fmt::format("{} elements do not make {} equal parts", from[axis], parts));
    const std::int64_t part = (from[axis] + parts - 1) / parts;
    for (std::int64_t i = 0; i < parts; ++i) sizes.push_back(std::min(part, from[axis] - part * i));
  }
  if (sizes.size() != node.outputs.size()) throw InputError("has not one size per output");
  const std::string name = name_of(node);
  const ValueId x = any_value(net, node, 0);
  bool all_read = true;
  for (std::size_t i = 0; i < sizes.size(); ++i) all_read = all_read && is_read(net.uses, node, i);
  if (all_read) {
    const std::vector<ValueId> parts =
        nn::split(net.builder, name, x, static_cast<std::int64_t>(axis), sizes);
    for (std::size_t i = 0; i < parts.size(); ++i)
      net.operands[node.outputs[i]] = runtime_of(net.builder, parts[i]);
    return;
  }
  // Adds only the parts that have a reader.
  Shape start(from.size(), 0);
  Shape end = from;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] < 0 || sizes[i] > from[axis] - start[axis])
      throw InputError(fmt::format("the sizes ({}) do not add up to {}", fmt::join(sizes, ", "), from[axis]));
    end[axis] = start[axis] + sizes[i];
    if (is_read(net.uses, node, i)) {
      const ValueId part = nn::slice(net.builder, fmt::format("{}.{}", name, i), x, start, end);
      net.operands[node.outputs[i]] = runtime_of(net.builder, part);
    }
    start[axis] = end[axis];
  }
  if (start[axis] != from[axis])
    throw InputError(fmt::format("the sizes ({}) do not add up to {}", fmt::join(sizes, ", "), from[axis]));
}

}  // namespace

const std::vector<OperatorEntry>& copy_operators() {
  static const std::vector<OperatorEntry> entries = {
      {"Concat", concat}, {"Expand", expand}, {"Slice", slice}, {"Split", split}, {"Tile", tile},
  };
  return entries;
}

}  // namespace poet::onnx
