// linear and convolutions, norms, losses.

#include <algorithm>
#include <array>

#include "poet/base/error.h"
#include "poet/firmware/families.h"

namespace poet::firmware {
namespace {

std::vector<std::byte> linear(const OpReader& op) {
  poet_linear s{};
  s.outs = small(op.in(1).at(0));
  s.ins = small(op.in(1).at(1));
  s.rows = small(op.out_count(0) / s.outs);
  s.weight = -1;
  s.bias = op.inputs() > 2 ? 2 : -1;
  s.from_weight = op.accumulator(0);
  s.from_bias = -1;
  s.result = first_output(op);
  return bytes_of(s);
}

std::vector<std::byte> linear_backward_input(const OpReader& op) {
  poet_linear s{};
  s.outs = small(op.in(1).at(0));
  s.ins = small(op.in(1).at(1));
  s.rows = small(op.out_count(0) / s.ins);
  s.weight = s.bias = s.from_bias = -1;
  s.from_weight = op.accumulator(0);
  s.result = first_output(op);
  return bytes_of(s);
}

std::vector<std::byte> linear_backward_weight(const OpReader& op) {
  const int weight = op.gradient(1, {1, 2});
  const int bias = op.gradient(2, {1, 2});
  poet_linear s{};
  s.outs = small(op.in(0).back());
  s.ins = small(op.in(1).back());
  s.rows = small(op.in_count(0) / s.outs);
  s.weight = output_or_none(op, weight);
  s.bias = output_or_none(op, bias);
  s.from_weight = accumulator_of(op, weight);
  s.from_bias = accumulator_of(op, bias);
  s.result = -1;
  return bytes_of(s);
}

std::vector<std::byte> linear_backward_bias(const OpReader& op) {
  poet_linear s{};
  s.outs = small(op.in(0).back());
  s.rows = small(op.in_count(0) / s.outs);
  s.weight = s.from_weight = s.result = -1;
  s.bias = first_output(op);
  s.from_bias = op.accumulator(0);
  return bytes_of(s);
}

constexpr std::int64_t kWidestKernel =
    64;  // of which the windows of four points fit COPIED in poet_conv_sums.c

poet_conv convolution(const OpReader& op, const Shape& x, const Shape& weight, const Shape& y) {
  poet_conv s{};
  s.images = small(x[0]);
  s.groups = small(op.integer("groups"));
  s.in_channels = small(x[1] / s.groups);
  s.out_channels = small(y[1] / s.groups);
  const auto spatial = [&op](const char* name, std::size_t axis, std::int64_t missing) {
    return op.has(name) ? small(op.list(name).at(axis)) : small(missing);
  };
  for (std::size_t a = 0; a < 2; ++a) {
    s.x[a] = small(x[2 + a]);
    s.y[a] = small(y[2 + a]);
    s.kernel[a] = small(weight[2 + a]);
    s.stride[a] = spatial("stride", a, 1);
    s.padding[a] = spatial("padding", a, 0);
    s.dilation[a] = spatial("dilation", a, 1);
  }
  if (s.kernel[1] > kWidestKernel)
    throw InputError(op.op().name, "has a wider kernel than 64, the widest in C");
  s.bias = s.weight = s.from = s.from_bias = s.result = -1;
  return s;
}

std::vector<std::byte> conv2d(const OpReader& op) {
  poet_conv s = convolution(op, op.in(0), op.in(1), op.out(0));
  s.bias = op.inputs() > 2 ? 2 : -1;
  s.from = op.accumulator(0);
  s.result = first_output(op);
  return bytes_of(s);
}

std::vector<std::byte> conv2d_backward_input(const OpReader& op) {
  poet_conv s = convolution(op, op.out(0), op.in(1), op.in(0));
  s.from = op.accumulator(0);
  s.result = first_output(op);
  return bytes_of(s);
}

std::vector<std::byte> conv2d_backward_weight(const OpReader& op) {
  const int weight = op.gradient(1, {1, 2});
  const int bias = op.gradient(2, {1, 2});
  poet_conv s = convolution(op, op.in(1), op.out(static_cast<std::size_t>(std::max(0, weight))), op.in(0));
  s.weight = output_or_none(op, weight);
  s.bias = output_or_none(op, bias);
  s.from = accumulator_of(op, weight);
  s.from_bias = accumulator_of(op, bias);
  return bytes_of(s);
}

// ---- norms

poet_batch_norm batch(const Shape& x) {
  poet_batch_norm s{};
  s.images = small(x[0]);
  s.channels = small(x[1]);
  s.plane = small(element_count(x) / (x[0] * x[1]));
  s.dx = s.dweight = s.dbias = -1;
  return s;
}

std::vector<std::byte> batch_norm(const OpReader& op) {
  poet_batch_norm s = batch(op.in(0));
  s.eps = op.real("eps");
  return bytes_of(s);
}

std::vector<std::byte> batch_norm_backward(const OpReader& op) {
  poet_batch_norm s = batch(op.in(1));
  const std::vector<Index> all = {0, 1, 2};
  s.dx = output_or_none(op, op.gradient(0, all));
  s.dweight = output_or_none(op, op.gradient(1, all));
  s.dbias = output_or_none(op, op.gradient(2, all));
  return bytes_of(s);
}

std::vector<std::byte> batch_norm_stats(const OpReader& op) {
  poet_batch_norm s{};
  s.channels = small(op.in_count(0));
  s.dx = first_output(op) + small(static_cast<Index>(op.outputs()));
  s.dweight = s.dbias = -1;
  s.eps = op.real("eps");
  s.momentum = op.real("momentum");
  s.count = static_cast<double>(op.integer("count"));
  return bytes_of(s);
}

// ---- losses

std::vector<std::byte> planes(const Shape& whole, const Shape& pooled) {
  const Index count = element_count(pooled);
  return bytes_of(poet_planes{small(count), small(element_count(whole) / count)});
}

/// The numbers of the slope are the portable kernel's.
std::vector<std::byte> cross_entropy(const OpReader& op) {
  poet_cross_entropy s{};
  s.rows = small(op.in_count(0) / op.in(0).back());
  s.width = small(op.in(0).back());
  s.smoothing = op.has("label_smoothing") ? op.real("label_smoothing") : 0.0;
  s.others = static_cast<float>(s.smoothing / static_cast<double>(op.in(0).back()));
  s.right = static_cast<float>(1.0 - s.smoothing) + s.others;
  return bytes_of(s);
}

std::vector<std::byte> number_loss(const OpReader& op) {
  return bytes_of(poet_number_loss{small(op.in_count(0)), 0, op.has("delta") ? op.real("delta") : 0.0});
}

}  // namespace

void add_products(KernelTable& table) {
  const auto add = [&table](const char* kind, const char* file, const char* name, poet_kernel here,
                            std::vector<std::byte> (*shape)(const OpReader&)) {
    table[kind] = {{name, file, here}, shape, false};
  };
  add("linear", "poet_linear.c", "poet_linear_forward", poet_linear_forward, linear);
  add("linear_backward_input", "poet_linear.c", "poet_linear_backward_input", poet_linear_backward_input,
      linear_backward_input);
  add("linear_backward_weight", "poet_linear.c", "poet_linear_backward_weight", poet_linear_backward_weight,
      linear_backward_weight);
  add("linear_backward_bias", "poet_linear.c", "poet_linear_backward_weight", poet_linear_backward_weight,
      linear_backward_bias);
  add("conv2d", "poet_conv.c", "poet_conv_forward", poet_conv_forward, conv2d);
  add("conv2d_backward_input", "poet_conv.c", "poet_conv_backward_input", poet_conv_backward_input,
      conv2d_backward_input);
  add("conv2d_backward_weight", "poet_conv_weight.c", "poet_conv_backward_weight", poet_conv_backward_weight,
      conv2d_backward_weight);
}

void add_norms(KernelTable& table) {
  table["batch_norm"] = {{"poet_batch_norm_forward", "poet_norms.c", poet_batch_norm_forward}, batch_norm};
  table["batch_norm_backward"] = {{"poet_batch_norm_backward", "poet_norms.c", poet_batch_norm_backward},
                                  batch_norm_backward};
  table["batch_norm_stats"] = {{"poet_batch_norm_stats", "poet_norms.c", poet_batch_norm_stats},
                               batch_norm_stats};
}

void add_losses(KernelTable& table) {
  const auto add = [&table](const char* kind, const char* name, poet_kernel here,
                            std::function<std::vector<std::byte>(const OpReader&)> shape) {
    table[kind] = {{name, "poet_losses.c", here}, std::move(shape)};
  };
  add("global_avg_pool", "poet_global_avg_pool", poet_global_avg_pool,
      [](const OpReader& op) { return planes(op.in(0), op.out(0)); });
  add("global_avg_pool_backward", "poet_global_avg_pool_backward", poet_global_avg_pool_backward,
      [](const OpReader& op) { return planes(op.out(0), op.in(0)); });
  add("softmax_cross_entropy", "poet_softmax_cross_entropy", poet_softmax_cross_entropy, cross_entropy);
  add("softmax_cross_entropy_backward", "poet_softmax_cross_entropy_backward",
      poet_softmax_cross_entropy_backward, cross_entropy);
  const auto add_number_loss = [&table](const std::string& kind, poet_kernel here, poet_kernel slope) {
    table[kind] = {{"poet_" + kind, "poet_number_losses.c", here}, number_loss};
    table[kind + "_backward"] = {{"poet_" + kind + "_backward", "poet_number_losses.c", slope}, number_loss};
  };
  add_number_loss("mean_loss", poet_mean_loss, poet_mean_loss_backward);
  add_number_loss("mse_loss", poet_mse_loss, poet_mse_loss_backward);
  add_number_loss("l1_loss", poet_l1_loss, poet_l1_loss_backward);
  add_number_loss("huber_loss", poet_huber_loss, poet_huber_loss_backward);
  add_number_loss("bce_loss", poet_bce_loss, poet_bce_loss_backward);
  add_number_loss("bce_with_logits_loss", poet_bce_with_logits_loss, poet_bce_with_logits_loss_backward);
}

}  // namespace poet::firmware
