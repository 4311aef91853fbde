#pragma once

// Sums along axes: out[k] = factor * the sum over r of f(a[k, r], b[k, r]...), in double, in an order that
// depends on shapes alone.

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "poet/graph/loop_nest.h"
#include "poet/runtime/kernels/reference/elementwise.h"
#include "poet/runtime/kernels/reference/loop_kernel.h"
#include "poet/runtime/kernels/reference/op_reader.h"

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
  LoopNest<R + 1> kept;
  LoopNest<R> summed;
  bool by_columns = false;  // neighbours in storage go to different sums
};

template <std::size_t R>
[[nodiscard]] Fold<R> make_fold(const Shape& whole, const std::array<Shape, R + 1>& strides) {
  std::vector<LoopAxis<R + 1>> kept;
  std::vector<LoopAxis<R>> summed;
  for (const LoopAxis<R + 1>& axis : loop_axes(whole, strides)) {
    if (axis.stride[R] != 0) {
      kept.push_back(axis);
      continue;
    }
    LoopAxis<R> a{axis.size, {}};
    std::copy_n(axis.stride.begin(), R, a.stride.begin());
    summed.push_back(a);
  }
  Fold<R> fold{make_loop_nest(std::move(kept)), make_loop_nest(std::move(summed)), false};
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

/// Goes through what is kept and what is summed; the sums of runs are left to whoever knows the function, so
/// that this is compiled once for all functions.
template <std::size_t R>
class FoldKernel : public Kernel {
 public:
  FoldKernel(const Shape& whole, const std::array<Shape, R + 1>& strides, double factor)
      : fold_(make_fold<R>(whole, strides)), factor_(factor) {}

  void run(const KernelCall& call) final {
    for_each_run(fold_.kept, [&](const std::array<Index, R + 1>& at) {
      Places from;
      std::copy_n(at.begin(), R, from.begin());
      float* out = output(call, 0) + at[R];
      fold_.by_columns ? by_columns(call, from, out) : by_rows(call, from, out);
    });
  }
  [[nodiscard]] std::string implementation() const final { return "reference"; }

 protected:
  using Places = std::array<Index, R>;  // of the operands, from their beginnings

  /// Adds to the sums of `n` neighbours that are kept.
  virtual void add_to(double* sum, Index n, const KernelCall& call, const Places& at) const = 0;
  /// Of one run that is summed.
  [[nodiscard]] virtual double sum_at(const KernelCall& call, const Places& at) const = 0;

  const Fold<R> fold_;

 private:
  /// Sums of a run of kept elements, a block of neighbours at a time.
  void by_columns(const KernelCall& call, const Places& from, float* out) const {
    constexpr Index kBlock = 64;
    const auto& step = fold_.kept.step;
    for (Index begin = 0; begin < fold_.kept.count; begin += kBlock) {
      const Index n = std::min(kBlock, fold_.kept.count - begin);
      double sum[kBlock] = {};
      for_each_run(fold_.summed, [&](const Places& at) {
        for (Index s = 0; s < fold_.summed.count; ++s) {
          Places place;
          for (std::size_t r = 0; r < R; ++r)
            place[r] = from[r] + at[r] + s * fold_.summed.step[r] + begin * step[r];
          add_to(sum, n, call, place);
        }
      });
      for (Index i = 0; i < n; ++i) out[(begin + i) * step[R]] = static_cast<float>(factor_ * sum[i]);
    }
  }

  /// Sums of a run of kept elements, one after another.
  void by_rows(const KernelCall& call, const Places& from, float* out) const {
    const auto& step = fold_.kept.step;
    for (Index k = 0; k < fold_.kept.count; ++k) {
      double sum = 0.0;
      for_each_run(fold_.summed, [&](const Places& at) {
        Places place;
        for (std::size_t r = 0; r < R; ++r) place[r] = from[r] + at[r] + k * step[r];
        sum += sum_at(call, place);
      });
      out[k * step[R]] = static_cast<float>(factor_ * sum);
    }
  }

  double factor_;
};

template <class F, class... From>
class FunctionFold final : public FoldKernel<sizeof...(From)> {
  using Base = FoldKernel<sizeof...(From)>;
  using typename Base::Places;

 public:
  FunctionFold(const Shape& whole, const std::array<Shape, sizeof...(From) + 1>& strides, F f, double factor)
      : Base(whole, strides, factor), f_(std::move(f)) {}

 private:
  void add_to(double* sum, Index n, const KernelCall& call, const Places& at) const override {
    [&]<std::size_t... r>(std::index_sequence<r...> operands) {
      add_columns(operands, sum, n, f_, this->fold_.kept.step, (input<From>(call, r) + at[r])...);
    }
    (std::index_sequence_for<From...>());
  }
  [[nodiscard]] double sum_at(const KernelCall& call, const Places& at) const override {
    return [&]<std::size_t... r>(std::index_sequence<r...> operands) {
      return row_sum(operands, this->fold_.summed.count, f_, this->fold_.summed.step,
                     (input<From>(call, r) + at[r])...);
    }
    (std::index_sequence_for<From...>());
  }

  F f_;
};

/// `f` takes and gives doubles; operands are of these element types.
template <class... From, class F>
[[nodiscard]] std::unique_ptr<Kernel> fold_kernel(const Shape& whole,
                                                  const std::array<Shape, sizeof...(From) + 1>& strides, F f,
                                                  double factor = 1.0) {
  return std::make_unique<FunctionFold<F, From...>>(whole, strides, std::move(f), factor);
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
