// Matrix products, with and without weights.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "poet/base/error.h"
#include "poet/frontend/onnx/fuse/patterns.h"
#include "poet/frontend/onnx/lower/operators.h"
#include "poet/graph/nn.h"

namespace poet::onnx {
namespace {

/// Returns whether input 1 is a weight that a linear layer can read. Where another reader has stored it the
/// other way round, a product reads a view of it.
bool is_matrix_for_linear(const Lowering& net, const Node& node, bool read_as_out_in) {
  return fixed_of(net, node, 1) != nullptr && type_of(net, node, 1) == Type::real &&
         shape_of(net, node, 1).size() == 2 && stored_as_out_in(net, node, 1, read_as_out_in);
}

/// Adds a linear layer of input 0 for the node and, if there is one, the Add of a bias after it.
void linear(Lowering& net, const Node& node, bool read_as_out_in) {
  const std::string name = name_of(node);
  const std::int64_t out = shape_of(net, node, 1)[read_as_out_in ? 0 : 1];
  const ValueId x = row_major(net, node, 0);
  net.builder.bind(name + ".weight", linear_weight(net, node, 1, read_as_out_in));
  bool bias = has_input(node, 2);
  const Node* last = &node;
  if (bias) {
    net.builder.bind(name + ".bias", weight_of(net, node, 2, {out}));
  } else if (const auto add = following_bias(net, node, out)) {
    bias = true;
    net.builder.bind(name + ".bias", weight_of(net, *add->first, add->second, {out}));
    last = add->first;
    skip(net, *last);
  }
  set_result(net, *last, nn::linear(net.builder, name, x, out, bias));
}

/// Adds a matrix product of two values. Scaling before or after it becomes its alpha; if a Transpose reads
/// the result, it is written in the transposed order.
void product(Lowering& net, const Node& node, ValueId a, ValueId b, double alpha) {
  nn::MatmulOptions options;
  options.alpha = alpha;
  const Node* last = &node;
  const std::size_t rank = std::max(net.builder.shape(a).size(), net.builder.shape(b).size());
  if (const auto factor = following_factor(net, node, rank)) {
    options.alpha *= factor->second;
    last = factor->first;
    skip(net, *last);
  }
  if (const Node* next = only_reader(net.uses, *last, "Transpose")) {
    const std::vector<std::int64_t> order = integers(*next, "perm");
    if (order.size() == rank) options.storage_order = order;
  }
  set_result(net, *last, nn::matmul(net.builder, name_of(node), a, b, options));
}

void matmul(Lowering& net, const Node& node) {
  if (is_data(net, node, 0) && is_matrix_for_linear(net, node, false)) return linear(net, node, false);
  double alpha = 1.0;
  ValueId operands[2];
  for (std::size_t i = 0; i < 2; ++i) {
    if (const Runtime* x = std::get_if<Runtime>(&operand_of(net, node, i));
        x != nullptr && x->type == Type::real) {
      alpha *= x->scale;
      operands[i] = x->id;
    } else {
      operands[i] = value_of(net, node, i);
    }
  }
  const bool row = shape_of(net, node, 0).size() == 1;
  const bool column = shape_of(net, node, 1).size() == 1;
  if (!row && !column) return product(net, node, operands[0], operands[1], alpha);
  // A vector becomes a matrix of one row or column, which is removed from the result.
  GraphBuilder& g = net.builder;
  const std::string name = name_of(node);
  if (row) operands[0] = nn::reshape(g, name + ".row", operands[0], {1, g.shape(operands[0])[0]});
  if (column) operands[1] = nn::reshape(g, name + ".column", operands[1], {g.shape(operands[1])[0], 1});
  const ValueId y = nn::matmul(g, name, operands[0], operands[1], {.alpha = alpha, .storage_order = {}});
  Shape to = g.shape(y);
  if (row) to.erase(to.end() - 2);
  if (column) to.pop_back();
  set_result(net, node, nn::reshape(g, name + ".shape", y, to));
}

void gemm(Lowering& net, const Node& node) {
  const bool transpose_a = integer(node, "transA", 0) != 0;
  const bool transpose_b = integer(node, "transB", 0) != 0;
  const double alpha = real(node, "alpha", 1.0);
  const double beta = real(node, "beta", 1.0);
  for (const double factor : {alpha, beta}) {
    if (!std::isfinite(factor)) throw InputError("alpha and beta must be finite");
  }
  const bool has_bias = has_input(node, 2) && beta != 0.0;
  if (shape_of(net, node, 0).size() != 2 || shape_of(net, node, 1).size() != 2)
    throw InputError("multiplies matrices only");
  const std::int64_t out = shape_of(net, node, 1)[transpose_b ? 0 : 1];
  // Whether the bias has one number per column; other shapes are broadcast.
  const auto per_column = [&] {
    const Shape c = shape_of(net, node, 2);
    const std::int64_t count = element_count(c);
    // Binding the weight rejects a list of another length.
    return count == out ? c.empty() || c.back() == out : c.size() == 1 && count != 1;
  };
  const bool bias_is_weight =
      !has_input(node, 2) || (beta == 1.0 && fixed_of(net, node, 2) != nullptr && per_column());
  if (alpha == 1.0 && !transpose_a && is_data(net, node, 0) && bias_is_weight &&
      is_matrix_for_linear(net, node, transpose_b))
    return linear(net, node, transpose_b);
  const std::string name = name_of(node);
  const auto matrix = [&](std::size_t i, bool transposed) {
    const ValueId x = value_of(net, node, i);
    return transposed ? nn::permute(net.builder, fmt::format("{}.{}T", name, i), x, {1, 0}) : x;
  };
  const ValueId a = matrix(0, transpose_a);
  const ValueId b = matrix(1, transpose_b);
  if (!has_bias) return product(net, node, a, b, alpha);
  const ValueId y = nn::matmul(net.builder, name, a, b, {.alpha = alpha, .storage_order = {}});
  const Shape to = net.builder.shape(y);
  if (broadcast(to, shape_of(net, node, 2)) != to)
    throw InputError(fmt::format("input 2 does not broadcast to ({})", fmt::join(to, ", ")));
  ValueId c = row_major(net, node, 2);
  if (beta != 1.0) c = nn::scale(net.builder, name + ".beta", c, beta);
  set_result(net, node, nn::add(net.builder, name + ".add", y, c));
}

}  // namespace

const std::vector<OperatorEntry>& product_operators() {
  static const std::vector<OperatorEntry> entries = {
      {"Gemm", gemm},
      {"MatMul", matmul},
  };
  return entries;
}

}  // namespace poet::onnx
