// What a node reads, and what it gives.

#include <fmt/format.h>

#include <algorithm>

#include "poet/base/error.h"
#include "poet/frontend/onnx/lower/walk.h"
#include "poet/graph/nn.h"

namespace poet::onnx {

bool Walk::has(const Node& node, std::size_t i) const {
  return i < node.inputs.size() && !node.inputs[i].empty();
}

const Operand& Walk::operand(const Node& node, std::size_t i) const {
  if (!has(node, i)) throw InputError(fmt::format("input {} is missing", i));
  const auto found = operands_.find(node.inputs[i]);
  if (found == operands_.end() || std::holds_alternative<std::monostate>(found->second)) {
    throw InputError(fmt::format("reads '{}', a result that poet does not compute", node.inputs[i]));
  }
  return found->second;
}

bool Walk::is_runtime(const Node& node, std::size_t i) const {
  return has(node, i) && std::holds_alternative<Runtime>(operand(node, i));
}

bool Walk::is_data(const Node& node, std::size_t i) const {
  const Fixed* x = fixed(node, i);
  return x == nullptr ? is_runtime(node, i) : x->constant;
}

Type Walk::type(const Node& node, std::size_t i) const {
  const Operand& x = operand(node, i);
  if (const Fixed* known = std::get_if<Fixed>(&x)) return known->tensor.type;
  return std::get<Runtime>(x).type;
}

Runtime Walk::runtime(ValueId v) const {
  switch (graph_.dtype(v)) {
    case DType::uint8:
      return {v, 1.0, Type::boolean};
    case DType::float32:
      return {v, 1.0, Type::real};
    default:
      return {v, 1.0, Type::integer};
  }
}

const Fixed* Walk::fixed(const Node& node, std::size_t i) const {
  return has(node, i) ? std::get_if<Fixed>(&operand(node, i)) : nullptr;
}

Shape Walk::shape(const Node& node, std::size_t i) const {
  const Operand& x = operand(node, i);
  if (const Fixed* known = std::get_if<Fixed>(&x)) return known->tensor.shape;
  return graph_.shape(std::get<Runtime>(x).id);
}

std::optional<double> Walk::scalar(const Node& node, std::size_t i) const {
  const Fixed* x = fixed(node, i);
  if (x == nullptr || !x->tensor.known || x->tensor.reals.size() != 1) return std::nullopt;
  return x->tensor.reals.front();
}

std::optional<std::int64_t> Walk::whole_number(const Node& node, std::size_t i) const {
  const Fixed* x = fixed(node, i);
  if (x == nullptr || !x->tensor.known || x->tensor.integers.size() != 1) return std::nullopt;
  return x->tensor.integers.front();
}

const std::vector<std::int64_t>& Walk::known_integers(const Node& node, std::size_t i) const {
  const Fixed* x = std::get_if<Fixed>(&operand(node, i));
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

ValueId Walk::value(const Node& node, std::size_t i) {
  const Operand& x = operand(node, i);
  if (const Runtime* runtime = std::get_if<Runtime>(&x)) {
    if (runtime->type != Type::real) {
      throw InputError(fmt::format("input {} ('{}') holds {}; this operator reads real numbers", i,
                                   node.inputs[i],
                                   runtime->type == Type::boolean ? "truth values" : "integers"));
    }
    if (runtime->scale == 1.0) return runtime->id;
    const std::string name = fmt::format("{}.{}.scaled", name_of(node), i);
    return nn::scale(graph_, name, row_major(name, runtime->id), runtime->scale);
  }
  const Fixed& w = std::get<Fixed>(x);
  if (w.tensor.type != Type::real) {
    throw InputError(fmt::format("input {} ('{}') is a constant of type {}, which this operator cannot read",
                                 i, node.inputs[i], w.tensor.type_name));
  }
  // Numbers of one element are attributes elsewhere and no weights here either.
  const bool trains = !w.constant && (w.transposed || !scalar(node, i));
  if (!trains && !w.transposed) return constant(node, w);
  if (!trains) notice("constants of the file stay in RAM and do not train");
  const Persistence persistence = trains ? Persistence::parameter : Persistence::optimizer_state;
  if (!w.transposed) return parameter(node, w, w.tensor.shape, persistence, false);
  const ValueId stored = parameter(node, w, {w.tensor.shape[1], w.tensor.shape[0]}, persistence, false);
  return nn::permute(graph_, w.name + ".T", stored, {1, 0});
}

ValueId Walk::any(const Node& node, std::size_t i) {
  const Operand& x = operand(node, i);
  if (type(node, i) == Type::real) return row_major(node, i);
  if (const Runtime* known = std::get_if<Runtime>(&x))
    return row_major(fmt::format("{}.{}", name_of(node), i), known->id);
  const Fixed& w = std::get<Fixed>(x);
  if (w.tensor.type == Type::other || w.transposed) {
    throw InputError(
        fmt::format("input {} ('{}') is a constant of type {}{}, which this operator cannot read", i,
                    node.inputs[i], w.tensor.type_name, w.transposed ? ", transposed" : ""));
  }
  return constant(node, w);
}

ValueId Walk::row_major(const Node& node, std::size_t i) {
  return row_major(fmt::format("{}.{}", name_of(node), i), value(node, i));
}

ValueId Walk::row_major(const std::string& name, ValueId v) {
  const StridedShape layout = graph_.layout(v);
  if (layout.strides.empty()) return v;
  std::vector<std::int64_t> axes;
  for (std::size_t axis = 0; axis < layout.shape.size(); ++axis)
    axes.push_back(static_cast<std::int64_t>(axis));
  return nn::transpose(graph_, name + ".contiguous", v, axes);
}

void Walk::set(const Node& node, Operand result) {
  if (node.outputs.empty()) throw InputError("has no output");
  set_output(node.outputs.front(), std::move(result));
}

void Walk::set_output(const std::string& name, Operand result) { operands_[name] = std::move(result); }

std::optional<Tensor> Walk::declared(const std::string& result) const {
  const auto found = model_.declared.find(result);
  if (found == model_.declared.end() || !found->second.shape) return std::nullopt;
  Tensor tensor;
  tensor.type = found->second.type;
  tensor.type_name = found->second.type_name;
  for (const Dimension& d : *found->second.shape) {
    const auto symbol = symbols_.find(d.symbol);
    if (!d.size && symbol == symbols_.end()) return std::nullopt;
    tensor.shape.push_back(d.size ? *d.size : symbol->second);
  }
  if (rescaled_batch_ && !tensor.shape.empty() &&
      found->second.shape->front().size == rescaled_batch_->second)
    tensor.shape.front() *= rescaled_batch_->first;
  return tensor;
}

}  // namespace poet::onnx
