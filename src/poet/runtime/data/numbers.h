#pragma once

// Real numbers among the data.

#include <cstddef>
#include <span>
#include <string>

#include "poet/runtime/data/data_input.h"

namespace poet::runtime {

/// Which rule of a loss's targets one of these float32 numbers breaks: "has nan at sample 3; the network
/// takes finite numbers as 'targets'". Empty where all keep them.
[[nodiscard]] std::string broken_rule(const DataInput& targets, std::int64_t sample,
                                      std::span<const std::byte> numbers);

/// The first of these float32 numbers that is infinite or no number, as text; empty where there is none.
[[nodiscard]] std::string first_not_finite(std::span<const std::byte> numbers);

}  // namespace poet::runtime
