#include "poet/frontend/onnx/constants.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>

#include "poet/base/error.h"
#include "poet/frontend/onnx/read_model.h"
#include "poet/graph/strides.h"

namespace poet::onnx {
namespace {

std::string shown(const Shape& shape) { return fmt::format("({})", fmt::join(shape, ", ")); }

template <class T>
T attribute(const Node& node, const std::string& name, const T& otherwise, const char* type) {
  const auto found = node.attributes.find(name);
  if (found == node.attributes.end()) return otherwise;
  const T* value = std::get_if<T>(&found->second);
  if (value == nullptr)
    throw InputError(fmt::format("attribute '{}'", name), fmt::format("must be {}", type));
  return *value;
}

std::size_t size(const Tensor& tensor) { return static_cast<std::size_t>(element_count(tensor.shape)); }

/// An empty tensor of this type and shape, to be filled. What is too large to hold is not known.
Tensor like(const Tensor& type, Shape shape) {
  Tensor out;
  out.type = type.type;
  out.type_name = type.type_name;
  out.shape = std::move(shape);
  out.known = element_count(out.shape) <= kMostIntegers;
  if (!out.known) return out;
  if (out.type == Type::real) {
    out.reals.resize(size(out));
  } else {
    out.integers.resize(size(out));
  }
  return out;
}

void copy(Tensor& to, std::size_t i, const Tensor& from, std::size_t j) {
  if (to.type == Type::real) {
    to.reals[i] = from.reals[j];
  } else {
    to.integers[i] = from.integers[j];
  }
}

/// The index in row-major `shape`, broadcast to `to`, of element `i` of row-major `to`.
std::size_t broadcast_index(std::size_t i, const Shape& to, const Shape& shape) {
  std::size_t index = 0;
  std::size_t stride = 1;
  for (std::size_t k = 1; k <= to.size(); ++k) {
    const auto extent = static_cast<std::size_t>(to[to.size() - k]);
    const std::size_t at = i % extent;
    i /= extent;
    if (k > shape.size()) continue;
    const auto own = static_cast<std::size_t>(shape[shape.size() - k]);
    if (own > 1) index += at * stride;
    stride *= own;
  }
  return index;
}

[[noreturn]] void overflow() { throw InputError("integers overflow while shapes are computed"); }

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

double combine(const std::string& op, double a, double b) {
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

// Every rule below gets inputs that are known.
using In = Operands;

Tensor binary(const Node& node, const In& in, std::int64_t /*opset*/) {
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
      out.reals[i] = combine(node.op_type, a.reals[j], b.reals[k]);
    } else {
      out.integers[i] = static_cast<std::int64_t>(combine(node.op_type, a.reals[j], b.reals[k]));
    }
  }
  return out;
}

Tensor unary(const Node& node, const In& in, std::int64_t /*opset*/) {
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
    else if (op == "Log")
      x = std::log(x);
    else
      throw InputError("this operator is for booleans");
  }
  return out;
}

/// Saturates: exporters use the largest double for "to the end".
std::int64_t truncated(double x) {
  if (std::isnan(x)) return 0;
  if (x >= 9.2e18) return std::numeric_limits<std::int64_t>::max();
  if (x <= -9.2e18) return std::numeric_limits<std::int64_t>::min();
  return static_cast<std::int64_t>(x);
}

