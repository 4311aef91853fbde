#include "poet/runtime/kernels/onednn/subject.h"

#include <algorithm>

#include "poet/graph/strides.h"

namespace poet::runtime::onednn {

using dnnl::memory;

bool Subject::plain() const {
  const auto is_plain = [this](ValueId v) {
    const Value& value = this->value(v);
    return value.dtype == DType::float32 && value.strides.empty() && element_count(value.shape) > 0;
  };
  return std::all_of(op().inputs.begin(), op().inputs.end(), is_plain) &&
         std::all_of(op().outputs.begin(), op().outputs.end(), is_plain);
}

memory::desc row_major(const Shape& shape) {
  return {shape, memory::data_type::f32, row_major_strides(shape)};
}

memory::desc any_layout(const Shape& shape) {
  return {shape, memory::data_type::f32, memory::format_tag::any};
}

}  // namespace poet::runtime::onednn
