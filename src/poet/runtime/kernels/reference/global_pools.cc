// Means and maxima over whole planes.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "poet/base/error.h"
#include "poet/runtime/kernels/reference/families.h"
#include "poet/runtime/kernels/reference/fold.h"
#include "poet/runtime/kernels/reference/loop_kernel.h"

namespace poet::runtime {
namespace {

struct Planes {
  Index planes, size;

  Planes(const Shape& whole, const Shape& pooled)
      : planes(element_count(pooled)), size(element_count(whole) / planes) {}
};

std::unique_ptr<Kernel> global_avg_pool(const OpReader& op) {
  return loop_kernel([p = Planes(op.in(0), op.out(0))](const KernelCall& call) {
    for (Index i = 0; i < p.planes; ++i) {
      const float* x = input(call, 0) + i * p.size;
      const double sum = sum_of(p.size, [x](Index k) { return x[k]; });
      output(call, 0)[i] = static_cast<float>(sum / static_cast<double>(p.size));
    }
  });
}

std::unique_ptr<Kernel> global_avg_pool_backward(const OpReader& op) {
  return loop_kernel([p = Planes(op.out(0), op.in(0))](const KernelCall& call) {
    for (Index i = 0; i < p.planes; ++i) {
      std::fill_n(output(call, 0) + i * p.size, p.size, input(call, 0)[i] / static_cast<float>(p.size));
    }
  });
}

std::unique_ptr<Kernel> global_max_pool(const OpReader& op) {
  return loop_kernel([p = Planes(op.in(0), op.out(0))](const KernelCall& call) {
    for (Index i = 0; i < p.planes; ++i) {
      const float* x = input(call, 0) + i * p.size;
      Index best = 0;
      for (Index k = 1; k < p.size; ++k) {
        if (x[k] > x[best] || std::isnan(x[k])) best = k;
      }
      output(call, 0)[i] = x[best];
      output<std::int32_t>(call, 1)[i] = static_cast<std::int32_t>(best);
    }
  });
}

std::unique_ptr<Kernel> global_max_pool_backward(const OpReader& op) {
  return loop_kernel([p = Planes(op.out(0), op.in(0)), name = op.op().name](const KernelCall& call) {
    std::fill_n(output(call, 0), p.planes * p.size, 0.0F);
    for (Index i = 0; i < p.planes; ++i) {
      const Index place = input<std::int32_t>(call, 1)[i];
      if (place < 0 || place >= p.size) {
        throw InputError(fmt::format("op \"{}\"", name),
                         fmt::format("index {} is not one of {} elements", place, p.size));
      }
      output(call, 0)[i * p.size + place] = input(call, 0)[i];
    }
  });
}

}  // namespace

void add_global_pool_kernels(ReferenceTable& table) {
  table["global_avg_pool"] = {global_avg_pool};
  table["global_avg_pool_backward"] = {global_avg_pool_backward};
  table["global_max_pool"] = {global_max_pool};
  table["global_max_pool_backward"] = {global_max_pool_backward};
}

}  // namespace poet::runtime
