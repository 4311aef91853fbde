// Products of matrices.

#include <optional>

#include "poet/graph/broadcast.h"
#include "poet/graph/operators/families.h"

namespace poet::operators {
namespace {

void weight_first(const Checker& op) {
  op.need(op.gradients(1, 2, true).front() == 1, "the weight's gradient first");
}

/// All but the last two axes.
Shape leading(const Shape& shape) { return {shape.begin(), shape.end() - 2}; }

/// a (..., M, K) b (..., K, N) = c (..., M, N), or, as a gradient, its sum over leading axes.
void matmul(const Checker& op) {
  const Shape& a = op.in(0);
  const Shape& b = op.in(1);
  const Shape& c = op.out(0);
  const std::optional<Shape> whole = broadcast_shape(leading(a), leading(b));
  op.need(whole.has_value(), "leading axes that broadcast, not {} and {}", text_of(a), text_of(b));
  op.need(broadcasts_to(leading(c), *whole), "an output whose leading axes broadcast to {}, not {}",
          text_of(*whole), text_of(c));
  op.need(leading(a) == *whole || leading(b) == *whole || leading(c) == *whole,
          "an operand or an output with all leading axes, {}", text_of(*whole));
}

Count linear(const WorkReader& w) {
  const Count bias = w.inputs() > 2 ? w.elements(w.out(0)) : 0;
  return w.plus(macs(w, w.out(0), w.last(w.in(1))), bias);
}
Count linear_backward_input(const WorkReader& w) { return macs(w, w.in(0), w.last(w.in(1))); }
Count linear_backward_weight(const WorkReader& w) {
  const Count bias = w.outputs() > 1 ? w.elements(w.in(0)) : 0;
  return w.plus(macs(w, w.in(0), w.last(w.out(0))), bias);
}

Count matmul_macs(const WorkReader& w) {
  // A gradient that is summed over stretched axes takes the products of all of them.
  const Shape read = broadcast_shape(leading(w.in(0)), leading(w.in(1))).value_or(Shape());
  const Count whole = std::max(w.elements(read), w.elements(leading(w.out(0))));
  return w.times(w.times(whole, w.times(w.out(0).end()[-2], w.out(0).back())), w.last(w.in(0)));
}
Count matmul_flops(const WorkReader& w) {
  const bool scaled = w.has("alpha") && w.real("alpha") != 1.0;
  return w.plus(w.times(2, matmul_macs(w)), scaled ? w.elements(w.out(0)) : 0);
}
Count linear_macs(const WorkReader& w) { return w.each(w.out(0), w.last(w.in(1))); }

}  // namespace

Schemas product_operators() {
  return {
      {.kind = "linear",
       .operands = "x(...,I) weight(O,I) bias?(O) -> y(...,O)",
       .parts = "... O +I",
       .accumulates = true,
       .flops = linear,
       .macs = linear_macs,
       .library = true},
      {.kind = "linear_backward_input",
       .operands = "dy(...,O) weight(O,I) -> dx(...,I)",
       .parts = "... I +O",
       .accumulates = true,
       .flops = linear_backward_input,
       .library = true},
      {.kind = "linear_backward_weight",
       .operands = "dy(...,O) x(...,I) -> dweight(O,I) dbias?(O)",
       .rule = weight_first,
       .parts = "O I +...",
       .accumulates = true,
       .flops = linear_backward_weight,
       .library = true},
      {.kind = "linear_backward_bias",
       .operands = "dy(...,O) -> dbias(O)",
       .parts = "O +...",
       .accumulates = true,
       .flops = per_input<1>,
       .library = true},
      {.kind = "matmul",
       .operands = "a(~,M,K) b(~,K,N) -> c(~,M,N)",
       .attributes = {{"alpha"}},
       .rule = matmul,
       .parts = "~ M N +K",
       .accumulates = true,
       .flops = matmul_flops,
       .macs = matmul_macs,
       .library = true},
  };
}

}  // namespace poet::operators
