#pragma once

// Checks of real numbers in data.

#include <cstddef>
#include <span>
#include <string>

#include "poet/runtime/data/data_input.h"

namespace poet::runtime {

/// Returns the rule of a loss's targets that one of these float32 numbers violates: "has nan at sample 3; the
/// network takes finite numbers as 'targets'". Empty if none does.
[[nodiscard]] std::string broken_rule(const DataInput& targets, std::int64_t sample,
                                      std::span<const std::byte> numbers);

/// Returns the first of these float32 numbers that is not finite as text; empty if there is none.
[[nodiscard]] std::string first_not_finite(std::span<const std::byte> numbers);

}  // namespace poet::runtime
