// What is done to gradients before they update anything: summed over steps, measured, clipped.

#include <cmath>

#include "poet/runtime/kernels/reference/families.h"
#include "poet/runtime/kernels/reference/fold.h"
#include "poet/runtime/kernels/reference/loop_kernel.h"

namespace poet::runtime {
namespace {

std::unique_ptr<Kernel> accumulate_gradient(const OpReader& op) {
  return loop_kernel([n = op.in_count(0), every = op.integer("every")](const KernelCall& call) {
    const float* gradient = input(call, 0);
    float* __restrict sum = updated(call, 0);
    float* mean = output(call, 0);
    const auto steps = static_cast<float>(every);
    const bool ends = call.step % every == 0;
#pragma GCC ivdep
    for (Index i = 0; i < n; ++i) {
      sum[i] += gradient[i] / steps;
      mean[i] = sum[i];
      if (ends) sum[i] = 0.0F;
    }
  });
}

std::unique_ptr<Kernel> squared_norm(const OpReader& op) {
  return loop_kernel([n = op.in_count(0), goes_on = op.inputs() > 1](const KernelCall& call) {
    const float* x = input(call, 0);
    const double sum =
        sum_of(n, [=](Index i) { return static_cast<double>(x[i]) * static_cast<double>(x[i]); });
    const double before = goes_on ? static_cast<double>(input(call, 1)[0]) : 0.0;
    output(call, 0)[0] = static_cast<float>(before + sum);
  });
}

constexpr double kNoNorm = 1e-6;  // torch.nn.utils.clip_grad_norm_'s

std::unique_ptr<Kernel> clip_factor(const OpReader& op) {
  return loop_kernel([most = op.real("max_norm")](const KernelCall& call) {
    const double norm = std::sqrt(static_cast<double>(input(call, 0)[0]));
    const double factor = most / (norm + kNoNorm);
    output(call, 0)[0] = factor > 1.0 ? 1.0F : static_cast<float>(factor);
  });
}

}  // namespace

void add_gradient_kernels(ReferenceTable& table) {
  table["accumulate_gradient"] = {accumulate_gradient};
  table["squared_norm"] = {squared_norm};
  table["clip_factor"] = {clip_factor};
}

}  // namespace poet::runtime
