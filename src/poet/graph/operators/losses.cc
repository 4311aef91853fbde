// Losses. Their own gradient is 1, so nothing comes from above.

#include "poet/graph/operators/families.h"

namespace poet::operators {
namespace {

Count softmax_cross_entropy(const WorkReader& w) {
  // Softmax, then per row the logarithm, its sign and the mean's sum.
  return w.plus(w.each(w.in(0), 4 + kSpecial), w.times(w.rows(w.in(0)), kSpecial + 2));
}
Count softmax_cross_entropy_backward(const WorkReader& w) {
  return w.plus(w.elements(w.in(0)), w.rows(w.in(0)));  // scale all, subtract one per row
}

}  // namespace

Schemas loss_operators() {
  return {
      {.kind = "softmax_cross_entropy",
       .operands = "logits(N,C) targets:i(N) -> loss(1) probabilities(N,C)",
       .flops = softmax_cross_entropy,
       .is_loss = true},
      {.kind = "softmax_cross_entropy_backward",
       .operands = "probabilities(N,C) targets:i(N) -> dlogits(N,C)",
       .flops = softmax_cross_entropy_backward},
      {.kind = "mse_loss",
       .operands = "x(...) targets(...) -> loss(1)",
       .flops = per_input<3>,
       .is_loss = true},
      {.kind = "mse_loss_backward",
       .operands = "x(...) targets(...) -> dx(...)",
       .flops = per_input<2>},  // difference, scale
  };
}

}  // namespace poet::operators
