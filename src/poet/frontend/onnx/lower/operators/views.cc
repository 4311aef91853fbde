// Operators that change shape, order or type.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "poet/base/error.h"
#include "poet/frontend/onnx/fuse/patterns.h"
#include "poet/frontend/onnx/lower/operators.h"
#include "poet/frontend/onnx/lower/views.h"
#include "poet/graph/nn.h"

namespace poet::onnx {
namespace {

/// Reshapes the operand: a weight remains a weight, an integer input an input.
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

void reshape(Lowering& net, const Node& node) {
  const Shape from = shape_of(net, node, 0);
  std::vector<std::int64_t> target = integers_of(net, node, 1, "shape");
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
  reshaped_to(net, node, squeezed(shape_of(net, node, 0), integers_of(net, node, 1, "axes")));
}

void unsqueeze(Lowering& net, const Node& node) {
  reshaped_to(net, node, unsqueezed(shape_of(net, node, 0), integers_of(net, node, 1, "axes")));
}

/// An Identity of an initialiser is a tensor of its own where Uses say so.
void identity(Lowering& net, const Node& node) {
  Operand x = operand_of(net, node, 0);
  if (Fixed* weight = std::get_if<Fixed>(&x);
      weight != nullptr && !node.outputs.empty() && net.uses.parted.contains(node.outputs[0])) {
    weight->name = node.outputs.at(0);
    weight->role = role_in(net.roles, weight->name, weight->tensor);
    net.notices.add("an Identity of an initialiser is a tensor of its own");
  }
  set_result(net, node, std::move(x));
}

void cast(Lowering& net, const Node& node) {
  const Operand x = operand_of(net, node, 0);
  const std::int64_t to = integer(node, "to", 0);
  const bool to_real = is_real_cast(node);
  const bool to_integer = (to >= 2 && to <= 7) || to == 12 || to == 13;
  const Type from = type_of(net, node, 0);
  if (to_real && to != 1 && is_runtime(net, node, 0))
    net.notices.add(to == 11 ? "a Cast to double is taken as float32"
                             : fmt::format("a Cast to {} is taken as float32: nothing is rounded",
                                           to == 10 ? "float16" : "bfloat16"));
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

}  // namespace

const std::vector<OperatorEntry>& view_operators() {
  static const std::vector<OperatorEntry> entries = {
      {"Cast", cast},       {"Flatten", flatten},     {"Identity", identity},   {"Reshape", reshape},
      {"Squeeze", squeeze}, {"Transpose", transpose}, {"Unsqueeze", unsqueeze},
  };
  return entries;
}

}  // namespace poet::onnx
