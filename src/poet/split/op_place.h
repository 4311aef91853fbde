#pragma once

// An op that is cut, and one of its parts: what it reads and writes, and how it differs from the whole.
// Private to split.

#include <cstdint>
#include <vector>

#include "poet/split/cells.h"
#include "poet/split/loops.h"

namespace poet::splitting {

/// An op under way: its loops and where in them we are.
struct Place {
  OpId id;
  std::vector<Loop> loops;
  std::vector<std::int64_t> at;  // per label the number of the part
};

/// The axes along which an op is cut.
[[nodiscard]] std::vector<Loop> loops_of(const Cutting& cutting, OpId id);

/// The part of a value that the op reads or writes there.
[[nodiscard]] Cell cell_of(const Cutting& cutting, const Place& place, ValueId v, const AxisLabels& labels);

/// What the op needs there of the storage of v.
[[nodiscard]] Box needed(const Cutting& cutting, const Place& place, ValueId v, const AxisLabels& labels);

/// Where an op reads one place of an axis alone, its other parts do nothing.
[[nodiscard]] bool passes_over(const Cutting& cutting, const Place& place);

/// Attributes that count along an axis that is cut.
void adapt_attributes(const Cutting& cutting, const Place& place, Op& op);

/// "conv1[0:8]", of a sum "conv1[0:8]+[16:32]": its output's ranges, then those that are summed.
void name_part(const Cutting& cutting, const Place& place, Op& op);

}  // namespace poet::splitting
