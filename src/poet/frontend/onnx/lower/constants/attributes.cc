#include "poet/frontend/onnx/lower/constants/attributes.h"

#include <fmt/format.h>

#include "poet/base/error.h"

namespace poet::onnx {
namespace {

template <class T>
T attribute(const Node& node, const std::string& name, const T& otherwise, const char* type) {
  const auto found = node.attributes.find(name);
  if (found == node.attributes.end()) return otherwise;
  const T* value = std::get_if<T>(&found->second);
  if (value == nullptr)
    throw InputError(fmt::format("attribute '{}'", name), fmt::format("must be {}", type));
  return *value;
}

}  // namespace

std::int64_t integer(const Node& node, const std::string& name, std::int64_t otherwise) {
  return attribute<std::int64_t>(node, name, otherwise, "an integer");
}

double real(const Node& node, const std::string& name, double otherwise) {
  return attribute<double>(node, name, otherwise, "a number");
}

std::string text(const Node& node, const std::string& name, const std::string& otherwise) {
  return attribute<std::string>(node, name, otherwise, "a text");
}

std::vector<std::int64_t> integers(const Node& node, const std::string& name,
                                   const std::vector<std::int64_t>& otherwise) {
  return attribute<std::vector<std::int64_t>>(node, name, otherwise, "a list of integers");
}

std::vector<double> reals(const Node& node, const std::string& name) {
  return attribute<std::vector<double>>(node, name, {}, "a list of numbers");
}

Tensor tensor(const Node& node, const std::string& name, const Tensor& otherwise) {
  return attribute<Tensor>(node, name, otherwise, "a tensor");
}

}  // namespace poet::onnx
