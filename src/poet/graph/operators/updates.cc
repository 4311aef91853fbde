// What an optimiser does to a parameter.

#include "poet/graph/operators/families.h"

namespace poet::operators {
namespace {

/// The gradient alone may have another layout than the parameter.
void one_layout(const Checker& op) {
  for (std::size_t i = 2; i < op.inputs(); ++i)
    op.need(op.input(i).strides == op.input(0).strides, "state in the layout of the parameter");
}

}  // namespace

Schemas update_operators() {
  return {
      {.kind = "sgd_update",
       .operands = "parameter!(...) gradient(...) ->",
       .attributes = {{"learning_rate"}},
       .parts = "...",
       .flops = per_update<2>},
      {.kind = "momentum_update",
       .operands = "parameter!(...) gradient(...) velocity!(...) ->",
       .attributes = {{"learning_rate"}, {"momentum"}},
       .rule = one_layout,
       .parts = "...",
       .flops = per_update<4>},
      {.kind = "adam_update",
       .operands = "parameter!(...) gradient(...) m!(...) v!(...) ->",
       .attributes = {{"learning_rate"},
                      {"beta1", Sort::probability},
                      {"beta2", Sort::probability},
                      {"eps", Sort::not_negative}},
       .rule = one_layout,
       .parts = "...",
       .flops = per_update<11 + kSpecial>},  // m 3, v 4, then sqrt, + eps, division, scale, difference
  };
}

}  // namespace poet::operators
