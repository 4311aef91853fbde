// Element by element, softmax, dropout.

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "poet/base/error.h"
#include "poet/frontend/onnx/fuse/patterns.h"
#include "poet/frontend/onnx/fuse/patterns_activations.h"
#include "poet/frontend/onnx/lower/operators.h"
#include "poet/graph/nn.h"

namespace poet::onnx {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// x op c or c op x with a known number c.
ValueId with_number(Walk& walk, const Node& node, std::size_t position, double c) {
  GraphBuilder& g = walk.graph();
  const std::string name = Walk::name_of(node);
  const ValueId x = walk.row_major(node, position);
  const bool x_first = position == 0;
  if (const Fixed* number = walk.fixed(node, 1 - position); number != nullptr && !number->constant)
    walk.notice("single numbers that the file stores are constants and do not train");
  if (node.op_type == "Add" || node.op_type == "Sum") return nn::scale(g, name, x, 1.0, c);
  if (node.op_type == "Sub") return x_first ? nn::scale(g, name, x, 1.0, -c) : nn::scale(g, name, x, -1.0, c);
  if (node.op_type == "Mul") return nn::scale(g, name, x, c);
  if (x_first) {
    if (c == 0) throw InputError("divides by zero");
    return nn::scale(g, name, x, 1.0 / c);
  }
  const ValueId inverse = nn::unary(g, "pow", name + ".inverse", x, {{"exponent", -1.0}});
  return c == 1.0 ? inverse : nn::scale(g, name, inverse, c);
}

/// x + 0, x - 0, 1 x, x / 1: exporters write them for factors that may be others.
bool changes_nothing(const Node& node, std::size_t position, double c) {
  const bool adds = node.op_type == "Add" || node.op_type == "Sum";
  if (adds || node.op_type == "Sub") return c == 0.0 && (adds || position == 0);
  return c == 1.0 && (node.op_type == "Mul" || position == 0);
}

ValueId two(Walk& walk, const Node& node, const std::string& name, ValueId a, ValueId b) {
  GraphBuilder& g = walk.graph();
  if (node.op_type == "Sub") return nn::sub(g, name, a, b);
  if (node.op_type == "Mul") return nn::mul(g, name, a, b);
  if (node.op_type == "Div") return nn::div(g, name, a, b);
  return nn::add(g, name, a, b);
}

void arithmetic(Walk& walk, const Node& node) {
  if (node.attributes.contains("axis")) {
    throw InputError("attribute 'axis'",
                     "of opsets before 7 is not supported; convert the model to a newer one");
  }
  if (node.inputs.size() == 1) {
    walk.set(node, walk.operand(node, 0));
    return;
  }
  if (node.inputs.size() == 2) {
    for (const std::size_t position : {std::size_t{0}, std::size_t{1}}) {
      const std::optional<double> number = walk.scalar(node, 1 - position);
      // Of two numbers one is a weight: it varies.
      if (!number || (!walk.is_runtime(node, position) && walk.scalar(node, position))) continue;
      const Shape to = broadcast(walk.shape(node, 0), walk.shape(node, 1));
      const bool same_shape = to == walk.shape(node, position);
      if (same_shape && changes_nothing(node, position, *number)) {
        walk.set(node, walk.operand(node, position));
        return;
      }
      if (const Runtime* x = std::get_if<Runtime>(&walk.operand(node, position))) {
        if (became_gelu(walk, node, position) || became_hard_activation(walk, node, position, *number))
          return;
        const auto factor = factor_of(walk, node);
        if (factor && same_shape && x->type == Type::real && feeds_product_only(walk, node)) {
          walk.set(node, Operand{Runtime{x->id, x->scale * factor->second, x->type}});
          return;
        }
      }
      ValueId y = with_number(walk, node, position, *number);
      if (walk.graph().shape(y) != to) y = nn::reshape(walk.graph(), Walk::name_of(node) + ".shape", y, to);
      walk.set(node, y);
      return;
    }
  }
  const std::string name = Walk::name_of(node);
  ValueId y = walk.row_major(node, 0);
  for (std::size_t i = 1; i < node.inputs.size(); ++i) {
    const bool last = i + 1 == node.inputs.size();
    y = two(walk, node, last ? name : fmt::format("{}.{}", name, i), y, walk.row_major(node, i));
  }
  walk.set(node, y);
}

void clip(Walk& walk, const Node& node) {
  double minimum = real(node, "min", -kInfinity);
  double maximum = real(node, "max", kInfinity);
  const auto bound = [&](std::size_t i, double& to) {
    if (!walk.has(node, i)) return;
    const std::optional<double> number = walk.scalar(node, i);
    if (!number) throw InputError("the bounds must be known real numbers");
    to = *number;
  };
  bound(1, minimum);
  bound(2, maximum);
  if (minimum <= std::numeric_limits<float>::lowest()) minimum = -kInfinity;
  if (maximum >= std::numeric_limits<float>::max()) maximum = kInfinity;
  if (minimum == -kInfinity && maximum == kInfinity) {
    walk.set(node, walk.operand(node, 0));
    return;
  }
  walk.set(node, nn::clip(walk.graph(), Walk::name_of(node), walk.row_major(node, 0), minimum, maximum));
}

/// With a known number it is a clip; of values it is a comparison and a choice, as of integers.
void extremum(Walk& walk, const Node& node) {
  for (const std::size_t position : {std::size_t{0}, std::size_t{1}}) {
    if (node.inputs.size() != 2 || !walk.is_runtime(node, position)) continue;
    const std::optional<double> number = walk.scalar(node, 1 - position);
    if (!number || walk.shape(node, 1 - position).size() > walk.shape(node, position).size()) continue;
    const bool maximum = node.op_type == "Max";
    walk.set(node, nn::clip(walk.graph(), Walk::name_of(node), walk.row_major(node, position),
                            maximum ? *number : -kInfinity, maximum ? kInfinity : *number));
    return;
  }
  find_operator(node.op_type, true)(walk, node);
}

void gelu(Walk& walk, const Node& node) {
  if (text(node, "approximate", "none") != "none") {
    throw InputError("attribute 'approximate'", "must be 'none': poet computes the exact form");
  }
  walk.set(node, nn::gelu(walk.graph(), Walk::name_of(node), walk.row_major(node, 0)));
}

void power(Walk& walk, const Node& node) {
  std::optional<double> exponent = walk.scalar(node, 1);
  const Fixed* fixed = walk.fixed(node, 1);
  if (fixed != nullptr && fixed->tensor.known && fixed->tensor.type == Type::integer &&
      fixed->tensor.integers.size() == 1) {
    exponent = static_cast<double>(fixed->tensor.integers.front());
  }
  if (!exponent || walk.shape(node, 1).size() > walk.shape(node, 0).size())
    throw InputError("the exponent must be one known number; write others as Exp(Mul(exponent, Log(x)))");
  if (*exponent == 1.0) {
    walk.set(node, walk.operand(node, 0));
    return;
  }
  walk.set(node, nn::unary(walk.graph(), "pow", Walk::name_of(node), walk.row_major(node, 0),
                           {{"exponent", *exponent}}));
}

void neg(Walk& walk, const Node& node) {
  walk.set(node, nn::neg(walk.graph(), Walk::name_of(node), walk.row_major(node, 0)));
}

void reciprocal(Walk& walk, const Node& node) {
  walk.set(node, nn::unary(walk.graph(), "pow", Walk::name_of(node), walk.row_major(node, 0),
                           {{"exponent", -1.0}}));
}

void softmax(Walk& walk, const Node& node) {
  GraphBuilder& g = walk.graph();
  const Shape x = walk.shape(node, 0);
  const std::size_t axis = checked_axis(integer(node, "axis", walk.opset() < 13 ? 1 : -1), x.size());
  const std::string name = Walk::name_of(node);
  const auto of_rows = [&](ValueId rows) {
    return node.op_type == "Softmax" ? nn::softmax(g, name, rows) : nn::log_softmax(g, name, rows);
  };
  if (axis + 1 == x.size()) {
    walk.set(node, of_rows(walk.row_major(node, 0)));
    return;
  }
  if (walk.opset() < 13) {  // over all axes from this one on
    const auto split = x.begin() + static_cast<std::ptrdiff_t>(axis);
    const Shape matrix = {element_count(Shape(x.begin(), split)), element_count(Shape(split, x.end()))};
    const ValueId flat = nn::reshape(g, name + ".flat", walk.row_major(node, 0), matrix);
    walk.set(node, nn::reshape(g, name + ".shape", of_rows(flat), x));
    return;
  }
  std::vector<std::int64_t> last;  // swaps the axis with the last one, and back
  for (std::size_t i = 0; i < x.size(); ++i) last.push_back(static_cast<std::int64_t>(i));
  std::swap(last[axis], last.back());
  const ValueId rows = nn::transpose(g, name + ".rows", walk.value(node, 0), last);
  walk.set(node, nn::permute(g, name + ".shape", of_rows(rows), last));
}

void dropout(Walk& walk, const Node& node) {
  double ratio = real(node, "ratio", 0.5);
  if (walk.has(node, 1)) {
    const std::optional<double> number = walk.scalar(node, 1);
    if (!number) throw InputError("the ratio must be a known real number");
    ratio = *number;
  }
  if (ratio == 0.0) {
    walk.set(node, walk.operand(node, 0));
    return;
  }
  const bool training =
      walk.has(node, 2) && !walk.known_integers(node, 2).empty() && walk.known_integers(node, 2).front() != 0;
  if (!training) walk.notice("Dropout of an inference export was put back into training mode");
  walk.set(node, nn::dropout(walk.graph(), Walk::name_of(node), walk.row_major(node, 0), ratio));
}

}  // namespace

const std::vector<OperatorEntry>& elementwise_operators() {
  static const std::vector<OperatorEntry> entries = {
      {"Add", arithmetic},  {"Clip", clip},      {"Div", arithmetic},
      {"Dropout", dropout}, {"Gelu", gelu},      {"LogSoftmax", softmax},
      {"Max", extremum},    {"Min", extremum},   {"Mul", arithmetic},
      {"Neg", neg},         {"Pow", power},      {"Reciprocal", reciprocal},
      {"Softmax", softmax}, {"Sub", arithmetic}, {"Sum", arithmetic},
  };
  return entries;
}

}  // namespace poet::onnx
