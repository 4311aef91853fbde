// Views, and copies in another order.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "poet/base/error.h"
#include "poet/frontend/onnx/operators.h"

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
    walk.set(node, Operand{Runtime{walk.graph().reshape(name, integers->id, to), 1.0, integers->type}});
    return;
  }
  walk.set(node, walk.graph().reshape(name, walk.row_major(node, 0), to));
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
      walk.notice("Reshape to a fixed batch size follows --batch-size");
    }
  }
  reshaped_to(walk, node, reshape_target(from, target, integer(node, "allowzero", 0) != 0));
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
  const Runtime* runtime = std::get_if<Runtime>(&x);
  const Type from = runtime != nullptr ? runtime->type : std::get<Fixed>(x).tensor.type;
  if ((from == Type::real && to_real) || (from == Type::integer && to_integer)) {
    walk.set(node, x);
    return;
  }
  throw InputError(
      "converts between integers and real numbers at run time, which poet cannot; feed the converted "
      "values as an input");
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
    seen.id = walk.value(node, 0);
  }
  seen.id = walk.graph().permute(Walk::name_of(node), seen.id, axes);
  walk.set(node, Operand{seen});
}

void concat(Walk& walk, const Node& node) {
  const auto axis =
      static_cast<std::int64_t>(checked_axis(integer(node, "axis", 1), walk.shape(node, 0).size()));
  std::vector<ValueId> inputs;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) inputs.push_back(walk.row_major(node, i));
  if (inputs.size() == 1) {
    walk.set(node, inputs.front());
    return;
  }
  walk.set(node, walk.graph().concat(Walk::name_of(node), inputs, axis));
}

/// Copies along axes of size 1, as the class token of vision transformers has one per sample.
void expand(Walk& walk, const Node& node) {
  const Shape from = walk.shape(node, 0);
  const Shape to = broadcast(from, walk.known_integers(node, 1));
  if (to == from) {
    walk.set(node, walk.operand(node, 0));
    return;
  }
  constexpr std::int64_t kMostCopies = 4096;
  const std::string name = Walk::name_of(node);
  ValueId x = walk.row_major(node, 0);
  Shape now(to.size() - from.size(), 1);
  now.insert(now.end(), from.begin(), from.end());
  if (now != from) x = walk.graph().reshape(name + ".shape", x, now);
  for (std::size_t axis = to.size(); axis-- > 0;) {
    if (now[axis] == to[axis]) continue;
    if (to[axis] < 1 || to[axis] > kMostCopies) {
      throw InputError(fmt::format("makes {} copies; 1 to {} are supported", to[axis], kMostCopies));
    }
    const std::vector<ValueId> copies(static_cast<std::size_t>(to[axis]), x);
    x = walk.graph().concat(fmt::format("{}.{}", name, axis), copies, static_cast<std::int64_t>(axis));
    now[axis] = to[axis];
  }
  walk.set(node, x);
}

void slice(Walk& walk, const Node& node) {
  const Shape from = walk.shape(node, 0);
  const std::vector<Range> ranges =
      slice_ranges(from, list(walk, node, 1, "starts"), list(walk, node, 2, "ends"),
                   list(walk, node, 3, "axes"), list(walk, node, 4, "steps"));
  std::vector<std::int64_t> starts;
  std::vector<std::int64_t> ends;
  std::vector<std::int64_t> steps;
  Shape to;
  for (const Range& range : ranges) {
    starts.push_back(range.start);
    ends.push_back(range.end);
    steps.push_back(range.step);
    to.push_back(range_length(range));
    if (range.step < 0) throw InputError("negative steps (reversed order) are not supported");
  }
  if (to == from) {
    walk.set(node, walk.operand(node, 0));
    return;
  }
  walk.set(node, walk.graph().slice(Walk::name_of(node), walk.row_major(node, 0), starts, ends, steps));
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
  const std::vector<ValueId> parts = walk.graph().split(Walk::name_of(node), walk.row_major(node, 0),
                                                        static_cast<std::int64_t>(axis), sizes);
  for (std::size_t i = 0; i < parts.size(); ++i) walk.set_output(node.outputs[i], Runtime{parts[i]});
}

void pad(Walk& walk, const Node& node) {
  if (text(node, "mode", "constant") != "constant")
    throw InputError("attribute 'mode'", "must be 'constant'");
  const std::size_t rank = walk.shape(node, 0).size();
  const std::vector<std::int64_t> pads = list(walk, node, 1, "pads");
  double value = real(node, "value", 0.0);
  if (walk.has(node, 2)) {
    const std::optional<double> number = walk.scalar(node, 2);
    if (!number) throw InputError("the value of the padding must be a known real number");
    value = *number;
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
  walk.set(node, walk.graph().pad(Walk::name_of(node), walk.row_major(node, 0), before, after, value));
}

}  // namespace

const std::vector<OperatorEntry>& layout_operators() {
  static const std::vector<OperatorEntry> entries = {
      {"Cast", cast},         {"Concat", concat},   {"Expand", expand},       {"Flatten", flatten},
      {"Identity", identity}, {"Pad", pad},         {"Reshape", reshape},     {"Slice", slice},
      {"Split", split},       {"Squeeze", squeeze}, {"Transpose", transpose}, {"Unsqueeze", unsqueeze},
  };
  return entries;
}

}  // namespace poet::onnx
