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

/// max(x, 0) - x t + log(1 + exp(-|x|)), and the mean's sum.
Count bce_with_logits(const WorkReader& w) { return w.each(w.in(0), 6 + 2 * kSpecial); }
/// The sigmoid of x, the difference, the scale.
Count bce_with_logits_backward(const WorkReader& w) { return w.each(w.in(0), 4 + kSpecial); }
/// Two logarithms, the product with either, and the mean's sum.
Count bce(const WorkReader& w) { return w.each(w.in(0), 5 + 2 * kSpecial); }

}  // namespace

Schemas loss_operators() {
  return {
      {.kind = "softmax_cross_entropy",
       .operands = "logits(N,C) targets:i(N) -> loss(1) probabilities(N,C)",
       .attributes = {{"label_smoothing", Sort::probability, true}},
       .flops = softmax_cross_entropy,
       .is_loss = true},
      {.kind = "softmax_cross_entropy_backward",
       .operands = "probabilities(N,C) targets:i(N) -> dlogits(N,C)",
       .attributes = {{"label_smoothing", Sort::probability, true}},
       .flops = softmax_cross_entropy_backward},
      {.kind = "mean_loss", .operands = "x(...) -> loss(1)", .flops = per_input<1>, .is_loss = true},
      {.kind = "mean_loss_backward", .operands = "x(...) -> dx(...)", .flops = per_input<1>},
      {.kind = "mse_loss",
       .operands = "x(...) targets(...) -> loss(1)",
       .flops = per_input<3>,
       .is_loss = true},
      {.kind = "mse_loss_backward",
       .operands = "x(...) targets(...) -> dx(...)",
       .flops = per_input<2>},  // difference, scale
      {.kind = "l1_loss",
       .operands = "x(...) targets(...) -> loss(1)",
       .flops = per_input<3>,
       .is_loss = true},
      {.kind = "l1_loss_backward",
       .operands = "x(...) targets(...) -> dx(...)",
       .flops = per_input<2>},  // comparison, scale
      {.kind = "huber_loss",
       .operands = "x(...) targets(...) -> loss(1)",
       .attributes = {{"delta", Sort::positive}},
       .flops = per_input<6>,
       .is_loss = true},
      {.kind = "huber_loss_backward",
       .operands = "x(...) targets(...) -> dx(...)",
       .attributes = {{"delta", Sort::positive}},
       .flops = per_input<4>},  // difference, two bounds, scale
      {.kind = "bce_with_logits_loss",
       .operands = "x(...) targets(...) -> loss(1)",
       .flops = bce_with_logits,
       .is_loss = true},
      {.kind = "bce_with_logits_loss_backward",
       .operands = "x(...) targets(...) -> dx(...)",
       .flops = bce_with_logits_backward},
      {.kind = "bce_loss", .operands = "x(...) targets(...) -> loss(1)", .flops = bce, .is_loss = true},
      {.kind = "bce_loss_backward",
       .operands = "x(...) targets(...) -> dx(...)",
       .flops = per_input<6>},  // difference, x (1 - x), its bound, quotient, scale
  };
}

}  // namespace poet::operators
