#pragma once

// Disjoint sets of evicted values with what each set costs to compute, for DTR's approximate neighbourhoods
// (Kirisame et al. 2021, h_DTR^eq): joining is exact, leaving only takes the value's cost with it, so
// that two parts stay joined when the value that linked them has come back.

#include <cstddef>
#include <vector>

#include "poet/base/id.h"
#include "poet/base/numbers.h"

namespace poet {

class EvictedComponents {
 public:
  explicit EvictedComponents(std::size_t values) : node_(values, kNone) {}

  /// `v` starts a component of its own.
  void add(ValueId v, double cost) {
    node_[v] = static_cast<int>(nodes_.size());
    nodes_.push_back({node_[v], cost});
  }

  /// Joins the components of two values that are in one each. Amortised O(log values).
  void join(ValueId a, ValueId b) {
    const int from = root(node_[a]);
    const int to = root(node_[b]);
    if (from == to) return;
    nodes_[at(from)].parent = to;
    nodes_[at(to)].cost += nodes_[at(from)].cost;
  }

  /// `v` leaves, and what it cost with it.
  void remove(ValueId v, double cost) {
    nodes_[at(root(node_[v]))].cost -= cost;
    node_[v] = kNone;
  }

  /// The same number for all values of one component.
  [[nodiscard]] int component(ValueId v) { return root(node_[v]); }
  [[nodiscard]] double cost(int component) const { return nodes_[at(component)].cost; }

 private:
  struct Node {
    int parent;
    double cost;  // of the whole component; meaningful at its root
  };
  static constexpr int kNone = -1;

  int root(int node) {
    while (nodes_[at(node)].parent != node) {
      nodes_[at(node)].parent = nodes_[at(nodes_[at(node)].parent)].parent;
      node = nodes_[at(node)].parent;
    }
    return node;
  }

  IdVector<ValueId, int> node_;
  std::vector<Node> nodes_;
};

}  // namespace poet
