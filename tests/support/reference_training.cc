// Losses of numbers, gradients that are summed and clipped, updates: by the formulas of PyTorch's
// documentation.

#include <algorithm>
#include <cmath>

#include "tests/support/reference_call.h"

namespace poet::reference {
namespace {

/// The mean of f(x, target) and its slope, f'(x, target) / elements.
Kernel mean_of(const std::function<double(const Call&, double, double)>& f) {
  return [f](Call& c) {
    for (Index i = 0; i < count(c.in[0]); ++i)
      c.out[0].data[0] += f(c, at(c.in[0], i), at(c.in[1], i)) / static_cast<double>(count(c.in[0]));
  };
}
Kernel slope_of(const std::function<double(const Call&, double, double)>& slope) {
  return [slope](Call& c) {
    for (Index i = 0; i < count(c.in[0]); ++i)
      at(c.out[0].data, i) = slope(c, at(c.in[0], i), at(c.in[1], i)) / static_cast<double>(count(c.in[0]));
  };
}

double squared(const Call&, double x, double t) { return (x - t) * (x - t); }
double squared_slope(const Call&, double x, double t) { return 2 * (x - t); }
double absolute(const Call&, double x, double t) { return std::abs(x - t); }
double absolute_slope(const Call&, double x, double t) { return x > t ? 1.0 : x < t ? -1.0 : 0.0; }
double huber(const Call& c, double x, double t) {
  const double delta = c.real("delta");
  const double d = std::abs(x - t);
  return d < delta ? d * d / 2 : delta * (d - delta / 2);
}
double huber_slope(const Call& c, double x, double t) {
  return std::clamp(x - t, -c.real("delta"), c.real("delta"));
}
double probability_of(double x) { return 1.0 / (1.0 + std::exp(-x)); }
double bce_with_logits(const Call&, double x, double t) {
  return t * std::log1p(std::exp(-x)) + (1.0 - t) * std::log1p(std::exp(x));
}
double bce_with_logits_slope(const Call&, double x, double t) { return probability_of(x) - t; }
// PyTorch's bounds, where a probability is 0 or 1; of what is none, nothing.
double bce(const Call&, double x, double t) {
  if (!(x >= 0.0 && x <= 1.0)) return std::nan("");
  const auto bounded = [](double p) { return p > 0.0 ? std::max(std::log(p), -100.0) : -100.0; };
  return -t * bounded(x) - (1.0 - t) * bounded(1.0 - x);
}
double bce_slope(const Call&, double x, double t) {
  if (!(x >= 0.0 && x <= 1.0)) return std::nan("");
  return (x - t) / std::max((1.0 - x) * x, 1e-12);
}

// ---- gradients

void accumulate_gradient(Call& c) {
  const Index every = c.integer("every");
  for (Index i = 0; i < count(c.in[0]); ++i) {
    double& sum = at(c.updated[0].data, i);
    sum += at(c.in[0], i) / static_cast<double>(every);
    at(c.out[0].data, i) = sum;
    if (c.step % every == 0) sum = 0;
  }
}

void squared_norm(Call& c) {
  if (c.in.size() > 1) c.out[0].data[0] = at(c.in[1], 0);
  for (const double x : c.in[0].data) c.out[0].data[0] += x * x;
}

void clip_factor(Call& c) {
  c.out[0].data[0] = std::min(1.0, c.real("max_norm") / (std::sqrt(at(c.in[0], 0)) + 1e-6));
}

// ---- updates

bool is_due(const Call& c) { return c.step % c.integer_or("every", 1) == 0; }

double slope_at(const Call& c, Index i) {
  return at(c.in[1], i) + c.real_or("weight_decay", 0.0) * at(c.in[0], i);
}

void sgd_update(Call& c) {
  if (!is_due(c)) return;
  for (Index i = 0; i < count(c.in[0]); ++i)
    at(c.updated[0].data, i) -= c.real("learning_rate") * slope_at(c, i);
}

void momentum_update(Call& c) {
  if (!is_due(c)) return;
  const double momentum = c.real("momentum");
  for (Index i = 0; i < count(c.in[0]); ++i) {
    const double g = slope_at(c, i);
    double& velocity = at(c.updated[1].data, i);
    velocity = momentum * velocity + g;
    const bool nesterov = c.integer_or("nesterov", 0) != 0;
    at(c.updated[0].data, i) -= c.real("learning_rate") * (nesterov ? g + momentum * velocity : velocity);
  }
}

void adam(Call& c, bool decoupled) {
  if (!is_due(c)) return;
  const double rate = c.real("learning_rate");
  const double beta1 = c.real("beta1");
  const double beta2 = c.real("beta2");
  const Index updates = c.step / c.integer_or("every", 1);
  const auto t = static_cast<double>(updates);
  for (Index i = 0; i < count(c.in[0]); ++i) {
    double& w = at(c.updated[0].data, i);
    const double g = decoupled ? at(c.in[1], i) : slope_at(c, i);
    if (decoupled) w -= rate * c.real_or("weight_decay", 0.0) * w;
    double& m = at(c.updated[1].data, i);
    double& v = at(c.updated[2].data, i);
    m = beta1 * m + (1.0 - beta1) * g;
    v = beta2 * v + (1.0 - beta2) * g * g;
    const double m_unbiased = m / (1.0 - std::pow(beta1, t));
    const double v_unbiased = v / (1.0 - std::pow(beta2, t));
    w -= rate * m_unbiased / (std::sqrt(v_unbiased) + c.real("eps"));
  }
}

}  // namespace

void add_training_kernels(std::map<std::string, Kernel>& table) {
  table["mean_loss"] = [](Call& c) {
    double& loss = c.out[0].data[0];
    for (Index i = 0; i < count(c.in[0]); ++i) loss += at(c.in[0], i) / static_cast<double>(count(c.in[0]));
  };
  table["mean_loss_backward"] = [](Call& c) {
    for (double& dx : c.out[0].data) dx = 1.0 / static_cast<double>(count(c.in[0]));
  };
  table["mse_loss"] = mean_of(squared);
  table["mse_loss_backward"] = slope_of(squared_slope);
  table["l1_loss"] = mean_of(absolute);
  table["l1_loss_backward"] = slope_of(absolute_slope);
  table["huber_loss"] = mean_of(huber);
  table["huber_loss_backward"] = slope_of(huber_slope);
  table["bce_with_logits_loss"] = mean_of(bce_with_logits);
  table["bce_with_logits_loss_backward"] = slope_of(bce_with_logits_slope);
  table["bce_loss"] = mean_of(bce);
  table["bce_loss_backward"] = slope_of(bce_slope);
  table["accumulate_gradient"] = accumulate_gradient;
  table["squared_norm"] = squared_norm;
  table["clip_factor"] = clip_factor;
  table["sgd_update"] = sgd_update;
  table["momentum_update"] = momentum_update;
  table["adam_update"] = [](Call& c) { adam(c, false); };
  table["adamw_update"] = [](Call& c) { adam(c, true); };
}

}  // namespace poet::reference
