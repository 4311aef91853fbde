#include "poet/runtime/kernels/onednn/subject.h"

#include <algorithm>

#include "poet/graph/strides.h"

namespace poet::runtime::onednn {

using dnnl::memory;

std::int64_t Subject::integer(const char* attribute) const {
  return std::get<std::int64_t>(op.attributes.at(attribute));
}

double Subject::real(const char* attribute) const { return std::get<double>(op.attributes.at(attribute)); }

const std::vector<std::int64_t>& Subject::list(const char* attribute) const {
  return std::get<std::vector<std::int64_t>>(op.attributes.at(attribute));
}

bool Subject::plain() const {
  const auto is_plain = [this](ValueId v) {
    const Value& value = graph.values[v];
    return value.dtype == DType::float32 && value.strides.empty() && element_count(value.shape) > 0;
  };
  return std::all_of(op.inputs.begin(), op.inputs.end(), is_plain) &&
         std::all_of(op.outputs.begin(), op.outputs.end(), is_plain);
}

int Subject::gradient(std::int64_t position, std::int64_t count) const {
  if (!has("gradients")) return position < count ? static_cast<int>(position) : -1;
  const std::vector<std::int64_t>& positions = list("gradients");
  const auto found = std::find(positions.begin(), positions.end(), position);
  return found == positions.end() ? -1 : static_cast<int>(found - positions.begin());
}

memory::desc row_major(const Shape& shape) {
  return {shape, memory::data_type::f32, row_major_strides(shape)};
}

memory::desc any_layout(const Shape& shape) {
  return {shape, memory::data_type::f32, memory::format_tag::any};
}

}  // namespace poet::runtime::onednn
