#include "poet/frontend/onnx/lower/folded_norm.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "poet/frontend/onnx/lower/generated_names.h"

namespace poet::onnx {
namespace {

bool is_numbered(std::string_view name) {
  constexpr std::string_view kPrefix = "onnx::Conv_";
  if (name.starts_with(kPrefix)) name.remove_prefix(kPrefix.size());
  return is_digits(name);
}

bool is_layer(const Model& model, const Node& node) {
  return node.domain.empty() &&
         (node.op_type == "Conv" || node.op_type == "ConvTranspose" || node.op_type == "Gemm") &&
         node.inputs.size() == 3 && model.initializers.contains(node.inputs[1]) &&
         model.initializers.contains(node.inputs[2]);
}

/// Returns whether the exporter based on torch.export made the layer of one and its normalisation: the result
/// has the name of the normalisation's, which is an item of a tuple, or the shift one of its own.
bool is_fused(const Node& node) {
  return stem(node.outputs.front()) == "getitem" || node.inputs[2] == node.inputs[0] + "_bias" ||
         node.inputs[2] == node.inputs[1] + "_bias";
}

}  // namespace

std::optional<std::string> folded_norm_notice(const Model& model, const std::set<std::size_t>& needed) {
  if (model.producer != "pytorch") return std::nullopt;
  int folded = 0;
  bool by_torch_export = false;
  for (const Node& node : model.nodes) {
    if (!needed.contains(node.index) || !is_layer(model, node)) continue;
    const bool is_added = is_fused(node);
    const bool is_conv = node.op_type != "Gemm";  // a Gemm of transposed weights has numbers for names, too
    if (!is_added && !(is_conv && is_numbered(node.inputs[1]) && is_numbered(node.inputs[2]))) continue;
    ++folded;
    by_torch_export |= is_added;
  }
  if (folded == 0) return std::nullopt;
  return fmt::format(
      "batch normalisation is folded into {} layer{}, as PyTorch exports by default: the network "
      "trains without it; torch.onnx.export(..., {}) keeps it",
      folded, folded == 1 ? "" : "s",
      by_torch_export ? "dynamo=True, optimize=False"
                      : "training=torch.onnx.TrainingMode.TRAINING, do_constant_folding=False");
}

}  // namespace poet::onnx
