#pragma once

// What a training step stores its activations as.

#include "poet/graph/graph.h"

namespace poet {

enum class Precision { float32, bfloat16_mixed };

/// Mixed where any value is stored as bfloat16. O(values).
[[nodiscard]] Precision precision_of(const Graph& graph);

/// "fp32", "bf16-mixed".
[[nodiscard]] const char* to_string(Precision precision);

}  // namespace poet
