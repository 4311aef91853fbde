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
void reshaped_to(Walk& walk, const Node& node, const Shape& to) {
  const Operand x = walk.operand(node, 0);
  const Shape from = walk.shape(node, 0);
  if (element_count(from) != element_count(to)) {
    throw InputError(
        fmt::format("makes ({}) of ({}): the numbers of elements differ; the file may fix the batch "
                    "size, then import with that one",
                    fmt::join(to, ", "), fmt::join(from, ", ")));
  }
  if (const Fixed* weight = std::get_if<Fixed>(&x); weight != nullptr && !weight->transposed) {
    Fixed seen = *weight;
    seen.tensor.shape = to;
    walk.set(node, seen);
    return;
  }
  if (from == to) {
    walk.set(node, x);
    return;
  }
  const std::string name = Walk::name_of(node);
  if (const Runtime* integers = std::get_if<Runtime>(&x);
      integers != nullptr && integers->type != Type::real) {
    walk.set(node, nn::reshape(walk.graph(), name, walk.any(node, 0), to));
    return;
  }
  walk.set(node, nn::reshape(walk.graph(), name, walk.row_major(node, 0), to));
}

/// From the input of newer opsets or the attribute of older ones.
std::vector<std::int64_t> list(const Walk& walk, const Node& node, std::size_t position,
                               const std::string& name) {
  return walk.has(node, position) ? walk.known_integers(node, position) : integers(node, name);
}

void reshape(Walk& walk, const Node& node) {
  const Shape from = walk.shape(node, 0);
  std::vector<std::int64_t> target = list(walk, node, 1, "shape");
  const auto batch = walk.rescaled_batch();
  if (batch && walk.is_runtime(node, 0) && !target.empty() && target.front() == batch->second) {
    Shape all = target;
    const bool open = std::any_of(all.begin(), all.end(), [](std::int64_t d) { return d <= 0; });
    if (open || element_count(all) * batch->first == element_count(from)) {
      target.front() *= batch->first;
      walk.notice("Reshape to a fixed batch size follows the one chosen");
    }
  }
  const Shape to = reshape_target(from, target, integer(node, "allowzero", 0) != 0);
  if (!became_group_norm(walk, node, to)) reshaped_to(walk, node, to);
}

void flatten(Walk& walk, const Node& node) {
  const Shape from = walk.shape(node, 0);
  const std::int64_t axis = integer(node, "axis", 1);
  const auto rank = static_cast<std::int64_t>(from.size());
  if (axis < -rank || axis > rank)
    throw InputError("attribute 'axis'", fmt::format("{} is out of range", axis));
  const auto split = from.begin() + (axis < 0 ? axis + rank : axis);
  reshaped_to(walk, node,
              {element_count(Shape(from.begin(), split)), element_count(Shape(split, from.end()))});
}

void squeeze(Walk& walk, const Node& node) {
  reshaped_to(walk, node, squeezed(walk.shape(node, 0), list(walk, node, 1, "axes")));
}

void unsqueeze(Walk& walk, const Node& node) {
  reshaped_to(walk, node, unsqueezed(walk.shape(node, 0), list(walk, node, 1, "axes")));
}

/// Exporters merge initialisers that are equal at the time (all scales of a new network's normalisations):
/// one stays, and an Identity has the name of every other. They are parameters of their own; one that the
/// network reads in several places has one name.
void identity(Walk& walk, const Node& node) {
  Operand x = walk.operand(node, 0);
  if (Fixed* weight = std::get_if<Fixed>(&x); weight != nullptr && weight->name == node.inputs[0]) {
    weight->name = node.outputs.at(0);
    walk.notice("an Identity of an initialiser is a parameter of its own");
  }
  walk.set(node, std::move(x));
}

