// sgd, momentum, Adam and AdamW, as torch.optim has them. A gradient may be a strided view; parameter and
// state share a layout.

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

/// What every update has.
struct Update {
  LoopNest<2> nest;
  double rate;
  double decay;  // of weights
  Index every;   // so manieth step updates

  explicit Update(const OpReader& op)
      : nest(parameter_and_gradient(op)),
        rate(op.real("learning_rate")),
        decay(op.has("weight_decay") ? op.real("weight_decay") : 0.0),
        every(op.has("every") ? op.integer("every") : 1) {}

  [[nodiscard]] bool is_due(const KernelCall& call) const { return call.step % every == 0; }
  /// Of this step, by the schedule.
  [[nodiscard]] double rate_of(const KernelCall& call) const { return rate * call.rate_factor; }

  /// Calls f(place, the loss's slope there with the decay's) for every weight. Without a decay the slope is
  /// the gradient, in every bit.
  template <class F>
  void for_each(const float* __restrict parameter, const float* __restrict gradient, const F& f) const {
    const auto pull = static_cast<float>(decay);
    if (decay > 0)
      for_each_weight(nest, [=](Index i, Index g) { f(i, gradient[g] + pull * parameter[i]); });
    else
      for_each_weight(nest, [=](Index i, Index g) { f(i, gradient[g]); });
  }
};

std::unique_ptr<Kernel> sgd_update(const OpReader& op) {
  return loop_kernel([u = Update(op)](const KernelCall& call) {
    if (!u.is_due(call)) return;
    float* parameter = updated(call, 0);
    const auto rate = static_cast<float>(u.rate_of(call));
    u.for_each(parameter, input(call, 1), [=](Index i, float slope) { parameter[i] -= rate * slope; });
  });
}

std::unique_ptr<Kernel> momentum_update(const OpReader& op) {
  return loop_kernel([u = Update(op), momentum = op.real32("momentum"),
                      nesterov = op.has("nesterov") && op.integer("nesterov") != 0](const KernelCall& call) {
    if (!u.is_due(call)) return;
    float* parameter = updated(call, 0);
    float* __restrict velocity = updated(call, 1);
    const auto rate = static_cast<float>(u.rate_of(call));
    if (nesterov) {
      u.for_each(parameter, input(call, 1), [=](Index i, float slope) {
        velocity[i] = momentum * velocity[i] + slope;
        parameter[i] -= rate * (slope + momentum * velocity[i]);
      });
      return;
    }
    u.for_each(parameter, input(call, 1), [=](Index i, float slope) {
      velocity[i] = momentum * velocity[i] + slope;
      parameter[i] -= rate * velocity[i];
    });
  });
}

/// `decoupled`: the decay shrinks the parameter beside the step, as AdamW has it.
std::unique_ptr<Kernel> adam(const OpReader& op, bool decoupled) {
  Update made(op);
  const double shrinks = decoupled ? made.decay : 0.0;
  if (decoupled) made.decay = 0.0;
  return loop_kernel([u = made, shrinks, beta1 = op.real("beta1"), beta2 = op.real("beta2"),
                      eps = op.real32("eps")](const KernelCall& call) {
    if (!u.is_due(call)) return;
    float* parameter = updated(call, 0);
    float* __restrict m = updated(call, 1);
    float* __restrict v = updated(call, 2);
    const auto step = static_cast<unsigned long>(call.step / u.every);
    const double rate = u.rate_of(call);
    const auto step_size = static_cast<float>(rate / (1.0 - poet_power(beta1, step)));
    const auto correction = static_cast<float>(std::sqrt(1.0 - poet_power(beta2, step)));
    const auto b1 = static_cast<float>(beta1);
    const auto b2 = static_cast<float>(beta2);
    const auto new1 = static_cast<float>(1.0 - beta1);
    const auto new2 = static_cast<float>(1.0 - beta2);
    const auto kept = static_cast<float>(1.0 - rate * shrinks);
    // Shrunk once its slope is read, which may be the parameter itself; times 1 changes no bit.
    u.for_each(parameter, input(call, 1), [=](Index i, float d) {
      m[i] = b1 * m[i] + new1 * d;
      v[i] = b2 * v[i] + new2 * d * d;
      parameter[i] = kept * parameter[i] - step_size * (m[i] / (std::sqrt(v[i]) / correction + eps));
    });
  });
}

std::unique_ptr<Kernel> adam_update(const OpReader& op) { return adam(op, false); }
std::unique_ptr<Kernel> adamw_update(const OpReader& op) { return adam(op, true); }

}  // namespace

void add_update_kernels(ReferenceTable& table) {
  table["sgd_update"] = {sgd_update, true};
  table["momentum_update"] = {momentum_update, true};
  table["adam_update"] = {adam_update, true};
  table["adamw_update"] = {adamw_update, true};
}

}  // namespace poet::runtime
