#include "poet/autodiff/gradient_rules.h"

#include <algorithm>

namespace poet {
namespace {

constexpr Operand kDy{Operand::Source::output_gradient, 0, false};
constexpr Operand kAllDys{Operand::Source::all_output_gradients, 0, false};
constexpr Operand kAllInputs{Operand::Source::all_inputs, 0, false};
constexpr Operand kAllOutputs{Operand::Source::all_outputs, 0, false};

Operand input(std::size_t index) { return {Operand::Source::input, index, false}; }
Operand input_transposed(std::size_t index) { return {Operand::Source::input, index, true}; }
Operand output(std::size_t index) { return {Operand::Source::output, index, false}; }

/// What only the gradient of input `target` needs.
Operand only_for(std::size_t target, Operand what) {
  what.only_for = static_cast<int>(target);
  return what;
}
/// An initial state of a recurrent layer, if it has any.
Operand initial(std::size_t index) { return {Operand::Source::input, index, false, "initial_state"}; }

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
  BackwardOp op = {"sum_to", suffix, {kDy}, {index}};
  op.shared_unless_broadcast = true;
  return op;
}

/// An operator of any number of inputs, of which one backward op each, or one op for all, writes gradients.
GradientRule of_many_inputs(const std::string& kind, Reads reads, BackwardOp::Inputs inputs) {
  BackwardOp op = {kind + "_backward", "backward", std::move(reads), {}};
  op.inputs = inputs;
  return {kind, {std::move(op)}};
}

GradientRule through_all_outputs(GradientRule rule) {
  rule.outputs_with_gradients = GradientRule::kAllOutputs;
  return rule;
}

// Recurrent layers. Inputs: x, weight_ih, weight_hh [, initial states] [, bias]; y is output 0. Going back
// through the steps takes weight_hh and the slopes of the gates; of the products x only the weights' gradient
// needs, weight_ih only x's, the states before each step (y and the initial one) only weight_hh's.

/// From the gates and the cell states: dc = dh o (1 - tanh(c)²) + dc of the next step f. The cell states are
/// output 1, where the next layer of a pair may start.
GradientRule lstm() {
  GradientRule rule =
      single("lstm",
             {kAllDys, only_for(1, input(0)), only_for(0, input(1)), input(2), only_for(2, initial(3)),
              initial(4), only_for(2, output(0)), output(1), output(2)},
             {0, 1, 2, 3, 4, 5});
  rule.outputs_with_gradients = 2;
  return rule;
}

/// The states are needed in any case: the update gate's slope is (h before - candidate).
GradientRule gru() {
  return single(
      "gru", {kDy, only_for(1, input(0)), only_for(0, input(1)), input(2), initial(3), output(0), output(1)},
      {0, 1, 2, 3, 4});
}

/// tanh's and relu's slopes are told from y.
GradientRule rnn() {
  return single(
      "rnn",
      {kDy, only_for(1, input(0)), only_for(0, input(1)), input(2), only_for(2, initial(3)), output(0)},
      {0, 1, 2, 3, 4});
}

std::vector<GradientRule> make_rules() {
  return {
      weighted("conv2d"),
      weighted("conv3d"),
      weighted("conv_transpose2d"),
      weighted("conv_transpose3d"),
      weighted("linear"),
      // c = alpha a b: da = alpha dc bᵀ, db = alpha aᵀ dc, summed over leading axes that were stretched
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
      // More activations, and resizing.
      single("silu", {kDy, input(0)}),               // falls before it rises
      single("mish", {kDy, input(0)}),               // the same
      single("softplus", {kDy, output(0)}),          // the sigmoid of x is 1 - exp(-y)
      single("softsign", {kDy, output(0)}),          // (1 - |y|)²
      single("selu", {kDy, output(0)}),              // where negative: gamma alpha exp(x) = y + gamma alpha
      single("celu", {kDy, output(0)}),              // where negative: exp(x / alpha) = y / alpha + 1
      single("thresholded_relu", {kDy, output(0)}),  // positive where x was above the threshold
      // The slope may be negative, so y does not tell the sign of x.
      {"prelu",
       {{"prelu_backward_input", "backward_input", {kDy, input(0), input(1)}, {0}},
        {"prelu_backward_slope", "backward_slope", {kDy, input(0)}, {1}}}},
      single("sin", {kDy, input(0)}),
      single("cos", {kDy, input(0)}),
      {"sign", {}},
      {"floor", {}},
      {"ceil", {}},
      {"round", {}},
      single("log_softmax", {kDy, output(0)}),  // dy - exp(y) sum(dy)
      // Where x is y; several such elements share.
      single("reduce_max", {kDy, input(0), output(0)}),
      single("reduce_min", {kDy, input(0), output(0)}),
      single("resize", {kDy}),  // which elements and how much of each is in the attributes
      single("flip", {kDy}),
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
      of_many_inputs("concat", {kDy}, BackwardOp::Inputs::each),
      through_all_outputs(single("split", {kAllDys})),
      single("slice", {kDy}),
      single("pad", {kDy}),
      single("transpose", {kDy}),
      lstm(),
      gru(),
      rnn(),
      // Nothing is known of it: everything that it has read and written may matter.
      through_all_outputs(
          of_many_inputs("opaque", {kAllDys, kAllInputs, kAllOutputs}, BackwardOp::Inputs::all)),
      {"expand", {as_it_comes(0, "backward")}},
      // Which operand each element came from is in the condition; the operands are not read.
      {"where",
       {{"where_backward_a", "backward_a", {kDy, input(0)}, {1}},
        {"where_backward_b", "backward_b", {kDy, input(0)}, {2}}}},
      single("gather", {kDy, input(1)}),
      single("gather_elements", {kDy, input(1)}),
      single("cumsum", {kDy}),
      // The loss's own gradient is 1, so nothing comes from above.
      single("softmax_cross_entropy", {output(1), input(1)}),
      single("mse_loss", {input(0), input(1)}),  // 2 (x - target) / elements
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
