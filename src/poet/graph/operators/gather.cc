// Elements at positions that are data.

#include "poet/graph/operators/families.h"

namespace poet::operators {
namespace {

/// `x` with the axes of the indices, input 1, in place of its axis.
Shape gathered(const Checker& op, const Shape& x) {
  const auto axis = static_cast<std::ptrdiff_t>(op.axis("axis", x.size()));
  const Shape& indices = op.in(1);
  Shape result(x.begin(), x.begin() + axis);
  result.insert(result.end(), indices.begin(), indices.end());
  result.insert(result.end(), x.begin() + axis + 1, x.end());
  return result;
}
void gather(const Checker& op) { op.need_out(0, gathered(op, op.in(0))); }
void gather_backward(const Checker& op) { op.need_in(0, gathered(op, op.out(0))); }

/// The indices, input 1, are within `x` along all axes but one. Places are found by strides.
void need_picks(const Checker& op, const Value& x, const char* what) {
  const std::size_t axis = op.axis("axis", x.shape.size());
  op.need(op.in(1).size() == x.shape.size(), "input 1 of {} axes, not {}", x.shape.size(), text_of(op.in(1)));
  for (std::size_t i = 0; i < x.shape.size(); ++i) {
    op.need(i == axis || op.in(1)[i] <= x.shape[i], "indices within {}, not {}, along axis {}",
            text_of(x.shape), text_of(op.in(1)), i);
  }
  op.need_row_major(x, what);
  op.need_row_major(op.input(1), "input 1");
}
void gather_elements(const Checker& op) {
  need_picks(op, op.input(0), "input 0");
  op.need_out(0, op.in(1));
}
void gather_elements_backward(const Checker& op) {
  need_picks(op, op.output(0), "output 0");
  op.need_in(0, op.in(1));
}

/// A part finds the places of its own elements among all of them.
void first_occurrences(const Checker& op) {
  op.need(tensor_shape(op.output(0)) == op.in(0), "places for {}, not for {}", text_of(op.in(0)),
          text_of(tensor_shape(op.output(0))));
  op.need_row_major(op.input(0), "input 0");
  op.need_row_major(op.output(0), "output 0");
}
/// Each element is compared with those before it.
Count pairs(const WorkReader& w) { return w.times(w.elements(w.in(0)), w.elements(w.out(0))) / 2; }

}  // namespace

Schemas gather_operators() {
  return {
      {.kind = "embedding",
       .operands = "ids:i(...) table(V,D) -> y(...,D)",
       .parts = "... D +V",  // each row is in one part of the table: Value::part
       .accumulates = true,
       .passes = Passes::gathered,
       .table = 1},
      // One addition per element gathered. Dense: the gradient of the whole table.
      {.kind = "embedding_backward",
       .operands = "dy(...,D) ids:i(...) -> dtable(V,D)",
       .parts = "V D +...",
       .accumulates = true,
       .flops = per_input<1>},
      {.kind = "first_occurrences",
       .operands = "ids:i -> places:i(...)",
       .rule = first_occurrences,
       .parts = "...",
       .flops = pairs},
      {.kind = "gather",
       .operands = "x:t indices:i -> y:t",
       .rule = gather,
       .parts = "-axis",
       .passes = Passes::gathered},
      {.kind = "gather_backward",
       .operands = "dy indices:i -> dx",
       .rule = gather_backward,
       .parts = "-axis",
       .flops = per_input<1>},
      {.kind = "gather_elements",
       .operands = "x:t indices:i -> y:t",
       .rule = gather_elements,
       .parts = "-axis",
       .passes = Passes::gathered},
      {.kind = "gather_elements_backward",
       .operands = "dy indices:i -> dx",
       .rule = gather_elements_backward,
       .parts = "-axis",
       .flops = per_input<1>},
  };
}

}  // namespace poet::operators
