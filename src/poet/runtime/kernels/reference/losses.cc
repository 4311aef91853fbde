// softmax and log_softmax over the last axis, and the
// cross-entropy over classes. A row is read before it is written, so a result
// may lie on its operand.

#include <fmt/format.h>

#include <cstdint>

#include "firmware/kernels/poet_math.h"
#include "poet/base/error.h"
#include "poet/runtime/kernels/reference/families.h"
#include "poet/runtime/kernels/reference/fold.h"
#include "poet/runtime/kernels/reference/loop_kernel.h"

namespace poet::runtime {
namespace {

struct Rows {
  Index rows, width;

  explicit Rows(const Shape& shape) : rows(element_count(shape) / shape.back()), width(shape.back()) {}
};

/// NaN where the first element is one.
float largest_of(const float* x, Index n) {
  float largest = x[0];
  for (Index i = 1; i < n; ++i) largest = x[i] > largest ? x[i] : largest;
  return largest;
}

void softmax_row(const float* x, float* y, Index n) {
  const float largest = largest_of(x, n);
  for (Index i = 0; i < n; ++i) y[i] = poet_exp(x[i] - largest);
  const auto sum = static_cast<float>(sum_of(n, [y](Index i) { return y[i]; }));
  for (Index i = 0; i < n; ++i) y[i] /= sum;
}

std::unique_ptr<Kernel> softmax(const OpReader& op) {
  return loop_kernel([r = Rows(op.in(0))](const KernelCall& call) {
    for (Index i = 0; i < r.rows; ++i)
      softmax_row(input(call, 0) + i * r.width, output(call, 0) + i * r.width, r.width);
  });
}

std::unique_ptr<Kernel> softmax_backward(const OpReader& op) {
  return loop_kernel([r = Rows(op.in(0))](const KernelCall& call) {
    for (Index row = 0; row < r.rows; ++row) {
      const float* dy = input(call, 0) + row * r.width;
      const float* y = input(call, 1) + row * r.width;
      float* dx = output(call, 0) + row * r.width;
      const auto dot = static_cast<float>(
          sum_of(r.width, [=](Index i) { return static_cast<double>(dy[i]) * static_cast<double>(y[i]); }));
#pragma GCC ivdep
      for (Index i = 0; i < r.width; ++i) dx[i] = y[i] * (dy[i] - dot);
    }
  });
}

/// log of the sum of exp(x), less the largest x.
double log_sum(const float* x, Index n, float largest) {
  return poet_log(sum_of(n, [=](Index i) { return poet_exp(x[i] - largest); }));
}

std::unique_ptr<Kernel> log_softmax(const OpReader& op) {
  return loop_kernel([r = Rows(op.in(0))](const KernelCall& call) {
    for (Index row = 0; row < r.rows; ++row) {
      const float* x = input(call, 0) + row * r.width;
      float* y = output(call, 0) + row * r.width;
      const float largest = largest_of(x, r.width);
      const auto less = static_cast<float>(log_sum(x, r.width, largest));
#pragma GCC ivdep
      for (Index i = 0; i < r.width; ++i) y[i] = (x[i] - largest) - less;
    }
  });
}

std::unique_ptr<Kernel> log_softmax_backward(const OpReader& op) {
  return loop_kernel([r = Rows(op.in(0))](const KernelCall& call) {
    for (Index row = 0; row < r.rows; ++row) {
      const float* dy = input(call, 0) + row * r.width;
      const float* y = input(call, 1) + row * r.width;
      float* dx = output(call, 0) + row * r.width;
      const auto sum = static_cast<float>(sum_of(r.width, [=](Index i) { return dy[i]; }));
      for (Index i = 0; i < r.width; ++i) dx[i] = dy[i] - poet_exp(y[i]) * sum;
    }
  });
}

// ---- losses

/// The class of a row. Throws InputError where there is no such class.
Index target_of(const std::string& op, const std::int32_t* targets, Index row, Index classes) {
  const Index target = targets[row];
  if (target < 0 || target >= classes) {
    throw InputError(fmt::format("op \"{}\", target {}", op, row),
                     fmt::format("must be a class below {}, not {}", classes, target));
  }
  return target;
}

double smoothing_of(const OpReader& op) {
  return op.has("label_smoothing") ? op.real("label_smoothing") : 0.0;
}

std::unique_ptr<Kernel> softmax_cross_entropy(const OpReader& op) {
  return loop_kernel(
      [r = Rows(op.in(0)), smoothing = smoothing_of(op), name = op.op().name](const KernelCall& call) {
        const auto* targets = input<std::int32_t>(call, 1);
        double loss = 0.0;
        for (Index row = 0; row < r.rows; ++row) {
          const float* x = input(call, 0) + row * r.width;
          const Index target = target_of(name, targets, row, r.width);
          const float largest = largest_of(x, r.width);
          double wanted = static_cast<double>(x[target]) - static_cast<double>(largest);
          if (smoothing > 0) {
            const double sum = sum_of(
                r.width, [=](Index i) { return static_cast<double>(x[i]) - static_cast<double>(largest); });
            wanted += smoothing * (sum / static_cast<double>(r.width) - wanted);
          }
          loss += log_sum(x, r.width, largest) - wanted;
          softmax_row(x, output(call, 1) + row * r.width, r.width);
        }
        output(call, 0)[0] = static_cast<float>(loss / static_cast<double>(r.rows));
      });
}

std::unique_ptr<Kernel> softmax_cross_entropy_backward(const OpReader& op) {
  const double smoothing = smoothing_of(op);
  const auto others = static_cast<float>(smoothing / static_cast<double>(op.in(0).back()));
  return loop_kernel([r = Rows(op.in(0)), others, right = static_cast<float>(1.0 - smoothing) + others,
                      name = op.op().name](const KernelCall& call) {
    const auto* targets = input<std::int32_t>(call, 1);
    const auto rows = static_cast<float>(r.rows);
    for (Index row = 0; row < r.rows; ++row) {
      const float* p = input(call, 0) + row * r.width;
      float* dx = output(call, 0) + row * r.width;
      const Index target = target_of(name, targets, row, r.width);
      for (Index i = 0; i < r.width; ++i) dx[i] = (p[i] - (i == target ? right : others)) / rows;
    }
  });
}

}  // namespace

void add_loss_kernels(ReferenceTable& table) {
  table["softmax"] = {softmax};
  table["softmax_backward"] = {softmax_backward};
  table["log_softmax"] = {log_softmax};
  table["log_softmax_backward"] = {log_softmax_backward};
  table["softmax_cross_entropy"] = {softmax_cross_entropy};
  table["softmax_cross_entropy_backward"] = {softmax_cross_entropy_backward};
}

}  // namespace poet::runtime
