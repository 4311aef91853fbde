// Reference kernels of arithmetic element by element and of sums along axes.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>

#include "tests/support/reference_call.h"

namespace poet::reference {
namespace {

using Binary = double (*)(double, double);

/// y = f(a, b).
Kernel joined(Binary f) {
  return [f](Call& c) {
    Array& y = c.out[0];
    for (Index i = 0; i < count(y); ++i) {
      at(y.data, i) =
          f(at(c.in[0], met(c.in[0].shape, y.shape, i)), at(c.in[1], met(c.in[1].shape, y.shape, i)));
    }
  };
}

/// The gradient of an operand: contributions f(dy, p, q) with p and q what the op reads besides dy (0 when
/// there is none), summed where the operand was stretched.
Kernel summed(double (*f)(double, double, double)) {
  return [f](Call& c) {
    const Array& dy = c.in[0];
    for (Index i = 0; i < count(dy); ++i) {
      double read[2] = {0.0, 0.0};
      for (std::size_t k = 1; k < c.in.size(); ++k) {
        read[k - 1] = at(c.in[k], met(c.in[k].shape, dy.shape, i));
      }
      at(c.out[0].data, met(c.out[0].shape, dy.shape, i)) += f(at(dy, i), read[0], read[1]);
    }
  };
}

using Formula = double (*)(const Call&, double);

/// y = f(x), attributes at hand.
Kernel mapped(Formula f) {
  return [f](Call& c) {
    for (Index i = 0; i < count(c.in[0]); ++i) at(c.out[0].data, i) = f(c, at(c.in[0], i));
  };
}

/// dx = dy f(what the op reads besides dy; 0 when there is nothing).
Kernel chained(Formula f) {
  return [f](Call& c) {
    for (Index i = 0; i < count(c.in[0]); ++i) {
      at(c.out[0].data, i) = at(c.in[0], i) * f(c, c.in.size() > 1 ? at(c.in[1], i) : 0.0);
    }
  };
}

double lower(const Call& c) {
  return c.op.attributes.count("min") == 1 ? c.real("min") : -std::numeric_limits<double>::infinity();
}
double upper(const Call& c) {
  return c.op.attributes.count("max") == 1 ? c.real("max") : std::numeric_limits<double>::infinity();
}
double clipped(double x, double low, double high) { return std::min(std::max(x, low), high); }

/// `x` with the attribute's axes of size 1, and how many elements fall together.
std::pair<Shape, double> kept(const Call& c, Shape x) {
  double together = 1.0;
  for (const Index axis : c.list("axes")) {
    together *= static_cast<double>(x.at(static_cast<std::size_t>(axis)));
    x[static_cast<std::size_t>(axis)] = 1;
  }
  return {x, together};
}

Kernel reduced(bool mean) {
  return [mean](Call& c) {
    const auto [shape, together] = kept(c, c.in[0].shape);
    for (Index i = 0; i < count(c.in[0]); ++i) {
      at(c.out[0].data, met(shape, c.in[0].shape, i)) += at(c.in[0], i) / (mean ? together : 1.0);
    }
  };
}
Kernel reduced_backward(bool mean) {
  return [mean](Call& c) {
    const auto [shape, together] = kept(c, c.out[0].shape);
    for (Index i = 0; i < count(c.out[0]); ++i) {
      at(c.out[0].data, i) = at(c.in[0], met(shape, c.out[0].shape, i)) / (mean ? together : 1.0);
    }
  };
}

}  // namespace

void add_elementwise_kernels(std::map<std::string, Kernel>& table) {
  table["add"] = joined([](double a, double b) { return a + b; });
  table["sub"] = joined([](double a, double b) { return a - b; });
  table["mul"] = joined([](double a, double b) { return a * b; });
  table["div"] = joined([](double a, double b) { return a / b; });
  table["sum_to"] = summed([](double dy, double, double) { return dy; });
  table["sub_backward_b"] = summed([](double dy, double, double) { return -dy; });
  table["mul_backward"] = summed([](double dy, double other, double) { return dy * other; });
  table["div_backward_a"] = summed([](double dy, double b, double) { return dy / b; });
  table["div_backward_b"] = summed([](double dy, double a, double b) { return -dy * a / (b * b); });

  table["scale"] = mapped([](const Call& c, double x) { return c.real("alpha") * x + c.real("beta"); });
  table["shift"] = mapped([](const Call& c, double x) { return x + c.real("beta"); });
  table["scale_backward"] = chained([](const Call& c, double) { return c.real("alpha"); });
  table["sigmoid"] = mapped([](const Call&, double x) { return 1.0 / (1.0 + std::exp(-x)); });
  table["sigmoid_backward"] = chained([](const Call&, double y) { return y * (1.0 - y); });
  table["erf"] = mapped([](const Call&, double x) { return std::erf(x); });
  table["erf_backward"] =
      chained([](const Call&, double x) { return 2.0 / std::sqrt(std::acos(-1.0)) * std::exp(-x * x); });
  table["exp"] = mapped([](const Call&, double x) { return std::exp(x); });
  table["exp_backward"] = chained([](const Call&, double y) { return y; });
  table["log"] = mapped([](const Call&, double x) { return std::log(x); });
  table["log_backward"] = chained([](const Call&, double x) { return 1.0 / x; });
  table["sqrt"] = mapped([](const Call&, double x) { return std::sqrt(x); });
  table["sqrt_backward"] = chained([](const Call&, double y) { return 0.5 / y; });
  table["pow"] = mapped([](const Call& c, double x) { return std::pow(x, c.real("exponent")); });
  table["pow_backward"] = chained(
      [](const Call& c, double x) { return c.real("exponent") * std::pow(x, c.real("exponent") - 1.0); });
  table["abs"] = mapped([](const Call&, double x) { return std::abs(x); });
  table["abs_backward"] = chained([](const Call&, double x) { return x > 0.0 ? 1.0 : x < 0.0 ? -1.0 : 0.0; });
  table["clip"] = mapped([](const Call& c, double x) { return clipped(x, lower(c), upper(c)); });
  table["clip_backward"] =
      chained([](const Call& c, double y) { return y > lower(c) && y < upper(c) ? 1.0 : 0.0; });
  table["leaky_relu"] = mapped([](const Call& c, double x) { return x > 0.0 ? x : c.real("alpha") * x; });
  table["leaky_relu_backward"] =
      chained([](const Call& c, double y) { return y > 0.0 ? 1.0 : c.real("alpha"); });
  table["elu"] =
      mapped([](const Call& c, double x) { return x > 0.0 ? x : c.real("alpha") * (std::exp(x) - 1.0); });
  table["elu_backward"] =
      chained([](const Call& c, double y) { return y > 0.0 ? 1.0 : y + c.real("alpha"); });
  table["hardsigmoid"] =
      mapped([](const Call& c, double x) { return clipped(c.real("alpha") * x + c.real("beta"), 0.0, 1.0); });
  table["hardsigmoid_backward"] =
      chained([](const Call& c, double y) { return y > 0.0 && y < 1.0 ? c.real("alpha") : 0.0; });
  table["hardswish"] = mapped([](const Call&, double x) { return x * clipped(x / 6.0 + 0.5, 0.0, 1.0); });
  table["hardswish_backward"] = chained([](const Call&, double x) {
    if (x <= -3.0) return 0.0;
    return x >= 3.0 ? 1.0 : x / 3.0 + 0.5;
  });
  table["reduce_sum"] = reduced(false);
  table["reduce_sum_backward"] = reduced_backward(false);
  table["reduce_mean"] = reduced(true);
  table["reduce_mean_backward"] = reduced_backward(true);
}

}  // namespace poet::reference
