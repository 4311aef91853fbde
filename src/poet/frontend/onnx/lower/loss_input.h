#pragma once

// What of a model the loss reads. Private to poet/frontend/onnx.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "poet/frontend/onnx/import.h"
#include "poet/frontend/onnx/lower/notices.h"

namespace poet::onnx {

/// A softmax at the end of the network, whose axis is that of the classes. The one of the cross-entropy takes
/// its place.
struct RemovedSoftmax {
  const Node* node = nullptr;        // the last one of those that compute it, without a logarithm
  std::optional<std::int64_t> axis;  // absent: the node's attribute
  std::string logits;                // what it reads
  bool is_seen = false;              // the output is a view of it in another shape
};

struct LossInput {
  std::vector<std::string> outputs;  // one, except with Loss::none
  bool file_had_loss = false;        // which was taken off
  std::optional<RemovedSoftmax> softmax = {};
  /// Nodes, by index, that read this in place of their first input: what comes after the softmax.
  std::vector<std::pair<std::size_t, std::string>> rewired = {};
};

/// The output that has the loss, or what comes before the file's own loss and a softmax at the end, also
/// behind views and clips or written as Exp, ReduceSum and Div: poet's loss takes the place of the one and
/// has the other. Likewise a sigmoid before `loss` bce-with-logits. Throws InputError for an output that
/// there is not, before cross-entropy for a sigmoid and for a softmax that a Clip cuts off, and for a delta
/// that does not fit. O(nodes).
[[nodiscard]] LossInput loss_input(const Model& model, const ImportOptions& options, Notices& notices);

}  // namespace poet::onnx
