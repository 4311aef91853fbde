// sgd, momentum and Adam, as torch.optim has them. A gradient may be a strided view; parameter and state
// share a layout.

#include <array>
#include <cmath>

#include "firmware/kernels/poet_math.h"
#include "poet/graph/loop_nest.h"
#include "poet/runtime/kernels/reference/families.h"
#include "poet/runtime/kernels/reference/loop_kernel.h"
#include "poet/runtime/kernels/reference/op_reader.h"

namespace poet::runtime {
namespace {

/// Calls f(place in parameter and state, place in the gradient) for every element.
template <class F>
void for_each_weight(const LoopNest<2>& nest, const F& f) {
  for_each_run(nest, [&](const std::array<Index, 2>& at) {
    if (nest.step[0] == 1 && nest.step[1] == 1) {
#pragma GCC ivdep
      for (Index i = 0; i < nest.count; ++i) f(at[0] + i, at[1] + i);
    } else {
      for (Index i = 0; i < nest.count; ++i) f(at[0] + i * nest.step[0], at[1] + i * nest.step[1]);
    }
  });
}

LoopNest<2> parameter_and_gradient(const OpReader& op) {
  return make_loop_nest(loop_axes<2>(op.in(0), {strides_of(op.input(0)), strides_of(op.input(1))}));
}

std::unique_ptr<Kernel> sgd_update(const OpReader& op) {
  return loop_kernel(
      [nest = parameter_and_gradient(op), rate = op.real32("learning_rate")](const KernelCall& call) {
        const float* __restrict gradient = input(call, 1);
        float* __restrict parameter = updated(call, 0);
        for_each_weight(nest, [=](Index i, Index g) { parameter[i] -= rate * gradient[g]; });
      });
}

std::unique_ptr<Kernel> momentum_update(const OpReader& op) {
  return loop_kernel([nest = parameter_and_gradient(op), rate = op.real32("learning_rate"),
                      momentum = op.real32("momentum")](const KernelCall& call) {
    const float* __restrict gradient = input(call, 1);
    float* __restrict parameter = updated(call, 0);
    float* __restrict velocity = updated(call, 1);
    for_each_weight(nest, [=](Index i, Index g) {
      velocity[i] = momentum * velocity[i] + gradient[g];
      parameter[i] -= rate * velocity[i];
    });
  });
}

std::unique_ptr<Kernel> adam_update(const OpReader& op) {
  return loop_kernel([nest = parameter_and_gradient(op), rate = op.real("learning_rate"),
                      beta1 = op.real("beta1"), beta2 = op.real("beta2"),
                      eps = op.real32("eps")](const KernelCall& call) {
    const float* __restrict gradient = input(call, 1);
    float* __restrict parameter = updated(call, 0);
    float* __restrict m = updated(call, 1);
    float* __restrict v = updated(call, 2);
    const auto step = static_cast<unsigned long>(call.step);
    const auto step_size = static_cast<float>(rate / (1.0 - poet_power(beta1, step)));
    const auto correction = static_cast<float>(std::sqrt(1.0 - poet_power(beta2, step)));
    const auto b1 = static_cast<float>(beta1);
    const auto b2 = static_cast<float>(beta2);
    const auto new1 = static_cast<float>(1.0 - beta1);
    const auto new2 = static_cast<float>(1.0 - beta2);
    for_each_weight(nest, [=](Index i, Index g) {
      const float d = gradient[g];
      m[i] = b1 * m[i] + new1 * d;
      v[i] = b2 * v[i] + new2 * d * d;
      parameter[i] -= step_size * (m[i] / (std::sqrt(v[i]) / correction + eps));
    });
  });
}

}  // namespace

void add_update_kernels(ReferenceTable& table) {
  table["sgd_update"] = {sgd_update, true};
  table["momentum_update"] = {momentum_update, true};
  table["adam_update"] = {adam_update, true};
}

}  // namespace poet::runtime
