// Arithmetic on two operands, the second of which may be stretched, and the derivatives that are such.

#include <algorithm>
#include <dnnl.hpp>
#include <map>
#include <string_view>

#include "poet/runtime/kernels/onednn/families.h"
#include "poet/runtime/kernels/onednn/sequence.h"

namespace poet::runtime::onednn {
namespace {

using dnnl::algorithm;

struct Arithmetic {
  algorithm what;
  bool commutes;
};

const std::map<std::string_view, Arithmetic>& arithmetic() {
  static const std::map<std::string_view, Arithmetic> table = {
      {"add", {algorithm::binary_add, true}},          {"sub", {algorithm::binary_sub, false}},
      {"mul", {algorithm::binary_mul, true}},          {"div", {algorithm::binary_div, false}},
      {"mul_backward", {algorithm::binary_mul, true}}, {"div_backward_a", {algorithm::binary_div, false}},
  };
  return table;
}

Shape with_rank(Shape shape, std::size_t rank) {
  while (shape.size() < rank) shape.insert(shape.begin(), 1);
  return shape;
}

}  // namespace

std::unique_ptr<Kernel> make_binary(const Subject& subject) {
  const auto found = arithmetic().find(subject.op().kind);
  if (found == arithmetic().end() || !subject.plain()) return nullptr;
  const std::size_t rank = std::max<std::size_t>(1, subject.output(0).shape.size());
  std::size_t left = 0;
  std::size_t right = 1;
  Shape to = with_rank(subject.output(0).shape, rank);
  if (with_rank(subject.input(left).shape, rank) != to) {
    if (!found->second.commutes) return nullptr;
    std::swap(left, right);
  }
  Shape a = with_rank(subject.input(left).shape, rank);
  Shape b = with_rank(subject.input(right).shape, rank);
  if (a != to || b.size() != rank) return nullptr;  // a sum over stretched axes
  for (std::size_t axis = 0; axis < rank; ++axis) {
    if (b[axis] != 1 && b[axis] != to[axis]) return nullptr;
  }
  if (a == b) a = b = to = {element_count(to)};
  const dnnl::binary::primitive_desc description(
      {found->second.what, row_major(a), row_major(b), row_major(to)}, scratchpad_by_user(), engine(), true);
  if (!description || !is_fast(description)) return nullptr;
  auto sequence = std::make_unique<Sequence>();
  sequence->add(dnnl::binary(description), description,
                {{DNNL_ARG_SRC_0, sequence->input(left, row_major(a))},
                 {DNNL_ARG_SRC_1, sequence->input(right, row_major(b))},
                 {DNNL_ARG_DST, sequence->output(0, row_major(to))}});
  return Sequence::finished(std::move(sequence));
}

}  // namespace poet::runtime::onednn
