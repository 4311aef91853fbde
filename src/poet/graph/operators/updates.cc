// What an optimiser does to a parameter.

#include "poet/graph/operators/families.h"

namespace poet::operators {
namespace {

/// The gradient alone may have another layout than the parameter.
void one_layout(const Checker& op) {
  for (std::size_t i = 2; i < op.inputs(); ++i)
    op.need(op.input(i).strides == op.input(0).strides, "state in the layout of the parameter");
}

/// What every update may have: `weight_decay` is added to the gradient, times the parameter (adamw: taken off
/// the parameter itself), and where `every` is given only every so manieth step updates.
std::vector<AttributeSpec> with_common(std::vector<AttributeSpec> own) {
  own.push_back({"weight_decay", Sort::not_negative, true});
  own.push_back({"every", Sort::count, true});
  return own;
}

/// And what the decay takes.
template <Count n>
Count update_flops(const WorkReader& w) {
  return w.each(w.update(0).shape, n + (w.has("weight_decay") ? 2 : 0));
}

}  // namespace

Schemas update_operators() {
  const std::vector<AttributeSpec> adam = {{"learning_rate"},
                                           {"beta1", Sort::probability},
                                           {"beta2", Sort::probability},
                                           {"eps", Sort::not_negative}};
  return {
      {.kind = "sgd_update",
       .operands = "parameter!(...) gradient(...) ->",
       .attributes = with_common({{"learning_rate"}}),
       .parts = "...",
       .flops = update_flops<2>},
      {.kind = "momentum_update",
       .operands = "parameter!(...) gradient(...) velocity!(...) ->",
       .attributes = with_common({{"learning_rate"}, {"momentum"}, {"nesterov", Sort::flag, true}}),
       .rule = one_layout,
       .parts = "...",
       .flops = update_flops<4>},
      {.kind = "adam_update",
       .operands = "parameter!(...) gradient(...) m!(...) v!(...) ->",
       .attributes = with_common(adam),
       .rule = one_layout,
       .parts = "...",
       .flops = update_flops<11 + kSpecial>},  // m 3, v 4, then sqrt, + eps, division, scale, difference
      {.kind = "adamw_update",
       .operands = "parameter!(...) gradient(...) m!(...) v!(...) ->",
       .attributes = with_common(adam),
       .rule = one_layout,
       .parts = "...",
       .flops = update_flops<11 + kSpecial>},
      // sum += gradient; y = sum / every, and the sum begins again where the step is one of those.
      {.kind = "accumulate_gradient",
       .operands = "gradient(...) sum!(...) -> y(...)",
       .attributes = {{"every", Sort::count}},
       .rule = [](const Checker& op) { op.need_row_major(op.input(1), "the sum"); },
       .in_place = 1,
       .parts = "...",
       .flops = per_output<2>},
      // total + the sum of x²; without a total the first.
      {.kind = "squared_norm", .operands = "x(...) total?(1) -> y(1)", .flops = per_input<2>},
      // What a gradient of this squared norm is multiplied by: min(1, max_norm / (norm + 1e-6)).
      {.kind = "clip_factor",
       .operands = "squared(1) -> y(1)",
       .attributes = {{"max_norm", Sort::positive}},
       .in_place = 1,
       .flops = per_output<3 + kSpecial>},
  };
}

}  // namespace poet::operators