void cast(Walk& walk, const Node& node) {
  const Operand x = walk.operand(node, 0);
  const std::int64_t to = integer(node, "to", 0);
  const bool to_real = to == 1 || to == 10 || to == 11 || to == 16;
  const bool to_integer = (to >= 2 && to <= 7) || to == 12 || to == 13;
  const Type from = walk.type(node, 0);
  if ((from == Type::real && to_real) || (from == Type::integer && to_integer) ||
      (from == Type::boolean && to == 9)) {
    walk.set(node, x);
    return;
  }
  if (!to_real && !to_integer && to != 9)
    throw InputError("attribute 'to'", fmt::format("element type {} is not supported", to));
  const DType type = to_real ? DType::float32 : to_integer ? DType::int32 : DType::uint8;
  walk.set(node, nn::cast(walk.graph(), Walk::name_of(node), walk.any(node, 0), type));
}

void transpose(Walk& walk, const Node& node) {
  const Shape from = walk.shape(node, 0);
  std::vector<std::int64_t> axes = integers(node, "perm");
  if (axes.empty()) {
    for (std::size_t i = from.size(); i-- > 0;) axes.push_back(static_cast<std::int64_t>(i));
  }
  const Operand x = walk.operand(node, 0);
  if (const Fixed* weight = std::get_if<Fixed>(&x);
      weight != nullptr && from.size() == 2 && axes == std::vector<std::int64_t>{1, 0}) {
    Fixed seen = *weight;
    seen.transposed = !seen.transposed;
    std::reverse(seen.tensor.shape.begin(), seen.tensor.shape.end());
    walk.set(node, seen);
    return;
  }
  Runtime seen;
  if (const Runtime* runtime = std::get_if<Runtime>(&x)) {
    seen = *runtime;
  } else {
    seen = walk.runtime(walk.type(node, 0) == Type::real ? walk.value(node, 0) : walk.any(node, 0));
  }
  seen.id = nn::permute(walk.graph(), Walk::name_of(node), seen.id, axes);
  walk.set(node, Operand{seen});
}

/// Where the batch is larger than in the file, what the file repeats for each of its samples is repeated for
/// each of these.
ValueId following_batch(Walk& walk, const Node& node, std::size_t i) {
  const ValueId x = walk.any(node, i);
  const auto batch = walk.rescaled_batch();
  Shape to = walk.graph().shape(x);
  if (!batch || batch->second != 1 || to.empty() || to.front() != 1) return x;
  for (std::size_t k = 0; k < node.inputs.size(); ++k) {
    const Shape other = walk.shape(node, k);
    if (other.size() != to.size() || other.front() != batch->first) continue;
    walk.notice("Concat for a batch of one follows the batch size chosen");
    to.front() = batch->first;
    return nn::expand(walk.graph(), fmt::format("{}.{}.batch", Walk::name_of(node), i), x, to);
  }
  return x;
}

void concat(Walk& walk, const Node& node) {
  const auto axis =
      static_cast<std::int64_t>(checked_axis(integer(node, "axis", 1), walk.shape(node, 0).size()));
  std::vector<ValueId> inputs;
  for (std::size_t i = 0; i < node.inputs.size(); ++i)
    inputs.push_back(axis == 0 ? walk.any(node, i) : following_batch(walk, node, i));
  if (inputs.size() == 1) {
    walk.set(node, inputs.front());
    return;
  }
  walk.set(node, nn::concat(walk.graph(), Walk::name_of(node), inputs, axis));
}

/// Copies along axes of size 1, as the class token of vision transformers has one per sample.
void expand(Walk& walk, const Node& node) {
  const Shape from = walk.shape(node, 0);
  const Shape to = broadcast(from, walk.known_integers(node, 1));
  if (to == from) {
    walk.set(node, walk.operand(node, 0));
    return;
  }
  walk.set(node, nn::expand(walk.graph(), Walk::name_of(node), walk.any(node, 0), to));
}

