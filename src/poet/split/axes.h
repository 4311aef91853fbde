#pragma once

// The axes along which an op can be split into parts, and their positions in its operands. Private to split.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "poet/graph/graph.h"

namespace poet::splitting {

/// An axis of the computation: output channels, rows, heads...
struct Label {
  std::string name;       // from the schema; for display
  std::int64_t size = 1;  // that of the operands' axes, or a number that divides it (groups)
  bool cuttable = false;
  bool summed = false;  // results without this axis are sums over it; else its first part computes them
  // The only position along it that is read or written, from the attribute `index`.
  std::optional<std::int64_t> only = {};
};

/// The label of each axis of an operand, or one of these constants; an axis with kNoLabel is read and written
/// whole.
using AxisLabels = std::vector<int>;
constexpr int kNoLabel = -1;
constexpr int kJoined = -2;  // an axis along which operands are joined or split: any range of it is read

struct OpAxes {
  std::vector<Label> labels;  // in the order of a kernel's summation
  std::vector<AxisLabels> inputs, outputs;
  std::vector<std::size_t> biases;  // inputs that only the first of the summed parts reads
};

/// Returns whether the op joins or splits operands along an axis (concat, split and their gradients): see
/// kJoined.
[[nodiscard]] bool joins(const Graph& graph, const Op& op);

/// Derives the axes from the op's schema. Ops of unknown kind have no cuttable axes. O(axes of its operands).
[[nodiscard]] OpAxes axes_of(const Graph& graph, const Op& op);

}  // namespace poet::splitting