Tensor cast(const Node& node, const In& in, std::int64_t /*opset*/) {
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

Tensor with_shape(const Tensor& x, Shape shape) {
  if (element_count(shape) != element_count(x.shape)) {
    throw InputError(
        fmt::format("makes {} of {}: the numbers of elements differ", shown(shape), shown(x.shape)));
  }
  Tensor out = x;
  out.shape = std::move(shape);
  return out;
}

/// From the attribute (older opsets) or the input (newer ones).
std::vector<std::int64_t> list(const Node& node, const In& in, std::size_t position,
                               const std::string& name) {
  if (position < in.size() && in[position] != nullptr) return in[position]->integers;
  return integers(node, name);
}

Tensor reshape(const Node& node, const In& in, std::int64_t /*opset*/) {
  return with_shape(*in.at(0), reshape_target(in.at(0)->shape, list(node, in, 1, "shape"),
                                              integer(node, "allowzero", 0) != 0));
}

Tensor squeeze(const Node& node, const In& in, std::int64_t /*opset*/) {
  return with_shape(*in.at(0), squeezed(in.at(0)->shape, list(node, in, 1, "axes")));
}

Tensor unsqueeze(const Node& node, const In& in, std::int64_t /*opset*/) {
  return with_shape(*in.at(0), unsqueezed(in.at(0)->shape, list(node, in, 1, "axes")));
}

Tensor gather(const Node& node, const In& in, std::int64_t /*opset*/) {
  const Tensor& x = *in.at(0);
  const Tensor& ids = *in.at(1);
  const std::size_t axis = checked_axis(integer(node, "axis", 0), x.shape.size());
  Shape shape(x.shape.begin(), x.shape.begin() + static_cast<std::ptrdiff_t>(axis));
  const auto outer = static_cast<std::size_t>(element_count(shape));
  const Shape tail(x.shape.begin() + static_cast<std::ptrdiff_t>(axis) + 1, x.shape.end());
  const auto inner = static_cast<std::size_t>(element_count(tail));
  const auto extent = static_cast<std::size_t>(x.shape[axis]);
  shape.insert(shape.end(), ids.shape.begin(), ids.shape.end());
  shape.insert(shape.end(), tail.begin(), tail.end());
  Tensor out = like(x, shape);
  if (!out.known) return out;
  std::size_t i = 0;
  for (std::size_t o = 0; o < outer; ++o) {
    for (const std::int64_t id : ids.integers) {
      const std::size_t at = checked_axis(id, extent);
      for (std::size_t k = 0; k < inner; ++k) copy(out, i++, x, (o * extent + at) * inner + k);
    }
  }
  return out;
}

Tensor slice(const Node& node, const In& in, std::int64_t /*opset*/) {
  const Tensor& x = *in.at(0);
  const std::vector<Range> ranges =
      slice_ranges(x.shape, list(node, in, 1, "starts"), list(node, in, 2, "ends"), list(node, in, 3, "axes"),
                   list(node, in, 4, "steps"));
  Shape shape;
  for (const Range& range : ranges) shape.push_back(range_length(range));
  Tensor out = like(x, shape);
  for (std::size_t i = 0; out.known && i < size(out); ++i) {
    std::size_t rest = i;
    std::size_t from = 0;
    std::size_t stride = 1;
    for (std::size_t axis = shape.size(); axis-- > 0;) {
      const auto extent = static_cast<std::size_t>(shape[axis]);
      const std::int64_t at =
          ranges[axis].start + static_cast<std::int64_t>(rest % extent) * ranges[axis].step;
      rest /= extent;
      from += static_cast<std::size_t>(at) * stride;
      stride *= static_cast<std::size_t>(x.shape[axis]);
    }
    copy(out, i, x, from);
  }
  return out;
}

Tensor concat(const Node& node, const In& in, std::int64_t /*opset*/) {
  const Tensor& first = *in.at(0);
  const std::size_t axis = checked_axis(integer(node, "axis", 1), first.shape.size());
  Shape shape = first.shape;
  shape[axis] = 0;
  for (const Tensor* x : in) {
    Shape same = x->shape;
    if (same.size() != shape.size() || x->type != first.type)
      throw InputError("its inputs do not fit together");
    shape[axis] = combine("Add", shape[axis], same[axis]);
    same[axis] = first.shape[axis];
    if (same != first.shape) throw InputError("its inputs differ in another axis than the one joined");
  }
  Tensor out = like(first, shape);
  if (!out.known) return out;
  const auto outer = static_cast<std::size_t>(
      element_count(Shape(shape.begin(), shape.begin() + static_cast<std::ptrdiff_t>(axis))));
  std::size_t i = 0;
  for (std::size_t o = 0; o < outer; ++o) {
    for (const Tensor* x : in) {
      const std::size_t run = size(*x) / outer;
      for (std::size_t k = 0; k < run; ++k) copy(out, i++, *x, o * run + k);
    }
  }
  return out;
}

Tensor transpose(const Node& node, const In& in, std::int64_t /*opset*/) {
  const Tensor& x = *in.at(0);
  std::vector<std::int64_t> reversed;
  for (std::size_t axis = x.shape.size(); axis-- > 0;) reversed.push_back(static_cast<std::int64_t>(axis));
  const StridedShape from = permuted({x.shape, {}}, integers(node, "perm", reversed));
  const Shape strides = from.strides.empty() ? row_major_strides(from.shape) : from.strides;
  Tensor out = like(x, from.shape);
  for (std::size_t i = 0; out.known && i < size(out); ++i) {
    std::size_t rest = i;
    std::size_t at = 0;
    for (std::size_t axis = from.shape.size(); axis-- > 0;) {
      const auto extent = static_cast<std::size_t>(from.shape[axis]);
      at += rest % extent * static_cast<std::size_t>(strides[axis]);
      rest /= extent;
    }
    copy(out, i, x, at);
  }
  return out;
}

Tensor where(const Node& /*node*/, const In& in, std::int64_t /*opset*/) {
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

Tensor expand(const Node& /*node*/, const In& in, std::int64_t /*opset*/) {
  Tensor out = like(*in.at(0), broadcast(in.at(0)->shape, in.at(1)->integers));
  for (std::size_t i = 0; out.known && i < size(out); ++i) {
    copy(out, i, *in[0], broadcast_index(i, out.shape, in[0]->shape));
  }
  return out;
}

Tensor range(const Node& /*node*/, const In& in, std::int64_t /*opset*/) {
  for (const Tensor* x : in) {
    if (x->type != Type::integer || size(*x) != 1) throw InputError("a Range must have integer bounds");
  }
  const Range r{in.at(0)->integers[0], in.at(1)->integers[0], in.at(2)->integers[0]};
  if (r.step == 0) throw InputError("the step of a Range must not be 0");
  const double length =
      std::ceil((static_cast<double>(r.end) - static_cast<double>(r.start)) / static_cast<double>(r.step));
  Tensor out = like(*in[0], {truncated(std::max(length, 0.0))});
  for (std::size_t i = 0; out.known && i < size(out); ++i) {
    out.integers[i] = r.start + static_cast<std::int64_t>(i) * r.step;
  }
  return out;
}

Tensor product(const Node& node, const In& in, std::int64_t /*opset*/) {
  if (in.at(0)->type != Type::integer || in[0]->shape.size() != 1)
    throw InputError("only of lists of integers");
  Tensor out = like(*in[0], integer(node, "keepdims", 1) != 0 ? Shape{1} : Shape{});
  out.integers[0] = 1;
  for (const std::int64_t x : in[0]->integers) out.integers[0] = combine("Mul", out.integers[0], x);
  return out;
}

Tensor constant(const Node& node, const In& /*in*/, std::int64_t /*opset*/) {
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
      out.reals = attribute<std::vector<double>>(node, name, {}, "a list of numbers");
      out.shape = {static_cast<std::int64_t>(out.reals.size())};
      return out;
    }
  }
  throw InputError("a Constant must have one of the attributes value, value_int(s), value_float(s)");
}

