// Element by element, of several operands, which broadcast; conditions and choices.

#include <cmath>

#include "poet/graph/broadcast.h"
#include "poet/graph/operators/families.h"

namespace poet::operators {

void broadcast_to_output(const Checker& op) {
  Shape whole;
  for (std::size_t i = 0; i < op.inputs(); ++i) {
    const std::optional<Shape> joined = broadcast_shape(whole, op.in(i));
    if (!joined)
      op.refuse(fmt::format("operands that broadcast: input {} has the shape {}", i, text_of(op.in(i))));
    whole = *joined;
  }
  op.need_out(0, whole);
}

void summed_from_first(const Checker& op) {
  const Shape& whole = op.in(0);
  const auto need = [&](const char* list, std::size_t i, const Shape& shape) {
    op.need(broadcasts_to(shape, whole), "{} {} to broadcast to {}, input 0's shape, which {} does not", list,
            i, text_of(whole), text_of(shape));
  };
  for (std::size_t i = 1; i < op.inputs(); ++i) need("input", i, op.in(i));
  need("output", 0, op.out(0));
}

namespace {

/// The last input broadcasts to input 0.
void slope_broadcasts(const Checker& op) {
  const Shape& slope = op.in(op.inputs() - 1);
  op.need(broadcasts_to(slope, op.in(0)), "a slope that broadcasts to {}, not {}", text_of(op.in(0)),
          text_of(slope));
}

void cast(const Checker& op) {
  const DType from = computed_as(op.input(0).dtype), into = computed_as(op.output(0).dtype);
  for (const DType type : {from, into})
    op.need(type != DType::int64, "operands of type float32, int32 or uint8, not int64");
  op.need(from != into, "an output of another type than its input");
  const std::string& to = op.text("to", {"float32", "int32", "uint8"});
  op.need(to == to_string(into), "an output of type {}, its attribute to", to);
}

OperatorSchema joined(const char* kind, const char* operands, std::size_t in_place, bool library = false) {
  return {.kind = kind,
          .operands = operands,
          .rule = broadcast_to_output,
          .in_place = in_place,
          .parts = "~",
          .flops = per_output<1>,
          .library = library};
}

/// The gradient of an operand. Where it sums over stretched axes, no operand has the layout of the result, so
/// nothing is overwritten then.
OperatorSchema summed(const char* kind, const char* operands, std::size_t in_place, CountOf flops,
                      bool library = false) {
  return {.kind = kind,
          .operands = operands,
          .rule = summed_from_first,
          .in_place = in_place,
          .parts = "~",
          .flops = flops,
          .library = library};
}

}  // namespace

Schemas broadcast_operators() {
  Schemas all;
  for (const char* kind : {"add", "sub", "mul"})
    all.push_back(joined(kind, "a:n(~) b:n(~) -> y:n(~)", 2, true));
  all.push_back(joined("div", "a(~) b(~) -> y(~)", 2, true));
  for (const char* kind : {"int_div", "mod"}) all.push_back(joined(kind, "a:i(~) b:i(~) -> y:i(~)", 2));
  for (const char* kind : {"less", "less_or_equal", "greater", "greater_or_equal"})
    all.push_back(joined(kind, "a:n(~) b:n(~) -> y:b(~)", 0));
  all.push_back(joined("equal", "a:t(~) b:t(~) -> y:b(~)", 0));
  for (const char* kind : {"logical_and", "logical_or", "logical_xor"})
    all.push_back(joined(kind, "a:b(~) b:b(~) -> y:b(~)", 2));
  all.push_back(joined("where", "condition:b(~) a:t(~) b:t(~) -> y:t(~)", 3));
  // c = a b: da = dc b, db = dc a. c = a / b: da = dc / b, db = -dc a / b², not through c = a / b itself,
  // which is never smaller than a. Of a choice the operands are not read.
  all.push_back(summed("sum_to", "dy(~) -> dx(~)", 0, per_input<1>));
  all.push_back(summed("sub_backward_b", "dy(~) -> db(~)", 1, per_stretched<1>));
  all.push_back(summed("mul_backward", "dy(~) other(~) -> dx(~)", 2, per_stretched<1>, true));
  all.push_back(summed("div_backward_a", "dy(~) b(~) -> da(~)", 2, per_stretched<1>, true));
  all.push_back(summed("div_backward_b", "dy(~) a(~) b(~) -> db(~)", 3, per_stretched<4>));
  all.push_back(summed("where_backward_a", "dy(~) condition:b(~) -> da(~)", 1, per_stretched<1>));
  all.push_back(summed("where_backward_b", "dy(~) condition:b(~) -> db(~)", 1, per_stretched<1>));
  const Schemas others = {
      // The slope may be negative, so y does not tell the sign of x.
      {.kind = "prelu",
       .operands = "x(...) slope(~) -> y(...)",
       .rule = slope_broadcasts,
       .in_place = 1,
       .parts = "...",
       .flops = per_input<2>},
      {.kind = "prelu_backward_input",
       .operands = "dy(...) x(...) slope(~) -> dx(...)",
       .rule = slope_broadcasts,
       .in_place = 2,
       .parts = "...",
       .flops = per_input<2>},
      {.kind = "prelu_backward_slope",
       .operands = "dy(...) x(...) -> dslope(~)",
       .rule = summed_from_first,
       .parts = "...",
       .flops = per_stretched<2>},  // compare, product
      {.kind = "logical_not",
       .operands = "x:b(...) -> y:b(...)",
       .in_place = 1,
       .parts = "...",
       .flops = per_output<1>},
      {.kind = "cast",
       .operands = "x:u(...) -> y:u(...)",
       .rule = cast,
       .parts = "...",
       .flops = per_output<1>},
  };
  all.insert(all.end(), others.begin(), others.end());
  return all;
}

}  // namespace poet::operators
