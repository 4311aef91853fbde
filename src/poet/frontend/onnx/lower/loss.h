#pragma once

// The loss that the import attaches to a model's output. Private to poet/frontend/onnx.

#include "poet/frontend/onnx/lower/walk.h"

namespace poet::onnx {

/// Cross-entropy on `output`: (N, C) and (N, C, 1, 1...) have one target per sample, (N, C, H, W), (N, C, D,
/// H, W) and, of a convolution, (N, C, L) one per pixel, others one per position of all axes but the last.
/// `convolved`: a convolution wrote it. `final_softmax`: the one that was taken off, or null; it tells where
/// the classes are. Throws InputError when they are where the loss has none.
void add_cross_entropy(Walk& walk, ValueId output, bool convolved, const Node* final_softmax);

/// Mean squared difference between `output` and targets of its shape.
void add_mean_squared_error(Walk& walk, ValueId output);

}  // namespace poet::onnx
