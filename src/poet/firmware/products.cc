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

std::vector<std::byte> rows(const OpReader& op) {
  return bytes_of(poet_rows{small(op.in_count(0) / op.in(0).back()), small(op.in(0).back())});
}

std::vector<std::byte> one_row(const OpReader& op) { return bytes_of(poet_rows{1, small(op.in_count(0))}); }

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
  const auto whole_targets = [](const OpReader& op) {
    if (op.has("label_smoothing"))
      throw InputError(op.op().name, "has label_smoothing, which no kernel in C has");
    return rows(op);
  };
  add("softmax_cross_entropy", "poet_softmax_cross_entropy", poet_softmax_cross_entropy, whole_targets);
  add("softmax_cross_entropy_backward", "poet_softmax_cross_entropy_backward",
      poet_softmax_cross_entropy_backward, whole_targets);
  add("mse_loss", "poet_mse_loss", poet_mse_loss, one_row);
  add("mse_loss_backward", "poet_mse_loss_backward", poet_mse_loss_backward, one_row);
}

}  // namespace poet::firmware
