#include "poet/frontend/onnx/lower/computed.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>

#include "poet/frontend/onnx/lower/generated_names.h"
#include "poet/frontend/onnx/lower/stored_uses.h"

namespace poet::onnx {
namespace {

constexpr const char* kKeeps = "torch.onnx.export(..., dynamo=True, optimize=False)";

bool is_numbered(std::string_view name) {
  constexpr std::string_view kPrefix = "onnx::Conv_";
  if (name.starts_with(kPrefix)) name.remove_prefix(kPrefix.size());
  return is_digits(name);
}

bool has_stored_weights(const Model& model, const Node& node) {
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

/// Returns whether a batch normalisation is folded into the layer. Parameters have the names that the modules
/// give them; only this folding
///  - computes both filters and bias, which then have a number for a name (`onnx::Conv_123`; before PyTorch
///    1.11 `123`),
///  - or, in the exporter based on torch.export, adds a bias that is named after what the convolution reads.
bool has_folded_norm(const Model& model, const Node& node) {
  if (!has_stored_weights(model, node)) return false;
  const bool is_conv = node.op_type != "Gemm";  // a Gemm of transposed weights has numbers for names, too
  return is_fused(node) || (is_conv && is_numbered(node.inputs[1]) && is_numbered(node.inputs[2]));
}

void note_folded_norms(const Model& model, const Uses& uses, Notices& notices) {
  int folded = 0;
  bool by_torch_export = false;
  for (const Node& node : model.nodes) {
    if (!uses.needed.contains(node.index) || !has_folded_norm(model, node)) continue;
    ++folded;
    by_torch_export |= is_fused(node);
  }
  if (folded == 0) return;
  notices.add(
      fmt::format("batch normalisation is folded into {} layer{}, as PyTorch exports by default: the network "
                  "trains without it; torch.onnx.export(..., {}) keeps it",
                  folded, folded == 1 ? "" : "s",
                  by_torch_export ? "dynamo=True, optimize=False"
                                  : "training=torch.onnx.TrainingMode.TRAINING, do_constant_folding=False"));
}

void note_missing(const Model& model, Notices& notices) {
  if (model.missing_parameters.empty()) return;
  const std::size_t count = model.missing_parameters.size();
  notices.add(fmt::format(
      "the file has no tensor of {} of the module's parameters ({}): the exporter has merged {} "
      "with equal ones, folded {} into others, or dropped what no output needs; {} keeps the rest",
      count, listed(model.missing_parameters), count == 1 ? "it" : "them", count == 1 ? "it" : "them",
      kKeeps));
}

/// The optimiser of the newer exporter merges equal tensors: constants, which then train, with parameters.
void note_merged(const Model& model, const Uses& uses, const Roles& roles, Notices& notices) {
  const bool is_optimised =
      !model.origins.empty() && std::none_of(model.nodes.begin(), model.nodes.end(),
                                             [](const Node& node) { return node.op_type == "Constant"; });
  if (!is_optimised) return;
  std::vector<std::string> names;
  for (const auto& [name, role] : roles.of) {
    const auto stored = model.initializers.find(name);
    if (role.trains && stored != model.initializers.end() && stored->second.fill &&
        readers(uses, name).size() > 1)
      names.push_back(name);
  }
  if (!names.empty())
    notices.add(fmt::format(
        "{} {} one number everywhere and several readers: constants of the same numbers may be "
        "merged with {}, and then train; {} keeps them apart",
        listed(names), names.size() == 1 ? "has" : "have", names.size() == 1 ? "it" : "them", kKeeps));
  // Statistics of batch normalisations go with the layers that they are folded into.
  std::vector<std::string> buffers;
  for (const std::string& name : model.missing_buffers)
    if (!name.ends_with("num_batches_tracked") && !name.ends_with("running_mean") &&
        !name.ends_with("running_var"))
      buffers.push_back(name);
  if (!buffers.empty())
    notices.add(fmt::format(
        "the file has no tensor of the module's {} {}: where the exporter has merged {} with "
        "parameters of equal numbers, {} with them; {} keeps them apart",
        buffers.size() == 1 ? "buffer" : "buffers", listed(buffers), buffers.size() == 1 ? "it" : "them",
        buffers.size() == 1 ? "it trains" : "they train", kKeeps));
}

/// Whether the exporter has computed a tensor by more than a transposition; maybe: the file does not say.
enum class Computed { no, maybe, yes };

Computed computed(const Model& model, const Uses& uses, const std::string& name) {
  if (!is_generated(model, name)) return Computed::no;
  const auto sources = model.sources.find(name);
  const std::size_t count = sources == model.sources.end() ? 0 : sources->second.size();
  const std::vector<Use> all = uses_through_views(uses, name);
  const auto every = [&](auto is) { return std::all_of(all.begin(), all.end(), is); };
  if (every([&](const Use& use) { return has_folded_norm(model, *use.node); })) return Computed::no;
  const bool of_products =
      every([](const Use& use) { return use.node->op_type == "MatMul" || use.node->op_type == "Gemm"; });
  // Before products of matrices the older exporter transposes weights, before a Gemm it need not.
  const bool turned = (is_of_layer(name) && !name.starts_with("onnx::Gemm")) || stem(name) == "t" ||
                      stem(name) == "transpose" || stem(name) == "permute";
  if (!of_products || !turned || count > 1) return Computed::yes;
  return count == 1 ? Computed::no : Computed::maybe;
}

}  // namespace

void note_computed(const Model& model, const Uses& uses, const Roles& roles, Notices& notices) {
  note_missing(model, notices);
  if (model.producer != "pytorch") return;
  note_folded_norms(model, uses, notices);
  note_merged(model, uses, roles, notices);
  std::set<std::string> copies;
  for (const TiedCopy& copy : roles.copies) copies.insert(copy.name);
  std::vector<std::string> surely, perhaps;
  for (const auto& [name, role] : roles.of) {
    if (!role.trains || copies.contains(name) || !model.initializers.contains(name)) continue;
    const Computed how = computed(model, uses, name);
    if (how == Computed::yes) surely.push_back(name);
    if (how == Computed::maybe) perhaps.push_back(name);
  }
  if (!surely.empty())
    notices.add(fmt::format(
        "{} {} trained as stored: the exporter has computed {} of others (transposed, expanded, cut "
        "or folded them, applied masks or normalised weights) and given {} a name of its own; {}, or "
        "do_constant_folding=False before PyTorch 2.9, keeps the parameters",
        listed(surely), surely.size() == 1 ? "is" : "are", surely.size() == 1 ? "it" : "them",
        surely.size() == 1 ? "it" : "each", kKeeps));
  if (!perhaps.empty())
    notices.add(fmt::format(
        "{} {} taken as transposed weights of linear layers; if the exporter has computed more than "
        "that (masks, weight normalisation), the network trains without it; {}, or "
        "do_constant_folding=False before PyTorch 2.9, keeps the parameters",
        listed(perhaps), perhaps.size() == 1 ? "is" : "are", kKeeps));
}

}  // namespace poet::onnx
