// Normalisations.

#include <fmt/format.h>

#include <algorithm>

#include "poet/base/error.h"
#include "poet/frontend/onnx/lower/operators.h"
#include "poet/graph/nn.h"

namespace poet::onnx {
namespace {

/// Returns the scale or shift of a normalisation. Exporters write ones and zeros for layers without them.
ValueId norm_weight(Lowering& net, const Node& node, std::size_t i, const Shape& shape) {
  if (const Fixed* w = fixed_of(net, node, i); w != nullptr && !w->role.trains && w->tensor.fill)
    net.notices.add(fmt::format("{} without a {} keeps {:g}, which does not train", node.op_type,
                                i == 1 ? "scale" : "shift", *w->tensor.fill));
  return weight_of(net, node, i, shape);
}

/// Returns whether the node computes by running statistics in a file that was exported in training: its
/// module was frozen in evaluation mode.
bool is_frozen(const Lowering& net, const Node& node) {
  return net.exported_in_training && !is_training(net.model, node);
}

/// Adds (x - mean) / sqrt(variance + epsilon) scale + shift by statistics that the layer does not move:
/// computed ones, of the batch itself in training, or frozen ones.
void batch_norm_by_parts(Lowering& net, const Node& node) {
  GraphBuilder& g = net.builder;
  const std::string name = name_of(node);
  const ValueId x = row_major(net, node, 0);
  const Shape shape = g.shape(x);
  Shape channel(shape.size() - 1, 1);
  channel[0] = shape[1];
  const auto per_channel = [&](const std::string& what, ValueId v) {
    return nn::reshape(g, name + what, v, channel);
  };
  ValueId mean, variance;
  if (is_training(net.model, node)) {
    std::vector<std::int64_t> axes = {0};
    for (std::size_t i = 2; i < shape.size(); ++i) axes.push_back(static_cast<std::int64_t>(i));
    mean = nn::reduce(g, "reduce_mean", name + ".mean", x, axes);
    const ValueId off = nn::sub(g, name + ".off", x, mean);
    const ValueId squares = nn::unary(g, "pow", name + ".squares", off, {{"exponent", 2.0}});
    variance = nn::reduce(g, "reduce_mean", name + ".variance", squares, axes);
  } else {
    mean = per_channel(".mean", row_major(net, node, 3));
    variance = per_channel(".variance", row_major(net, node, 4));
  }
  const ValueId shifted = nn::scale(g, name + ".shifted", variance, 1.0, real(node, "epsilon", 1e-5));
  const ValueId inverse = nn::unary(g, "pow", name + ".inverse", shifted, {{"exponent", -0.5}});
  const ValueId normal = nn::mul(g, name + ".normal", nn::sub(g, name + ".centred", x, mean), inverse);
  const ValueId scaled =
      nn::mul(g, name + ".scaled", normal, per_channel(".scale", norm_weight(net, node, 1, {shape[1]})));
  set_result(net, node,
             nn::add(g, name, scaled, per_channel(".shift", norm_weight(net, node, 2, {shape[1]}))));
}

void batch_norm(Lowering& net, const Node& node) {
  if (integer(node, "spatial", 1) != 1) throw InputError("attribute 'spatial'", "must be 1");
  const Shape x = shape_of(net, node, 0);
  if (x.size() < 2) throw InputError("needs a batch and a channel dimension");
  const bool training = is_training(net.model, node), frozen = is_frozen(net, node);
  const bool by_computed = is_runtime(net, node, 3) && is_runtime(net, node, 4);
  if (element_count(x) == x[1] && !frozen && (training || !by_computed))
    throw InputError(
        "the variance of a batch needs more than one value per channel: `batch_size` must be 2 or more");
  if (by_computed) return batch_norm_by_parts(net, node);
  if (frozen) {
    net.notices.add("BatchNormalization by running statistics in a file exported in training stays so");
    return batch_norm_by_parts(net, node);
  }
  if (!training) net.notices.add("BatchNormalization of an inference export was put back into training mode");
  const std::string name = name_of(node);
  net.builder.bind(name + ".weight", norm_weight(net, node, 1, {x[1]}));
  net.builder.bind(name + ".bias", norm_weight(net, node, 2, {x[1]}));
  net.builder.bind(name + ".running_mean", moving_state(net, node, 3, x[1]));
  net.builder.bind(name + ".running_var", moving_state(net, node, 4, x[1]));
  nn::BatchNormOptions options;
  options.eps = real(node, "epsilon", 1e-5);
  options.momentum = 1.0 - real(node, "momentum", 0.9);  // weight of the new value; ONNX: of the old one
  set_result(net, node, nn::batch_norm(net.builder, name, row_major(net, node, 0), options));
}

/// Binds scale (input 1) and shift (input 2, optional).
void bind_affine(Lowering& net, const Node& node, std::int64_t size) {
  const std::string name = name_of(node);
  net.builder.bind(name + ".weight", norm_weight(net, node, 1, {size}));
  if (has_input(node, 2)) {
    net.builder.bind(name + ".bias", norm_weight(net, node, 2, {size}));
  } else {
    net.builder.bind(name + ".bias", add_filled(net, name + ".bias", {size}, 0));
    net.notices.add(node.op_type + " without a shift keeps 0, which does not train");
  }
}

void layer_norm(Lowering& net, const Node& node) {
  const Shape x = shape_of(net, node, 0);
  const auto split =
      x.begin() + static_cast<std::ptrdiff_t>(checked_axis(integer(node, "axis", -1), x.size()));
  const std::int64_t size = element_count(Shape(split, x.end()));
  bind_affine(net, node, size);
  const std::string name = name_of(node);
  const double eps = real(node, "epsilon", 1e-5);
  const ValueId from = row_major(net, node, 0);
  if (split + 1 == x.end()) return set_result(net, node, nn::layer_norm(net.builder, name, from, eps));
  // A view joins several axes into one.
  const Shape rows = {element_count(Shape(x.begin(), split)), size};
  const ValueId y =
      nn::layer_norm(net.builder, name, nn::reshape(net.builder, name + ".rows", from, rows), eps);
  set_result(net, node, nn::reshape(net.builder, name + ".shape", y, x));
}

void instance_norm(Lowering& net, const Node& node) {
  const Shape x = shape_of(net, node, 0);
  if (x.size() < 2) throw InputError("needs a batch and a channel dimension");
  bind_affine(net, node, x[1]);
  set_result(
      net, node,
      nn::instance_norm(net.builder, name_of(node), row_major(net, node, 0), real(node, "epsilon", 1e-5)));
}

/// Repeats each group's number (opset 18) for all of its channels.
ValueId for_channels(Lowering& net, const Node& node, std::size_t i, std::int64_t groups,
                     std::int64_t channels) {
  GraphBuilder& g = net.builder;
  const std::string name = fmt::format("{}.{}", name_of(node), i);
  const ValueId of_group = norm_weight(net, node, i, {groups});
  const ValueId column = nn::reshape(g, name + ".groups", of_group, {groups, 1});
  const ValueId all = nn::expand(g, name + ".channels", column, {groups, channels / groups});
  return nn::reshape(g, name + ".list", all, {channels});
}

void group_norm(Lowering& net, const Node& node) {
  const Shape x = shape_of(net, node, 0);
  if (x.size() < 2) throw InputError("needs a batch and a channel dimension");
  const std::int64_t groups = integer(node, "num_groups", 1);
  if (groups < 1 || x[1] % groups != 0)
    throw InputError("attribute 'num_groups'", fmt::format("{} do not divide {} channels", groups, x[1]));
  const Shape scale = shape_of(net, node, 1);
  const std::string name = name_of(node);
  if (net.model.opset < 21 && scale == Shape{groups} && groups != x[1]) {
    net.builder.bind(name + ".weight", for_channels(net, node, 1, groups, x[1]));
    net.builder.bind(name + ".bias", for_channels(net, node, 2, groups, x[1]));
  } else if (scale == Shape{x[1]}) {
    bind_affine(net, node, x[1]);
  } else {
    throw InputError(
        "scale and bias must have one number per channel (per group before opset 21); export with opset 21 "
        "or newer");
  }
  set_result(net, node,
             nn::group_norm(net.builder, name, row_major(net, node, 0), groups, real(node, "epsilon", 1e-5)));
}

/// Adds x / sqrt(mean(x^2) + epsilon) times the scale; the mean is over the axes from the given one on.
void rms_norm(Lowering& net, const Node& node) {
  const Shape x = shape_of(net, node, 0);
  const Shape scale = shape_of(net, node, 1);
  if (broadcast(x, scale) != x)
    throw InputError(fmt::format("the scale {} does not broadcast to {}", shown(scale), shown(x)));
  std::vector<std::int64_t> axes;
  for (std::size_t axis = checked_axis(integer(node, "axis", -1), x.size()); axis < x.size(); ++axis)
    axes.push_back(static_cast<std::int64_t>(axis));
  GraphBuilder& g = net.builder;
  const std::string name = name_of(node);
  const ValueId weight = norm_weight(net, node, 1, scale);
  const ValueId from = row_major(net, node, 0);
  const ValueId squares = nn::unary(g, "pow", name + ".squares", from, {{"exponent", 2.0}});
  const ValueId mean = nn::reduce(g, "reduce_mean", name + ".mean", squares, axes);
  const ValueId shifted = nn::scale(g, name + ".shifted", mean, 1.0, real(node, "epsilon", 1e-5));
  const ValueId inverse = nn::unary(g, "pow", name + ".inverse", shifted, {{"exponent", -0.5}});
  const ValueId normal = nn::mul(g, name + ".normalized", from, inverse);
  set_result(net, node, nn::mul(g, name, normal, weight));
}

void lrn(Lowering& net, const Node& node) {
  nn::LrnOptions options;
  options.size = integer(node, "size", 1);
  options.alpha = real(node, "alpha", 1e-4);
  options.beta = real(node, "beta", 0.75);
  options.bias = real(node, "bias", 1.0);
  set_result(net, node, nn::lrn(net.builder, name_of(node), row_major(net, node, 0), options));
}

}  // namespace

bool is_training(const Model& model, const Node& node) {
  // PyTorch's newer exporter writes no training_mode, but which of its functions the node was.
  const bool by_name = node.name.find("_native_batch_norm_legit_functional") != std::string::npos;
  return node.domain.empty() && node.op_type == "BatchNormalization" &&
         (integer(node, "training_mode", 0) != 0 || (model.opset < 14 && node.outputs.size() > 1) || by_name);
}

const std::vector<OperatorEntry>& norm_operators() {
  static const std::vector<OperatorEntry> entries = {
      {"BatchNormalization", batch_norm},       {"GroupNormalization", group_norm},
      {"InstanceNormalization", instance_norm}, {"LRN", lrn},
      {"LayerNormalization", layer_norm},       {"RMSNormalization", rms_norm},
  };
  return entries;
}

}  // namespace poet::onnx
