#pragma once

// What a training step stores its activations as.

#include <cstddef>

#include "poet/graph/graph.h"

namespace poet {

enum class Precision { float32, bfloat16_mixed };

/// Mixed where any value is stored as bfloat16. O(values).
[[nodiscard]] Precision precision_of(const Graph& graph);

/// How many of an op's first outputs may be stored as bfloat16, where they are activations of more than one
/// number: none of a loss, of an input, of an update, and of an operator that poet does not know; of a
/// normalisation the first, not its statistics. verify() refuses others.
[[nodiscard]] std::size_t outputs_in_bfloat16(const Op& op);

/// "fp32", "bf16-mixed".
[[nodiscard]] const char* to_string(Precision precision);

}  // namespace poet