Tensor constant_of_shape(const Node& node, const In& in, std::int64_t /*opset*/) {
  Tensor zero;
  zero.reals = {0.0};
  zero.known = true;
  zero.shape = {1};
  const Tensor value = attribute<Tensor>(node, "value", zero, "a tensor");
  for (const std::int64_t d : in.at(0)->integers) {
    if (d < 0) throw InputError(fmt::format("the shape {} has a negative dimension", shown(in[0]->integers)));
  }
  Tensor out;
  out.type = value.type;
  out.type_name = value.type_name;
  out.shape = in.at(0)->integers;
  const std::int64_t count = element_count(out.shape);
  (void)byte_count(out.shape, DType::int64);
  // Weights come this way where a file goes without their contents.
  if (!value.known || size(value) != 1 || count > (out.type == Type::real ? kMostReals : kMostIntegers))
    return out;
  out = like(value, out.shape);
  for (std::size_t i = 0; out.known && i < size(out); ++i) copy(out, i, value, 0);
  return out;
}

Tensor identity(const Node& /*node*/, const In& in, std::int64_t /*opset*/) { return *in.at(0); }

using Rule = Tensor (*)(const Node&, const In&, std::int64_t);

struct Entry {
  Rule rule;
  std::size_t least_inputs;
};

const std::map<std::string, Entry>& rules() {
  static const std::map<std::string, Entry> table = {
      {"Abs", {unary, 1}},           {"Add", {binary, 2}},
      {"And", {binary, 2}},          {"Cast", {cast, 1}},
      {"Ceil", {unary, 1}},          {"Concat", {concat, 1}},
      {"Constant", {constant, 0}},   {"ConstantOfShape", {constant_of_shape, 1}},
      {"Div", {binary, 2}},          {"Equal", {binary, 2}},
      {"Exp", {unary, 1}},           {"Expand", {expand, 2}},
      {"Floor", {unary, 1}},         {"Gather", {gather, 2}},
      {"Greater", {binary, 2}},      {"GreaterOrEqual", {binary, 2}},
      {"Identity", {identity, 1}},   {"Less", {binary, 2}},
      {"LessOrEqual", {binary, 2}},  {"Log", {unary, 1}},
      {"Max", {binary, 2}},          {"Min", {binary, 2}},
      {"Mod", {binary, 2}},          {"Mul", {binary, 2}},
      {"Neg", {unary, 1}},           {"Not", {unary, 1}},
      {"Or", {binary, 2}},           {"Pow", {binary, 2}},
      {"Range", {range, 3}},         {"Reciprocal", {unary, 1}},
      {"ReduceProd", {product, 1}},  {"Reshape", {reshape, 1}},
      {"Slice", {slice, 1}},         {"Sqrt", {unary, 1}},
      {"Squeeze", {squeeze, 1}},     {"Sub", {binary, 2}},
      {"Transpose", {transpose, 1}}, {"Unsqueeze", {unsqueeze, 1}},
      {"Where", {where, 3}},
  };
  return table;
}

}  // namespace

