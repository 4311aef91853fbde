#pragma once

// The partition of every tensor of a graph into parts. Private to split.
//
// Axes that are cut alike (those of an op's operands with the same label, those of a view and its storage)
// form a class with common boundaries. If an operand's axis and its op's label are of different classes, the
// op reads a copy. Classes are measured in units: an axis of size s has s / units elements per unit, and
// boundaries lie between units.

#include <cstdint>
#include <string>
#include <vector>

#include "poet/graph/graph.h"
#include "poet/split/axes.h"

namespace poet::splitting {

struct AxisClass {
  std::int64_t units = 1;
  std::int64_t parts = 1;
  std::int64_t most = 1;   // upper limit of parts: 1 if some op needs the whole axis
  std::string reason;      // why it is not cut
  std::vector<int> after;  // classes that are cut into single units first
};

/// [begin, end).
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

/// Returns the coarsest partition found in which ops work on at most `limit` bytes of each part, as far as
/// axes can be cut. It has copies of_long_axes (axis_classes.h) if a tensor is too large otherwise, or if ops
/// then touch clearly fewer bytes. O(edges + classes * steps * ops).
[[nodiscard]] Partition partition(const Graph& graph, Bytes limit);

}  // namespace poet::splitting
