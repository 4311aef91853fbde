#pragma once

// Small ONNX files with contents, in libonnx's own structs. For tests that link it.

#include <onnx/onnx_pb.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "poet/graph/graph.h"

namespace poet::test {

class ProtoModel {
 public:
  /// One float input "x" and one output "y" with as many axes.
  explicit ProtoModel(const Shape& x, std::int64_t opset = 17) {
    proto.set_ir_version(8);
    proto.add_opset_import()->set_version(opset);
    graph().set_name("small");
    auto& input = *graph().add_input();
    input.set_name("x");
    auto& type = *input.mutable_type()->mutable_tensor_type();
    type.set_elem_type(::onnx::TensorProto::FLOAT);
    for (const std::int64_t d : x) type.mutable_shape()->add_dim()->set_dim_value(d);
    auto& output = *graph().add_output();
    output.set_name("y");
    *output.mutable_type() = input.type();
    for (auto& d : *output.mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim())
      d.set_dim_param("any");
  }

  ::onnx::GraphProto& graph() { return *proto.mutable_graph(); }

  ::onnx::NodeProto& node(const std::string& op_type, const std::vector<std::string>& inputs,
                          const std::vector<std::string>& outputs) {
    ::onnx::NodeProto& added = *graph().add_node();
    added.set_name("the_" + outputs.front());
    added.set_op_type(op_type);
    for (const std::string& name : inputs) added.add_input(name);
    for (const std::string& name : outputs) added.add_output(name);
    return added;
  }

  /// As raw data.
  ::onnx::TensorProto& floats(const std::string& name, const Shape& shape,
                              const std::vector<float>& elements) {
    ::onnx::TensorProto& tensor = *graph().add_initializer();
    tensor = float_tensor(shape, elements);
    tensor.set_name(name);
    return tensor;
  }

  ::onnx::TensorProto& integers(const std::string& name, const std::vector<std::int64_t>& elements) {
    ::onnx::TensorProto& tensor = *graph().add_initializer();
    tensor.set_name(name);
    tensor.set_data_type(::onnx::TensorProto::INT64);
    tensor.add_dims(static_cast<std::int64_t>(elements.size()));
    for (const std::int64_t element : elements) tensor.add_int64_data(element);
    return tensor;
  }

  /// A Constant node.
  void constant(const std::string& name, const Shape& shape, const std::vector<float>& elements) {
    ::onnx::AttributeProto& value = *node("Constant", {}, {name}).add_attribute();
    value.set_name("value");
    value.set_type(::onnx::AttributeProto::TENSOR);
    *value.mutable_t() = float_tensor(shape, elements);
  }

  static void set(::onnx::NodeProto& node, const char* name, std::int64_t number) {
    ::onnx::AttributeProto& attribute = *node.add_attribute();
    attribute.set_name(name);
    attribute.set_type(::onnx::AttributeProto::INT);
    attribute.set_i(number);
  }

  static ::onnx::TensorProto float_tensor(const Shape& shape, const std::vector<float>& elements) {
    ::onnx::TensorProto tensor;
    tensor.set_data_type(::onnx::TensorProto::FLOAT);
    for (const std::int64_t d : shape) tensor.add_dims(d);
    tensor.mutable_raw_data()->assign(reinterpret_cast<const char*>(elements.data()),
                                      elements.size() * sizeof(float));
    return tensor;
  }

  static void keep_elsewhere(::onnx::TensorProto& tensor, const std::string& location,
                             const std::string& offset, const std::string& length) {
    tensor.clear_raw_data();
    tensor.set_data_location(::onnx::TensorProto::EXTERNAL);
    const std::pair<const char*, std::string> entries[] = {
        {"location", location}, {"offset", offset}, {"length", length}};
    for (const auto& [key, value] : entries) {
      if (value.empty()) continue;
      ::onnx::StringStringEntryProto& entry = *tensor.add_external_data();
      entry.set_key(key);
      entry.set_value(value);
    }
  }

  [[nodiscard]] std::string bytes() const { return proto.SerializeAsString(); }

  ::onnx::ModelProto proto;
};

}  // namespace poet::test