Tensor integer_list(const std::vector<std::int64_t>& elements) {
  Tensor out;
  out.type = Type::integer;
  out.type_name = "int64";
  out.shape = {static_cast<std::int64_t>(elements.size())};
  out.known = true;
  out.integers = elements;
  return out;
}

Shape broadcast(const Shape& a, const Shape& b) {
  const std::size_t rank = std::max(a.size(), b.size());
  Shape out(rank);
  for (std::size_t k = 1; k <= rank; ++k) {
    const std::int64_t x = k <= a.size() ? a[a.size() - k] : 1;
    const std::int64_t y = k <= b.size() ? b[b.size() - k] : 1;
    if (x != y && x != 1 && y != 1) {
      throw InputError(fmt::format("the shapes {} and {} do not broadcast", shown(a), shown(b)));
    }
    out[rank - k] = x == 1 ? y : x;
  }
  return out;
}

std::size_t checked_axis(std::int64_t axis, std::size_t rank) {
  const auto size = static_cast<std::int64_t>(rank);
  if (axis < -size || axis >= size) throw InputError(fmt::format("{} is not in [-{}, {})", axis, size, size));
  return static_cast<std::size_t>(axis < 0 ? axis + size : axis);
}

Shape unsqueezed(const Shape& shape, const std::vector<std::int64_t>& axes) {
  const std::size_t rank = shape.size() + axes.size();
  std::vector<bool> is_new(rank, false);
  for (const std::int64_t axis : axes) {
    const std::size_t at = checked_axis(axis, rank);
    if (is_new[at]) throw InputError(fmt::format("the axes ({}) repeat one", fmt::join(axes, ", ")));
    is_new[at] = true;
  }
  Shape out;
  auto next = shape.begin();
  for (std::size_t i = 0; i < rank; ++i) out.push_back(is_new[i] ? 1 : *next++);
  return out;
}

Shape squeezed(const Shape& shape, const std::vector<std::int64_t>& axes) {
  std::vector<bool> gone(shape.size(), false);
  for (const std::int64_t axis : axes) {
    const std::size_t at = checked_axis(axis, shape.size());
    if (shape[at] != 1) throw InputError(fmt::format("axis {} of {} is not of size 1", axis, shown(shape)));
    gone[at] = true;
  }
  Shape out;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (axes.empty() ? shape[i] != 1 : !gone[i]) out.push_back(shape[i]);
  }
  return out;
}

Shape reshape_target(const Shape& shape, const std::vector<std::int64_t>& target, bool allow_zero) {
  Shape out = target;
  std::optional<std::size_t> open;
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (out[i] == 0 && !allow_zero) {
      if (i >= shape.size()) throw InputError(fmt::format("keeps dimension {} of {}", i, shown(shape)));
      out[i] = shape[i];
    }
    if (out[i] < -1 || (out[i] == -1 && open)) {
      throw InputError(fmt::format("the target {} is no shape", shown(target)));
    }
    if (out[i] == -1) open = i;
  }
  if (!open) return out;
  out[*open] = 1;
  const std::int64_t rest = element_count(out);
  const std::int64_t all = element_count(shape);
  if (rest == 0 || all % rest != 0) {
    throw InputError(fmt::format("{} elements do not fill {}", all, shown(target)));
  }
  out[*open] = all / rest;
  return out;
}

