#pragma once

// A part of a split op: its operands, attributes and name. Private to split.

#include <cstdint>
#include <vector>

#include "poet/split/cells.h"
#include "poet/split/loops.h"

namespace poet::splitting {

/// A part of an op: the op's loops and the position in them.
struct Place {
  OpId id;
  std::vector<Loop> loops;
  std::vector<std::int64_t> at;  // per label the number of the part
};

/// Returns the axes along which an op is cut.
[[nodiscard]] std::vector<Loop> loops_of(const Cutting& cutting, OpId id);

/// Returns the part of a value that the op reads or writes at `place`.
[[nodiscard]] Cell cell_of(const Cutting& cutting, const Place& place, ValueId v, const AxisLabels& labels);

/// Returns the elements of the storage of v that the op needs at `place`.
[[nodiscard]] Box needed(const Cutting& cutting, const Place& place, ValueId v, const AxisLabels& labels);

/// Returns whether this part does nothing, as the op reads a single position of an axis and it is in another
/// part.
[[nodiscard]] bool passes_over(const Cutting& cutting, const Place& place);

/// Adapts attributes that refer to positions along a cut axis.
void adapt_attributes(const Cutting& cutting, const Place& place, Op& op);

/// Names the part by its output's ranges and then the summed ones: "conv1[0:8]", "conv1[0:8]+[16:32]".
void name_part(const Cutting& cutting, const Place& place, Op& op);

}  // namespace poet::splitting
