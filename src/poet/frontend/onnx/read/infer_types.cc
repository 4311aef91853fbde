#include "poet/frontend/onnx/read/infer_types.h"

#include <onnx/onnx_pb.h>
#include <onnx/shape_inference/implementation.h>

#include <algorithm>
#include <map>
#include <string>
#include <type_traits>

#include "poet/frontend/onnx/read/protobuf.h"

namespace poet::onnx {
namespace {

using Proto = ::onnx::TensorProto;
using AttributeProto = ::onnx::AttributeProto;

void write_contents(const Tensor& tensor, Proto& proto) {
  proto.set_data_type(element_type(tensor));
  for (const std::int64_t size : tensor.shape) proto.add_dims(size);
  if (tensor.type == Type::real) {
    proto.set_data_type(Proto::FLOAT);
    for (const double number : tensor.reals) proto.add_float_data(static_cast<float>(number));
  } else if (proto.data_type() == Proto::INT64) {
    for (const std::int64_t number : tensor.integers) proto.add_int64_data(number);
  } else {
    for (const std::int64_t number : tensor.integers) proto.add_int32_data(static_cast<std::int32_t>(number));
  }
}

/// Writes an attribute. Returns false for one that the importer has not kept.
struct WriteAttribute {
  AttributeProto& proto;

  bool operator()(const OtherAttribute&) const { return false; }
  bool operator()(std::int64_t number) const {
    proto.set_type(AttributeProto::INT);
    proto.set_i(number);
    return true;
  }
  bool operator()(double number) const {
    proto.set_type(AttributeProto::FLOAT);
    proto.set_f(static_cast<float>(number));
    return true;
  }
  bool operator()(const std::string& text) const {
    proto.set_type(AttributeProto::STRING);
    proto.set_s(text);
    return true;
  }
  bool operator()(const std::vector<std::int64_t>& list) const {
    proto.set_type(AttributeProto::INTS);
    for (const std::int64_t number : list) proto.add_ints(number);
    return true;
  }
  bool operator()(const std::vector<double>& list) const {
    proto.set_type(AttributeProto::FLOATS);
    for (const double number : list) proto.add_floats(static_cast<float>(number));
    return true;
  }
  bool operator()(const std::vector<std::string>& list) const {
    proto.set_type(AttributeProto::STRINGS);
    for (const std::string& text : list) proto.add_strings(text);
    return true;
  }
  bool operator()(const Tensor& tensor) const {
    if (!tensor.known) return false;
    proto.set_type(AttributeProto::TENSOR);
    write_contents(tensor, *proto.mutable_t());
    return true;
  }
};

/// Returns a model of this node alone, or nullopt if an attribute cannot be passed on.
std::optional<::onnx::ModelProto> model_of(const Node& node, const std::vector<const Tensor*>& inputs,
                                           std::int64_t opset) {
  ::onnx::ModelProto model;
  model.set_ir_version(::onnx::Version::IR_VERSION);
  model.add_opset_import()->set_version(std::min<std::int64_t>(opset, kNewestOpset));
  ::onnx::GraphProto& graph = *model.mutable_graph();
  graph.set_name("one node");
  ::onnx::NodeProto& copy = *graph.add_node();
  copy.set_op_type(node.op_type);
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    const Tensor* tensor = i < inputs.size() ? inputs[i] : nullptr;
    const std::string name = tensor == nullptr ? "" : "in" + std::to_string(i);
    copy.add_input(name);
    if (tensor == nullptr) continue;
    ::onnx::ValueInfoProto& info = *graph.add_input();
    info.set_name(name);
    ::onnx::TypeProto_Tensor& type = *info.mutable_type()->mutable_tensor_type();
    type.set_elem_type(element_type(*tensor));
    type.mutable_shape();
    for (const std::int64_t size : tensor->shape) type.mutable_shape()->add_dim()->set_dim_value(size);
    if (!tensor->known) continue;
    Proto& contents = *graph.add_initializer();
    contents.set_name(name);
    write_contents(*tensor, contents);
  }
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    copy.add_output(node.outputs[i].empty() ? "" : "out" + std::to_string(i));
  }
  for (const auto& [name, value] : node.attributes) {
    AttributeProto& attribute = *copy.add_attribute();
    attribute.set_name(name);
    if (!std::visit(WriteAttribute{attribute}, value)) return std::nullopt;
  }
  return model;
}

/// Returns the serialised model with the types that libonnx infers.
std::optional<std::string> inferred(const std::string& bytes) {
  ::onnx::ModelProto model;
  if (!model.ParseFromString(bytes)) return std::nullopt;
  ::onnx::shape_inference::InferShapes(model, ::onnx::OpSchemaRegistry::Instance(), {true, 1, false});
  return model.SerializeAsString();
}

std::optional<Tensor> tensor_of(const ::onnx::ValueInfoProto& info) {
  if (!info.type().has_tensor_type() || !info.type().tensor_type().has_shape()) return std::nullopt;
  const ::onnx::TypeProto_Tensor& type = info.type().tensor_type();
  Tensor tensor;
  tensor.type = type_of(type.elem_type());
  tensor.type_name = type_name(type.elem_type());
  for (const ::onnx::TensorShapeProto_Dimension& dim : type.shape().dim()) {
    if (!dim.has_dim_value()) return std::nullopt;
    tensor.shape.push_back(dim.dim_value());
  }
  return tensor;
}

}  // namespace

// libonnx runs in an isolated process: its rules assume valid nodes, and invalid ones make them read out of
// bounds, divide by zero or loop for hours.
TypeInference::TypeInference() : libonnx_(inferred) {}

std::vector<std::optional<Tensor>> TypeInference::infer(const Node& node,
                                                        const std::vector<const Tensor*>& inputs,
                                                        std::int64_t opset) {
  std::vector<std::optional<Tensor>> types(node.outputs.size());
  if (!node.domain.empty()) return types;
  // Looking up the schema here also initialises libonnx's tables before a child is forked.
  const int version = static_cast<int>(std::min<std::int64_t>(opset, kNewestOpset));
  if (::onnx::OpSchemaRegistry::Schema(node.op_type, version) == nullptr) return types;
  const Silence silence;
  const std::optional<::onnx::ModelProto> model = model_of(node, inputs, opset);
  if (!model) return types;
  const std::optional<std::string> answer = libonnx_.ask(model->SerializeAsString());
  ::onnx::ModelProto typed;
  if (!answer || !typed.ParseFromString(*answer)) return types;
  for (const ::onnx::ValueInfoProto& info : typed.graph().value_info()) {
    for (std::size_t i = 0; i < types.size(); ++i) {
      if (info.name() == "out" + std::to_string(i)) types[i] = tensor_of(info);
    }
  }
  return types;
}

}  // namespace poet::onnx
