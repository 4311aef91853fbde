#pragma once

// Sums along axes: out[k] = factor * the sum over r of f(a[k, r], b[k, r]...), in double, in an order that
// depends on shapes alone.

#include <array>
#include <memory>
#include <utility>
#include <vector>

#include "poet/runtime/kernels/reference/elementwise.h"
#include "poet/runtime/kernels/reference/loop_kernel.h"
#include "poet/runtime/kernels/reference/walk.h"

namespace poet::runtime {

/// f(i) for i < n summed in eight partial sums, which the compiler keeps in vectors.
template <class F>
[[nodiscard]] double sum_of(Index n, const F& f) {
  constexpr Index kLanes = 8;
  std::array<double, kLanes> lane{};
  Index i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (Index l = 0; l < kLanes; ++l) lane[static_cast<std::size_t>(l)] += static_cast<double>(f(i + l));
  }
  for (; i < n; ++i) lane[static_cast<std::size_t>(i % kLanes)] += static_cast<double>(f(i));
  return ((lane[0] + lane[4]) + (lane[2] + lane[6])) + ((lane[1] + lane[5]) + (lane[3] + lane[7]));
}

/// R operands and, last, what is written: its strides are 0 along the axes that are summed.
template <std::size_t R>
struct Fold {
  Walk<R + 1> kept;
  Walk<R> summed;
  bool by_columns = false;  // neighbours in storage go to different sums
};

template <std::size_t R>
[[nodiscard]] Fold<R> make_fold(const Shape& whole, const std::array<Shape, R + 1>& strides) {
  std::vector<WalkAxis<R + 1>> kept;
  std::vector<WalkAxis<R>> summed;
  for (const WalkAxis<R + 1>& axis : walk_axes(whole, strides)) {
    if (axis.stride[R] != 0) {
      kept.push_back(axis);
      continue;
    }
    WalkAxis<R> a{axis.size, {}};
    std::copy_n(axis.stride.begin(), R, a.stride.begin());
    summed.push_back(a);
  }
  Fold<R> fold{make_walk(std::move(kept)), make_walk(std::move(summed)), false};
  fold.by_columns = fold.kept.count > 1 && fold.kept.step[0] < fold.summed.step[0];
  if (fold.summed.count == 1 && fold.summed.rank == 0) fold.by_columns = true;
  return fold;
}

/// sum[i] += f(from[i * step]...) for i < n.
template <std::size_t... r, std::size_t S, class F, class... From>
void add_columns(std::index_sequence<r...>, double* __restrict sum, Index n, const F& f,
                 const std::array<Index, S>& step, const From*... from) {
  if (((step[r] == 1) && ...)) {
    for (Index i = 0; i < n; ++i) sum[i] += f(from[i]...);
  } else {
    for (Index i = 0; i < n; ++i) sum[i] += f(from[i * step[r]]...);
  }
}

/// The sum of f(from[i * step]...) for i < n.
template <std::size_t... r, class F, class... From>
double row_sum(std::index_sequence<r...>, Index n, const F& f, const std::array<Index, sizeof...(From)>& step,
               const From*... from) {
  if (((step[r] == 1) && ...)) return sum_of(n, [&](Index i) { return f(from[i]...); });
  return sum_of(n, [&](Index i) { return f(from[i * step[r]]...); });
}

/// Sums of a run of kept elements, a block of neighbours at a time.
template <std::size_t... r, std::size_t R, class F, class... From>
void fold_columns(std::index_sequence<r...> operands, const Fold<R>& fold, const F& f, double factor,
                  float* out, const From*... x) {
  constexpr Index kBlock = 64;
  const auto& step = fold.kept.step;
  for (Index begin = 0; begin < fold.kept.count; begin += kBlock) {
    const Index n = std::min(kBlock, fold.kept.count - begin);
    double sum[kBlock] = {};
    for_each_run(fold.summed, [&](const std::array<Index, R>& at) {
      for (Index s = 0; s < fold.summed.count; ++s) {
        add_columns(operands, sum, n, f, step, (x + at[r] + s * fold.summed.step[r] + begin * step[r])...);
      }
    });
    for (Index i = 0; i < n; ++i) out[(begin + i) * step[R]] = static_cast<float>(factor * sum[i]);
  }
}

/// Sums of a run of kept elements, one after another.
template <std::size_t... r, std::size_t R, class F, class... From>
void fold_rows(std::index_sequence<r...> operands, const Fold<R>& fold, const F& f, double factor, float* out,
               const From*... x) {
  for (Index k = 0; k < fold.kept.count; ++k) {
    double sum = 0.0;
    for_each_run(fold.summed, [&](const std::array<Index, R>& at) {
      sum +=
          row_sum(operands, fold.summed.count, f, fold.summed.step, (x + at[r] + k * fold.kept.step[r])...);
    });
    out[k * fold.kept.step[R]] = static_cast<float>(factor * sum);
  }
}

/// `f` takes and gives doubles; operands are of these element types.
template <class... From, class F>
[[nodiscard]] std::unique_ptr<Kernel> fold_kernel(const Shape& whole,
                                                  const std::array<Shape, sizeof...(From) + 1>& strides, F f,
                                                  double factor = 1.0) {
  constexpr std::size_t kOperands = sizeof...(From);
  const Fold<kOperands> fold = make_fold<kOperands>(whole, strides);
  return loop_kernel([fold, f, factor](const KernelCall& call) {
    [&]<std::size_t... r>(std::index_sequence<r...> operands) {
      for_each_run(fold.kept, [&](const std::array<Index, kOperands + 1>& at) {
        float* out = output(call, 0) + at[kOperands];
        if (fold.by_columns) {
          fold_columns(operands, fold, f, factor, out, (input<From>(call, r) + at[r])...);
        } else {
          fold_rows(operands, fold, f, factor, out, (input<From>(call, r) + at[r])...);
        }
      });
    }
    (std::make_index_sequence<kOperands>());
  });
}

/// The gradient of an operand: f(dy, what else the op reads), summed where the operand was stretched to the
/// shape of dy. `f` is generic over float and double.
template <class... From, class F>
[[nodiscard]] std::unique_ptr<Kernel> gradient_of_stretched(const OpReader& op, F f) {
  constexpr std::size_t kOperands = sizeof...(From);
  const Shape& whole = op.in(0);
  if (op.out(0) == whole) return elementwise<float, From...>(op, f);
  std::array<Shape, kOperands + 1> strides;
  for (std::size_t r = 0; r < kOperands; ++r) strides[r] = stretched_strides(op.input(r), whole);
  strides[kOperands] = stretched_strides(op.output(0), whole);
  return fold_kernel<From...>(whole, strides,
                              [f](auto... x) { return static_cast<double>(f(static_cast<double>(x)...)); });
}

}  // namespace poet::runtime
