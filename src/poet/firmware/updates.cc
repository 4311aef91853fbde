// What is done to gradients before they update anything, and updates.

#include "poet/firmware/families.h"
#include "poet/graph/strides.h"

namespace poet::firmware {
namespace {

double number_or_0(const OpReader& op, const char* name) { return op.has(name) ? op.real(name) : 0.0; }

std::vector<std::byte> update(const OpReader& op) {
  poet_update s{};
  s.nest = nest_of(op.in(0), {own_strides(op.input(0)), own_strides(op.input(1))});
  s.state = first_output(op) + small(static_cast<Index>(op.outputs()));
  s.every = op.has("every") ? small(op.integer("every")) : 1;
  s.rate = op.real("learning_rate");
  s.momentum = number_or_0(op, "momentum");
  s.beta1 = number_or_0(op, "beta1");
  s.beta2 = number_or_0(op, "beta2");
  s.eps = number_or_0(op, "eps");
  s.decay = number_or_0(op, "weight_decay");
  return bytes_of(s);
}

bool looks_ahead(const OpReader& op) { return op.has("nesterov") && op.integer("nesterov") != 0; }

std::vector<std::byte> accumulate(const OpReader& op) {
  poet_accumulate s{};
  s.nest = nest_of(op.in(0), {own_strides(op.output(0)), own_strides(op.input(0)), own_strides(op.input(1))});
  s.every = small(op.integer("every"));
  return bytes_of(s);
}

/// In the order of the elements, however the gradient lies.
std::vector<std::byte> squared_norm(const OpReader& op) {
  poet_norm s{};
  s.nest = nest_of(op.in(0), {row_major_strides(op.in(0)), own_strides(op.input(0))});
  s.total = op.inputs() > 1 ? 1 : -1;
  s.result = first_output(op);
  return bytes_of(s);
}

}  // namespace

void add_updates(KernelTable& table) {
  const auto kernel = [](const char* name, poet_kernel here) {
    return KernelFunction{name, "poet_updates.c", here};
  };
  table["accumulate_gradient"] = {kernel("poet_accumulate_gradient", poet_accumulate_gradient), accumulate,
                                  true};
  table["squared_norm"] = {kernel("poet_squared_norm", poet_squared_norm), squared_norm, true};
  table["clip_factor"] = {kernel("poet_clip_factor", poet_clip_factor),
                          [](const OpReader& op) { return bytes_of(op.real("max_norm")); }};
  table["sgd_update"] = {kernel("poet_sgd_update", poet_sgd_update), update, true};
  table["momentum_update"] = {kernel("poet_momentum_update", poet_momentum_update), update, true,
                              kernel("poet_nesterov_update", poet_nesterov_update), looks_ahead};
  table["adam_update"] = {kernel("poet_adam_update", poet_adam_update), update, true};
  table["adamw_update"] = {kernel("poet_adamw_update", poet_adamw_update), update, true};
}

}  // namespace poet::firmware
