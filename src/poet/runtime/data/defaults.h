#pragma once

// Inputs that need no file. Private to runtime/data.

#include <cstddef>
#include <optional>

#include "poet/runtime/data/data_input.h"

namespace poet::runtime {

/// Positions 0, 1, 2... along the last axis, one sequence of tokens, no token masked: what such an input
/// holds where nobody says otherwise.
[[nodiscard]] bool has_default(const DataInput& input);

/// Throws InputError when the sequence is longer than the table of its positions.
void check_default(const DataInput& input);

/// One sample.
void write_default(const DataInput& input, std::byte* to);

}  // namespace poet::runtime
