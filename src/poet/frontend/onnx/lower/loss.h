#pragma once

// The loss that the import attaches to a model's output, in place of the file's own. Private to
// poet/frontend/onnx.

#include "poet/frontend/onnx/lower/loss_input.h"

namespace poet::onnx {

struct Lowering;

/// Adds the loss that is asked for, and its targets: losses of numbers have targets of the output's
/// shape. Cross-entropy on (N, C) and (N, C, 1, 1...) has one target per sample, on (N, C, H, W), (N, C, D,
/// H, W) and, of a convolution, (N, C, L) one per pixel, on others one per position of all axes but the last.
/// Throws InputError when the output does not depend on the inputs, or when a final softmax tells that the
/// classes are where the loss has none.
void add_loss(Lowering& net, const LossInput& input);

}  // namespace poet::onnx