/// x `repeats` times along each axis, one after another: x seen with an axis of size 1 before each axis,
/// stretched.
void tile(Walk& walk, const Node& node) {
  const Shape from = walk.shape(node, 0);
  const std::vector<std::int64_t>& repeats = walk.known_integers(node, 1);
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
  if (to == from) {
    walk.set(node, walk.operand(node, 0));
    return;
  }
  GraphBuilder& g = walk.graph();
  const std::string name = Walk::name_of(node);
  const ValueId x = nn::reshape(g, name + ".apart", walk.any(node, 0), apart);
  const ValueId y = nn::expand(g, name, x, stretched);
  walk.set(node, stretched == to ? y : nn::reshape(g, name + ".shape", y, to));
}

void slice(Walk& walk, const Node& node) {
  const Shape from = walk.shape(node, 0);
  const std::vector<Range> ranges =
      slice_ranges(from, list(walk, node, 1, "starts"), list(walk, node, 2, "ends"),
                   list(walk, node, 3, "axes"), list(walk, node, 4, "steps"));
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
  const std::string name = Walk::name_of(node);
  if (to == from && reversed.empty()) {
    walk.set(node, walk.operand(node, 0));
    return;
  }
  ValueId y = walk.type(node, 0) == Type::real ? walk.value(node, 0) : walk.any(node, 0);
  if (to != from) y = sliced(walk, reversed.empty() ? name : name + ".part", y, starts, ends, steps);
  if (!reversed.empty()) y = nn::flip(walk.graph(), name, walk.row_major(name, y), reversed);
  walk.set(node, y);
}

void split(Walk& walk, const Node& node) {
  const Shape from = walk.shape(node, 0);
  const std::size_t axis = checked_axis(integer(node, "axis", 0), from.size());
  std::vector<std::int64_t> sizes = list(walk, node, 1, "split");
  if (sizes.empty()) {
    const auto parts = static_cast<std::int64_t>(node.outputs.size());
    const std::int64_t part = (from[axis] + parts - 1) / parts;
    for (std::int64_t i = 0; i < parts; ++i) sizes.push_back(std::min(part, from[axis] - part * i));
  }
  if (sizes.size() != node.outputs.size()) throw InputError("has not one size per output");
  const std::string name = Walk::name_of(node);
  const ValueId x = walk.any(node, 0);
  const auto is_read = [&](const std::string& output) { return !walk.readers(output).empty(); };
  if (std::all_of(node.outputs.begin(), node.outputs.end(), is_read)) {
    const std::vector<ValueId> parts =
        nn::split(walk.graph(), name, x, static_cast<std::int64_t>(axis), sizes);
    for (std::size_t i = 0; i < parts.size(); ++i) walk.set_output(node.outputs[i], walk.runtime(parts[i]));
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
    if (is_read(output) || walk.is_logits(output))
      walk.set_output(output,
                      walk.runtime(nn::slice(walk.graph(), fmt::format("{}.{}", name, i), x, start, end)));
    start[axis] = end[axis];
  }
  if (start[axis] != from[axis])
    throw InputError(fmt::format("the sizes ({}) do not add up to {}", fmt::join(sizes, ", "), from[axis]));
}

void pad(Walk& walk, const Node& node) {
  if (text(node, "mode", "constant") != "constant")
    throw InputError("attribute 'mode'", "must be 'constant'");
  const std::size_t rank = walk.shape(node, 0).size();
  const std::vector<std::int64_t> pads = list(walk, node, 1, "pads");
  double value = real(node, "value", 0.0);
  if (walk.has(node, 2)) {
    const std::optional<double> number = walk.scalar(node, 2);
    const std::optional<std::int64_t> whole = walk.whole_number(node, 2);
    if (!number && !whole) throw InputError("the value of the padding must be a known number");
    value = number ? *number : static_cast<double>(*whole);
  }
  std::vector<std::int64_t> axes = list(walk, node, 3, "axes");
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
    walk.set(node, walk.operand(node, 0));
    return;
  }
  walk.set(node, nn::pad(walk.graph(), Walk::name_of(node), walk.any(node, 0), before, after, value));
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
