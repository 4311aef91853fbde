// Normalisations.

#include <limits>

#include "poet/graph/operators/families.h"

namespace poet::operators {
namespace {

/// dx and the gradients of the parameters, of which some may be left out.
void gradients(const Checker& op) {
  const std::vector<Index> of = op.gradients(0, 2, false);
  for (std::size_t i = 0; i < of.size(); ++i) op.need_out(i, of[i] == 0 ? op.in(1) : op.in(2));
}

void groups(const Checker& op, const Shape& x) {
  const Index groups = op.integer("groups", 1, x[1]);
  op.need(x[1] % groups == 0, "groups that divide {} channels, not {}", x[1], groups);
}
void group_norm(const Checker& op) { groups(op, op.in(0)); }
void group_norm_backward(const Checker& op) {
  groups(op, op.in(1));
  gradients(op);
}

void batch_norm_stats(const Checker& op) {
  for (std::size_t i = 0; i < op.inputs(); ++i) op.need_row_major(op.input(i), "operands");
  (void)op.integer("count", 2, std::numeric_limits<Index>::max());
}

// A window of squares, a multiply-add with alpha / size and bias, a power (logarithm and exp), a product.
Count lrn(const WorkReader& w) { return w.each(w.in(0), w.plus(w.integer("size"), 3 + 2 * kSpecial)); }
// The scale again (size + 2) and its power; dy * power * x / scale 3, its sum over the window size - 1, times
// x and a constant 2, the difference 1.
Count lrn_backward(const WorkReader& w) {
  return w.each(w.in(0), w.plus(w.times(2, w.integer("size")), 7 + 2 * kSpecial));
}

/// Normalisation gradients. With the attribute `gradients` some of dx (0), dweight (1), dbias (2) are left
/// out.
struct NormGradients {
  bool dx = true;
  bool dweight = true;
  bool dbias = true;
};
NormGradients norm_gradients(const WorkReader& w) {
  const auto wanted = [&w](Index position) { return w.gradient(position, {0, 1, 2}) >= 0; };
  return {wanted(0), wanted(1), wanted(2)};
}
Count batch_norm_backward(const WorkReader& w) {
  const NormGradients want = norm_gradients(w);
  // x-hat 2, sum of dy * x-hat 2, sum of dy 1: dx needs all of them, as means over the batch.
  Count per_element = want.dx || want.dweight ? 4 : 0;
  if (want.dx || want.dbias) per_element += 1;
  if (want.dx) per_element += 6;  // x-hat 2, its multiple 1, two differences 2, scale 1
  return w.each(w.in(0), per_element);
}
Count layer_norm_backward(const WorkReader& w) {
  const NormGradients want = norm_gradients(w);
  Count per_element = want.dx || want.dweight ? 2 : 0;  // x-hat
  if (want.dweight) per_element += 2;
  if (want.dbias) per_element += 1;
  if (want.dx) per_element += 8;  // dy * weight 1, two row sums 3, multiple 1, two differences 2, scale 1
  return w.each(w.in(0), per_element);
}

}  // namespace

Schemas norm_operators() {
  const std::vector<AttributeSpec> eps = {{"eps", Sort::positive}};
  const std::vector<AttributeSpec> response = {
      {"size", Sort::count}, {"alpha", Sort::not_negative}, {"beta"}, {"bias", Sort::positive}};
  return {
      {.kind = "batch_norm",
       .operands = "x(N,C,...) weight(C) bias(C) -> y(N,C,...) mean(C) invstd(C)",
       .attributes = eps,
       .parts = "C",
       .flops = per_input<6>,  // mean 1, variance 3, a multiply-add of folded scale and shift
       .library = true},
      {.kind = "batch_norm_backward",
       .operands = "dy(N,C,...) x(N,C,...) weight(C) mean(C) invstd(C) -> dx dweight? dbias?",
       .rule = gradients,
       .parts = "C",
       .flops = batch_norm_backward,
       .library = true},
      {.kind = "batch_norm_stats",
       .operands = "mean(C) invstd(C) running_mean!(C) running_var!(C) ->",
       .attributes = {{"momentum"}, {"eps", Sort::positive}},
       .rule = batch_norm_stats,
       .parts = "C",
       .flops = per_input<10>},  // mean 3; variance from invstd 4, blend 3
      {.kind = "layer_norm",
       .operands = "x(...,D) weight(D) bias(D) -> y(...,D) mean(...) rstd(...)",
       .attributes = eps,
       .parts = "...",
       .flops = per_input<8>,  // mean 1, variance 3, centre, scale, weight, bias
       .library = true},
      {.kind = "layer_norm_backward",
       .operands = "dy(...,D) x(...,D) weight(D) mean(...) rstd(...) -> dx dweight? dbias?",
       .rule = gradients,
       .parts = "+...",  // the parameters' gradients are added up
       .accumulates = true,
       .flops = layer_norm_backward,
       .library = true},
      {.kind = "group_norm",
       .operands = "x(N,C,...) weight(C) bias(C) -> y(N,C,...) mean(N,groups) rstd(N,groups)",
       .attributes = {{"eps", Sort::positive}, {"groups", Sort::count}},
       .rule = group_norm,
       .parts = "N C",
       .flops = per_input<6>},  // as batch_norm: a folded scale and shift per image and channel
      {.kind = "group_norm_backward",
       .operands = "dy(N,C,...) x(N,C,...) weight(C) mean(N,groups) rstd(N,groups) -> dx dweight? dbias?",
       .attributes = {{"groups", Sort::count}},
       .rule = group_norm_backward,
       .parts = "C",
       .flops = batch_norm_backward},
      {.kind = "lrn",
       .operands = "x(N,C,...) -> y(N,C,...)",
       .attributes = response,
       .parts = "N ...",
       .flops = lrn},
      // x alone: the scale, a sum over a few channels of x, is found again; kept, it would take as much as x.
      {.kind = "lrn_backward",
       .operands = "dy(N,C,...) x(N,C,...) -> dx(N,C,...)",
       .attributes = response,
       .parts = "N ...",
       .flops = lrn_backward},
  };
}

}  // namespace poet::operators
