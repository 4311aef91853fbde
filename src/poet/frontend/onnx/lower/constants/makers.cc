// Operators that create tensors from attributes, shapes and bounds.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "poet/base/error.h"
#include "poet/frontend/onnx/lower/constants/rules.h"
#include "poet/frontend/onnx/read/read_model.h"

namespace poet::onnx::constants {

Tensor constant(const Node& node, const Operands& /*in*/, std::int64_t /*opset*/) {
  for (const auto& [name, value] : node.attributes) {
    Tensor out;
    if (name == "value" && std::holds_alternative<Tensor>(value)) return std::get<Tensor>(value);
    if (name == "value_ints") return integer_list(integers(node, name));
    if (name == "value_int") {
      out = integer_list({integer(node, name, 0)});
      out.shape = {};
      return out;
    }
    if (name == "value_float" || name == "value_floats") {
      out.known = true;
      if (name == "value_float") {
        out.reals = {real(node, name, 0)};
        return out;
      }
      out.reals = reals(node, name);
      out.shape = {static_cast<std::int64_t>(out.reals.size())};
      return out;
    }
  }
  throw InputError("a Constant must have one of the attributes value, value_int(s), value_float(s)");
}

Tensor constant_of_shape(const Node& node, const Operands& in, std::int64_t /*opset*/) {
  Tensor zero;
  zero.reals = {0.0};
  zero.known = true;
  zero.shape = {1};
  const Tensor value = tensor(node, "value", zero);
  for (const std::int64_t d : in.at(0)->integers) {
    if (d < 0) throw InputError(fmt::format("the shape {} has a negative dimension", shown(in[0]->integers)));
  }
  Tensor out;
  out.type = value.type;
  out.type_name = value.type_name;
  out.shape = in.at(0)->integers;
  const std::int64_t count = element_count(out.shape);
  (void)byte_count(out.shape, DType::int64);
  if (out.type == Type::real && value.known && size(value) == 1) out.fill = value.reals.front();
  // In files without the contents of weights, weights are created in this way.
  if (!value.known || size(value) != 1 || count > (out.type == Type::real ? kMostReals : kMostIntegers))
    return out;
  const std::optional<double> fill = out.fill;
  out = like(value, out.shape);
  out.fill = fill;
  for (std::size_t i = 0; out.known && i < size(out); ++i) copy(out, i, value, 0);
  return out;
}

Tensor range(const Node& /*node*/, const Operands& in, std::int64_t /*opset*/) {
  for (const Tensor* x : in)
    if (x->type != in[0]->type || x->type == Type::boolean || size(*x) != 1)
      throw InputError("a Range must have three single numbers of one type");
  if (in[0]->type == Type::real) {
    const double start = in[0]->reals[0], end = in.at(1)->reals[0], step = in.at(2)->reals[0];
    if (step == 0) throw InputError("the step of a Range must not be 0");
    Tensor out = like(*in[0], {truncated(std::max(std::ceil((end - start) / step), 0.0))});
    for (std::size_t i = 0; out.known && i < size(out); ++i)
      out.reals[i] = start + static_cast<double>(i) * step;
    return out;
  }
  const Range r{in.at(0)->integers[0], in.at(1)->integers[0], in.at(2)->integers[0]};
  if (r.step == 0) throw InputError("the step of a Range must not be 0");
  const double length =
      std::ceil((static_cast<double>(r.end) - static_cast<double>(r.start)) / static_cast<double>(r.step));
  Tensor out = like(*in[0], {truncated(std::max(length, 0.0))});
  for (std::size_t i = 0; out.known && i < size(out); ++i) {
    out.integers[i] = combine("Add", r.start, combine("Mul", static_cast<std::int64_t>(i), r.step));
  }
  return out;
}

Tensor identity(const Node& /*node*/, const Operands& in, std::int64_t /*opset*/) { return *in.at(0); }

}  // namespace poet::onnx::constants