std::vector<Range> slice_ranges(const Shape& shape, const std::vector<std::int64_t>& starts,
                                const std::vector<std::int64_t>& ends, const std::vector<std::int64_t>& axes,
                                const std::vector<std::int64_t>& steps) {
  if (starts.size() != ends.size() || (!axes.empty() && axes.size() != starts.size()) ||
      (!steps.empty() && steps.size() != starts.size()) || starts.size() > shape.size()) {
    throw InputError("starts, ends, axes and steps must be lists of one length");
  }
  std::vector<Range> out;
  for (const std::int64_t d : shape) out.push_back({0, d, 1});
  for (std::size_t i = 0; i < starts.size(); ++i) {
    const std::size_t axis =
        checked_axis(axes.empty() ? static_cast<std::int64_t>(i) : axes[i], shape.size());
    const std::int64_t size = shape[axis];
    const std::int64_t step = steps.empty() ? 1 : steps[i];
    if (step == 0 || step == std::numeric_limits<std::int64_t>::min())
      throw InputError("a step must not be 0");
    const auto from_front = [size](std::int64_t x) { return x < 0 ? x + size : x; };
    if (step > 0) {
      out[axis] = {std::clamp<std::int64_t>(from_front(starts[i]), 0, size),
                   std::clamp<std::int64_t>(from_front(ends[i]), 0, size), step};
    } else {
      out[axis] = {std::clamp<std::int64_t>(from_front(starts[i]), -1, size - 1),
                   std::clamp<std::int64_t>(from_front(ends[i]), -1, size - 1), step};
    }
  }
  return out;
}

std::int64_t range_length(const Range& range) {
  const std::int64_t span = range.step > 0 ? range.end - range.start : range.start - range.end;
  const std::int64_t step = range.step > 0 ? range.step : -range.step;
  return span <= 0 ? 0 : (span - 1) / step + 1;
}

bool is_evaluated(const std::string& op_type) { return rules().contains(op_type); }

std::optional<Tensor> evaluate(const Node& node, const Operands& inputs, std::int64_t opset) {
  const auto found = rules().find(node.op_type);
  if (found == rules().end() || !node.domain.empty()) return std::nullopt;
  if (inputs.size() < found->second.least_inputs) {
    throw InputError(fmt::format("has {} inputs but needs {}", inputs.size(), found->second.least_inputs));
  }
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const bool left_out = i < node.inputs.size() && node.inputs[i].empty();
    if (left_out && i >= found->second.least_inputs) continue;
    if (inputs[i] == nullptr || !inputs[i]->known || inputs[i]->type == Type::other) return std::nullopt;
    // Lists that describe what to do are integers in every operator that has them.
    const bool lists = node.op_type == "Reshape" || node.op_type == "Squeeze" ||
                       node.op_type == "Unsqueeze" || node.op_type == "Slice" || node.op_type == "Gather" ||
                       node.op_type == "Expand";
    if ((lists && i > 0 ? true : node.op_type == "ConstantOfShape") && inputs[i]->type != Type::integer) {
      throw InputError(fmt::format("input {} must hold integers", i));
    }
  }
  // Min and Max take any number of operands.
  if (found->second.rule == binary && inputs.size() > 2) return std::nullopt;
  Tensor out = found->second.rule(node, inputs, opset);
  return out;
}

std::int64_t integer(const Node& node, const std::string& name, std::int64_t otherwise) {
  return attribute<std::int64_t>(node, name, otherwise, "an integer");
}

double real(const Node& node, const std::string& name, double otherwise) {
  return attribute<double>(node, name, otherwise, "a number");
}

std::string text(const Node& node, const std::string& name, const std::string& otherwise) {
  return attribute<std::string>(node, name, otherwise, "a text");
}

std::vector<std::int64_t> integers(const Node& node, const std::string& name,
                                   const std::vector<std::int64_t>& otherwise) {
  return attribute<std::vector<std::int64_t>>(node, name, otherwise, "a list of integers");
}

}  // namespace poet::onnx
