#pragma once

// The rows of a table that one transfer moves.

#include <cstddef>
#include <cstdint>
#include <span>

#include "poet/base/units.h"

namespace poet::runtime {

inline constexpr std::int32_t kOtherRow = -1;

/// Between rows of a table and as many places in RAM, one after the other: place i holds row rows[i], or
/// nothing where that is kOtherRow (an earlier place, maybe of another transfer, holds it).
struct RowTransfer {
  std::size_t table = 0;
  Bytes row{};
  std::span<const std::int32_t> rows;  // what the step names
  std::span<std::uint64_t> checksums;  // of the rows as they were written, until they are committed
  std::int64_t step = 0;               // under way
  bool written = false;                // by it
};

}  // namespace poet::runtime
