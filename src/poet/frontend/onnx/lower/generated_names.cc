#include "poet/frontend/onnx/lower/generated_names.h"

#include <algorithm>
#include <set>
#include <string_view>

namespace poet::onnx {

bool is_digits(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return '0' <= c && c <= '9'; });
}

std::string_view stem(std::string_view name) {
  std::string_view cut = name;
  while (!cut.empty() && '0' <= cut.back() && cut.back() <= '9') cut.remove_suffix(1);
  if (cut.size() == name.size() || cut.empty() || cut.back() != '_') return name;
  while (!cut.empty() && cut.back() == '_') cut.remove_suffix(1);
  return cut;
}

bool is_of_layer(const std::string& name) {
  return is_digits(name) || name.starts_with("onnx::") || stem(name) == "val";
}

bool is_generated(const Model& model, const std::string& name) {
  if (const auto origin = model.origins.find(name); origin != model.origins.end())
    return origin->second != Origin::parameter && origin->second != Origin::buffer;
  if (is_digits(name) || name.starts_with("onnx::") || name.ends_with("_output_0")) return true;
  const std::string_view base = stem(name);
  static const std::set<std::string_view> numbered = {"Constant", "const_fold_opt", "const", "tensor", "val"};
  if (base.size() < name.size() && (numbered.contains(base) || base.starts_with("ortshared"))) return true;
  // The newer exporter of PyTorch names what it has folded after the function that made it.
  static const std::set<std::string_view> functions = {
      "_to_copy",   "add",    "alias",   "bmm",         "cat",       "clone",  "detach", "div",     "exp",
      "expand",     "index",  "log",     "masked_fill", "matmul",    "mul",    "neg",    "permute", "pow",
      "reciprocal", "repeat", "reshape", "rsqrt",       "rsub",      "select", "slice",  "sqrt",    "squeeze",
      "stack",      "sub",    "t",       "transpose",   "unsqueeze", "view",   "where"};
  return is_table(model, name) ||
         (model.producer == "pytorch" && !model.has_scoped_names && functions.contains(base));
}

bool is_table(const Model& model, const std::string& name) {
  static const std::set<std::string_view> functions = {
      "arange",      "cos",       "empty",         "eye",
      "fill",        "full",      "full_like",     "linspace",
      "logical_not", "new_full",  "new_ones",      "new_zeros",
      "ones",        "ones_like", "scalar_tensor", "scalar_tensor_default",
      "sin",         "tril",      "triu",          "zeros",
      "zeros_like"};
  return model.producer == "pytorch" && !model.has_scoped_names && functions.contains(stem(name));
}

}  // namespace poet::onnx
