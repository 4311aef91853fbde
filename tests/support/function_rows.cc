#include "tests/support/function_rows.h"

#include <algorithm>
#include <cmath>
#include <variant>

namespace poet::test {
namespace {

using Domain = FunctionRow::Domain;
using N = const Numbers&;

constexpr double kPi = 3.14159265358979323846;

double sigmoid(double x) { return 1.0 / (1.0 + std::exp(-x)); }
double softplus(double x) { return std::log1p(std::exp(x)); }
double bell(double x) { return std::exp(-0.5 * x * x) / std::sqrt(2.0 * kPi); }
double below(double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); }
double clipped(double x) { return std::min(std::max(x, 0.0), 1.0); }

/// A special function counts 10.
std::vector<FunctionRow> rows() {
  return {
      {"relu", [](double x, N) { return std::max(x, 0.0); }, [](double y, N) { return y > 0.0 ? 1.0 : 0.0; },
       1, 1},
      // 0.5 * x * (1 + erf(x * c)); erf and exp, Phi 3, phi 3, product, sum, dy *
      {"gelu", [](double x, N) { return x * below(x); }, [](double x, N) { return below(x) + x * bell(x); },
       14, 29},
      {"tanh", [](double x, N) { return std::tanh(x); }, [](double y, N) { return 1.0 - y * y; }, 10, 3},
      {"sigmoid", [](double x, N) { return sigmoid(x); }, [](double y, N) { return y * (1.0 - y); }, 13, 3},
      {"erf", [](double x, N) { return std::erf(x); },
       [](double x, N) { return 2.0 / std::sqrt(kPi) * std::exp(-x * x); }, 10, 14},
      {"exp", [](double x, N) { return std::exp(x); }, [](double y, N) { return y; }, 10, 1},
      {"log",
       [](double x, N) { return std::log(x); },
       [](double x, N) { return 1.0 / x; },
       10,
       1,
       {},
       Domain::positive},
      {"sqrt",
       [](double x, N) { return std::sqrt(x); },
       [](double y, N) { return 0.5 / y; },
       10,
       2,
       {},
       Domain::positive},
      // logarithm, product, exp; 2 products and 1 less
      {"pow",
       [](double x, N n) { return std::pow(x, n.exponent); },
       [](double x, N n) { return n.exponent * std::pow(x, n.exponent - 1.0); },
       21,
       23,
       {{"exponent", -1.5}},
       Domain::positive},
      {"abs", [](double x, N) { return std::abs(x); },
       [](double x, N) { return x > 0.0   ? 1.0
                                : x < 0.0 ? -1.0
                                          : 0.0; }, 1, 1},
      {"leaky_relu",
       [](double x, N n) { return x > 0.0 ? x : n.alpha * x; },
       [](double y, N n) { return y > 0.0 ? 1.0 : n.alpha; },
       2,
       2,
       {{"alpha", 0.125}}},
      {"elu",
       [](double x, N n) { return x > 0.0 ? x : n.alpha * (std::exp(x) - 1.0); },
       [](double y, N n) { return y > 0.0 ? 1.0 : y + n.alpha; },
       13,
       3,
       {{"alpha", 0.75}}},
      {"selu",
       [](double x, N n) { return n.gamma * (x > 0.0 ? x : n.alpha * (std::exp(x) - 1.0)); },
       [](double y, N n) { return y > 0.0 ? n.gamma : y + n.gamma * n.alpha; },
       13,
       3,
       {{"alpha", 1.75}, {"gamma", 1.125}}},
      {"celu",
       [](double x, N n) { return x > 0.0 ? x : n.alpha * (std::exp(x / n.alpha) - 1.0); },
       [](double y, N n) { return y > 0.0 ? 1.0 : y / n.alpha + 1.0; },
       14,
       4,
       {{"alpha", 0.8125}}},
      {"thresholded_relu",
       [](double x, N n) { return x > n.alpha ? x : 0.0; },
       [](double y, N) { return y > 0.0 ? 1.0 : 0.0; },
       1,
       1,
       {{"alpha", 0.25}}},
      {"hardsigmoid",
       [](double x, N n) { return clipped(n.alpha * x + n.beta); },
       [](double y, N n) { return y > 0.0 && y < 1.0 ? n.alpha : 0.0; },
       4,
       3,
       {{"alpha", 0.3125}, {"beta", 0.4375}}},
      {"hardswish",
       [](double x, N) { return x * clipped(x / 6.0 + 0.5); },
       [](double x, N) { return x <= -3.0  ? 0.0
                                : x >= 3.0 ? 1.0
                                           : x / 3.0 + 0.5; },
       5,
       5,
       {},
       Domain::wide},
      // s = 13 and a product; s, 1 - s, x *, 1 +, s *, dy *
      {"silu", [](double x, N) { return x * sigmoid(x); },
       [](double x, N) { return sigmoid(x) * (1.0 + x * (1.0 - sigmoid(x))); }, 14, 18},
      // softplus 21, tanh 10, product; those 31, e / (1 + e) 2, 1 - t² 2, two products 2, sum 1, dy * 1
      {"mish", [](double x, N) { return x * std::tanh(softplus(x)); },
       [](double x, N) {
         const double t = std::tanh(softplus(x));
         return t + x * sigmoid(x) * (1.0 - t * t);
       },
       32, 39},
      // exp 10, sum, log 10; exp 10, sign, difference, product
      {"softplus", [](double x, N) { return softplus(x); }, [](double y, N) { return 1.0 - std::exp(-y); },
       21, 13},
      {"softsign", [](double x, N) { return x / (1.0 + std::abs(x)); },
       [](double y, N) { return (1.0 - std::abs(y)) * (1.0 - std::abs(y)); }, 3, 4},
      {"sin", [](double x, N) { return std::sin(x); }, [](double x, N) { return std::cos(x); }, 10, 11},
      {"cos", [](double x, N) { return std::cos(x); }, [](double x, N) { return -std::sin(x); }, 10, 12},
      // square, sum, division
      {"atan", [](double x, N) { return std::atan(x); }, [](double x, N) { return 1.0 / (1.0 + x * x); }, 10,
       3},
      {"sign", [](double x, N) { return x > 0.0   ? 1.0
                                        : x < 0.0 ? -1.0
                                                  : 0.0; }, nullptr, 2},
      {"floor", [](double x, N) { return std::floor(x); }, nullptr, 1},
      {"ceil", [](double x, N) { return std::ceil(x); }, nullptr, 1},
      {"round", [](double x, N) { return std::nearbyint(x); }, nullptr, 1},
  };
}

}  // namespace

const std::vector<FunctionRow>& function_rows() {
  static const std::vector<FunctionRow> all = rows();
  return all;
}

Numbers numbers_of(const Attributes& attributes) {
  // Attributes that an operator does not have are ignored, whatever they are.
  const auto number = [&attributes](const char* name) {
    const auto found = attributes.find(name);
    const auto* x = found == attributes.end() ? nullptr : std::get_if<double>(&found->second);
    return x == nullptr ? 0.0 : *x;
  };
  return {number("alpha"), number("beta"), number("gamma"), number("exponent")};
}

}  // namespace poet::test
