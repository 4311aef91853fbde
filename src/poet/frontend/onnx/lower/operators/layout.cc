// Views, and copies in another order.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "poet/base/error.h"
#include "poet/frontend/onnx/fuse/patterns.h"
#include "poet/frontend/onnx/lower/operators.h"
#include "poet/frontend/onnx/lower/sliced.h"
#include "poet/graph/nn.h"

namespace poet::onnx {
namespace {

/// The operand in another shape of as many elements: a weight stays a weight, an integer input an input.
void reshaped_to(Lowering& net, const Node& node, const Shape& to) {
  const Operand x = operand_of(net, node, 0);
  const Shape from = shape_of(net, node, 0);
  if (element_count(from) != element_count(to)) {
    throw InputError(
        fmt::format("makes ({}) of ({}): the numbers of elements differ; the file may fix the batch "
                    "size, then import with that one",
                    fmt::join(to, ", "), fmt::join(from, ", ")));
  }
  if (const Fixed* weight = std::get_if<Fixed>(&x); weight != nullptr && !weight->transposed) {
    Fixed seen = *weight;
    seen.tensor.shape = to;
    set_result(net, node, seen);
    return;
  }
  if (from == to) return set_result(net, node, x);
  const std::string name = name_of(node);
  if (const Runtime* integers = std::get_if<Runtime>(&x);
      integers != nullptr && integers->type != Type::real) {
    set_result(net, node, nn::reshape(net.builder, name, any_value(net, node, 0), to));
    return;
  }
  set_result(net, node, nn::reshape(net.builder, name, row_major(net, node, 0), to));
}

/// From the input of newer opsets or the attribute of older ones.
std::vector<std::int64_t> list(const Lowering& net, const Node& node, std::size_t position,
                               const std::string& name) {
  return has_input(node, position) ? known_integers(net, node, position) : integers(node, name);
}

void reshape(Lowering& net, const Node& node) {
  const Shape from = shape_of(net, node, 0);
  std::vector<std::int64_t> target = list(net, node, 1, "shape");
  const auto batch = net.sizes.rescaled_batch;
  if (batch && is_runtime(net, node, 0) && !target.empty() && target.front() == batch->in_file) {
    Shape all = target;
    const bool open = std::any_of(all.begin(), all.end(), [](std::int64_t d) { return d <= 0; });
    if (open || element_count(all) * batch->times == element_count(from)) {
      target.front() *= batch->times;
      net.notices.add("Reshape to a fixed batch size follows the one chosen");
    }
  }
  const Shape to = reshape_target(from, target, integer(node, "allowzero", 0) != 0);
  if (!became_group_norm(net, node, to)) reshaped_to(net, node, to);
}

void flatten(Lowering& net, const Node& node) {
  const Shape from = shape_of(net, node, 0);
  const std::int64_t axis = integer(node, "axis", 1);
  const auto rank = static_cast<std::int64_t>(from.size());
  if (axis < -rank || axis > rank)
    throw InputError("attribute 'axis'", fmt::format("{} is out of range", axis));
  const auto split = from.begin() + (axis < 0 ? axis + rank : axis);
  reshaped_to(net, node,
              {element_count(Shape(from.begin(), split)), element_count(Shape(split, from.end()))});
}

void squeeze(Lowering& net, const Node& node) {
  reshaped_to(net, node, squeezed(shape_of(net, node, 0), list(net, node, 1, "axes")));
}

void unsqueeze(Lowering& net, const Node& node) {
  reshaped_to(net, node, unsqueezed(shape_of(net, node, 0), list(net, node, 1, "axes")));
}

/// Exporters merge initialisers that are equal at the time (all scales of a new network's normalisations):
/// one stays, and an Identity has the name of every other. They are parameters of their own; one that the
/// network reads in several places has one name.
void identity(Lowering& net, const Node& node) {
  Operand x = operand_of(net, node, 0);
  if (Fixed* weight = std::get_if<Fixed>(&x); weight != nullptr && weight->name == node.inputs[0]) {
    weight->name = node.outputs.at(0);
    net.notices.add("an Identity of an initialiser is a parameter of its own");
  }
  set_result(net, node, std::move(x));
}

void cast(Lowering& net, const Node& node) {
  const Operand x = operand_of(net, node, 0);
  const std::int64_t to = integer(node, "to", 0);
  const bool to_real = to == 1 || to == 10 || to == 11 || to == 16;
  const bool to_integer = (to >= 2 && to <= 7) || to == 12 || to == 13;
  const Type from = type_of(net, node, 0);
  if ((from == Type::real && to_real) || (from == Type::integer && to_integer) ||
      (from == Type::boolean && to == 9))
    return set_result(net, node, x);
  if (!to_real && !to_integer && to != 9)
    throw InputError("attribute 'to'", fmt::format("element type {} is not supported", to));
  const DType type = to_real ? DType::float32 : to_integer ? DType::int32 : DType::uint8;
  set_result(net, node, nn::cast(net.builder, name_of(node), any_value(net, node, 0), type));
}

void transpose(Lowering& net, const Node& node) {
  const Shape from = shape_of(net, node, 0);
  std::vector<std::int64_t> axes = integers(node, "perm");
  if (axes.empty()) {
    for (std::size_t i = from.size(); i-- > 0;) axes.push_back(static_cast<std::int64_t>(i));
  }
  const Operand x = operand_of(net, node, 0);
  if (const Fixed* weight = std::get_if<Fixed>(&x);
      weight != nullptr && from.size() == 2 && axes == std::vector<std::int64_t>{1, 0}) {
    Fixed seen = *weight;
    seen.transposed = !seen.transposed;
    std::reverse(seen.tensor.shape.begin(), seen.tensor.shape.end());
    set_result(net, node, seen);
    return;
  }
  Runtime seen;
  if (const Runtime* runtime = std::get_if<Runtime>(&x)) {
    seen = *runtime;
  } else {
    seen = runtime_of(net.builder,
                      type_of(net, node, 0) == Type::real ? value_of(net, node, 0) : any_value(net, node, 0));
  }
  seen.id = nn::permute(net.builder, name_of(node), seen.id, axes);
  set_result(net, node, Operand{seen});
}

/// Where the batch is larger than in the file, what the file repeats for each of its samples is repeated for
/// each of these.
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

/// Copies along axes of size 1, as the class token of vision transformers has one per sample.
void expand(Lowering& net, const Node& node) {
  const Shape from = shape_of(net, node, 0);
  const Shape to = broadcast(from, known_integers(net, node, 1));
  if (to == from) return set_result(net, node, operand_of(net, node, 0));
  set_result(net, node, nn::expand(net.builder, name_of(node), any_value(net, node, 0), to));
}

/// x `repeats` times along each axis, one after another: x seen with an axis of size 1 before each axis,
/// stretched.
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
      slice_ranges(from, list(net, node, 1, "starts"), list(net, node, 2, "ends"), list(net, node, 3, "axes"),
                   list(net, node, 4, "steps"));
  std::vector<std::int64_t> starts;
  std::vector<std::int64_t> ends;
  std::vector<std::int64_t> steps;
  std::vector<std::int64_t> reversed;
  Shape to;
  for (const Range& range : ranges) {
    const std::int64_t length = range_length(range);
    // The same elements in ascending order, transposed round afterwards.
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
  std::vector<std::int64_t> sizes = list(net, node, 1, "split");
  if (sizes.empty()) {
    const auto parts = static_cast<std::int64_t>(node.outputs.size());
    const std::int64_t part = (from[axis] + parts - 1) / parts;
    for (std::int64_t i = 0; i < parts; ++i) sizes.push_back(std::min(part, from[axis] - part * i));
  }
  if (sizes.size() != node.outputs.size()) throw InputError("has not one size per output");
  const std::string name = name_of(node);
  const ValueId x = any_value(net, node, 0);
  const auto is_read = [&](const std::string& output) { return !readers(net.uses, output).empty(); };
  if (std::all_of(node.outputs.begin(), node.outputs.end(), is_read)) {
    const std::vector<ValueId> parts =
        nn::split(net.builder, name, x, static_cast<std::int64_t>(axis), sizes);
    for (std::size_t i = 0; i < parts.size(); ++i)
      net.operands[node.outputs[i]] = runtime_of(net.builder, parts[i]);
    return;
  }
  // Only the parts that somebody reads.
  Shape start(from.size(), 0);
  Shape end = from;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const std::string& output = node.outputs[i];
    if (sizes[i] < 0 || sizes[i] > from[axis] - start[axis])
      throw InputError(fmt::format("the sizes ({}) do not add up to {}", fmt::join(sizes, ", "), from[axis]));
    end[axis] = start[axis] + sizes[i];
    if (is_read(output) || output == net.uses.logits) {
      const ValueId part = nn::slice(net.builder, fmt::format("{}.{}", name, i), x, start, end);
      net.operands[output] = runtime_of(net.builder, part);
    }
    start[axis] = end[axis];
  }
  if (start[axis] != from[axis])
    throw InputError(fmt::format("the sizes ({}) do not add up to {}", fmt::join(sizes, ", "), from[axis]));
}

void pad(Lowering& net, const Node& node) {
  if (text(node, "mode", "constant") != "constant")
    throw InputError("attribute 'mode'", "must be 'constant'");
  const std::size_t rank = shape_of(net, node, 0).size();
  const std::vector<std::int64_t> pads = list(net, node, 1, "pads");
  double value = real(node, "value", 0.0);
  if (has_input(node, 2)) {
    const std::optional<double> number = scalar_of(net, node, 2);
    const std::optional<std::int64_t> whole = whole_number(net, node, 2);
    if (!number && !whole) throw InputError("the value of the padding must be a known number");
    value = number ? *number : static_cast<double>(*whole);
  }
  std::vector<std::int64_t> axes = list(net, node, 3, "axes");
  if (axes.empty()) {
    for (std::size_t i = 0; i < rank; ++i) axes.push_back(static_cast<std::int64_t>(i));
  }
  if (pads.size() != 2 * axes.size()) throw InputError("the padding must have two numbers per axis");
  std::vector<std::int64_t> before(rank, 0);
  std::vector<std::int64_t> after(rank, 0);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    before[checked_axis(axes[i], rank)] = pads[i];
    after[checked_axis(axes[i], rank)] = pads[i + axes.size()];
  }
  if (std::all_of(pads.begin(), pads.end(), [](std::int64_t p) { return p == 0; })) {
    set_result(net, node, operand_of(net, node, 0));
    return;
  }
  set_result(net, node, nn::pad(net.builder, name_of(node), any_value(net, node, 0), before, after, value));
}

}  // namespace

const std::vector<OperatorEntry>& layout_operators() {
  static const std::vector<OperatorEntry> entries = {
      {"Cast", cast},           {"Concat", concat},   {"Expand", expand},   {"Flatten", flatten},
      {"Identity", identity},   {"Pad", pad},         {"Reshape", reshape}, {"Slice", slice},
      {"Split", split},         {"Squeeze", squeeze}, {"Tile", tile},       {"Transpose", transpose},
      {"Unsqueeze", unsqueeze},
  };
  return entries;
}

}  // namespace poet::onnx
