#pragma once

// Along which axes an op can be computed in parts, and where each of its operands has them. Private to split.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "poet/graph/graph.h"

namespace poet::splitting {

/// An axis of the computation: output channels, rows, heads...
struct Label {
  std::string name;       // for people: the schema's
  std::int64_t size = 1;  // that of the operands' axes, or a number that divides it (groups)
  bool cuttable = false;
  bool summed = false;  // results without it are added up; otherwise its first part alone computes them
  // The one place along it that is read or written, by the attribute `index`.
  std::optional<std::int64_t> only = {};
};

/// Per axis of an operand the label that it has; or one of these: kNoLabel, it is read and written whole.
using AxisLabels = std::vector<int>;
constexpr int kNoLabel = -1;
constexpr int kJoined = -2;  // of what is joined or taken apart along it: any range of it is read

struct OpAxes {
  std::vector<Label> labels;  // in the order in which a kernel adds up what is summed
  std::vector<AxisLabels> inputs, outputs;
  std::vector<std::size_t> biases;  // inputs that only the first of the parts that are added up reads
};

/// Whether the op is read by what it joins (concat, split and their gradients): see OpAxes, kJoined.
[[nodiscard]] bool joins(const Graph& graph, const Op& op);

/// From the op's schema. Nothing of an op of unknown kind is cuttable. O(axes of its operands).
[[nodiscard]] OpAxes axes_of(const Graph& graph, const Op& op);

}  // namespace poet::splitting
