#pragma once

// Inputs that need no file. Private to runtime/data.

#include <cstddef>
#include <optional>

#include "poet/runtime/data/data_input.h"

namespace poet::runtime {

/// Returns whether the input has a default: positions 0, 1, 2... along the last axis, one sequence of tokens,
/// no masked token.
[[nodiscard]] bool has_default(const DataInput& input);

/// Throws InputError if the sequence is longer than the table of its positions.
void check_default(const DataInput& input);

/// Writes one sample.
void write_default(const DataInput& input, std::byte* to);

}  // namespace poet::runtime
