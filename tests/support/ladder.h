#pragma once

// A chain of five ops whose every schedule can be worked out by hand: RAM against time and energy in steps.

#include "tests/support/tiny_instance.h"

namespace poet::test {

/// Five ops named like their only values: a (10 B); b (20 B) reads a; c (30 B) reads b; d (5 B) reads c; e (1
/// B) reads a, b and d. 1 s and 2 J each; a page-out 3 J, a page-in 4 J. Working sets: 10, 30, 50, 35 and 36
/// B. RAM while c and while d is computed, with what stays for e:
///   all stays: 60, 65   a returns for e: 50, 55   b returns: 60, 45   both return: 50, 35
/// so recomputing makes 65 B in 5 s and 10 J, 55 B in 6 s and 12 J, 50 B in 7 s and 14 J.
inline Instance ladder() {
  Graph graph;
  const ValueId a = add_node(graph, "a", {}, 10);
  const ValueId b = add_node(graph, "b", {a}, 20);
  const ValueId c = add_node(graph, "c", {b}, 30);
  const ValueId d = add_node(graph, "d", {c}, 5);
  add_node(graph, "e", {a, b, d}, 1);
  return instance_of(std::move(graph));
}

/// The same, but e does not read a: to recompute b for e, a must be kept or recomputed as well.
inline Instance ladder_without_rail() {
  Graph graph;
  const ValueId a = add_node(graph, "a", {}, 10);
  const ValueId b = add_node(graph, "b", {a}, 20);
  const ValueId c = add_node(graph, "c", {b}, 30);
  const ValueId d = add_node(graph, "d", {c}, 5);
  add_node(graph, "e", {b, d}, 1);
  return instance_of(std::move(graph));
}

/// One op makes x (10 B) and y (30 B); q (1 B) reads both; r (50 B) reads q; s (50 B) reads r; t (1 B) reads
/// x, y and s. Costs as above. While s is computed, r and s take 100 B and x and y another 40.
inline Instance twins() {
  Graph graph;
  const ValueId x = add_output(graph, "x", 10);
  const ValueId y = add_output(graph, "y", 30);
  add_op(graph, "xy", {}, {x, y});
  const ValueId q = add_node(graph, "q", {x, y}, 1);
  const ValueId r = add_node(graph, "r", {q}, 50);
  const ValueId s = add_node(graph, "s", {r}, 50);
  add_node(graph, "t", {x, y, s}, 1);
  return instance_of(std::move(graph));
}

}  // namespace poet::test
