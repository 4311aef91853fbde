#pragma once

// Attributes of a node, by the type that an operator gives them.

#include <string>
#include <vector>

#include "poet/frontend/onnx/model.h"

namespace poet::onnx {

// The default where they are absent. Throw InputError when they have another type.
[[nodiscard]] std::int64_t integer(const Node& node, const std::string& attribute, std::int64_t otherwise);
[[nodiscard]] double real(const Node& node, const std::string& attribute, double otherwise);
[[nodiscard]] std::string text(const Node& node, const std::string& attribute, const std::string& otherwise);
[[nodiscard]] std::vector<std::int64_t> integers(const Node& node, const std::string& attribute,
                                                 const std::vector<std::int64_t>& otherwise = {});
[[nodiscard]] std::vector<double> reals(const Node& node, const std::string& attribute);
[[nodiscard]] Tensor tensor(const Node& node, const std::string& attribute, const Tensor& otherwise);

}  // namespace poet::onnx
