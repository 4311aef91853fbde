#pragma once

// y[i] = f(a[i], b[i]...) on operands that broadcast, of any strides. An operand may lie where y does.

#include <array>
#include <memory>
#include <tuple>
#include <utility>

#include "poet/runtime/kernels/reference/loop_kernel.h"
#include "poet/runtime/kernels/reference/walk.h"

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

/// The first sizeof...(From) inputs, stretched to output 0.
template <class To, class... From, class F>
[[nodiscard]] std::unique_ptr<Kernel> elementwise(const OpReader& op, F f) {
  constexpr std::size_t kOperands = sizeof...(From);
  const Shape& whole = op.out(0);
  std::array<Shape, kOperands + 1> strides;
  strides[0] = stretched_strides(op.output(0), whole);
  for (std::size_t r = 0; r < kOperands; ++r) strides[r + 1] = stretched_strides(op.input(r), whole);
  const auto walk = make_walk(walk_axes(whole, strides));
  return loop_kernel([walk, f](const KernelCall& call) {
    [&]<std::size_t... r>(std::index_sequence<r...>) {
      for_each_run(walk, [&](const std::array<Index, kOperands + 1>& at) {
        apply_run(f, walk.count, output<To>(call, 0) + at[0], walk.step,
                  (input<From>(call, r) + at[r + 1])...);
      });
    }
    (std::make_index_sequence<kOperands>());
  });
}

}  // namespace poet::runtime
