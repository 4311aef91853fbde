#pragma once

// Reverse-mode differentiation, op by op: applies the gradient rules and accumulates the gradients of each
// value.

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "poet/autodiff/gradient_rules.h"
#include "poet/graph/graph.h"

namespace poet {

/// Builds the backward pass of one graph. Throws InputError naming the op if it cannot be differentiated.
class BackwardPass {
 public:
  /// `needed` is 1 per value of `forward` that depends on a trained parameter; only such storages get a
  /// gradient.
  BackwardPass(const Graph& forward, IdVector<ValueId, std::uint8_t> needed)
      : graph_{forward.name, {}, forward.values},
        needed_(std::move(needed)),
        gradients_(forward.values.size()) {
    for (const Value& value : forward.values) names_.emplace(value.name, 2);
    for (const Op& op : forward.ops) names_.emplace(op.name, 2);
  }

  /// Appends the backward ops of forward op `op`, if its output has a gradient or it is the loss. Must be
  /// called in reverse order of the forward ops.
  void differentiate(const Op& op, bool is_loss);

  /// Returns the gradient of a storage; invalid if nothing contributes to it.
  [[nodiscard]] ValueId gradient(ValueId v) const { return gradients_[v]; }

  [[nodiscard]] std::vector<Op>& ops() { return ops_; }
  /// The values; ops are left to the caller.
  [[nodiscard]] Graph& graph() { return graph_; }

 private:
  /// A backward op and the gradients that it writes.
  struct Task {
    const BackwardOp* op;
    std::vector<std::size_t> targets;
  };

  [[nodiscard]] bool needs(const Op& op, std::size_t input) const {
    return input < op.inputs.size() && needed_[storage(graph_, op.inputs[input])] != 0;
  }
  [[nodiscard]] std::vector<Task> tasks(const Op& op, const GradientRule& rule) const;
  [[nodiscard]] bool shares(const Op& op, const Task& task) const;
  [[nodiscard]] Bytes written_bytes(const Op& op, const Task& task) const;
  [[nodiscard]] static bool reads(const Op& op, const Task& task, const Operand& what);
  void perform(const Op& op, const Task& task);
  [[nodiscard]] std::vector<std::int64_t> outputs_with_gradients(const Op& op) const;
  /// Returns the values that a backward op reads as `what`: one, or a list of any length.
  std::vector<ValueId> operands(const Op& op, const Operand& what);
  ValueId transposed(ValueId v);
  ValueId new_gradient(ValueId of, const std::string& name);
  void contribute(const Op& op, ValueId to, ValueId gradient);
  ValueId as_storage(const Op& op, ValueId view, ValueId gradient);
  std::string unique(const std::string& name);

  Graph graph_;
  IdVector<ValueId, std::uint8_t> needed_;  // per forward value; 1 for storages only
  IdVector<ValueId, ValueId> gradients_;    // per forward storage: the sum of the contributions so far
  std::vector<Op> ops_;
  std::unordered_map<std::string, int> names_;  // taken; with the number to try next behind each
};

}  // namespace poet
