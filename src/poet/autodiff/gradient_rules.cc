#include "poet/autodiff/gradient_rules.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "poet/base/error.h"
#include "poet/graph/operators/schema.h"

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

/// Operators whose gradients need more than their backward kinds' schemas say.
std::vector<GradientRule> rules_of_their_own() {
  return {
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
      {"shift", {as_it_comes(0, "backward")}},
      {"expand", {as_it_comes(0, "backward")}},
      // The derivative is 0 wherever it exists.
      {"sign", {}},
      {"floor", {}},
      {"ceil", {}},
      {"round", {}},
      // Where the elements went is in the attributes.
      of_many_inputs("concat", {kDy}, BackwardOp::Inputs::each),
      through_all_outputs(single("split", {kAllDys})),
      lstm(),
      gru(),
      rnn(),
      // Nothing is known of it: everything that it has read and written may matter.
      through_all_outputs(
          of_many_inputs("opaque", {kAllDys, kAllInputs, kAllOutputs}, BackwardOp::Inputs::all)),
  };
}

std::optional<std::size_t> position_of(const std::string& name, const std::vector<OperandSpec>& operands) {
  for (std::size_t i = 0; i < operands.size(); ++i) {
    if (operands[i].name == name) return i;
  }
  return std::nullopt;
}

/// As the schemas name the operands: a backward op reads dy, the forward op's inputs and outputs; its outputs
/// are the gradients of the inputs whose names follow a d.
BackwardOp backward_op(const OperatorSchema& of, const OperatorSchema& backward) {
  BackwardOp op;
  op.kind = backward.kind;
  op.suffix = backward.kind.substr(of.kind.size() + 1);
  for (const OperandSpec& read : backward.inputs) {
    if (const auto i = position_of(read.name, of.inputs)) {
      op.reads.push_back(input(*i));
    } else if (const auto o = position_of(read.name, of.outputs)) {
      op.reads.push_back(output(*o));
    } else {
      ensure(read.name == "dy", "a backward op reads dy and what its forward op has");
      op.reads.push_back(kDy);
    }
  }
  for (const OperandSpec& written : backward.outputs) {
    const auto i = position_of(written.name.substr(1), of.inputs);
    ensure(i.has_value(), "a backward op writes gradients of what its forward op reads");
    op.gradients_of.push_back(*i);
  }
  // The weight's gradient takes the bias's along; without it the bias has an op that does not read x.
  op.only_with_first = op.suffix == "backward_weight";
  return op;
}

std::vector<GradientRule> make_rules() {
  std::vector<GradientRule> rules = rules_of_their_own();
  const auto has_rule = [&rules](const std::string& kind) {
    return std::any_of(rules.begin(), rules.end(),
                       [&](const GradientRule& rule) { return rule.kind == kind; });
  };
  for (const OperatorSchema& schema : operators_of_all_families()) {
    if (has_rule(schema.kind)) continue;
    GradientRule rule{schema.kind, {}};
    for (const OperatorSchema& other : operators_of_all_families()) {
      if (other.kind.starts_with(schema.kind + "_backward")) rule.ops.push_back(backward_op(schema, other));
    }
    if (!rule.ops.empty()) rules.push_back(std::move(rule));
  }
  return rules;
}

}  // namespace

const std::vector<GradientRule>& gradient_rules() {
  static const std::vector<GradientRule> rules = make_rules();
  return rules;
}

const GradientRule* find_gradient_rule(const std::string& kind) {
  static const std::unordered_map<std::string_view, const GradientRule*> by_kind = [] {
    std::unordered_map<std::string_view, const GradientRule*> map;
    for (const GradientRule& rule : gradient_rules()) map.emplace(rule.kind, &rule);
    return map;
  }();
  const auto found = by_kind.find(kind);
  return found == by_kind.end() ? nullptr : found->second;
}

}  // namespace poet
