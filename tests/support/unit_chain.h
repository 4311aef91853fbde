#pragma once

#include <string>

#include "tests/support/tiny_instance.h"

namespace poet::test {

/// A chain of `steps` forward ops and as many backward ops, the textbook case: f1 reads an input that cannot
/// be recomputed, each further forward op the one before; the backward op of step k reads the gradient so far
/// and what its step read. Every value takes one byte, every op 1 s and 2 J (tiny_instance.h). Ops: 0 the
/// input, k the k-th step, 2 * steps + 1 - k its backward op.
inline Instance unit_chain(int steps) {
  Graph graph;
  ValueId last = add_output(graph, "x", 1, Persistence::input);
  const OpId input = add_op(graph, "x", {}, {last});
  graph.ops[input].recomputable = false;
  std::vector<ValueId> read;
  for (int k = 1; k <= steps; ++k) {
    read.push_back(last);
    last = add_node(graph, "f" + std::to_string(k), {last}, 1);
  }
  for (int k = steps; k >= 1; --k) {
    const ValueId x = read[static_cast<std::size_t>(k - 1)];
    last = add_node(graph, "b" + std::to_string(k), {last, x}, 1);
    graph.ops[graph.values[last].producer].pass = Pass::backward;
  }
  return instance_of(std::move(graph));
}

}  // namespace poet::test
