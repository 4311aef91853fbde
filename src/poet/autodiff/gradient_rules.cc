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

std::vector<GradientRule> make_rules() {
  return {
      weighted("conv2d"),
      weighted("linear"),
      // c = alpha a b: da = alpha dc bᵀ, db = alpha aᵀ dc
      {"matmul",
       {{"matmul", "backward_a", {kDy, input_transposed(1)}, {0}, false},
        {"matmul", "backward_b", {input_transposed(0), kDy}, {1}, false}}},
      // Both inputs have the gradient of the sum.
      {"add", {{"", "", {kDy}, {0}, false}, {"", "", {kDy}, {1}, false}}},
      single("batch_norm", {kDy, input(0), input(1), output(1), output(2)}, {0, 1, 2}),
      single("layer_norm", {kDy, input(0), input(1), output(1), output(2)}, {0, 1, 2}),
      single("relu", {kDy, output(0)}),     // the sign of x is the sign of y
      single("gelu", {kDy, input(0)}),      // not invertible: x itself
      single("tanh", {kDy, output(0)}),     // 1 - y²
      single("softmax", {kDy, output(0)}),  // y (dy - sum(dy y))
      single("dropout", {kDy, output(1)}),
      single("max_pool2d", {kDy, output(1)}),
      single("avg_pool2d", {kDy}),
      single("global_avg_pool", {kDy}),
      single("embedding", {kDy, input(0)}, {1}),
      single("select", {kDy}),
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
