#pragma once

// Into which parts every tensor of a graph is cut. Private to split.
//
// Axes that are cut alike (an op's operands along one of its labels, a view and its storage) are one class,
// with one list of boundaries. Where an operand's axis and its op's label are of two classes, the op reads a
// copy. A class is counted in units: an axis of size s has s / units elements per unit, and boundaries lie
// between units.

#include <cstdint>
#include <string>
#include <vector>

#include "poet/graph/graph.h"
#include "poet/split/axes.h"

namespace poet::splitting {

struct AxisClass {
  std::int64_t units = 1;
  std::int64_t parts = 1;
  std::int64_t most = 1;   // parts at most: 1 where some op needs the axis whole
  std::string reason;      // why it is not cut
  std::vector<int> after;  // classes that are cut into single units before
};

/// [begin, end) of part `i` of an axis of size `size`.
struct Range {
  std::int64_t begin = 0;
  std::int64_t end = 0;
};
[[nodiscard]] Range range_of(const AxisClass& axes, std::int64_t size, std::int64_t i);

constexpr int kNoClass = -1;

struct Partition {
  std::vector<AxisClass> classes;
  IdVector<OpId, OpAxes> axes;                       // of every op
  IdVector<OpId, std::vector<int>> of_label;         // per op and label its class
  IdVector<ValueId, std::vector<int>> of_axis;       // per storage and axis its class; kNoClass: of size 1
  IdVector<ValueId, std::vector<int>> storage_axis;  // per value and axis the axis of its storage; -1: none

  [[nodiscard]] std::int64_t parts(int c) const {
    return c == kNoClass ? 1 : classes[static_cast<std::size_t>(c)].parts;
  }
};

/// As coarse as possible while no tensor has a part of which more than `limit` bytes are worked on, as far as
/// its axes can be cut. O(edges + classes * steps * ops).
[[nodiscard]] Partition partition(const Graph& graph, Bytes limit);

/// Of the largest part of a storage, what is worked on.
[[nodiscard]] Bytes largest_part(const Graph& graph, const Partition& partition, ValueId storage);

}  // namespace poet::splitting
