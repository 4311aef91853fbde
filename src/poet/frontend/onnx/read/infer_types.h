#pragma once

// What libonnx knows about the results of one node. Private to poet/frontend/onnx.

#include <cstdint>
#include <optional>
#include <vector>

#include "poet/frontend/onnx/model.h"
#include "poet/frontend/onnx/read/isolated.h"

namespace poet::onnx {

/// In a process of its own, which starts when it is first asked (see Isolated).
class TypeInference {
 public:
  TypeInference();

  /// Element types and shapes of a node's outputs, by position; nothing where libonnx cannot tell, which is
  /// everywhere for operators that it does not know. `inputs`: null where an input is left out; contents
  /// count where they are known. O(size of the node).
  [[nodiscard]] std::vector<std::optional<Tensor>> infer(const Node& node,
                                                         const std::vector<const Tensor*>& inputs,
                                                         std::int64_t opset);

 private:
  Isolated libonnx_;
};

}  // namespace poet::onnx
