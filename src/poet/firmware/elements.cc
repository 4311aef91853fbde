// Element by element, copies of boxes.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <limits>

#include "poet/base/error.h"
#include "poet/firmware/families.h"
#include "poet/graph/loop_nest.h"
#include "poet/runtime/kernels/bfloat16.h"

namespace poet::firmware {
namespace {

constexpr std::size_t kOperands = 4;  // of a nest

std::vector<std::byte> elementwise(const OpReader& op, std::size_t inputs, std::vector<float> numbers = {}) {
  if (op.output(0).dtype != DType::float32)
    throw InputError(op.op().name, "computes integers, which no kernel in C does");
  const Shape& whole = op.out(0);
  std::vector<Shape> strides = {stretched(op.output(0), whole)};
  for (std::size_t i = 0; i < inputs; ++i) strides.push_back(stretched(op.input(i), whole));
  poet_elementwise s{};
  s.nest = nest_of(whole, strides);
  std::copy(numbers.begin(), numbers.end(), s.number);
  return bytes_of(s);
}

void add(KernelTable& table, const char* kind, const char* name, poet_kernel here, std::size_t inputs) {
  table[kind] = {{name, "poet_elements.c", here},
                 [inputs](const OpReader& op) { return elementwise(op, inputs); },
                 true};
}

float bound(const OpReader& op, const char* name, float missing) {
  return op.has(name) ? op.real32(name) : missing;
}

std::vector<float> bounds(const OpReader& op) {
  constexpr float kInfinite = std::numeric_limits<float>::infinity();
  return {bound(op, "min", -kInfinite), bound(op, "max", kInfinite)};
}

poet_copy copy_of(const Shape& box, std::int32_t to, const Shape& to_strides, Index to_first,
                  std::int32_t from, const Shape& from_strides, Index from_first) {
  return {nest_of(box, {to_strides, from_strides}), to, from, small(to_first), small(from_first)};
}

bool of_halves(const OpReader& op) { return op.input(0).dtype == DType::bfloat16; }

std::vector<std::byte> with_copies(const OpReader& op, const std::vector<poet_copy>& copies, bool fills,
                                   float value = 0.0F) {
  if (!of_halves(op) && size_of(op.input(0).dtype) != Bytes(4))
    throw InputError(op.op().name, "copies elements of other than 2 or 4 bytes, which no kernel in C does");
  poet_copies s{};
  s.fill = of_halves(op) ? runtime::rounded_to_bfloat16(value) : std::bit_cast<std::uint32_t>(value);
  s.fill_operand = fills ? first_output(op) : -1;
  s.fill_count = fills ? small(op.out_count(0)) : 0;
  s.copies = small(static_cast<Index>(copies.size()));
  std::vector<std::byte> bytes = bytes_of(s);
  for (const poet_copy& c : copies) append_bytes(bytes, c);
  return bytes;
}

Index begin_of_part(const OpReader& op, std::size_t part, const Shape& strides) {
  Index begin = 0;
  for (std::size_t i = 0; i < part; ++i) begin += op.list("sizes").at(i);
  return begin * strides[static_cast<std::size_t>(op.integer("axis"))];
}

std::vector<std::byte> concat(const OpReader& op) {
  std::vector<poet_copy> copies;
  const Shape whole = own_strides(op.output(0));
  for (std::size_t i = 0; i < op.inputs(); ++i)
    copies.push_back(copy_of(op.in(i), first_output(op), whole, begin_of_part(op, i, whole),
                             small(static_cast<Index>(i)), own_strides(op.input(i)), 0));
  return with_copies(op, copies, false);
}

std::vector<std::byte> split(const OpReader& op) {
  std::vector<poet_copy> copies;
  const Shape whole = own_strides(op.input(0));
  for (std::size_t i = 0; i < op.outputs(); ++i)
    copies.push_back(copy_of(op.out(i), first_output(op) + small(static_cast<Index>(i)),
                             own_strides(op.output(i)), 0, 0, whole, begin_of_part(op, i, whole)));
  return with_copies(op, copies, false);
}

/// A box within a tensor.
struct Box {
  Shape strides;
  Index first = 0;
};
Box sliced(const OpReader& op, const Value& whole) {
  Box box{own_strides(whole), 0};
  for (std::size_t axis = 0; axis < box.strides.size(); ++axis) {
    box.first += op.list("starts")[axis] * box.strides[axis];
    box.strides[axis] *= op.list("steps")[axis];
  }
  return box;
}
Box selected(const OpReader& op, const Value& whole) {
  const Shape strides = own_strides(whole);
  return {{strides[0], strides[2]}, op.integer("index") * strides[1]};
}
Box transposed(const OpReader& op, const Value& whole) {
  const Shape strides = own_strides(whole);
  Box box;
  for (const Index axis : op.list("axes")) box.strides.push_back(strides[static_cast<std::size_t>(axis)]);
  return box;
}

Box inside_padding(const OpReader& op, const Value& whole) {
  Box box{own_strides(whole), 0};
  for (std::size_t axis = 0; axis < box.strides.size(); ++axis)
    box.first += op.list("before")[axis] * box.strides[axis];
  return box;
}
Box of_gradient(const OpReader& op, const Value& whole) {
  const Shape strides = own_strides(whole);
  return {strides, begin_of_part(op, static_cast<std::size_t>(op.list("gradients").at(0)), strides)};
}

using BoxOf = Box (*)(const OpReader&, const Value&);

std::vector<std::byte> out_of(const OpReader& op, BoxOf box_of) {
  const Box box = box_of(op, op.input(0));
  return with_copies(
      op, {copy_of(op.out(0), first_output(op), own_strides(op.output(0)), 0, 0, box.strides, box.first)},
      false);
}

std::vector<std::byte> into(const OpReader& op, BoxOf box_of, float value = 0.0F) {
  const Box box = box_of(op, op.output(0));
  return with_copies(
      op, {copy_of(op.in(0), first_output(op), box.strides, box.first, 0, own_strides(op.input(0)), 0)},
      op.in_count(0) < op.out_count(0), value);
}

std::vector<std::byte> split_backward(const OpReader& op) {
  std::vector<poet_copy> copies;
  const bool some = op.has("output_gradients");
  const Shape whole = own_strides(op.output(0));
  for (std::size_t i = 0; i < op.inputs(); ++i) {
    const auto part = some ? static_cast<std::size_t>(op.list("output_gradients").at(i)) : i;
    copies.push_back(copy_of(op.in(i), first_output(op), whole, begin_of_part(op, part, whole),
                             small(static_cast<Index>(i)), own_strides(op.input(i)), 0));
  }
  return with_copies(op, copies, some);
}

std::vector<std::byte> expand(const OpReader& op) {
  return with_copies(op,
                     {copy_of(op.out(0), first_output(op), own_strides(op.output(0)), 0, 0,
                              stretched(op.input(0), op.out(0)), 0)},
                     false);
}

std::vector<std::byte> select_backward(const OpReader& op) {
  return op.integer("index") >= 0 ? into(op, selected) : with_copies(op, {}, true);
}

}  // namespace

void add_elements(KernelTable& table) {
  add(table, "add", "poet_add", poet_add, 2);
  add(table, "sub", "poet_sub", poet_sub, 2);
  add(table, "mul", "poet_mul", poet_mul, 2);
  add(table, "relu", "poet_relu", poet_relu, 1);
  add(table, "relu_backward", "poet_relu_backward", poet_relu_backward, 2);
  add(table, "exp", "poet_exp_each", poet_exp_each, 1);
  add(table, "tanh", "poet_tanh_each", poet_tanh_each, 1);
  add(table, "tanh_backward", "poet_tanh_backward", poet_tanh_backward, 2);
  add(table, "gelu", "poet_gelu", poet_gelu, 1);
  add(table, "gelu_backward", "poet_gelu_backward", poet_gelu_backward, 2);
  add(table, "sigmoid", "poet_sigmoid", poet_sigmoid, 1);
  add(table, "sigmoid_backward", "poet_sigmoid_backward", poet_sigmoid_backward, 2);
  add(table, "silu", "poet_silu", poet_silu, 1);
  add(table, "silu_backward", "poet_silu_backward", poet_silu_backward, 2);
  add(table, "hardswish", "poet_hardswish", poet_hardswish, 1);
  add(table, "hardswish_backward", "poet_hardswish_backward", poet_hardswish_backward, 2);
  add(table, "exp_backward", "poet_mul", poet_mul, 2);
  add(table, "sqrt", "poet_sqrt_each", poet_sqrt_each, 1);
  add(table, "sqrt_backward", "poet_sqrt_backward", poet_sqrt_backward, 2);
  const auto add_with_numbers = [&table](const char* kind, const char* name, poet_kernel here,
                                         std::size_t inputs, const std::vector<const char*>& attributes) {
    table[kind] = {{name, "poet_elements.c", here},
                   [inputs, attributes](const OpReader& op) {
                     std::vector<float> numbers;
                     for (const char* attribute : attributes) numbers.push_back(op.real32(attribute));
                     return elementwise(op, inputs, numbers);
                   },
                   true};
  };
  add_with_numbers("leaky_relu", "poet_leaky_relu", poet_leaky_relu, 1, {"alpha"});
  add_with_numbers("leaky_relu_backward", "poet_leaky_relu_backward", poet_leaky_relu_backward, 2, {"alpha"});
  add_with_numbers("hardsigmoid", "poet_hardsigmoid", poet_hardsigmoid, 1, {"alpha", "beta"});
  add_with_numbers("hardsigmoid_backward", "poet_hardsigmoid_backward", poet_hardsigmoid_backward, 2,
                   {"alpha"});
  table["shift"] = {{"poet_scale", "poet_elements.c", poet_scale},
                    [](const OpReader& op) {
                      return elementwise(op, 1, {1.0F, op.real32("beta")});
                    },
                    true};
  table["scale"] = {{"poet_scale", "poet_elements.c", poet_scale},
                    [](const OpReader& op) {
                      return elementwise(op, 1, {op.real32("alpha"), op.real32("beta")});
                    },
                    true};
  table["scale_backward"] = {{"poet_scale_backward", "poet_elements.c", poet_scale_backward},
                             [](const OpReader& op) { return elementwise(op, 1, {op.real32("alpha")}); },
                             true};
  table["clip"] = {{"poet_clip", "poet_elements.c", poet_clip},
                   [](const OpReader& op) { return elementwise(op, 1, bounds(op)); },
                   true};
  table["clip_backward"] = {{"poet_clip_backward", "poet_elements.c", poet_clip_backward},
                            [](const OpReader& op) { return elementwise(op, 2, bounds(op)); },
                            true};
}

void add_copies(KernelTable& table) {
  const auto add_copy = [&table](const char* kind, std::vector<std::byte> (*shape)(const OpReader&)) {
    table[kind] = {{"poet_copy_boxes", "poet_elements.c", poet_copy_boxes},
                   shape,
                   true,
                   {"poet_copy_halves", "poet_elements.c", poet_copy_halves},
                   of_halves};
  };
  add_copy("concat", concat);
  add_copy("split", split);
  add_copy("concat_backward", [](const OpReader& op) { return out_of(op, of_gradient); });
  add_copy("split_backward", split_backward);
  add_copy("expand", expand);
  add_copy("pad", [](const OpReader& op) { return into(op, inside_padding, op.real32("value")); });
  add_copy("pad_backward", [](const OpReader& op) { return out_of(op, inside_padding); });
  add_copy("slice", [](const OpReader& op) { return out_of(op, sliced); });
  add_copy("slice_backward", [](const OpReader& op) { return into(op, sliced); });
  add_copy("select", [](const OpReader& op) { return out_of(op, selected); });
  add_copy("select_backward", select_backward);
  add_copy("transpose", [](const OpReader& op) { return out_of(op, transposed); });
  add_copy("transpose_backward", [](const OpReader& op) { return into(op, transposed); });
}

Shape own_strides(const Value& value) { return strides_of(value); }

Shape stretched(const Value& operand, const Shape& whole) { return stretched_strides(operand, whole); }

poet_nest nest_of(const Shape& whole, const std::vector<Shape>& strides) {
  ensure(strides.size() <= kOperands, "a nest has up to four operands");
  std::array<Shape, kOperands> all;
  all.fill(Shape(whole.size(), 0));
  std::copy(strides.begin(), strides.end(), all.begin());
  const LoopNest<kOperands> loops = make_loop_nest(loop_axes(whole, all));
  if (loops.rank > POET_AXES)
    throw InputError("firmware", "a tensor has too many axes that cannot be joined");
  poet_nest nest{};
  nest.count = small(loops.count);
  nest.rank = small(static_cast<Index>(loops.rank));
  for (std::size_t r = 0; r < kOperands; ++r) nest.step[r] = small(loops.step[r]);
  for (std::size_t axis = 0; axis < loops.rank; ++axis) {
    nest.size[axis] = small(loops.size[axis]);
    for (std::size_t r = 0; r < kOperands; ++r) nest.stride[axis][r] = small(loops.stride[axis][r]);
  }
  return nest;
}

}  // namespace poet::firmware
