#pragma once

// The loss that the import attaches to a model's output, in place of the file's own. Private to
// poet/frontend/onnx.

#include <string>

#include "poet/frontend/onnx/import.h"
#include "poet/frontend/onnx/lower/notices.h"

namespace poet::onnx {

struct Lowering;

struct LossInput {
  std::string logits;                   // what the loss reads
  bool file_had_loss = false;           // which was taken off
  const Node* final_softmax = nullptr;  // that was taken off
};

/// The output that has the loss, or what comes before the file's own loss and a final softmax: poet's loss
/// takes the place of the one and has the other. Throws InputError for an output that there is not. O(nodes).
[[nodiscard]] LossInput taken_off(const Model& model, const ImportOptions& options, Notices& notices);

/// Adds the loss that is asked for, and its targets: losses of numbers have targets of the output's
/// shape. Cross-entropy on (N, C) and (N, C, 1, 1...) has one target per sample, on (N, C, H, W), (N, C, D,
/// H, W) and, of a convolution, (N, C, L) one per pixel, on others one per position of all axes but the last.
/// Throws InputError when the output does not depend on the inputs, or when a final softmax tells that the
/// classes are where the loss has none.
void add_loss(Lowering& net, const LossInput& input);

}  // namespace poet::onnx
