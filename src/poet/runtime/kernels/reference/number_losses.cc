// Losses that are means over all elements: of the numbers, or of what compares them with targets of their
// shape.

#include <algorithm>
#include <cmath>

#include "firmware/kernels/poet_math.h"
#include "poet/runtime/kernels/reference/families.h"
#include "poet/runtime/kernels/reference/fold.h"
#include "poet/runtime/kernels/reference/loop_kernel.h"

namespace poet::runtime {
namespace {

/// The mean of f(x, target), in double.
template <class F>
std::unique_ptr<Kernel> mean_of(const OpReader& op, F f) {
  return loop_kernel([n = op.in_count(0), f](const KernelCall& call) {
    const float* x = input(call, 0);
    const float* target = input(call, 1);
    const double sum =
        sum_of(n, [=](Index i) { return f(static_cast<double>(x[i]), static_cast<double>(target[i])); });
    output(call, 0)[0] = static_cast<float>(sum / static_cast<double>(n));
  });
}

/// The slope of that mean: f(x, target) / n, in float.
template <class F>
std::unique_ptr<Kernel> slope_of_mean(const OpReader& op, F f) {
  return loop_kernel(
      [n = op.in_count(0), f,
       factor = static_cast<float>(1.0 / static_cast<double>(op.in_count(0)))](const KernelCall& call) {
        const float* x = input(call, 0);
        const float* target = input(call, 1);
        float* dx = output(call, 0);
#pragma GCC ivdep
        for (Index i = 0; i < n; ++i) dx[i] = factor * f(x[i], target[i]);
      });
}

std::unique_ptr<Kernel> mean_loss(const OpReader& op) {
  return loop_kernel([n = op.in_count(0)](const KernelCall& call) {
    const float* x = input(call, 0);
    const double sum = sum_of(n, [=](Index i) { return static_cast<double>(x[i]); });
    output(call, 0)[0] = static_cast<float>(sum / static_cast<double>(n));
  });
}

std::unique_ptr<Kernel> mean_loss_backward(const OpReader& op) {
  return loop_kernel([n = op.in_count(0)](const KernelCall& call) {
    std::fill_n(output(call, 0), n, static_cast<float>(1.0 / static_cast<double>(n)));
  });
}

std::unique_ptr<Kernel> mse_loss(const OpReader& op) {
  return loop_kernel([n = op.in_count(0)](const KernelCall& call) {
    const float* x = input(call, 0);
    const float* target = input(call, 1);
    const double sum = sum_of(n, [=](Index i) {
      const double d = static_cast<double>(x[i]) - static_cast<double>(target[i]);
      return d * d;
    });
    output(call, 0)[0] = static_cast<float>(sum / static_cast<double>(n));
  });
}

std::unique_ptr<Kernel> mse_loss_backward(const OpReader& op) {
  return loop_kernel([n = op.in_count(0)](const KernelCall& call) {
    const float* x = input(call, 0);
    const float* target = input(call, 1);
    float* dx = output(call, 0);
    const auto factor = static_cast<float>(2.0 / static_cast<double>(n));
#pragma GCC ivdep
    for (Index i = 0; i < n; ++i) dx[i] = factor * (x[i] - target[i]);
  });
}

std::unique_ptr<Kernel> l1_loss(const OpReader& op) {
  return mean_of(op, [](double x, double target) { return std::abs(x - target); });
}

/// NaN where x or its target is one, as any slope of them.
std::unique_ptr<Kernel> l1_loss_backward(const OpReader& op) {
  return slope_of_mean(op, [](float x, float target) {
    const float d = x - target;
    return d > 0.0F ? 1.0F : d < 0.0F ? -1.0F : d * 0.0F;
  });
}

std::unique_ptr<Kernel> huber_loss(const OpReader& op) {
  return mean_of(op, [delta = op.real("delta")](double x, double target) {
    const double d = std::abs(x - target);
    return d <= delta ? 0.5 * d * d : delta * (d - 0.5 * delta);
  });
}

std::unique_ptr<Kernel> huber_loss_backward(const OpReader& op) {
  return slope_of_mean(op, [delta = op.real32("delta")](float x, float target) {
    const float d = x - target;
    return d < -delta ? -delta : d > delta ? delta : d;
  });
}

/// exp(-|x|) never overflows, and 1 + it loses nothing that float keeps.
std::unique_ptr<Kernel> bce_with_logits_loss(const OpReader& op) {
  return mean_of(op, [](double x, double target) {
    const double less = static_cast<double>(poet_exp(static_cast<float>(-std::abs(x))));
    return (x > 0 ? x : 0.0 * x) - x * target + poet_log(1.0 + less);
  });
}

std::unique_ptr<Kernel> bce_with_logits_loss_backward(const OpReader& op) {
  return slope_of_mean(op, [](float x, float target) {
    const float less = poet_exp(-std::abs(x));
    return (x >= 0 ? 1.0F : less) / (1.0F + less) - target;
  });
}

constexpr double kLeastLogarithm = -100.0;  // PyTorch's: of a probability of 0
constexpr float kLeastSpread = 1e-12F;      // PyTorch's: x (1 - x) where x is 0 or 1

bool is_probability(double x) { return x >= 0 && x <= 1; }

double bounded_log(double x) { return x > 0 ? std::max(poet_log(x), kLeastLogarithm) : kLeastLogarithm; }

std::unique_ptr<Kernel> bce_loss(const OpReader& op) {
  return mean_of(op, [](double x, double target) {
    if (!is_probability(x)) return std::nan("");  // the run ends as of any loss that is none
    return -(target * bounded_log(x) + (1.0 - target) * bounded_log(1.0 - x));
  });
}

std::unique_ptr<Kernel> bce_loss_backward(const OpReader& op) {
  return slope_of_mean(op, [](float x, float target) {
    if (!is_probability(x)) return std::nanf("");
    return (x - target) / std::max((1.0F - x) * x, kLeastSpread);
  });
}

}  // namespace

void add_number_loss_kernels(ReferenceTable& table) {
  table["mean_loss"] = {mean_loss};
  table["mean_loss_backward"] = {mean_loss_backward};
  table["mse_loss"] = {mse_loss};
  table["mse_loss_backward"] = {mse_loss_backward};
  table["l1_loss"] = {l1_loss};
  table["l1_loss_backward"] = {l1_loss_backward};
  table["huber_loss"] = {huber_loss};
  table["huber_loss_backward"] = {huber_loss_backward};
  table["bce_with_logits_loss"] = {bce_with_logits_loss};
  table["bce_with_logits_loss_backward"] = {bce_with_logits_loss_backward};
  table["bce_loss"] = {bce_loss};
  table["bce_loss_backward"] = {bce_loss_backward};
}

}  // namespace poet::runtime
