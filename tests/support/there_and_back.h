#pragma once

#include "tests/support/tiny_instance.h"

namespace poet::test {

/// Values of 10 bytes, one per op, costs as in tiny_instance.h: a, b(a), c(b), d(c), e(d), then back again
/// z4(d, e), z3(z4, c), z2(z3, b), z1(z2, a).
inline Instance there_and_back() {
  Graph graph;
  const ValueId a = add_node(graph, "a", {}, 10);
  const ValueId b = add_node(graph, "b", {a}, 10);
  const ValueId c = add_node(graph, "c", {b}, 10);
  const ValueId d = add_node(graph, "d", {c}, 10);
  const ValueId e = add_node(graph, "e", {d}, 10);
  const ValueId z4 = add_node(graph, "z4", {d, e}, 10);
  const ValueId z3 = add_node(graph, "z3", {z4, c}, 10);
  const ValueId z2 = add_node(graph, "z2", {z3, b}, 10);
  add_node(graph, "z1", {z2, a}, 10);
  return instance_of(std::move(graph));
}

}  // namespace poet::test
