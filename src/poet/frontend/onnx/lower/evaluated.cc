#include "poet/frontend/onnx/lower/evaluated.h"

#include <fmt/format.h>

#include <algorithm>
#include <list>

#include "poet/base/error.h"
#include "poet/frontend/onnx/lower/constants.h"
#include "poet/frontend/onnx/lower/lowering.h"
#include "poet/frontend/onnx/lower/views.h"

namespace poet::onnx {
namespace {

constexpr std::int64_t kMostHeld = std::int64_t{1} << 26;

/// Returns whether the operator is only a view of a constant; its own rule then keeps the constant's name.
bool only_views(const Node& node, std::size_t rank) {
  if (!is_view(node)) return false;
  if (node.op_type == "Cast") return is_real_cast(node);
  return node.op_type != "Transpose" || rank == 2;
}

/// Returns the result of Shape or Size for a value of this shape, whether its elements are known or not.
Tensor of_shape(const Node& node, const Shape& whole) {
  if (node.op_type == "Size") {
    Tensor count = integer_list({element_count(whole)});
    count.shape = {};
    return count;
  }
  const auto rank = static_cast<std::int64_t>(whole.size());
  const std::int64_t start = integer(node, "start", 0);
  const std::int64_t end = integer(node, "end", rank);
  const std::int64_t from = std::clamp<std::int64_t>(start < 0 ? start + rank : start, 0, rank);
  const std::int64_t to = std::clamp<std::int64_t>(end < 0 ? end + rank : end, from, rank);
  return integer_list(Shape(whole.begin() + from, whole.begin() + to));
}

}  // namespace

bool was_evaluated(Lowering& net, const Node& node) {
  if (node.outputs.empty()) return false;
  if (node.op_type == "Shape" || node.op_type == "Size") {
    set_result(net, node, Fixed{node.outputs.front(), of_shape(node, shape_of(net, node, 0))});
    return true;
  }
  if (!is_evaluated(node.op_type)) return false;
  Operands inputs;
  std::list<Tensor> filled;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    const Fixed* x = fixed_of(net, node, i);
    inputs.push_back(x == nullptr ? nullptr : &x->tensor);
    if (x == nullptr || x->tensor.type != Type::real) continue;
    // Weights keep their names.
    if (x->role.trains || x->transposed) return false;
    if (element_count(x->tensor.shape) != 1 && only_views(node, x->tensor.shape.size())) return false;
    if (x->tensor.known || !x->tensor.fill) continue;
    filled.push_back(with_contents(x->tensor));
    inputs.back() = &filled.back();
  }
  std::optional<Tensor> result = evaluate(node, inputs, net.model.opset);
  if (!result) return false;
  // Each result is limited in size; this limits their sum.
  net.evaluated_elements += result->known ? element_count(result->shape) : 0;
  if (net.evaluated_elements > kMostHeld) {
    throw InputError(
        fmt::format("the constants that nodes make have more than {} elements together; store them as "
                    "initialisers",
                    kMostHeld));
  }
  const std::string& name = node.outputs.front();
  const bool is_stored = node.op_type == "Constant" || node.op_type == "ConstantOfShape";
  Role role = is_stored ? role_in(net.roles, name, *result) : Role{};
  set_result(net, node, Fixed{name, std::move(*result), false, std::move(role)});
  return true;
}

}  // namespace poet::onnx
