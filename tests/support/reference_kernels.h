#pragma once

// A training step in float64 by the plainest loops there are: the formulas of docs/operators.md, written
// without regard to speed and independently of the rules under test. Layouts do not matter to a kernel: it
// sees dense row-major copies.

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "poet/graph/graph.h"

namespace poet::reference {

/// A dense row-major tensor of any element type, as doubles.
struct Array {
  Shape shape;
  std::vector<double> data;
};

/// Runs the ops of one graph in order, by kind. Graph inputs, parameters and optimiser state are set from
/// outside, everything else is computed; to read what nobody has written is an error.
class Interpreter {
 public:
  explicit Interpreter(const Graph& graph);

  /// Storage of a value that no op computes (persistent, or written by an `input` op). In the value's
  /// row-major order.
  void set(ValueId v, const std::vector<double>& data);

  /// The value as a dense tensor. Throws InternalError when it has not been written.
  [[nodiscard]] Array get(ValueId v) const;

  /// One pass over all ops; `step` counts from 1 (Adam's bias correction, dropout's masks).
  void run(std::int64_t step = 1);

  /// The inputs of every op at the moment when it ran, by op.
  [[nodiscard]] const Array& input_at_run(OpId op, std::size_t index) const;

 private:
  void put(ValueId v, const std::vector<double>& dense);

  const Graph& graph_;
  IdVector<ValueId, std::vector<double>> storage_;  // per storage value, empty: not written
  IdVector<OpId, std::vector<Array>> inputs_;
};

/// Every kind that has a kernel here.
[[nodiscard]] std::set<std::string> kernel_kinds();

}  // namespace poet::reference
