// Reference kernels of arithmetic element by element and of sums along axes.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>

#include "tests/support/function_rows.h"
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
  for (const test::FunctionRow& row : test::function_rows()) {
    table[row.kind] = [&row](Call& c) {
      const test::Numbers n = test::numbers_of(c.op.attributes);
      for (Index i = 0; i < count(c.in[0]); ++i) at(c.out[0].data, i) = row.f(at(c.in[0], i), n);
    };
    if (row.slope == nullptr) continue;
    table[std::string(row.kind) + "_backward"] = [&row](Call& c) {
      const test::Numbers n = test::numbers_of(c.op.attributes);
      for (Index i = 0; i < count(c.in[0]); ++i)
        at(c.out[0].data, i) = at(c.in[0], i) * row.slope(at(c.in[1], i), n);
    };
  }
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
  table["clip"] = mapped([](const Call& c, double x) { return clipped(x, lower(c), upper(c)); });
  table["clip_backward"] =
      chained([](const Call& c, double y) { return y > lower(c) && y < upper(c) ? 1.0 : 0.0; });
  table["reduce_sum"] = reduced(false);
  table["reduce_sum_backward"] = reduced_backward(false);
  table["reduce_mean"] = reduced(true);
  table["reduce_mean_backward"] = reduced_backward(true);
}

}  // namespace poet::reference
