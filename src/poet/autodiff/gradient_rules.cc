#include "poet/autodiff/gradient_rules.h"

#include <algorithm>

namespace poet {
namespace {

constexpr Operand kDy{Operand::Source::output_gradient, 0, false};

Operand input(std::size_t index) { return {Operand::Source::input, index, false}; }
Operand input_transposed(std::size_t index) { return {Operand::Source::input, index, true}; }
Operand output(std::size_t index) { return {Operand::Source::output, index, false}; }

using Reads = std::vector<Operand>;

/// An operator with one backward op, which writes the gradients of `gradients_of`.
GradientRule single(const std::string& kind, Reads reads, std::vector<std::size_t> gradients_of = {0}) {
  return {kind, {{kind + "_backward", "backward", std::move(reads), std::move(gradients_of), false}}};
}

/// x, weight [, bias]: the input gradient needs the weight, the weight gradient needs x, the bias gradient
/// neither. So a layer of which only the bias trains does not keep its input.
GradientRule weighted(const std::string& kind) {
  return {kind,
          {{kind + "_backward_input", "backward_input", {kDy, input(1)}, {0}, false},
           {kind + "_backward_weight", "backward_weight", {kDy, input(0)}, {1, 2}, true},
           {kind + "_backward_bias", "backward_bias", {kDy}, {2}, false}}};
}

/// The gradient of operand `index` of a sum.
BackwardOp as_it_comes(std::size_t index, const std::string& suffix) {
  return {"sum_to", suffix, {kDy}, {index}, false, false, true};
}

std::vector<GradientRule> make_rules() {
  return {
      weighted("conv2d"),
      weighted("conv3d"),
      weighted("conv_transpose2d"),
      weighted("conv_transpose3d"),
      weighted("linear"),
      // c = alpha a b: da = alpha dc bᵀ, db = alpha aᵀ dc
      {"matmul",
       {{"matmul", "backward_a", {kDy, input_transposed(1)}, {0}, false},
        {"matmul", "backward_b", {input_transposed(0), kDy}, {1}, false}}},
      // Every gradient below is summed over the axes along which its operand was stretched.
      {"add", {as_it_comes(0, "backward_a"), as_it_comes(1, "backward_b")}},
      {"sub", {as_it_comes(0, "backward_a"), {"sub_backward_b", "backward_b", {kDy}, {1}}}},
      // c = a b: da = dc b, db = dc a
      {"mul",
       {{"mul_backward", "backward_a", {kDy, input(1)}, {0}},
        {"mul_backward", "backward_b", {kDy, input(0)}, {1}}}},
      // c = a / b: da = dc / b, db = -dc a / b². Not through c = a / b itself, which is never smaller than a.
      {"div",
       {{"div_backward_a", "backward_a", {kDy, input(1)}, {0}},
        {"div_backward_b", "backward_b", {kDy, input(0), input(1)}, {1}}}},
      {"shift", {as_it_comes(0, "backward")}},
      single("scale", {kDy}),               // alpha is an attribute
      single("sigmoid", {kDy, output(0)}),  // y (1 - y)
      single("erf", {kDy, input(0)}),       // 2 / sqrt(pi) exp(-x²)
      single("exp", {kDy, output(0)}),      // y
      single("log", {kDy, input(0)}),       // 1 / x
      single("sqrt", {kDy, output(0)}),     // 1 / (2 y)
      single("pow", {kDy, input(0)}),       // y / x would be no number at 0
      single("abs", {kDy, input(0)}),       // the sign, which y has lost
      // Strictly between the bounds y is x; on a bound x is there too or beyond, and the gradient is 0, as
      // relu's is at 0. So y decides, which the next layer keeps more often than x.
      single("clip", {kDy, output(0)}),
      single("hardsigmoid", {kDy, output(0)}),
      single("leaky_relu", {kDy, output(0)}),  // the sign of x is the sign of y
      single("elu", {kDy, output(0)}),         // where negative: alpha exp(x) = y + alpha
      single("hardswish", {kDy, input(0)}),    // falls before it rises: not invertible
      single("reduce_sum", {kDy}),
      single("reduce_mean", {kDy}),
      single("batch_norm", {kDy, input(0), input(1), output(1), output(2)}, {0, 1, 2}),
      single("layer_norm", {kDy, input(0), input(1), output(1), output(2)}, {0, 1, 2}),
      single("relu", {kDy, output(0)}),     // the sign of x is the sign of y
      single("gelu", {kDy, input(0)}),      // not invertible: x itself
      single("tanh", {kDy, output(0)}),     // 1 - y²
      single("softmax", {kDy, output(0)}),  // y (dy - sum(dy y))
      single("dropout", {kDy, output(1)}),
      single("max_pool2d", {kDy, output(1)}),
      single("max_pool3d", {kDy, output(1)}),
      single("avg_pool2d", {kDy}),
      single("avg_pool3d", {kDy}),
      single("global_avg_pool", {kDy}),
      single("global_max_pool", {kDy, output(1)}),
      single("group_norm", {kDy, input(0), input(1), output(1), output(2)}, {0, 1, 2}),
      // x alone: the scale, a sum over a few channels of x, is found again; kept, it would take as much as x.
      single("lrn", {kDy, input(0)}),
      single("embedding", {kDy, input(0)}, {1}),
      single("select", {kDy}),
      // Where the elements went is in the attributes.
      {"concat", {{"concat_backward", "backward", {kDy}, {}, false, true}}},
      single("slice", {kDy}),
      single("pad", {kDy}),
      single("transpose", {kDy}),
      // The loss's own gradient is 1, so nothing comes from above.
      single("softmax_cross_entropy", {output(1), input(1)}),
  };
}

}  // namespace

const std::vector<GradientRule>& gradient_rules() {
  static const std::vector<GradientRule> rules = make_rules();
  return rules;
}

const GradientRule* find_gradient_rule(const std::string& kind) {
  const std::vector<GradientRule>& rules = gradient_rules();
  const auto found =
      std::find_if(rules.begin(), rules.end(), [&](const GradientRule& r) { return r.kind == kind; });
  return found == rules.end() ? nullptr : &*found;
}

}  // namespace poet
