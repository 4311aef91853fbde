#pragma once

// y[i] = f(a[i], b[i]...) on operands that broadcast, of any strides. An operand may lie where y does.

#include <array>
#include <memory>
#include <string>
#include <tuple>
#include <utility>

#include "poet/graph/loop_nest.h"
#include "poet/runtime/kernels/reference/loop_kernel.h"
#include "poet/runtime/kernels/reference/op_reader.h"

namespace poet::runtime {

/// One run. The loops carry nothing from element to element even where y lies on an operand, which the pragma
/// says; what steps by 0 is read once, and lies elsewhere.
template <class F, class To, class... From>
void apply_run(const F& f, Index n, To* y, const std::array<Index, sizeof...(From) + 1>& step,
               const From*... x) {
  constexpr std::size_t kOperands = sizeof...(From);
  bool contiguous = step[0] == 1;
  for (std::size_t r = 1; r <= kOperands; ++r) contiguous = contiguous && step[r] == 1;
  if (contiguous) {
#pragma GCC ivdep
    for (Index i = 0; i < n; ++i) y[i] = f(x[i]...);
    return;
  }
  if constexpr (kOperands == 2) {
    const auto [a, b] = std::tuple(x...);
    if (step[0] == 1 && step[1] == 1 && step[2] == 0) {
      const auto fixed = *b;
#pragma GCC ivdep
      for (Index i = 0; i < n; ++i) y[i] = f(a[i], fixed);
      return;
    }
    if (step[0] == 1 && step[1] == 0 && step[2] == 1) {
      const auto fixed = *a;
#pragma GCC ivdep
      for (Index i = 0; i < n; ++i) y[i] = f(fixed, b[i]);
      return;
    }
  }
  [&]<std::size_t... r>(std::index_sequence<r...>) {
    for (Index i = 0; i < n; ++i) y[i * step[0]] = f(x[i * step[r + 1]]...);
  }
  (std::make_index_sequence<kOperands>());
}

/// Goes through the runs of R - 1 operands and, first, the result; what is computed of a run is left to
/// whoever knows the function, so that this is compiled once for all functions.
template <std::size_t R>
class ElementwiseKernel : public Kernel {
 public:
  explicit ElementwiseKernel(const OpReader& op) : nest_(nest_of(op)) {}

  void run(const KernelCall& call) final {
    for_each_run(nest_, [&](const std::array<Index, R>& at) { run_at(call, at); });
  }
  [[nodiscard]] std::string implementation() const final { return "reference"; }

 protected:
  /// The run that begins at these places of the operands.
  virtual void run_at(const KernelCall& call, const std::array<Index, R>& at) const = 0;

  const LoopNest<R> nest_;

 private:
  static LoopNest<R> nest_of(const OpReader& op) {
    const Shape& whole = op.out(0);
    std::array<Shape, R> strides;
    strides[0] = stretched_strides(op.output(0), whole);
    for (std::size_t r = 1; r < R; ++r) strides[r] = stretched_strides(op.input(r - 1), whole);
    return make_loop_nest(loop_axes(whole, strides));
  }
};

template <class F, class To, class... From>
class FunctionKernel final : public ElementwiseKernel<sizeof...(From) + 1> {
 public:
  FunctionKernel(const OpReader& op, F f) : ElementwiseKernel<sizeof...(From) + 1>(op), f_(std::move(f)) {}

 private:
  void run_at(const KernelCall& call, const std::array<Index, sizeof...(From) + 1>& at) const override {
    [&]<std::size_t... r>(std::index_sequence<r...>) {
      apply_run(f_, this->nest_.count, output<To>(call, 0) + at[0], this->nest_.step,
                (input<From>(call, r) + at[r + 1])...);
    }
    (std::index_sequence_for<From...>());
  }

  F f_;
};

/// The first sizeof...(From) inputs, stretched to output 0.
template <class To, class... From, class F>
[[nodiscard]] std::unique_ptr<Kernel> elementwise(const OpReader& op, F f) {
  return std::make_unique<FunctionKernel<F, To, From...>>(op, std::move(f));
}

}  // namespace poet::runtime
