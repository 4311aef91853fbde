#pragma once

// Lists of tensors (SequenceEmpty, SplitToSequence, SequenceAt and the like), as exporters write them for
// Python lists. How long each is is known while importing, so that none is left in the graph. Private to
// poet/frontend/onnx.

#include "poet/frontend/onnx/lower/lowering.h"

namespace poet::onnx {

/// Does the node's work if it makes or reads a sequence; false where it does neither. Throws InputError.
[[nodiscard]] bool lowered_sequence(Lowering& net, const Node& node);

}  // namespace poet::onnx
