// Layers with weights, normalisations, matrix products.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "poet/base/error.h"
#include "poet/frontend/onnx/fuse/patterns.h"
#include "poet/frontend/onnx/lower/operators.h"
#include "poet/frontend/onnx/lower/sliced.h"
#include "poet/graph/nn.h"

namespace poet::onnx {
namespace {

/// The node's first output, or that of the Add after it, is a linear layer of input 0.
void linear(Walk& walk, const Node& node, bool read_as_out_in) {
  const std::string name = Walk::name_of(node);
  const Shape weight = walk.shape(node, 1);
  if (weight.size() != 2) throw InputError("the weight must be a matrix");
  const std::int64_t out = weight[read_as_out_in ? 0 : 1];
  if (!walk.stored_as_out_in(node, 1, read_as_out_in)) {
    // Another reader has it stored the other way round, and products read views.
    const ValueId from = walk.value(node, 0);
    ValueId matrix = walk.value(node, 1);
    if (read_as_out_in) matrix = nn::permute(walk.graph(), name + ".weight.T", matrix, {1, 0});
    ValueId y = nn::matmul(walk.graph(), name, from, matrix);
    if (walk.has(node, 2)) y = nn::add(walk.graph(), name + ".add", y, walk.weight(node, 2, {out}));
    walk.set(node, y);
    return;
  }
  const ValueId x = walk.row_major(node, 0);
  walk.graph().bind(name + ".weight", walk.linear_weight(node, 1, read_as_out_in));
  bool bias = walk.has(node, 2);
  const Node* last = &node;
  if (bias) {
    walk.graph().bind(name + ".bias", walk.weight(node, 2, {out}));
  } else if (const auto add = following_bias(walk, node, out)) {
    bias = true;
    walk.graph().bind(name + ".bias", walk.weight(*add->first, add->second, {out}));
    last = add->first;
    walk.skip(*last);
  }
  walk.set(*last, nn::linear(walk.graph(), name, x, out, bias));
}

/// A matrix product of two values. What scales it before or after becomes its alpha, and where a Transpose
/// reads it, it is written in that order.
void product(Walk& walk, const Node& node, ValueId a, ValueId b, double alpha) {
  nn::MatmulOptions options;
  options.alpha = alpha;
  const Node* last = &node;
  const std::size_t rank = std::max(walk.graph().shape(a).size(), walk.graph().shape(b).size());
  if (const auto factor = following_factor(walk, node, rank)) {
    options.alpha *= factor->second;
    last = factor->first;
    walk.skip(*last);
  }
  const Node* next = walk.only_reader(*last);
  if (next != nullptr && next->op_type == "Transpose") {
    const std::vector<std::int64_t> order = integers(*next, "perm");
    if (order.size() == rank) options.storage_order = order;
  }
  walk.set(*last, nn::matmul(walk.graph(), Walk::name_of(node), a, b, options));
}

void matmul(Walk& walk, const Node& node) {
  if (walk.is_data(node, 0) && walk.fixed(node, 1) != nullptr && walk.shape(node, 1).size() == 2) {
    linear(walk, node, false);
    return;
  }
  double alpha = 1.0;
  ValueId operands[2];
  for (std::size_t i = 0; i < 2; ++i) {
    if (const Runtime* x = std::get_if<Runtime>(&walk.operand(node, i));
        x != nullptr && x->type == Type::real) {
      alpha *= x->scale;
      operands[i] = x->id;
    } else {
      operands[i] = walk.value(node, i);
    }
  }
  const bool row = walk.shape(node, 0).size() == 1;
  const bool column = walk.shape(node, 1).size() == 1;
  if (!row && !column) {
    product(walk, node, operands[0], operands[1], alpha);
    return;
  }
  // A list is a matrix of one row or column, which the result does not have.
  GraphBuilder& g = walk.graph();
  const std::string name = Walk::name_of(node);
  if (row) operands[0] = nn::reshape(g, name + ".row", operands[0], {1, g.shape(operands[0])[0]});
  if (column) operands[1] = nn::reshape(g, name + ".column", operands[1], {g.shape(operands[1])[0], 1});
  const ValueId y = nn::matmul(g, name, operands[0], operands[1], {.alpha = alpha, .storage_order = {}});
  Shape to = g.shape(y);
  if (row) to.erase(to.end() - 2);
  if (column) to.pop_back();
  walk.set(node, nn::reshape(g, name + ".shape", y, to));
}

void gemm(Walk& walk, const Node& node) {
  const bool transpose_a = integer(node, "transA", 0) != 0;
  const bool transpose_b = integer(node, "transB", 0) != 0;
  const double alpha = real(node, "alpha", 1.0);
  const double beta = real(node, "beta", 1.0);
  for (const double factor : {alpha, beta}) {
    if (!std::isfinite(factor)) throw InputError("alpha and beta must be finite");
  }
  const bool has_bias = walk.has(node, 2) && beta != 0.0;
  if (walk.shape(node, 0).size() != 2 || walk.shape(node, 1).size() != 2)
    throw InputError("multiplies matrices only");
  const std::int64_t out = walk.shape(node, 1)[transpose_b ? 0 : 1];
  // One number per column; other shapes are broadcast.
  const auto per_column = [&] {
    const Shape c = walk.shape(node, 2);
    const std::int64_t count = element_count(c);
    // A list of another length is refused where the weight is bound.
    return count == out ? c.empty() || c.back() == out : c.size() == 1 && count != 1;
  };
  const bool bias_is_weight =
      !walk.has(node, 2) || (beta == 1.0 && walk.fixed(node, 2) != nullptr && per_column());
  if (alpha == 1.0 && !transpose_a && walk.fixed(node, 1) != nullptr && walk.is_data(node, 0) &&
      bias_is_weight) {
    linear(walk, node, transpose_b);
    return;
  }
  const std::string name = Walk::name_of(node);
  const auto matrix = [&](std::size_t i, bool transposed) {
    const ValueId x = walk.value(node, i);
    return transposed ? nn::permute(walk.graph(), fmt::format("{}.{}T", name, i), x, {1, 0}) : x;
  };
  const ValueId a = matrix(0, transpose_a);
  const ValueId b = matrix(1, transpose_b);
  if (!has_bias) {
    product(walk, node, a, b, alpha);
    return;
  }
  const ValueId y = nn::matmul(walk.graph(), name, a, b, {.alpha = alpha, .storage_order = {}});
  const Shape to = walk.graph().shape(y);
  if (broadcast(to, walk.shape(node, 2)) != to)
    throw InputError(fmt::format("input 2 does not broadcast to ({})", fmt::join(to, ", ")));
  ValueId c = walk.row_major(node, 2);
  if (beta != 1.0) c = nn::scale(walk.graph(), name + ".beta", c, beta);
  walk.set(node, nn::add(walk.graph(), name + ".add", y, c));
}

/// Scale (neutral at 1) or shift (at 0) of a normalisation. Exporters write ones and zeros as Constant nodes
/// for one that has none: these do not train.
ValueId norm_weight(Walk& walk, const Node& node, std::size_t i, std::int64_t size, double neutral) {
  const Fixed* w = walk.fixed(node, i);
  const bool none = w != nullptr && w->constant && w->tensor.known &&
                    std::all_of(w->tensor.reals.begin(), w->tensor.reals.end(),
                                [neutral](double x) { return x == neutral; });
  if (none) {
    walk.notice(node.op_type + (neutral == 1.0 ? " without a scale keeps ones, which do not train"
                                               : " without a shift keeps zeros, which do not train"));
  }
  return walk.weight(node, i, {size}, none ? Persistence::optimizer_state : Persistence::parameter);
}

void batch_norm(Walk& walk, const Node& node) {
  if (integer(node, "spatial", 1) != 1) throw InputError("attribute 'spatial'", "must be 1");
  const bool training =
      integer(node, "training_mode", 0) != 0 || (walk.opset() < 14 && node.outputs.size() > 1);
  if (!training) walk.notice("BatchNormalization of an inference export was put back into training mode");
  const Shape x = walk.shape(node, 0);
  if (x.size() < 2) throw InputError("needs a batch and a channel dimension");
  const std::string name = Walk::name_of(node);
  walk.graph().bind(name + ".weight", norm_weight(walk, node, 1, x[1], 1.0));
  walk.graph().bind(name + ".bias", norm_weight(walk, node, 2, x[1], 0.0));
  walk.graph().bind(name + ".running_mean", walk.moving_state(node, 3, x[1]));
  walk.graph().bind(name + ".running_var", walk.moving_state(node, 4, x[1]));
  nn::BatchNormOptions options;
  options.eps = real(node, "epsilon", 1e-5);
  options.momentum = 1.0 - real(node, "momentum", 0.9);  // of the new value; ONNX has that of the old one
  walk.set(node, nn::batch_norm(walk.graph(), name, walk.row_major(node, 0), options));
}

/// Binds scale (input 1) and shift (input 2, optional).
void bind_affine(Walk& walk, const Node& node, std::int64_t size) {
  const std::string name = Walk::name_of(node);
  walk.graph().bind(name + ".weight", norm_weight(walk, node, 1, size, 1.0));
  if (walk.has(node, 2)) {
    walk.graph().bind(name + ".bias", norm_weight(walk, node, 2, size, 0.0));
  } else {
    walk.place(name + ".bias", node, 2);
    walk.notice(node.op_type + " without bias got one");
  }
}

void layer_norm(Walk& walk, const Node& node) {
  const Shape x = walk.shape(node, 0);
  const auto split =
      x.begin() + static_cast<std::ptrdiff_t>(checked_axis(integer(node, "axis", -1), x.size()));
  const std::int64_t size = element_count(Shape(split, x.end()));
  bind_affine(walk, node, size);
  const std::string name = Walk::name_of(node);
  const double eps = real(node, "epsilon", 1e-5);
  const ValueId from = walk.row_major(node, 0);
  if (split + 1 == x.end()) {
    walk.set(node, nn::layer_norm(walk.graph(), name, from, eps));
    return;
  }
  // Several axes are one in a view.
  const Shape rows = {element_count(Shape(x.begin(), split)), size};
  const ValueId y =
      nn::layer_norm(walk.graph(), name, nn::reshape(walk.graph(), name + ".rows", from, rows), eps);
  walk.set(node, nn::reshape(walk.graph(), name + ".shape", y, x));
}

void instance_norm(Walk& walk, const Node& node) {
  const Shape x = walk.shape(node, 0);
  if (x.size() < 2) throw InputError("needs a batch and a channel dimension");
  bind_affine(walk, node, x[1]);
  walk.set(node, nn::instance_norm(walk.graph(), Walk::name_of(node), walk.row_major(node, 0),
                                   real(node, "epsilon", 1e-5)));
}

void group_norm(Walk& walk, const Node& node) {
  const Shape x = walk.shape(node, 0);
  if (x.size() < 2) throw InputError("needs a batch and a channel dimension");
  if (walk.shape(node, 1) != Shape{x[1]}) {
    throw InputError("scale and bias must have one number per channel; export with opset 21 or newer");
  }
  bind_affine(walk, node, x[1]);
  walk.set(node, nn::group_norm(walk.graph(), Walk::name_of(node), walk.row_major(node, 0),
                                integer(node, "num_groups", 1), real(node, "epsilon", 1e-5)));
}

void lrn(Walk& walk, const Node& node) {
  nn::LrnOptions options;
  options.size = integer(node, "size", 1);
  options.alpha = real(node, "alpha", 1e-4);
  options.beta = real(node, "beta", 0.75);
  options.bias = real(node, "bias", 1.0);
  walk.set(node, nn::lrn(walk.graph(), Walk::name_of(node), walk.row_major(node, 0), options));
}

}  // namespace

const std::vector<OperatorEntry>& layer_operators() {
  static const std::vector<OperatorEntry> entries = {
      {"BatchNormalization", batch_norm},
      {"Gemm", gemm},
      {"GroupNormalization", group_norm},
      {"InstanceNormalization", instance_norm},
      {"LRN", lrn},
      {"LayerNormalization", layer_norm},
      {"MatMul", matmul},
  };
  return entries;
}

}  // namespace poet::onnx
