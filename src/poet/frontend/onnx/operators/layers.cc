// Layers with weights, normalisations, matrix products.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "poet/base/error.h"
#include "poet/frontend/onnx/operators.h"
#include "poet/frontend/onnx/patterns.h"

namespace poet::onnx {
namespace {

/// The node's first output, or that of the Add after it, is a linear layer of input 0.
void linear(Walk& walk, const Node& node, bool read_as_out_in) {
  const std::string name = Walk::name_of(node);
  const Shape weight = walk.shape(node, 1);
  if (weight.size() != 2) throw InputError("the weight must be a matrix");
  const std::int64_t out = weight[read_as_out_in ? 0 : 1];
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
  walk.set(*last, walk.graph().linear(name, x, out, bias));
}

/// A matrix product of two values. What scales it before or after becomes its alpha, and where a Transpose
/// reads it, it is written in that order.
void product(Walk& walk, const Node& node, ValueId a, ValueId b, double alpha) {
  MatmulOptions options;
  options.alpha = alpha;
  const Node* last = &node;
  const std::size_t rank = walk.graph().shape(a).size();
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
  walk.set(*last, walk.graph().matmul(Walk::name_of(node), a, b, options));
}

void matmul(Walk& walk, const Node& node) {
  if (walk.is_runtime(node, 0) && walk.fixed(node, 1) != nullptr && walk.shape(node, 1).size() == 2) {
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
  product(walk, node, operands[0], operands[1], alpha);
}

void gemm(Walk& walk, const Node& node) {
  const bool transpose_a = integer(node, "transA", 0) != 0;
  const bool transpose_b = integer(node, "transB", 0) != 0;
  const bool has_bias = walk.has(node, 2);
  for (const char* factor : {"alpha", "beta"}) {
    if (real(node, factor, 1.0) != 1.0 && (has_bias || factor[0] == 'a')) {
      throw InputError(fmt::format("attribute '{}'", factor), "must be 1; fold it into the weights");
    }
  }
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
  const bool bias_is_weight = !has_bias || (walk.fixed(node, 2) != nullptr && per_column());
  if (!transpose_a && walk.fixed(node, 1) != nullptr && walk.is_runtime(node, 0) && bias_is_weight) {
    linear(walk, node, transpose_b);
    return;
  }
  const std::string name = Walk::name_of(node);
  const auto matrix = [&](std::size_t i, bool transposed) {
    const ValueId x = walk.value(node, i);
    return transposed ? walk.graph().permute(fmt::format("{}.{}T", name, i), x, {1, 0}) : x;
  };
  const ValueId a = matrix(0, transpose_a);
  const ValueId b = matrix(1, transpose_b);
  if (!has_bias) {
    product(walk, node, a, b, 1.0);
    return;
  }
  const ValueId y = walk.graph().matmul(name, a, b);
  const Shape to = walk.graph().shape(y);
  if (broadcast(to, walk.shape(node, 2)) != to)
    throw InputError(fmt::format("input 2 does not broadcast to ({})", fmt::join(to, ", ")));
  walk.set(node, walk.graph().add(name + ".add", y, walk.row_major(node, 2)));
}

void batch_norm(Walk& walk, const Node& node) {
  if (integer(node, "spatial", 1) != 1) throw InputError("attribute 'spatial'", "must be 1");
  const bool training =
      integer(node, "training_mode", 0) != 0 || (walk.opset() < 14 && node.outputs.size() > 1);
  if (!training) walk.notice("BatchNormalization of an inference export was put back into training mode");
  const Shape x = walk.shape(node, 0);
  if (x.size() < 2) throw InputError("needs a batch and a channel dimension");
  const std::string name = Walk::name_of(node);
  const Shape channels = {x[1]};
  walk.graph().bind(name + ".weight", walk.weight(node, 1, channels));
  walk.graph().bind(name + ".bias", walk.weight(node, 2, channels));
  walk.graph().bind(name + ".running_mean", walk.weight(node, 3, channels, Persistence::optimizer_state));
  walk.graph().bind(name + ".running_var", walk.weight(node, 4, channels, Persistence::optimizer_state));
  BatchNormOptions options;
  options.eps = real(node, "epsilon", 1e-5);
  options.momentum = 1.0 - real(node, "momentum", 0.9);  // of the new value; ONNX has that of the old one
  walk.set(node, walk.graph().batch_norm(name, walk.row_major(node, 0), options));
}

/// Binds scale (input 1) and shift (input 2, optional).
void bind_affine(Walk& walk, const Node& node, std::int64_t size) {
  const std::string name = Walk::name_of(node);
  walk.graph().bind(name + ".weight", walk.weight(node, 1, {size}));
  if (walk.has(node, 2)) {
    walk.graph().bind(name + ".bias", walk.weight(node, 2, {size}));
  } else {
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
    walk.set(node, walk.graph().layer_norm(name, from, eps));
    return;
  }
  // Several axes are one in a view.
  const Shape rows = {element_count(Shape(x.begin(), split)), size};
  const ValueId y = walk.graph().layer_norm(name, walk.graph().reshape(name + ".rows", from, rows), eps);
  walk.set(node, walk.graph().reshape(name + ".shape", y, x));
}

void instance_norm(Walk& walk, const Node& node) {
  const Shape x = walk.shape(node, 0);
  if (x.size() < 2) throw InputError("needs a batch and a channel dimension");
  bind_affine(walk, node, x[1]);
  walk.set(node, walk.graph().instance_norm(Walk::name_of(node), walk.row_major(node, 0),
                                            real(node, "epsilon", 1e-5)));
}

void group_norm(Walk& walk, const Node& node) {
  const Shape x = walk.shape(node, 0);
  if (x.size() < 2) throw InputError("needs a batch and a channel dimension");
  if (walk.shape(node, 1) != Shape{x[1]}) {
    throw InputError("scale and bias must have one number per channel; export with opset 21 or newer");
  }
  bind_affine(walk, node, x[1]);
  walk.set(node, walk.graph().group_norm(Walk::name_of(node), walk.row_major(node, 0),
                                         integer(node, "num_groups", 1), real(node, "epsilon", 1e-5)));
}

void lrn(Walk& walk, const Node& node) {
  LrnOptions options;
  options.size = integer(node, "size", 1);
  options.alpha = real(node, "alpha", 1e-4);
  options.beta = real(node, "beta", 0.75);
  options.bias = real(node, "bias", 1.0);
  walk.set(node, walk.graph().lrn(Walk::name_of(node), walk.row_major(node, 0), options));
}

/// Rows of a table of weights.
void embed(Walk& walk, const Node& node) {
  const Shape table = walk.shape(node, 0);
  if (integer(node, "axis", 0) != 0 || table.size() != 2) {
    throw InputError("gathers from a weight along another axis than 0, or from one that is no matrix");
  }
  if (const Fixed* ids = walk.fixed(node, 1)) {
    // Positions that are the same in every step; the built-in networks feed them, too.
    if (ids->tensor.shape.empty()) throw InputError("takes one row of a weight");
    const std::string name = node.inputs[1];
    walk.notice(fmt::format("the constant indices '{}' became an input", name));
    const Shape shape = ids->tensor.shape;
    walk.set_output(name, Runtime{walk.graph().input(name, shape, DType::int32), 1.0, Type::integer});
  }
  const Runtime& ids = std::get<Runtime>(walk.operand(node, 1));
  if (ids.type != Type::integer) throw InputError("the indices must be integers");
  const std::string name = Walk::name_of(node);
  walk.graph().bind(name + ".weight", walk.weight(node, 0, table));
  walk.set(node, walk.graph().embedding(name, ids.id, table[0], table[1]));
}

void gather(Walk& walk, const Node& node) {
  if (walk.fixed(node, 0) != nullptr) {
    embed(walk, node);
    return;
  }
  const Shape x = walk.shape(node, 0);
  const std::size_t axis = checked_axis(integer(node, "axis", 0), x.size());
  const std::vector<std::int64_t> ids = walk.known_integers(node, 1);
  const Shape ids_shape = walk.shape(node, 1);
  if (ids.empty() || ids_shape.size() > 1)
    throw InputError("the indices must be one position or a range of them");
  std::vector<std::int64_t> starts(x.size(), 0);
  std::vector<std::int64_t> ends = x;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const auto at = static_cast<std::int64_t>(checked_axis(ids[i], static_cast<std::size_t>(x[axis])));
    if (i == 0) starts[axis] = at;
    if (at != starts[axis] + static_cast<std::int64_t>(i)) throw InputError("the indices must be a range");
    ends[axis] = at + 1;
  }
  const std::string name = Walk::name_of(node);
  const ValueId from = walk.row_major(node, 0);
  if (ids_shape.empty() && x.size() == 3 && axis == 1) {
    walk.set(node, walk.graph().select(name, from, starts[axis]));
    return;
  }
  ValueId y = walk.graph().slice(name, from, starts, ends);
  if (ids_shape.empty()) {
    y = walk.graph().reshape(name + ".squeezed", y,
                             squeezed(walk.graph().shape(y), {static_cast<std::int64_t>(axis)}));
  }
  walk.set(node, y);
}

}  // namespace

const std::vector<OperatorEntry>& layer_operators() {
  static const std::vector<OperatorEntry> entries = {
      {"BatchNormalization", batch_norm},
      {"Gather", gather},
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
