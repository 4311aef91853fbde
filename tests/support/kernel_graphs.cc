#include "tests/support/kernel_graphs.h"

#include <algorithm>

#include "poet/graph/nn.h"
#include "tests/support/random_network.h"

namespace poet::test {
namespace {

/// Sizes of an image that leave at least one window.
nn::Extent image_of(Draws& draw, const nn::ConvOptions& o) {
  nn::Extent image;
  for (std::size_t a = 0; a < o.kernel.size(); ++a) {
    const std::int64_t reach = (o.kernel[a] - 1) * o.dilation[a] + 1 - o.padding[a] - o.padding_end[a];
    image.push_back(std::max<std::int64_t>(1, reach) + draw(0, 6));
  }
  return image;
}

/// Strides beyond the kernel, dilation, padding that is uneven or more than the kernel, groups of all sizes.
Graph convolution(std::uint64_t seed, std::size_t axes, bool transposed) {
  Draws draw(seed);
  nn::ConvOptions o;
  o.groups = draw(0, 2) == 0 ? draw(1, 4) : 1;
  o.out_channels = o.groups * draw(1, draw.half() ? 3 : 9);
  o.kernel = draw.list(axes, 1, axes == 3 ? 2 : 4);
  o.stride = draw.list(axes, 1, 3);
  o.padding = draw.list(axes, 0, 2);
  o.padding_end = draw.list(axes, 0, 2);
  o.dilation = draw.list(axes, 1, 2);
  o.bias = draw.half();
  Shape x = {draw(1, 3), o.groups * draw(1, draw.half() ? 2 : 6)};
  const nn::Extent image = image_of(draw, o);
  x.insert(x.end(), image.begin(), image.end());
  if (transposed) {
    for (std::size_t a = 0; a < axes; ++a) {
      x[a + 2] += 4;  // such that something is left when the padding is taken off
      o.output_padding.push_back(draw(0, std::max(o.stride[a], o.dilation[a]) - 1));
    }
  }
  GraphBuilder g("convolution");
  const ValueId in = draw(0, 3) == 0 ? g.input("x", x) : g.parameter("x.weight", x);
  ValueId y;
  if (transposed) {
    y = axes == 2 ? nn::conv_transpose2d(g, "conv", in, o) : nn::conv_transpose3d(g, "conv", in, o);
  } else {
    y = axes == 2 ? nn::conv2d(g, "conv", in, o) : nn::conv3d(g, "conv", in, o);
  }
  const bool bias_only = o.bias && draw(0, 3) == 0;
  return training_step(g, y,
                       [bias_only](const std::string& name) { return !bias_only || name == "conv.bias"; });
}

/// More products than one block of a multiplication holds, along every axis.
Graph large_convolution(std::uint64_t seed) {
  Draws draw(seed);
  const std::int64_t stride = draw(1, 2);
  const std::int64_t kernel = draw.half() ? 3 : 1;
  GraphBuilder g("blocks");
  const ValueId y =
      nn::conv2d(g, "conv", g.parameter("x.weight", {2, draw(29, 36), draw(9, 14), draw(9, 14)}),
                 {.out_channels = draw(33, 38),
                  .kernel = {kernel, kernel},
                  .stride = {stride, stride},
                  .padding = {kernel / 2, kernel / 2},
                  .bias = true});
  return training_step(g, y);
}

Graph linear(std::uint64_t seed) {
  Draws draw(seed);
  GraphBuilder g("linear");
  Shape x = draw.shape(0, 2);
  x.push_back(draw(1, draw.half() ? 300 : 20));
  const ValueId y =
      nn::linear(g, "fc", g.parameter("x.weight", x), draw(1, draw.half() ? 150 : 12), draw.half());
  const bool bias_only = draw(0, 3) == 0 && g.shape(y).back() > 1;
  return training_step(
      g, y, [=](const std::string& name) { return !bias_only || name == "fc.bias" || name == "x.weight"; });
}

/// Operands that broadcast, with heads next to the features in storage, as attention has them, or in front.
Graph matmul(std::uint64_t seed) {
  Draws draw(seed);
  const std::int64_t m = draw(1, 9);
  const std::int64_t k = draw(1, draw.half() ? 270 : 9);
  const std::int64_t n = draw(1, draw.half() ? 140 : 9);
  const std::int64_t p = draw(1, 3);
  const std::int64_t q = draw(1, 3);
  GraphBuilder g("matmul");
  const auto operand = [&](const std::string& name, std::int64_t rows, std::int64_t columns) {
    switch (draw(0, 3)) {
      case 0:
        return g.parameter(name + ".weight", {draw.half() ? p : 1, q, rows, columns});
      case 1:
        return nn::permute(g, name, g.parameter(name + ".weight", {p, rows, q, columns}), {0, 2, 1, 3});
      case 2:
        return nn::permute(g, name, g.parameter(name + ".weight", {p, columns, q, rows}), {0, 2, 3, 1});
      default:
        return nn::permute(g, name, g.parameter(name + ".weight", {columns, rows}), {1, 0});
    }
  };
  const ValueId a = operand("a", m, k);
  const ValueId b = operand("b", k, n);
  // The result with its last axes but one next to each other, copied for what follows.
  const ValueId plain = nn::matmul(g, "plain", a, b, {.alpha = 0.5, .storage_order = {}});
  if (g.shape(plain).size() != 4) return training_step(g, plain);
  const ValueId transposed =
      nn::matmul(g, "transposed", a, b, {.alpha = -2.0, .storage_order = {0, 2, 1, 3}});
  return training_step(g, nn::add(g, "sum", plain, nn::transpose(g, "copy", transposed, {0, 1, 2, 3})));
}

Graph norm(std::uint64_t seed) {
  Draws draw(seed);
  const std::int64_t groups = draw(1, 3);
  Shape x = {draw(2, 4), groups * draw(2, 4)};
  for (std::int64_t axes = draw(0, 3); axes > 0; --axes) x.push_back(draw(1, 7));
  GraphBuilder g("norm");
  const ValueId in = g.parameter("x.weight", x);
  const std::int64_t kind = draw(0, 3);
  ValueId y;
  if (kind == 0) y = nn::batch_norm(g, "norm", in, {.eps = 1e-3, .momentum = 0.3});
  if (kind == 1) y = nn::layer_norm(g, "norm", in, 1e-2);
  if (kind == 2) y = nn::group_norm(g, "norm", in, groups, 1e-2);
  if (kind == 3) y = nn::lrn(g, "norm", in, {.size = draw(1, 6), .alpha = 0.9, .beta = 0.75, .bias = 1.5});
  const std::int64_t part = kind == 3 ? 0 : draw(0, 2);
  return training_step(
      g, y, [part](const std::string& name) { return part == 0 || (name == "x.weight") == (part == 1); });
}

Graph pool(std::uint64_t seed, std::size_t axes) {
  Draws draw(seed);
  nn::PoolOptions o;
  o.kernel = draw.list(axes, 1, 3);
  o.stride = draw.list(axes, 1, 4);
  o.dilation = draw.list(axes, 1, 2);
  o.ceil_mode = draw.half();
  o.count_include_pad = draw.half();
  Shape x = {draw(1, 2), draw(1, 3)};
  for (std::size_t a = 0; a < axes; ++a) {
    const std::int64_t reach = (o.kernel[a] - 1) * o.dilation[a] + 1;
    o.padding.push_back(draw(0, reach / 2));
    o.padding_end.push_back(draw(0, reach / 2));
    x.push_back(reach + draw(0, 6));
  }
  GraphBuilder g("pool");
  const ValueId in = g.parameter("x.weight", x);
  nn::PoolOptions max = o;
  max.count_include_pad = true;
  const ValueId most = axes == 2 ? nn::max_pool2d(g, "max", in, max) : nn::max_pool3d(g, "max", in, max);
  const ValueId mean = axes == 2 ? nn::avg_pool2d(g, "avg", in, o) : nn::avg_pool3d(g, "avg", in, o);
  const ValueId whole =
      nn::sub(g, "whole", nn::global_avg_pool(g, "gap", in), nn::global_max_pool(g, "gmp", in));
  return training_step(g, nn::add(g, "both", nn::add(g, "sum", most, mean), whole));
}

/// A window of more elements than indices of one byte tell apart.
Graph long_pool(std::uint64_t seed) {
  Draws draw(seed);
  GraphBuilder g("long_pool");
  const ValueId y = nn::max_pool2d(g, "max", g.parameter("x.weight", {2, 1, draw(20, 24), draw(20, 30)}),
                                   {.kernel = {17, 16}, .stride = {3, 2}, .padding = {2, 1}});
  return training_step(g, y);
}

/// Every optimiser, with weight decay and without, over steps of which some update nothing, with clipping and
/// without; the last weight's gradient is a strided view.
Graph updates(std::uint64_t seed) {
  Draws draw(seed);
  TrainingOptions options{static_cast<Optimizer>((seed + seed / 12) % 4), nullptr};
  options.accumulate = seed % 3 == 2 ? 3 : 1;
  if (seed / 4 % 2 == 1) options.clip_norm = 0.5;
  GraphBuilder g("updates");
  const std::int64_t width = draw(1, 70);
  const ValueId w = nn::permute(g, "transposed", g.parameter("w.weight", {draw(2, 6), width}), {1, 0});
  const ValueId y = nn::matmul(g, "y", nn::linear(g, "fc", g.input("x", {3, 11}), width), w);
  nn::mse_loss(g, "loss", y, g.input("targets", Shape(g.shape(y))));
  Graph training = differentiate(g.finish(), options);
  for (Op& op : training.ops) {
    if (op.pass != Pass::update) continue;
    if (seed % 5 > 2) op.attributes["weight_decay"] = 0.1;
    if (op.kind == "momentum_update" && seed % 8 == 5) op.attributes["nesterov"] = std::int64_t{1};
  }
  return training;
}

Graph more_losses(std::uint64_t seed) {
  Draws draw(seed);
  GraphBuilder g("losses");
  const ValueId x = nn::linear(g, "fc", g.input("x", {draw(1, 9), 7}), draw(1, 40));
  const auto targets = [&] { return g.input("targets", Shape(g.shape(x))); };
  switch (seed % 6) {
    case 5:
      nn::mean_loss(g, "loss", x);
      break;
    case 0:
      nn::l1_loss(g, "loss", x, targets());
      break;
    case 1:
      nn::huber_loss(g, "loss", x, targets(), static_cast<double>(draw(1, 3)) / 2.0);
      break;
    case 2:
      nn::bce_with_logits_loss(g, "loss", x, targets());
      break;
    case 3:
      nn::bce_loss(g, "loss", nn::unary(g, "sigmoid", "sigmoid", x), targets());
      break;
    default:
      nn::softmax_cross_entropy(g, "loss", nn::linear(g, "classes", x, 4),
                                g.input("targets", {g.shape(x)[0]}, DType::int32));
  }
  Graph forward = g.finish();
  for (Op& op : forward.ops)
    if (op.kind == "softmax_cross_entropy") op.attributes["label_smoothing"] = 0.1;
  return differentiate(forward);
}

Graph network(std::uint64_t seed) {
  const TrainingOptions some{Optimizer::adam, RandomNetwork::some_trainable(seed)};
  return differentiate(RandomNetwork(seed).build(), seed % 2 == 0 ? TrainingOptions{} : some);
}

}  // namespace

Graph training_step(GraphBuilder& g, ValueId y, const std::function<bool(const std::string&)>& trains,
                    Optimizer optimizer) {
  const Shape shape = g.shape(y);
  nn::mse_loss(g, "loss", y, g.input("targets", shape));
  return differentiate(g.finish(), {optimizer, trains});
}

void add_layer_families(std::vector<KernelGraphFamily>& families) {
  families.push_back({"conv2d", 150, [](std::uint64_t seed) { return convolution(seed, 2, false); }});
  families.push_back({"conv3d", 60, [](std::uint64_t seed) { return convolution(seed, 3, false); }});
  families.push_back({"conv_transpose2d", 60, [](std::uint64_t seed) { return convolution(seed, 2, true); }});
  families.push_back({"conv_transpose3d", 30, [](std::uint64_t seed) { return convolution(seed, 3, true); }});
  families.push_back({"large_conv2d", 3, large_convolution});
  families.push_back({"linear", 60, linear});
  families.push_back({"matmul", 100, matmul});
  families.push_back({"norm", 120, norm});
  families.push_back({"pool2d", 80, [](std::uint64_t seed) { return pool(seed, 2); }});
  families.push_back({"pool3d", 40, [](std::uint64_t seed) { return pool(seed, 3); }});
  families.push_back({"long_pool", 3, long_pool});
  families.push_back({"updates", 120, updates});
  families.push_back({"more_losses", 50, more_losses});
  families.push_back({"network", 150, network});
}

const std::vector<KernelGraphFamily>& kernel_graph_families() {
  static const std::vector<KernelGraphFamily> families = [] {
    std::vector<KernelGraphFamily> all;
    add_layer_families(all);
    add_elementwise_families(all);
    add_copy_families(all);
    add_recurrent_families(all);
    return all;
  }();
  return families;
}

}  // namespace poet::test
