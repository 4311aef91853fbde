// Element-wise operators with broadcasting.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "poet/base/error.h"
#include "poet/frontend/onnx/lower/constants/rules.h"

namespace poet::onnx::constants {
namespace {

[[noreturn]] void overflow() { throw InputError("integers overflow while shapes are computed"); }

double combine_reals(const std::string& op, double a, double b) {
  if (op == "Add") return a + b;
  if (op == "Sub") return a - b;
  if (op == "Mul") return a * b;
  if (op == "Div") return a / b;
  if (op == "Mod") return std::fmod(a, b);
  if (op == "Min") return std::min(a, b);
  if (op == "Max") return std::max(a, b);
  if (op == "Pow") return std::pow(a, b);
  if (op == "Equal") return static_cast<double>(a == b);
  if (op == "Less") return static_cast<double>(a < b);
  if (op == "LessOrEqual") return static_cast<double>(a <= b);
  if (op == "Greater") return static_cast<double>(a > b);
  if (op == "GreaterOrEqual") return static_cast<double>(a >= b);
  throw InputError("this operator is for integers and booleans");
}

bool compares(const std::string& op) {
  return op == "Equal" || op == "Less" || op == "LessOrEqual" || op == "Greater" || op == "GreaterOrEqual";
}

}  // namespace

std::int64_t combine(const std::string& op, std::int64_t a, std::int64_t b) {
  std::int64_t c = 0;
  if (op == "Add" || op == "Sub" || op == "Mul") {
    const bool overflows = op == "Add"   ? __builtin_add_overflow(a, b, &c)
                           : op == "Sub" ? __builtin_sub_overflow(a, b, &c)
                                         : __builtin_mul_overflow(a, b, &c);
    if (overflows) overflow();
    return c;
  }
  if (op == "Div" || op == "Mod") {
    if (b == 0) throw InputError("divides by zero");
    if (b == -1) return op == "Div" ? combine("Sub", 0, a) : 0;
    if (op == "Div") return a / b;
    c = a % b;
    return c != 0 && (c < 0) != (b < 0) ? c + b : c;
  }
  if (op == "Min") return std::min(a, b);
  if (op == "Max") return std::max(a, b);
  if (op == "And") return static_cast<std::int64_t>(a != 0 && b != 0);
  if (op == "Xor") return static_cast<std::int64_t>((a != 0) != (b != 0));
  if (op == "Or") return static_cast<std::int64_t>(a != 0 || b != 0);
  if (op == "Equal") return static_cast<std::int64_t>(a == b);
  if (op == "Less") return static_cast<std::int64_t>(a < b);
  if (op == "LessOrEqual") return static_cast<std::int64_t>(a <= b);
  if (op == "Greater") return static_cast<std::int64_t>(a > b);
  if (op == "GreaterOrEqual") return static_cast<std::int64_t>(a >= b);
  if (op == "Pow") {
    const double power = std::pow(static_cast<double>(a), static_cast<double>(b));
    if (!(std::fabs(power) < 9e15)) overflow();
    return static_cast<std::int64_t>(power);
  }
  throw InternalError("evaluate: an integer operator without a rule");
}

Tensor binary(const Node& node, const Operands& in, std::int64_t /*opset*/) {
  const Tensor& a = *in.at(0);
  const Tensor& b = *in.at(1);
  const bool reals = a.type == Type::real;
  if (reals != (b.type == Type::real)) throw InputError("its operands have different element types");
  Tensor type = a;
  if (compares(node.op_type)) {
    type.type = Type::boolean;
    type.type_name = "bool";
  }
  Tensor out = like(type, broadcast(a.shape, b.shape));
  for (std::size_t i = 0; out.known && i < size(out); ++i) {
    const std::size_t j = broadcast_index(i, out.shape, a.shape);
    const std::size_t k = broadcast_index(i, out.shape, b.shape);
    if (!reals) {
      out.integers[i] = combine(node.op_type, a.integers[j], b.integers[k]);
    } else if (out.type == Type::real) {
      out.reals[i] = combine_reals(node.op_type, a.reals[j], b.reals[k]);
    } else {
      out.integers[i] = static_cast<std::int64_t>(combine_reals(node.op_type, a.reals[j], b.reals[k]));
    }
  }
  return out;
}

Tensor unary(const Node& node, const Operands& in, std::int64_t /*opset*/) {
  Tensor out = *in.at(0);
  const std::string& op = node.op_type;
  for (std::int64_t& x : out.integers) {
    if (op == "Neg")
      x = combine("Sub", 0, x);
    else if (op == "Abs")
      x = x < 0 ? combine("Sub", 0, x) : x;
    else if (op == "Not")
      x = static_cast<std::int64_t>(x == 0);
    else if (op != "Floor" && op != "Ceil")
      throw InputError("this operator is for real numbers");
  }
  for (double& x : out.reals) {
    if (op == "Neg")
      x = -x;
    else if (op == "Abs")
      x = std::fabs(x);
    else if (op == "Sqrt")
      x = std::sqrt(x);
    else if (op == "Floor")
      x = std::floor(x);
    else if (op == "Ceil")
      x = std::ceil(x);
    else if (op == "Reciprocal")
      x = 1 / x;
    else if (op == "Exp")
      x = std::exp(x);
    else if (op == "Sin")
      x = std::sin(x);
    else if (op == "Cos")
      x = std::cos(x);
    else if (op == "Log")
      x = std::log(x);
    else
      throw InputError("this operator is for booleans");
  }
  return out;
}

Tensor cast(const Node& node, const Operands& in, std::int64_t /*opset*/) {
  const Tensor& x = *in.at(0);
  // The numbers are those of TensorProto.DataType.
  static const std::map<std::int64_t, std::pair<Type, std::string>> types = {
      {1, {Type::real, "float"}},      {10, {Type::real, "float16"}},   {11, {Type::real, "double"}},
      {16, {Type::real, "bfloat16"}},  {2, {Type::integer, "uint8"}},   {3, {Type::integer, "int8"}},
      {5, {Type::integer, "int16"}},   {6, {Type::integer, "int32"}},   {7, {Type::integer, "int64"}},
      {12, {Type::integer, "uint32"}}, {13, {Type::integer, "uint64"}}, {9, {Type::boolean, "bool"}}};
  const std::int64_t to = integer(node, "to", 0);
  const auto found = types.find(to);
  if (found == types.end())
    throw InputError("attribute 'to'", fmt::format("element type {} is not supported", to));
  Tensor type;
  type.type = found->second.first;
  type.type_name = found->second.second;
  Tensor out = like(type, x.shape);
  for (std::size_t i = 0; out.known && i < size(out); ++i) {
    const double number = x.type == Type::real ? x.reals[i] : static_cast<double>(x.integers[i]);
    if (out.type == Type::real)
      out.reals[i] = number;
    else if (out.type == Type::boolean)
      out.integers[i] = static_cast<std::int64_t>(number != 0);
    else
      out.integers[i] = x.type == Type::real ? truncated(number) : x.integers[i];
  }
  return out;
}

Tensor where(const Node& /*node*/, const Operands& in, std::int64_t /*opset*/) {
  const Tensor& condition = *in.at(0);
  const Tensor& yes = *in.at(1);
  const Tensor& no = *in.at(2);
  if (condition.type == Type::real || yes.type != no.type)
    throw InputError("its operands have unsuitable types");
  Tensor out = like(yes, broadcast(condition.shape, broadcast(yes.shape, no.shape)));
  for (std::size_t i = 0; out.known && i < size(out); ++i) {
    const bool chosen = condition.integers[broadcast_index(i, out.shape, condition.shape)] != 0;
    const Tensor& from = chosen ? yes : no;
    copy(out, i, from, broadcast_index(i, out.shape, from.shape));
  }
  return out;
}

Tensor clip(const Node& node, const Operands& in, std::int64_t /*opset*/) {
  Tensor out = *in.at(0);
  const auto bounded = [&](std::size_t i, const char* attribute, const char* op) {
    const Tensor* limit = i < in.size() ? in[i] : nullptr;
    if (limit != nullptr && (limit->type != out.type || size(*limit) != 1))
      throw InputError(fmt::format("input {} must be one number of the type of input 0", i));
    if (limit == nullptr && !node.attributes.contains(attribute)) return;
    const double number =
        limit == nullptr || limit->reals.empty() ? real(node, attribute, 0) : limit->reals[0];
    for (double& x : out.reals) x = combine_reals(op, x, number);
    for (std::int64_t& x : out.integers) x = limit == nullptr ? x : combine(op, x, limit->integers[0]);
  };
  bounded(1, "min", "Max");
  bounded(2, "max", "Min");
  out.fill.reset();
  return out;
}

Tensor product(const Node& node, const Operands& in, std::int64_t /*opset*/) {
  if (in.at(0)->type != Type::integer || in[0]->shape.size() != 1)
    throw InputError("only of lists of integers");
  Tensor out = like(*in[0], integer(node, "keepdims", 1) != 0 ? Shape{1} : Shape{});
  out.integers[0] = 1;
  for (const std::int64_t x : in[0]->integers) out.integers[0] = combine("Mul", out.integers[0], x);
  return out;
}

}  // namespace poet::onnx::constants
