#pragma once

// Mixed precision: activations and their gradients stored as bfloat16, everything else as float32.

#include "poet/graph/precision.h"

namespace poet {

/// The training step with half the bytes for what it keeps: what forward and backward ops write is stored as
/// bfloat16, in RAM and on storage. Operators compute with float32 as before and round what they store. These
/// stay float32:
/// - parameters (the master weights), their gradients, optimiser state, constants, inputs of the step;
/// - losses with their probabilities, statistics of normalisations, single numbers;
/// - values of which integers or truth values are computed without any parameter, such as positions: bfloat16
///   cannot represent 257;
/// - results of operators that poet does not know.
/// The result is verified. Throws InputError when `training` breaks a rule of verify(). O(ops + values).
[[nodiscard]] Graph in_mixed_precision(Graph training);

}  // namespace poet
