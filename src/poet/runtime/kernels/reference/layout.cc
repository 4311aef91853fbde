// Copies of elements: concat, split, slice, select, pad, transpose, expand. What a gradient does not reach is
// zero.

#include <cstddef>
#include <utility>
#include <vector>

#include "poet/runtime/kernels/reference/copies.h"
#include "poet/runtime/kernels/reference/families.h"
#include "poet/runtime/kernels/reference/loop_kernel.h"

namespace poet::runtime {
namespace {

/// Part `part` of those that the attributes `axis` and `sizes` cut a tensor into: where it begins, in steps
/// along the axis.
Index part_begin(const OpReader& op, Index part) {
  Index begin = 0;
  for (Index i = 0; i < part; ++i) begin += op.list("sizes").at(static_cast<std::size_t>(i));
  return begin;
}

BoxCopy part_copy(const OpReader& op, const Value& whole, const Value& part, Index number, bool into_part) {
  const Shape strides = strides_of(whole);
  const Index offset = part_begin(op, number) * strides[static_cast<std::size_t>(op.integer("axis"))];
  return into_part ? box_copy(part.dtype, part.shape, strides_of(part), 0, strides, offset)
                   : box_copy(part.dtype, part.shape, strides, offset, strides_of(part), 0);
}

/// Input 0 goes into output 0, the other elements of which are `value` where there are such.
std::unique_ptr<Kernel> one_copy(const OpReader& op, const BoxCopy& copy, double value = 0.0) {
  const Index rest = op.in_count(0) < op.out_count(0) ? op.out_count(0) : 0;
  return loop_kernel([copy, rest, value, type = op.output(0).dtype](const KernelCall& call) {
    fill(type, call.outputs[0], rest, value);
    copy.run(call.outputs[0], call.inputs[0]);
  });
}

std::unique_ptr<Kernel> concat(const OpReader& op) {
  std::vector<BoxCopy> parts;
  for (std::size_t i = 0; i < op.inputs(); ++i) {
    parts.push_back(part_copy(op, op.output(0), op.input(i), static_cast<Index>(i), false));
  }
  return loop_kernel([parts = std::move(parts)](const KernelCall& call) {
    for (std::size_t i = 0; i < parts.size(); ++i) parts[i].run(call.outputs[0], call.inputs[i]);
  });
}

std::unique_ptr<Kernel> concat_backward(const OpReader& op) {
  return one_copy(op, part_copy(op, op.input(0), op.output(0), op.list("gradients").at(0), true));
}

std::unique_ptr<Kernel> split(const OpReader& op) {
  std::vector<BoxCopy> parts;
  for (std::size_t i = 0; i < op.outputs(); ++i) {
    parts.push_back(part_copy(op, op.input(0), op.output(i), static_cast<Index>(i), true));
  }
  return loop_kernel([parts = std::move(parts)](const KernelCall& call) {
    for (std::size_t i = 0; i < parts.size(); ++i) parts[i].run(call.outputs[i], call.inputs[0]);
  });
}

std::unique_ptr<Kernel> split_backward(const OpReader& op) {
  std::vector<BoxCopy> parts;
  const bool some = op.has("output_gradients");
  for (std::size_t i = 0; i < op.inputs(); ++i) {
    const Index part = some ? op.list("output_gradients").at(i) : static_cast<Index>(i);
    parts.push_back(part_copy(op, op.output(0), op.input(i), part, false));
  }
  const Index rest = some ? op.out_count(0) : 0;
  return loop_kernel([parts = std::move(parts), rest, type = op.output(0).dtype](const KernelCall& call) {
    fill(type, call.outputs[0], rest, 0.0);
    for (std::size_t i = 0; i < parts.size(); ++i) parts[i].run(call.outputs[0], call.inputs[i]);
  });
}

/// A box within a tensor: its first element and its strides.
struct Box {
  Shape strides;
  Index offset = 0;
};

Box slice_of(const OpReader& op, const Value& whole) {
  Box box{strides_of(whole), 0};
  for (std::size_t axis = 0; axis < box.strides.size(); ++axis) {
    box.offset += op.list("starts")[axis] * box.strides[axis];
    box.strides[axis] *= op.list("steps")[axis];
  }
  return box;
}

Box inside_padding(const OpReader& op, const Value& whole) {
  Box box{strides_of(whole), 0};
  for (std::size_t axis = 0; axis < box.strides.size(); ++axis) {
    box.offset += op.list("before")[axis] * box.strides[axis];
  }
  return box;
}

/// x[:, index, :], which has the shape of y.
Box selected(const OpReader& op, const Value& whole) {
  const Shape strides = strides_of(whole);
  return {{strides[0], strides[2]}, op.integer("index") * strides[1]};
}

/// x seen in the order of y's axes.
Box transposed(const OpReader& op, const Value& x) {
  const Shape strides = strides_of(x);
  Box box;
  for (const Index axis : op.list("axes")) box.strides.push_back(strides[static_cast<std::size_t>(axis)]);
  return box;
}

template <Box (*box_of)(const OpReader&, const Value&)>
std::unique_ptr<Kernel> from_box(const OpReader& op) {
  const Box box = box_of(op, op.input(0));
  const Value& y = op.output(0);
  return one_copy(op, box_copy(y.dtype, y.shape, strides_of(y), 0, box.strides, box.offset));
}

template <Box (*box_of)(const OpReader&, const Value&)>
std::unique_ptr<Kernel> into_box(const OpReader& op) {
  const Box box = box_of(op, op.output(0));
  const Value& x = op.input(0);
  return one_copy(op, box_copy(x.dtype, x.shape, box.strides, box.offset, strides_of(x), 0));
}

std::unique_ptr<Kernel> select_backward(const OpReader& op) {
  if (op.integer("index") >= 0) return into_box<selected>(op);
  return loop_kernel([type = op.output(0).dtype, count = op.out_count(0)](const KernelCall& call) {
    fill(type, call.outputs[0], count, 0.0);
  });
}

std::unique_ptr<Kernel> pad(const OpReader& op) {
  const Box box = inside_padding(op, op.output(0));
  const Value& x = op.input(0);
  return one_copy(op, box_copy(x.dtype, x.shape, box.strides, box.offset, strides_of(x), 0),
                  op.real("value"));
}

std::unique_ptr<Kernel> expand(const OpReader& op) {
  const Value& y = op.output(0);
  const BoxCopy copy =
      box_copy(y.dtype, y.shape, strides_of(y), 0, stretched_strides(op.input(0), y.shape), 0);
  return loop_kernel([copy](const KernelCall& call) { copy.run(call.outputs[0], call.inputs[0]); });
}

}  // namespace

void add_layout_kernels(ReferenceTable& table) {
  table["concat"] = {concat, true};
  table["concat_backward"] = {concat_backward, true};
  table["split"] = {split, true};
  table["split_backward"] = {split_backward, true};
  table["slice"] = {from_box<slice_of>, true};
  table["slice_backward"] = {into_box<slice_of>, true};
  table["select"] = {from_box<selected>, true};
  table["select_backward"] = {select_backward, true};
  table["pad"] = {pad, true};
  table["pad_backward"] = {from_box<inside_padding>, true};
  table["transpose"] = {from_box<transposed>, true};
  table["transpose_backward"] = {into_box<transposed>, true};
  table["expand"] = {expand, true};
}

}  // namespace poet::runtime
