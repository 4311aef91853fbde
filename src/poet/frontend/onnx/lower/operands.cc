#include "poet/frontend/onnx/lower/operands.h"

#include <fmt/format.h>

#include "poet/base/error.h"
#include "poet/frontend/onnx/lower/constants/attributes.h"
#include "poet/frontend/onnx/lower/lowering.h"
#include "poet/graph/nn.h"

namespace poet::onnx {

bool has_input(const Node& node, std::size_t i) { return i < node.inputs.size() && !node.inputs[i].empty(); }

const std::string& input_name(const Node& node, std::size_t i) {
  if (!has_input(node, i)) throw InputError(fmt::format("input {} is missing", i));
  return node.inputs[i];
}

const Operand& operand_of(const Lowering& net, const Node& node, std::size_t i) {
  const auto found = net.operands.find(input_name(node, i));
  if (found == net.operands.end() || std::holds_alternative<std::monostate>(found->second)) {
    throw InputError(fmt::format("reads '{}', a result that poet does not compute", node.inputs[i]));
  }
  return found->second;
}

bool is_runtime(const Lowering& net, const Node& node, std::size_t i) {
  return has_input(node, i) && std::holds_alternative<Runtime>(operand_of(net, node, i));
}

bool is_data(const Lowering& net, const Node& node, std::size_t i) {
  const Fixed* x = fixed_of(net, node, i);
  return x == nullptr ? is_runtime(net, node, i) : !x->role.trains;
}

Type type_of(const Lowering& net, const Node& node, std::size_t i) {
  const Operand& x = operand_of(net, node, i);
  if (const Fixed* known = std::get_if<Fixed>(&x)) return known->tensor.type;
  return std::get<Runtime>(x).type;
}

Runtime runtime_of(const GraphBuilder& graph, ValueId v) {
  switch (graph.dtype(v)) {
    case DType::uint8:
      return {v, 1.0, Type::boolean};
    case DType::float32:
      return {v, 1.0, Type::real};
    default:
      return {v, 1.0, Type::integer};
  }
}

const Fixed* fixed_of(const Lowering& net, const Node& node, std::size_t i) {
  return has_input(node, i) ? std::get_if<Fixed>(&operand_of(net, node, i)) : nullptr;
}

Shape shape_of(const Lowering& net, const Node& node, std::size_t i) {
  const Operand& x = operand_of(net, node, i);
  if (const Fixed* known = std::get_if<Fixed>(&x)) return known->tensor.shape;
  return net.builder.shape(std::get<Runtime>(x).id);
}

std::optional<double> scalar_of(const Lowering& net, const Node& node, std::size_t i) {
  const Fixed* x = fixed_of(net, node, i);
  if (x == nullptr || x->role.trains || !x->tensor.known || x->tensor.reals.size() != 1) return std::nullopt;
  return x->tensor.reals.front();
}

std::optional<std::int64_t> whole_number(const Lowering& net, const Node& node, std::size_t i) {
  const Fixed* x = fixed_of(net, node, i);
  if (x == nullptr || !x->tensor.known || x->tensor.integers.size() != 1) return std::nullopt;
  return x->tensor.integers.front();
}

const std::vector<std::int64_t>& known_integers(const Lowering& net, const Node& node, std::size_t i) {
  const Fixed* x = std::get_if<Fixed>(&operand_of(net, node, i));
  if (x == nullptr || x->tensor.type == Type::real || !x->tensor.known) {
    if (x != nullptr && x->tensor.type != Type::real && x->tensor.external) {
      throw InputError(
          fmt::format("input {} ('{}') is kept in another file, which poet does not read; save small tensors "
                      "within the model (size_threshold)",
                      i, node.inputs[i]));
    }
    throw InputError(
        fmt::format("input {} ('{}') must be known while importing: poet plans fixed shapes; export with "
                    "constant shapes",
                    i, node.inputs[i]));
  }
  return x->tensor.integers;
}

std::vector<std::int64_t> integers_of(const Lowering& net, const Node& node, std::size_t i,
                                      const std::string& attribute) {
  return has_input(node, i) ? known_integers(net, node, i) : integers(node, attribute);
}

ValueId value_of(Lowering& net, const Node& node, std::size_t i) {
  const Operand& x = operand_of(net, node, i);
  if (const Runtime* runtime = std::get_if<Runtime>(&x)) {
    if (runtime->type != Type::real) {
      throw InputError(fmt::format("input {} ('{}') holds {}; this operator reads real numbers", i,
                                   node.inputs[i],
                                   runtime->type == Type::boolean ? "truth values" : "integers"));
    }
    if (runtime->scale == 1.0) return runtime->id;
    const std::string name = fmt::format("{}.{}.scaled", name_of(node), i);
    return nn::scale(net.builder, name, row_major(net.builder, name, runtime->id), runtime->scale);
  }
  const Fixed& w = std::get<Fixed>(x);
  if (w.tensor.type != Type::real) {
    throw InputError(fmt::format("input {} ('{}') is a constant of type {}, which this operator cannot read",
                                 i, node.inputs[i], w.tensor.type_name));
  }
  if (!w.transposed)
    return w.role.trains ? stored_value(net, node, w, w.tensor.shape) : constant_of(net, node, w);
  return stored_value(net, node, w, w.tensor.shape, true);
}

ValueId any_value(Lowering& net, const Node& node, std::size_t i) {
  const Operand& x = operand_of(net, node, i);
  if (type_of(net, node, i) == Type::real) return row_major(net, node, i);
  if (const Runtime* known = std::get_if<Runtime>(&x))
    return row_major(net.builder, fmt::format("{}.{}", name_of(node), i), known->id);
  const Fixed& w = std::get<Fixed>(x);
  if (w.tensor.type == Type::other || w.transposed) {
    throw InputError(
        fmt::format("input {} ('{}') is a constant of type {}{}, which this operator cannot read", i,
                    node.inputs[i], w.tensor.type_name, w.transposed ? ", transposed" : ""));
  }
  return constant_of(net, node, w);
}

ValueId row_major(Lowering& net, const Node& node, std::size_t i) {
  return row_major(net.builder, fmt::format("{}.{}", name_of(node), i), value_of(net, node, i));
}

ValueId row_major(GraphBuilder& graph, const std::string& name, ValueId v) {
  const StridedShape layout = graph.layout(v);
  if (layout.strides.empty()) return v;
  std::vector<std::int64_t> axes;
  for (std::size_t axis = 0; axis < layout.shape.size(); ++axis)
    axes.push_back(static_cast<std::int64_t>(axis));
  return nn::transpose(graph, name + ".contiguous", v, axes);
}

void set_result(Lowering& net, const Node& node, Operand result) {
  if (node.outputs.empty()) throw InputError("has no output");
  net.operands[node.outputs.front()] = std::move(result);
}

void set_result(Lowering& net, const Node& node, ValueId result) {
  set_result(net, node, Operand{runtime_of(net.builder, result)});
}

}  // namespace poet::onnx
