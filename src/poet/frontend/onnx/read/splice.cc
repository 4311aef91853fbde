#include "poet/frontend/onnx/read/splice.h"

#include <fmt/format.h>

namespace poet::onnx {
namespace {

void rename(::onnx::GraphProto& graph, const Renaming& renaming);

void rename(std::string& name, const Renaming& renaming) {
  if (const auto found = renaming.find(name); found != renaming.end()) name = found->second;
}

void rename(::onnx::GraphProto& graph, const Renaming& renaming) {
  for (::onnx::NodeProto& node : *graph.mutable_node()) onnx::rename(node, renaming);
  for (::onnx::ValueInfoProto& output : *graph.mutable_output()) rename(*output.mutable_name(), renaming);
}

}  // namespace

std::string ValueNames::fresh(const std::string& scope, const std::string& name) {
  std::string wanted = scope + "/" + name;
  for (int number = 1; !taken_.insert(wanted).second; ++number)
    wanted = fmt::format("{}/{}_{}", scope, name, number);
  return wanted;
}

void ValueNames::take(const ::onnx::GraphProto& graph) {
  for (const auto& input : graph.input()) taken_.insert(input.name());
  for (const auto& tensor : graph.initializer()) taken_.insert(tensor.name());
  for (const ::onnx::NodeProto& node : graph.node()) {
    taken_.insert(node.output().begin(), node.output().end());
    for (const ::onnx::AttributeProto& attribute : node.attribute())
      if (attribute.has_g()) take(attribute.g());
  }
}

void rename(::onnx::NodeProto& node, const Renaming& renaming) {
  for (std::string& input : *node.mutable_input()) rename(input, renaming);
  for (std::string& output : *node.mutable_output()) rename(output, renaming);
  for (::onnx::AttributeProto& attribute : *node.mutable_attribute())
    if (attribute.has_g()) rename(*attribute.mutable_g(), renaming);
}

std::string scope_of(const ::onnx::NodeProto& node) {
  if (!node.name().empty()) return node.name();
  return node.output_size() > 0 ? node.output(0) : node.op_type();
}

::onnx::NodeProto& add_copy(::onnx::GraphProto& to, const ::onnx::NodeProto& node, const std::string& scope,
                            const Renaming& renaming) {
  ::onnx::NodeProto& copy = *to.add_node();
  copy = node;
  if (!node.name().empty()) copy.set_name(scope + "/" + node.name());
  rename(copy, renaming);
  return copy;
}

}  // namespace poet::onnx
