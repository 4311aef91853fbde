// Sums, means and extremes along axes, and running sums.

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "poet/runtime/kernels/reference/elementwise.h"
#include "poet/runtime/kernels/reference/families.h"
#include "poet/runtime/kernels/reference/fold.h"

namespace poet::runtime {
namespace {

/// The strides of what is left of `x` by the attribute `axes`, as axes of x: 0 along those.
Shape reduced_strides(const OpReader& op, const Value& reduced, const Shape& x) {
  std::vector<bool> gone(x.size());
  for (const Index axis : op.list("axes")) gone[static_cast<std::size_t>(axis)] = true;
  const bool keeps = reduced.shape.size() == x.size();
  const Shape own = strides_of(reduced);
  Shape strides(x.size(), 0);
  std::size_t next = 0;
  for (std::size_t axis = 0; axis < x.size(); ++axis) {
    if (!gone[axis]) strides[axis] = own[next];
    if (!gone[axis] || keeps) ++next;
  }
  return strides;
}

/// How many elements fall together.
double together(const OpReader& op, const Shape& x) {
  double n = 1.0;
  for (const Index axis : op.list("axes")) n *= static_cast<double>(x[static_cast<std::size_t>(axis)]);
  return n;
}

template <bool mean>
std::unique_ptr<Kernel> reduce_sum(const OpReader& op) {
  const Shape& x = op.in(0);
  return fold_kernel<float>(
      x, {strides_of(op.input(0)), reduced_strides(op, op.output(0), x)},
      [](float v) { return static_cast<double>(v); }, mean ? 1.0 / together(op, x) : 1.0);
}

template <bool mean>
std::unique_ptr<Kernel> reduce_sum_backward(const OpReader& op) {
  const Shape& x = op.out(0);
  const auto nest =
      make_loop_nest(loop_axes<2>(x, {strides_of(op.output(0)), reduced_strides(op, op.input(0), x)}));
  const float factor = mean ? static_cast<float>(1.0 / together(op, x)) : 1.0F;
  return loop_kernel([nest, factor](const KernelCall& call) {
    for_each_run(nest, [&](const std::array<Index, 2>& at) {
      apply_run([factor](float dy) { return factor * dy; }, nest.count, output(call, 0) + at[0], nest.step,
                input(call, 0) + at[1]);
    });
  });
}

// ---- extremes

/// Calls f(offsets of the kept element) once per element that is left, R operands having strides along x's
/// axes, the last one being what decides which axes are left.
template <std::size_t R, class F>
void for_each_kept(const Fold<R>& fold, const F& f) {
  for_each_run(fold.kept, [&](std::array<Index, R + 1> at) {
    for (Index k = 0; k < fold.kept.count; ++k) {
      f(at);
      for (std::size_t r = 0; r <= R; ++r) at[r] += fold.kept.step[r];
    }
  });
}

/// Calls f(offsets) for every element that falls together.
template <std::size_t R, class F>
void for_each_summed(const Fold<R>& fold, const F& f) {
  for_each_run(fold.summed, [&](std::array<Index, R> at) {
    for (Index k = 0; k < fold.summed.count; ++k) {
      f(at);
      for (std::size_t r = 0; r < R; ++r) at[r] += fold.summed.step[r];
    }
  });
}

template <bool largest>
std::unique_ptr<Kernel> reduce_extreme(const OpReader& op) {
  const Shape& x = op.in(0);
  const auto fold = make_fold<1>(x, {strides_of(op.input(0)), reduced_strides(op, op.output(0), x)});
  return loop_kernel([fold](const KernelCall& call) {
    for_each_kept(fold, [&](const std::array<Index, 2>& at) {
      const float* from = input(call, 0) + at[0];
      float best = *from;
      for_each_summed(fold, [&](const std::array<Index, 1>& element) {
        const float v = from[element[0]];
        if (largest ? v > best : v < best) best = v;
        if (std::isnan(v)) best = v;
      });
      output(call, 0)[at[1]] = best;
    });
  });
}

/// Elements that are equally extreme share the gradient.
std::unique_ptr<Kernel> reduce_extreme_backward(const OpReader& op) {
  const Shape& x = op.in(1);
  const Shape of_y = reduced_strides(op, op.input(2), x);
  const Shape of_dy = reduced_strides(op, op.input(0), x);
  const auto fold = make_fold<3>(x, {strides_of(op.input(1)), strides_of(op.output(0)), of_dy, of_y});
  return loop_kernel([fold](const KernelCall& call) {
    for_each_kept(fold, [&](const std::array<Index, 4>& at) {
      const float* from = input(call, 1) + at[0];
      float* dx = output(call, 0) + at[1];
      const float extreme = input(call, 2)[at[3]];
      double equal = 0.0;
      for_each_summed(fold, [&](const std::array<Index, 3>& element) {
        if (from[element[0]] == extreme) equal += 1.0;
      });
      const auto share = static_cast<float>(static_cast<double>(input(call, 0)[at[2]]) / equal);
      for_each_summed(fold, [&](const std::array<Index, 3>& element) {
        dx[element[1]] = from[element[0]] == extreme ? share : 0.0F;
      });
    });
  });
}

// ---- running sums

/// `Sum` holds the sum, integers wrapping around.
template <class T, class Sum>
std::unique_ptr<Kernel> running_sum(const OpReader& op, bool from_end) {
  const Shape& x = op.in(0);
  const auto axis = static_cast<std::size_t>(op.integer("axis"));
  Index inner = 1;
  for (std::size_t i = axis + 1; i < x.size(); ++i) inner *= x[i];
  const Index length = x[axis];
  const Index outer = op.in_count(0) / (inner * length);
  const bool exclusive = op.integer("exclusive") != 0;
  return loop_kernel([=](const KernelCall& call) {
    for (Index o = 0; o < outer; ++o) {
      for (Index k = 0; k < inner; ++k) {
        const T* from = input<T>(call, 0) + o * length * inner + k;
        T* to = output<T>(call, 0) + o * length * inner + k;
        Sum sum = 0;
        for (Index s = 0; s < length; ++s) {
          const Index i = (from_end ? length - 1 - s : s) * inner;
          const Sum before = sum;
          sum += static_cast<Sum>(from[i]);
          to[i] = static_cast<T>(exclusive ? before : sum);
        }
      }
    }
  });
}

std::unique_ptr<Kernel> cumsum(const OpReader& op) {
  const bool from_end = op.integer("reverse") != 0;
  return op.output(0).dtype == DType::int32 ? running_sum<std::int32_t, std::uint32_t>(op, from_end)
                                            : running_sum<float, double>(op, from_end);
}
std::unique_ptr<Kernel> cumsum_backward(const OpReader& op) {
  return running_sum<float, double>(op, op.integer("reverse") == 0);
}

}  // namespace

void add_reduction_kernels(ReferenceTable& table) {
  table["reduce_sum"] = {reduce_sum<false>, true};
  table["reduce_sum_backward"] = {reduce_sum_backward<false>, true};
  table["reduce_mean"] = {reduce_sum<true>, true};
  table["reduce_mean_backward"] = {reduce_sum_backward<true>, true};
  table["reduce_max"] = {reduce_extreme<true>, true};
  table["reduce_min"] = {reduce_extreme<false>, true};
  table["reduce_max_backward"] = {reduce_extreme_backward, true};
  table["reduce_min_backward"] = {reduce_extreme_backward, true};
  table["cumsum"] = {cumsum};
  table["cumsum_backward"] = {cumsum_backward};
}

}  // namespace poet::runtime
