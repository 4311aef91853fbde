// Operators element by element on several operands.

#include <cmath>

#include "poet/graph/broadcast.h"
#include "poet/runtime/kernels/operands/rules.h"

namespace poet::runtime::operands {

void one_shape(const OperandReader& op) {
  const Shape& shape = op.inputs() > 0 ? op.in(0) : op.out(0);
  for (std::size_t i = 0; i < op.inputs(); ++i) op.need_in(i, shape);
  for (std::size_t i = 0; i < op.outputs(); ++i) op.need_out(i, shape);
}

void broadcast_to_output(const OperandReader& op) {
  Shape whole;
  for (std::size_t i = 0; i < op.inputs(); ++i) {
    const std::optional<Shape> joined = broadcast_shape(whole, op.in(i));
    if (!joined)
      op.refuse(fmt::format("operands that broadcast: input {} has the shape {}", i, text_of(op.in(i))));
    whole = *joined;
  }
  op.need_out(0, whole);
}

void summed_from_first(const OperandReader& op) {
  const Shape& whole = op.in(0);
  const auto need = [&](const char* list, std::size_t i, const Shape& shape) {
    op.need(broadcasts_to(shape, whole), "{} {} to broadcast to {}, input 0's shape, which {} does not", list,
            i, text_of(whole), text_of(shape));
  };
  for (std::size_t i = 1; i < op.inputs(); ++i) need("input", i, op.in(i));
  need("output", 0, op.out(0));
}

namespace {

/// x and its slope, which broadcasts to x.
void prelu(const OperandReader& op) {
  op.need_out(0, op.in(0));
  op.need(broadcasts_to(op.in(1), op.in(0)), "a slope that broadcasts to {}, not {}", text_of(op.in(0)),
          text_of(op.in(1)));
}

void prelu_backward_input(const OperandReader& op) {
  op.need_in(1, op.in(0));
  op.need_out(0, op.in(0));
  op.need(broadcasts_to(op.in(2), op.in(0)), "a slope that broadcasts to {}, not {}", text_of(op.in(0)),
          text_of(op.in(2)));
}

void prelu_backward_slope(const OperandReader& op) {
  op.need_in(1, op.in(0));
  summed_from_first(op);
}

void cast(const OperandReader& op) {
  one_shape(op);
  for (const DType type : {op.input(0).dtype, op.output(0).dtype})
    op.need(type != DType::int64, "operands of type float32, int32 or uint8, not int64");
  op.need(op.input(0).dtype != op.output(0).dtype, "an output of another type than its input");
  const std::string& to = op.text("to", {"float32", "int32", "uint8"});
  op.need(to == to_string(op.output(0).dtype), "an output of type {}, its attribute to", to);
}

}  // namespace

void add_elementwise_rules(RuleTable& table) {
  for (const char* kind : {"add", "sub", "mul"}) table[kind] = {"n n : n", broadcast_to_output};
  table["div"] = {"f f : f", broadcast_to_output};
  for (const char* kind : {"int_div", "mod"}) table[kind] = {"i i : i", broadcast_to_output};
  for (const char* kind : {"less", "less_or_equal", "greater", "greater_or_equal"})
    table[kind] = {"n n : b", broadcast_to_output};
  table["equal"] = {"t t : b", broadcast_to_output};
  for (const char* kind : {"logical_and", "logical_or", "logical_xor"})
    table[kind] = {"b b : b", broadcast_to_output};
  table["logical_not"] = {"b : b", one_shape};
  table["where"] = {"b t t : t", broadcast_to_output};
  for (const char* kind : {"sum_to", "sub_backward_b"}) table[kind] = {"f : f", summed_from_first};
  for (const char* kind : {"mul_backward", "div_backward_a"}) table[kind] = {"f f : f", summed_from_first};
  table["div_backward_b"] = {"f f f : f", summed_from_first};
  for (const char* kind : {"where_backward_a", "where_backward_b"})
    table[kind] = {"f b : f", summed_from_first};
  table["prelu"] = {"f f : f", prelu};
  table["prelu_backward_input"] = {"f f f : f", prelu_backward_input};
  table["prelu_backward_slope"] = {"f f : f", prelu_backward_slope};
  table["cast"] = {"u : u", cast};
}

}  // namespace poet::runtime::operands
