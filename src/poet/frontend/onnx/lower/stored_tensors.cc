#include "poet/frontend/onnx/lower/stored_tensors.h"

#include "poet/frontend/onnx/lower/views.h"
#include "poet/frontend/onnx/read/protobuf.h"

namespace poet::onnx {
namespace {

const ::onnx::TensorProto* constant(const ::onnx::NodeProto& node) {
  for (const ::onnx::AttributeProto& attribute : node.attribute()) {
    if (attribute.name() == "value" && attribute.has_t()) return &attribute.t();
  }
  return nullptr;
}

}  // namespace

StoredTensors::StoredTensors(const ::onnx::GraphProto& graph) {
  for (const ::onnx::TensorProto& tensor : graph.initializer()) initializers_[clean(tensor.name())] = &tensor;
  for (const ::onnx::NodeProto& node : graph.node()) {
    for (const std::string& output : node.output()) writers_[clean(output)] = &node;
  }
}

const ::onnx::NodeProto* StoredTensors::writer(const std::string& name) const {
  const auto found = writers_.find(name);
  return found == writers_.end() ? nullptr : found->second;
}

const ::onnx::TensorProto* StoredTensors::find(std::string name) const {
  // The imported file had no cycles, but it may have changed since; hence the limit.
  for (std::size_t nodes = 0; nodes <= writers_.size(); ++nodes) {
    if (const auto stored = initializers_.find(name); stored != initializers_.end()) return stored->second;
    const ::onnx::NodeProto* node = writer(name);
    if (node == nullptr) return nullptr;
    if (node->op_type() == "Constant") return constant(*node);
    const std::string& op_type = node->op_type();
    const bool keeps_order = is_reshaping(op_type) || op_type == "Cast" || op_type == "Identity";
    if (!keeps_order || node->input_size() == 0) return nullptr;
    name = clean(node->input(0));
  }
  return nullptr;
}

}  // namespace poet::onnx
