#pragma once

// The backward ops of each operator and their operands. Most follow from the operands' names in the schemas
// of the backward kinds (graph/operators/); the others have an explicit entry. Schedules must keep, page or
// recompute these operands, so they are exactly those of the derivative's formula.

#include <cstddef>
#include <string>
#include <vector>

namespace poet {

/// A tensor that a backward op reads.
struct Operand {
  enum class Source {
    output_gradient,       // with respect to the forward op's first output
    all_output_gradients,  // those that have arrived, in order (see GradientRule::outputs_with_gradients)
    input,                 // the forward op's input `index`
    output,                // the forward op's output `index`
    all_inputs,
    all_outputs,
  };
  Source source = Source::output_gradient;
  std::size_t index = 0;
  bool transposed = false;  // through a view that swaps the last two axes
  // Omitted unless the forward op has this attribute, which indicates that it has this operand.
  const char* only_with = nullptr;
  // Omitted unless the op writes the gradient of this forward input. Negative: never omitted.
  int only_for = -1;
};

/// One backward op.
struct BackwardOp {
  std::string kind;
  std::string suffix;  // its name is the forward op's, a colon and this
  std::vector<Operand> reads;
  std::vector<std::size_t> gradients_of;  // forward inputs, in the order of the outputs
  bool only_with_first = false;           // does not apply when the first of them needs no gradient
  /// For an operator of any number of inputs, in place of `gradients_of`, which stays empty.
  enum class Inputs {
    listed,
    each,  // one op like this for each input that needs a gradient, which it writes; its name ends in the
           // input's position, its attribute `gradients` is that position
    all,   // one op for all of them
  };
  Inputs inputs = Inputs::listed;
  // For an operand that may have been broadcast, `kind` sums over the stretched axes. Where the input has the
  // shape of the output there is no op: the gradient is what it would read, shared and not copied.
  bool shared_unless_broadcast = false;
};

/// Applied in order: an op writes those of its gradients that are needed and that no earlier op has written.
/// Without ops the derivative is 0 wherever it exists, and no gradient is propagated.
struct GradientRule {
  std::string kind;
  std::vector<BackwardOp> ops;
  /// How many outputs, from the first on, a gradient flows through; kAllOutputs for an operator of any
  /// number. With more than one, what reads `all_output_gradients` has an attribute `output_gradients`, the
  /// positions of those that have arrived, when some have not: the loss does not depend on the others.
  std::size_t outputs_with_gradients = 1;
  static constexpr std::size_t kAllOutputs = static_cast<std::size_t>(-1);
};

/// Returns the rule of operator `kind`, or nullptr. docs/operators.md has the same table in prose. O(1).
[[nodiscard]] const GradientRule* find_gradient_rule(const std::string& kind);

/// Every rule, one per kind.
[[nodiscard]] const std::vector<GradientRule>& gradient_rules();

}  // namespace poet
