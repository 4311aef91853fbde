// Functions of one element: the numbers that they take, for the op and its gradient.

#include <cmath>
#include <limits>

#include "poet/runtime/kernels/operands/rules.h"

namespace poet::runtime::operands {
namespace {

/// y = f(x), and dx = dy f'(x or y).
void add_function(RuleTable& table, const std::string& kind, const std::vector<AttributeRule>& attributes) {
  table[kind] = {"f : f", one_shape, attributes};
  table[kind + "_backward"] = {"f f : f", one_shape, attributes};
}

/// Whole numbers are scaled by whole numbers, which 64 bits hold.
void scaled(const OperandReader& op) {
  one_shape(op);
  if (op.output(0).dtype != DType::int32) return;
  constexpr double kMost = 9007199254740992.0;  // 2^53
  for (const char* name : {"alpha", "beta"}) {
    if (!op.has(name)) continue;
    const double x = op.real(name);
    op.need(x == std::trunc(x) && std::abs(x) <= kMost, "a whole {} for whole numbers, not {}", name, x);
  }
}

void clip(const OperandReader& op) {
  one_shape(op);
  op.need(op.has("min") || op.has("max"), "an attribute min or max");
  if (op.has("min") && op.has("max"))
    op.need(op.real("min") < op.real("max"), "min < max, not {} and {}", op.real("min"), op.real("max"));
}

/// The mask has the operand's shape.
void dropout(const OperandReader& op) {
  one_shape(op);
  (void)op.integer("seed", std::numeric_limits<Index>::min(), std::numeric_limits<Index>::max());
}

/// Of the last axis.
void row_function(const OperandReader& op) {
  op.need_in_rank(0, 1);
  one_shape(op);
}

}  // namespace

void add_function_rules(RuleTable& table) {
  for (const char* kind : {"relu", "gelu", "tanh", "sigmoid", "exp", "sqrt", "erf", "log", "hardswish",
                           "silu", "mish", "softplus", "softsign", "sin", "cos"}) {
    add_function(table, kind, {});
  }
  for (const char* kind : {"sign", "floor", "ceil", "round"}) table[kind] = {"f : f", one_shape};
  add_function(table, "abs", {});
  table["abs"].signature = "n : n";
  add_function(table, "pow", {{"exponent", Attr::not_zero}});
  for (const char* kind : {"leaky_relu", "elu", "thresholded_relu"})
    add_function(table, kind, {{"alpha", Attr::not_negative}});
  add_function(table, "hardsigmoid", {{"alpha"}, {"beta"}});
  add_function(table, "selu", {{"alpha", Attr::not_negative}, {"gamma", Attr::positive}});
  add_function(table, "celu", {{"alpha", Attr::positive}});
  add_function(table, "clip", {{"min", Attr::real, true}, {"max", Attr::real, true}});
  table["clip"].shapes = table["clip_backward"].shapes = clip;
  table["scale"] = {"n : n", scaled, {{"alpha"}, {"beta"}}};
  table["scale_backward"] = {"f : f", one_shape, {{"alpha"}}};
  table["shift"] = {"n : n", scaled, {{"beta"}}};
  table["dropout"] = {"f : f b", dropout, {{"p", Attr::probability}}};
  table["dropout_backward"] = {"f b : f", one_shape, {{"p", Attr::probability}}};
  for (const std::string kind : {"softmax", "log_softmax"}) {
    table[kind] = {"f : f", row_function};
    table[kind + "_backward"] = {"f f : f", row_function};
  }
}

}  // namespace poet::runtime::operands
