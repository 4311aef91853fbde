// y = f(x) and dx = dy f'(x), element by element. The slope is found from what docs/operators.md says that
// the backward op reads: x, or y.

#include <cmath>
#include <cstdint>
#include <limits>

#include "firmware/kernels/poet_math.h"
#include "poet/runtime/kernels/reference/elementwise.h"
#include "poet/runtime/kernels/reference/families.h"

namespace poet::runtime {
namespace {

constexpr float kRootHalf = 0.70710678118654752F;
constexpr float kInverseRootTwoPi = 0.39894228040143268F;
constexpr float kTwoByRootPi = 1.12837916709551257F;

float sigmoid_of(float x) { return 1.0F / (1.0F + poet_exp(-x)); }
float softplus_of(float x) { return x > 0.0F ? x + std::log1p(poet_exp(-x)) : std::log1p(poet_exp(x)); }

template <class F>
std::unique_ptr<Kernel> mapped(const OpReader& op, F f) {
  return elementwise<float, float>(op, f);
}

/// dx = dy slope(what else the op reads).
template <class F>
std::unique_ptr<Kernel> chained(const OpReader& op, F slope) {
  return elementwise<float, float, float>(op, [slope](float dy, float v) { return dy * slope(v); });
}

/// dy where the slope is 1, else 0, whatever dy is.
template <class F>
std::unique_ptr<Kernel> masked(const OpReader& op, F passes) {
  return elementwise<float, float, float>(op, [passes](float dy, float v) { return passes(v) ? dy : 0.0F; });
}

/// alpha x + beta; whole numbers wrap around.
std::unique_ptr<Kernel> affine(const OpReader& op, double alpha, double beta) {
  if (op.output(0).dtype == DType::int32) {
    const auto a = static_cast<std::uint32_t>(static_cast<std::int64_t>(alpha));
    const auto b = static_cast<std::uint32_t>(static_cast<std::int64_t>(beta));
    return elementwise<std::int32_t, std::int32_t>(op, [a, b](std::int32_t x) {
      return static_cast<std::int32_t>(a * static_cast<std::uint32_t>(x) + b);
    });
  }
  const auto a = static_cast<float>(alpha);
  const auto b = static_cast<float>(beta);
  return mapped(op, [a, b](float x) { return a * x + b; });
}

std::unique_ptr<Kernel> shift(const OpReader& op) {
  const double beta = op.real("beta");
  if (op.output(0).dtype == DType::int32) return affine(op, 1.0, beta);
  return mapped(op, [b = static_cast<float>(beta)](float x) { return x + b; });
}

std::unique_ptr<Kernel> abs(const OpReader& op) {
  if (op.output(0).dtype == DType::int32) {
    return elementwise<std::int32_t, std::int32_t>(op, [](std::int32_t x) {
      const auto u = static_cast<std::uint32_t>(x);
      return static_cast<std::int32_t>(x < 0 ? 0U - u : u);
    });
  }
  return mapped(op, [](float x) { return std::abs(x); });
}

std::unique_ptr<Kernel> pow(const OpReader& op) {
  const float e = op.real32("exponent");
  if (e == 2.0F) return mapped(op, [](float x) { return x * x; });
  return mapped(op, [e](float x) { return std::pow(x, e); });
}
std::unique_ptr<Kernel> pow_backward(const OpReader& op) {
  const float e = op.real32("exponent");
  if (e == 2.0F) return chained(op, [](float x) { return 2.0F * x; });
  return chained(op, [e](float x) { return e * std::pow(x, e - 1.0F); });
}

float lower(const OpReader& op) {
  return op.has("min") ? op.real32("min") : -std::numeric_limits<float>::infinity();
}
float upper(const OpReader& op) {
  return op.has("max") ? op.real32("max") : std::numeric_limits<float>::infinity();
}
/// NaN stays.
float clipped(float x, float low, float high) {
  const float above = x < low ? low : x;
  return high < above ? high : above;
}

void add_common(ReferenceTable& table) {
  table["relu"].make = [](const OpReader& op) {
    return mapped(op, [](float x) { return x < 0.0F ? 0.0F : x; });
  };
  table["relu_backward"].make = [](const OpReader& op) {
    return masked(op, [](float y) { return y > 0.0F; });
  };
  table["gelu"].make = [](const OpReader& op) {
    return mapped(op, [](float x) { return 0.5F * x * poet_erfc(-x * kRootHalf); });
  };
  table["gelu_backward"].make = [](const OpReader& op) {
    return chained(op, [](float x) {
      return 0.5F * poet_erfc(-x * kRootHalf) + x * kInverseRootTwoPi * poet_exp(-0.5F * x * x);
    });
  };
  table["tanh"].make = [](const OpReader& op) { return mapped(op, [](float x) { return poet_tanh(x); }); };
  table["tanh_backward"].make = [](const OpReader& op) {
    return chained(op, [](float y) { return 1.0F - y * y; });
  };
  table["clip"].make = [](const OpReader& op) {
    return mapped(op, [low = lower(op), high = upper(op)](float x) { return clipped(x, low, high); });
  };
  table["clip_backward"].make = [](const OpReader& op) {
    return masked(op, [low = lower(op), high = upper(op)](float y) { return y > low && y < high; });
  };
  table["scale"].make = [](const OpReader& op) { return affine(op, op.real("alpha"), op.real("beta")); };
  table["scale_backward"].make = [](const OpReader& op) {
    return mapped(op, [a = op.real32("alpha")](float dy) { return a * dy; });
  };
  table["shift"].make = shift;
  table["sigmoid"].make = [](const OpReader& op) { return mapped(op, sigmoid_of); };
  table["sigmoid_backward"].make = [](const OpReader& op) {
    return chained(op, [](float y) { return y * (1.0F - y); });
  };
}

void add_functions(ReferenceTable& table) {
  table["exp"].make = [](const OpReader& op) { return mapped(op, [](float x) { return poet_exp(x); }); };
  table["exp_backward"].make = [](const OpReader& op) { return chained(op, [](float y) { return y; }); };
  table["sqrt"].make = [](const OpReader& op) { return mapped(op, [](float x) { return std::sqrt(x); }); };
  table["sqrt_backward"].make = [](const OpReader& op) {
    return chained(op, [](float y) { return 0.5F / y; });
  };
  table["erf"].make = [](const OpReader& op) { return mapped(op, [](float x) { return std::erf(x); }); };
  table["erf_backward"].make = [](const OpReader& op) {
    return chained(op, [](float x) { return kTwoByRootPi * poet_exp(-x * x); });
  };
  table["log"].make = [](const OpReader& op) { return mapped(op, [](float x) { return std::log(x); }); };
  table["log_backward"].make = [](const OpReader& op) {
    return elementwise<float, float, float>(op, [](float dy, float x) { return dy / x; });
  };
  table["abs"].make = abs;
  table["abs_backward"].make = [](const OpReader& op) {
    return chained(op, [](float x) { return x > 0.0F ? 1.0F : x < 0.0F ? -1.0F : 0.0F; });
  };
  table["pow"].make = pow;
  table["pow_backward"].make = pow_backward;
  table["sin"].make = [](const OpReader& op) { return mapped(op, [](float x) { return std::sin(x); }); };
  table["sin_backward"].make = [](const OpReader& op) {
    return chained(op, [](float x) { return std::cos(x); });
  };
  table["cos"].make = [](const OpReader& op) { return mapped(op, [](float x) { return std::cos(x); }); };
  table["cos_backward"].make = [](const OpReader& op) {
    return chained(op, [](float x) { return -std::sin(x); });
  };
  table["atan"].make = [](const OpReader& op) { return mapped(op, [](float x) { return std::atan(x); }); };
  table["atan_backward"].make = [](const OpReader& op) {
    return chained(op, [](float x) { return 1.0F / (1.0F + x * x); });
  };
  table["sign"].make = [](const OpReader& op) {
    return mapped(op, [](float x) { return x > 0.0F ? 1.0F : x < 0.0F ? -1.0F : x; });
  };
  table["floor"].make = [](const OpReader& op) { return mapped(op, [](float x) { return std::floor(x); }); };
  table["ceil"].make = [](const OpReader& op) { return mapped(op, [](float x) { return std::ceil(x); }); };
  table["round"].make = [](const OpReader& op) {
    return mapped(op, [](float x) { return std::nearbyint(x); });
  };
}

void add_linear_units(ReferenceTable& table) {
  table["leaky_relu"].make = [](const OpReader& op) {
    return mapped(op, [a = op.real32("alpha")](float x) { return x > 0.0F ? x : a * x; });
  };
  table["leaky_relu_backward"].make = [](const OpReader& op) {
    return chained(op, [a = op.real32("alpha")](float y) { return y > 0.0F ? 1.0F : a; });
  };
  table["elu"].make = [](const OpReader& op) {
    return mapped(op, [a = op.real32("alpha")](float x) { return x > 0.0F ? x : a * std::expm1(x); });
  };
  table["elu_backward"].make = [](const OpReader& op) {
    return chained(op, [a = op.real32("alpha")](float y) { return y > 0.0F ? 1.0F : y + a; });
  };
  table["selu"].make = [](const OpReader& op) {
    return mapped(op, [a = op.real32("alpha"), g = op.real32("gamma")](float x) {
      return x > 0.0F ? g * x : g * (a * std::expm1(x));
    });
  };
  table["selu_backward"].make = [](const OpReader& op) {
    const auto below = static_cast<float>(op.real("gamma") * op.real("alpha"));
    return chained(op, [below, g = op.real32("gamma")](float y) { return y > 0.0F ? g : y + below; });
  };
  table["celu"].make = [](const OpReader& op) {
    return mapped(op, [a = op.real32("alpha")](float x) { return x > 0.0F ? x : a * std::expm1(x / a); });
  };
  table["celu_backward"].make = [](const OpReader& op) {
    return chained(op, [a = op.real32("alpha")](float y) { return y > 0.0F ? 1.0F : y / a + 1.0F; });
  };
  table["thresholded_relu"].make = [](const OpReader& op) {
    return mapped(op, [a = op.real32("alpha")](float x) { return x <= a ? 0.0F : x; });
  };
  table["thresholded_relu_backward"].make = [](const OpReader& op) {
    return masked(op, [](float y) { return y > 0.0F; });
  };
  table["hardsigmoid"].make = [](const OpReader& op) {
    return mapped(op, [a = op.real32("alpha"), b = op.real32("beta")](float x) {
      return clipped(a * x + b, 0.0F, 1.0F);
    });
  };
  table["hardsigmoid_backward"].make = [](const OpReader& op) {
    return chained(op, [a = op.real32("alpha")](float y) { return y > 0.0F && y < 1.0F ? a : 0.0F; });
  };
  table["hardswish"].make = [](const OpReader& op) {
    return mapped(op, [](float x) { return x * clipped(x / 6.0F + 0.5F, 0.0F, 1.0F); });
  };
  table["hardswish_backward"].make = [](const OpReader& op) {
    return chained(op, [](float x) { return x <= -3.0F ? 0.0F : x >= 3.0F ? 1.0F : x / 3.0F + 0.5F; });
  };
}

void add_smooth_units(ReferenceTable& table) {
  table["silu"].make = [](const OpReader& op) {
    return mapped(op, [](float x) { return x * sigmoid_of(x); });
  };
  table["silu_backward"].make = [](const OpReader& op) {
    return chained(op, [](float x) {
      const float s = sigmoid_of(x);
      return s * (1.0F + x * (1.0F - s));
    });
  };
  table["mish"].make = [](const OpReader& op) {
    return mapped(op, [](float x) { return x * poet_tanh(softplus_of(x)); });
  };
  table["mish_backward"].make = [](const OpReader& op) {
    return chained(op, [](float x) {
      const float t = poet_tanh(softplus_of(x));
      return t + x * sigmoid_of(x) * (1.0F - t * t);
    });
  };
  table["softplus"].make = [](const OpReader& op) { return mapped(op, softplus_of); };
  table["softplus_backward"].make = [](const OpReader& op) {
    return chained(op, [](float y) { return -std::expm1(-y); });
  };
  table["softsign"].make = [](const OpReader& op) {
    return mapped(op, [](float x) { return x / (1.0F + std::abs(x)); });
  };
  table["softsign_backward"].make = [](const OpReader& op) {
    return chained(op, [](float y) { return (1.0F - std::abs(y)) * (1.0F - std::abs(y)); });
  };
}

}  // namespace

void add_activation_kernels(ReferenceTable& table) {
  ReferenceTable own;
  add_common(own);
  add_functions(own);
  add_linear_units(own);
  add_smooth_units(own);
  for (auto& entry : own) entry.second.any_strides = true;
  table.merge(own);
}

}  // namespace poet::runtime
