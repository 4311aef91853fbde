// Operators of the domain com.microsoft, into which ONNX Runtime's optimiser fuses ONNX's own.

#include <fmt/format.h>

#include <numeric>

#include "poet/base/error.h"
#include "poet/frontend/onnx/lower/operators.h"
#include "poet/graph/nn.h"

namespace poet::onnx {
namespace {

/// The node as one of ONNX's own domain, of this kind and with these inputs.
Node as(const Node& node, const char* op_type, std::vector<std::string> inputs,
        std::map<std::string, AttributeValue> attributes = {}) {
  Node like = node;
  like.domain.clear();
  like.op_type = op_type;
  like.inputs = std::move(inputs);
  like.attributes = std::move(attributes);
  like.outputs.resize(1);
  return like;
}

/// Returns the name of an operand that is the sum of inputs `a`, `b` and, if there is one, `c`.
std::string sum_of(Lowering& net, const Node& node, std::size_t a, std::size_t b, std::size_t c) {
  ValueId sum =
      nn::add(net.builder, name_of(node) + ".sum", row_major(net, node, a), row_major(net, node, b));
  if (has_input(node, c)) sum = nn::add(net.builder, name_of(node) + ".sums", sum, row_major(net, node, c));
  std::string name = name_of(node) + ".sum";
  while (net.operands.contains(name)) name += "_";
  net.operands[name] = runtime_of(net.builder, sum);
  return name;
}

void exact_gelu(Lowering& net, const Node& node) { lower_as(net, as(node, "Gelu", {input_name(node, 0)})); }

void bias_gelu(Lowering& net, const Node& node) {
  lower_as(net, as(node, "Gelu", {sum_of(net, node, 0, 1, 2)}));
}

void fast_gelu(Lowering& net, const Node& node) {
  const std::string x = has_input(node, 1) ? sum_of(net, node, 0, 1, 2) : input_name(node, 0);
  lower_as(net, as(node, "Gelu", {x}, {{"approximate", std::string("tanh")}}));
}

void quick_gelu(Lowering& net, const Node& node) {
  lower_as(net, as(node, "Swish", {input_name(node, 0)}, {{"alpha", real(node, "alpha", 1.702)}}));
}

/// Adds alpha A B, each transposed (in its last two axes) if so said.
void fused_matmul(Lowering& net, const Node& node) {
  for (const char* name : {"transBatchA", "transBatchB"})
    if (integer(node, name, 0) != 0) throw InputError(fmt::format("attribute '{}'", name), "must be 0");
  GraphBuilder& g = net.builder;
  const std::string name = name_of(node);
  ValueId operands[2];
  for (const std::size_t i : {std::size_t{0}, std::size_t{1}}) {
    operands[i] = value_of(net, node, i);
    const std::size_t rank = g.shape(operands[i]).size();
    if (rank < 2) throw InputError("multiplies matrices only");
    if (integer(node, i == 0 ? "transA" : "transB", 0) == 0) continue;
    std::vector<std::int64_t> axes(rank);
    std::iota(axes.begin(), axes.end(), 0);
    std::swap(axes[rank - 2], axes[rank - 1]);
    operands[i] = nn::permute(g, fmt::format("{}.{}T", name, i), operands[i], axes);
  }
  const double alpha = real(node, "alpha", 1.0);
  set_result(net, node, nn::matmul(g, name, operands[0], operands[1], {.alpha = alpha, .storage_order = {}}));
}

/// Adds a normalisation of input + skip + bias; the sum may be read, too.
void skip_norm(Lowering& net, const Node& node) {
  const bool centred = node.op_type == "SkipLayerNormalization";
  const std::string sum = sum_of(net, node, 0, 1, centred ? 4 : 3);
  std::vector<std::string> inputs = {sum, input_name(node, 2)};
  if (centred && has_input(node, 3)) inputs.push_back(node.inputs[3]);
  lower_as(net, as(node, centred ? "LayerNormalization" : "RMSNormalization", inputs,
                   {{"epsilon", real(node, "epsilon", 1e-12)}}));
  for (const std::size_t i : {std::size_t{1}, std::size_t{2}})
    if (is_read(net.uses, node, i)) throw InputError(fmt::format("output {} must not be read", i));
  if (is_read(net.uses, node, 3)) net.operands[node.outputs[3]] = net.operands.at(sum);
}

}  // namespace

OperatorRule find_microsoft_operator(const std::string& op_type) {
  static const std::vector<OperatorEntry> entries = {
      {"BiasGelu", bias_gelu},
      {"FastGelu", fast_gelu},
      {"FusedMatMul", fused_matmul},
      {"Gelu", exact_gelu},
      {"QuickGelu", quick_gelu},
      {"SkipLayerNormalization", skip_norm},
      {"SkipSimplifiedLayerNormalization", skip_norm},
  };
  for (const OperatorEntry& entry : entries)
    if (entry.op_type == op_type) return entry.rule;
  return nullptr;
}

}  // namespace poet::onnx
