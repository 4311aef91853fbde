#pragma once

// The operands over which a result may be written, for planner and optimiser. The verifier determines them
// itself.

#include <vector>

#include "poet/cost/instance.h"

namespace poet {

/// Per op, in the order of its operands, the transient values over which its first output may be written: by
/// an operator that can (graph/in_place.h), of the output's bytes, of which there are some. While the op runs
/// such an operand and the result take RAM once if the operand dies with the op and the channel is done with
/// it, and the result was not in RAM before; one operand at most (docs/formulation.md, section 1).
/// O(operands).
[[nodiscard]] IdVector<OpId, std::vector<ValueId>> overwritable_operands(const Instance& instance);

}  // namespace poet
