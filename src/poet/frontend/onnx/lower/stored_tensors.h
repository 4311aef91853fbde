#pragma once

// The tensors that a file stores, by the names that the graph has for them. Private to poet/frontend/onnx.

#include <onnx/onnx_pb.h>

#include <map>
#include <string>

namespace poet::onnx {

class StoredTensors {
 public:
  StoredTensors() = default;
  /// `graph` must outlive this, unchanged.
  explicit StoredTensors(const ::onnx::GraphProto& graph);

  /// The initialiser, or that of a Constant node, of this name or that nodes only hand on under it without
  /// moving an element: the importer names a weight after them (an Identity gives another name). Null when
  /// there is none.
  [[nodiscard]] const ::onnx::TensorProto* find(std::string name) const;

  /// The node that writes it; null when there is none.
  [[nodiscard]] const ::onnx::NodeProto* writer(const std::string& name) const;

 private:
  std::map<std::string, const ::onnx::TensorProto*> initializers_;
  std::map<std::string, const ::onnx::NodeProto*> writers_;
};

}  // namespace poet::onnx
