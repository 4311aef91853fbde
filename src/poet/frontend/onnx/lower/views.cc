#include "poet/frontend/onnx/lower/views.h"

#include <algorithm>
#include <array>

#include "poet/frontend/onnx/lower/constants/attributes.h"

namespace poet::onnx {

bool is_reshaping(std::string_view op_type) {
  constexpr auto kAll = std::to_array<std::string_view>({"Flatten", "Reshape", "Squeeze", "Unsqueeze"});
  return std::find(kAll.begin(), kAll.end(), op_type) != kAll.end();
}

bool is_real_cast(const Node& node) {
  if (!node.domain.empty() || node.op_type != "Cast") return false;
  const std::int64_t to = integer(node, "to", 0);
  return to == 1 || to == 10 || to == 11 || to == 16;
}

bool is_view(const Node& node) {
  return node.domain.empty() && (is_reshaping(node.op_type) || node.op_type == "Cast" ||
                                 node.op_type == "Identity" || node.op_type == "Transpose");
}

const Tensor* stated_value(const Node& node) {
  if (!node.domain.empty() || (node.op_type != "Constant" && node.op_type != "ConstantOfShape"))
    return nullptr;
  const auto value = node.attributes.find("value");
  return value == node.attributes.end() ? nullptr : std::get_if<Tensor>(&value->second);
}

}  // namespace poet::onnx
