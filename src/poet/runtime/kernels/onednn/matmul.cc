// Products of matrices in any two layouts, leading axes broadcast.

#include <algorithm>
#include <dnnl.hpp>

#include "poet/graph/strides.h"
#include "poet/runtime/kernels/onednn/families.h"
#include "poet/runtime/kernels/onednn/program.h"

namespace poet::runtime::onednn {
namespace {

using dnnl::memory;

struct Operand {
  Shape shape;
  Shape strides;

  [[nodiscard]] memory::desc layout() const { return {shape, memory::data_type::f32, strides}; }
};

// With leading axes of size 1 up to `rank`.
Operand operand(const Value& value, std::size_t rank) {
  Operand result{value.shape, value.strides.empty() ? row_major_strides(value.shape) : value.strides};
  const std::int64_t outermost = result.shape.front() * result.strides.front();
  while (result.shape.size() < rank) {
    result.shape.insert(result.shape.begin(), 1);
    result.strides.insert(result.strides.begin(), outermost);
  }
  return result;
}

bool is_float32(const Value& value) {
  return value.dtype == DType::float32 && element_count(value.shape) > 0;
}

}  // namespace

std::unique_ptr<Kernel> make_matmul(const Subject& subject) {
  const Value& value_a = subject.input(0);
  const Value& value_b = subject.input(1);
  const Value& value_c = subject.output(0);
  if (!is_float32(value_a) || !is_float32(value_b) || !is_float32(value_c)) return nullptr;
  const std::size_t rank = std::max({value_a.shape.size(), value_b.shape.size(), value_c.shape.size()});
  Operand a = operand(value_a, rank);
  Operand b = operand(value_b, rank);
  Operand c = operand(value_c, rank);
  for (std::size_t axis = 0; axis + 2 < rank; ++axis) {
    if (c.shape[axis] == 1 && (a.shape[axis] != 1 || b.shape[axis] != 1)) return nullptr;  // a sum
  }
  dnnl::primitive_attr attributes = scratchpad_by_user();
  attributes.set_output_scales(0, {static_cast<float>(subject.real("alpha"))});
  dnnl::matmul::primitive_desc description({a.layout(), b.layout(), c.layout()}, attributes, engine(), true);
  if (description && !is_fast(description) && !subject.lean()) {
    description = {{row_major(a.shape), row_major(b.shape), row_major(c.shape)}, attributes, engine(), true};
  }
  if (!description || !is_fast(description)) return nullptr;

  auto program = std::make_unique<Program>();
  const Slot out = program->output(0, c.layout());
  const Slot left = program->in_layout(program->input(0, a.layout()), description.src_desc());
  const Slot right = program->in_layout(program->input(1, b.layout()), description.weights_desc());
  const Slot result = program->result_for(out, description.dst_desc());
  program->add(dnnl::matmul(description), description,
               {{DNNL_ARG_SRC, left}, {DNNL_ARG_WEIGHTS, right}, {DNNL_ARG_DST, result}});
  program->deliver(result, out);
  return Program::finished(std::move(program));
}

}  // namespace poet::runtime::onednn
