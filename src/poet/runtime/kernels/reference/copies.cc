#include "poet/runtime/kernels/reference/copies.h"

#include <algorithm>
#include <cstring>

#include "poet/runtime/kernels/bfloat16.h"

namespace poet::runtime {
namespace {

template <class T>
void copy(const BoxCopy& c, T* to, const T* from) {
  const Index count = c.nest.count;
  const auto step = c.nest.step;
  for_each_run(c.nest, [&](const std::array<Index, 2>& at) {
    T* __restrict out = to + c.to_offset + at[0];
    const T* __restrict in = from + c.from_offset + at[1];
    if (step[0] == 1 && step[1] == 1) {
      std::memcpy(out, in, static_cast<std::size_t>(count) * sizeof(T));
    } else if (step[0] == 1 && step[1] == 0) {
      std::fill_n(out, count, *in);
    } else {
      for (Index i = 0; i < count; ++i) out[i * step[0]] = in[i * step[1]];
    }
  });
}

}  // namespace

void BoxCopy::run(void* to, const void* from) const {
  switch (size) {
    case 1:
      return copy(*this, static_cast<std::uint8_t*>(to), static_cast<const std::uint8_t*>(from));
    case 2:
      return copy(*this, static_cast<std::uint16_t*>(to), static_cast<const std::uint16_t*>(from));
    case 4:
      return copy(*this, static_cast<std::uint32_t*>(to), static_cast<const std::uint32_t*>(from));
    default:
      return copy(*this, static_cast<std::uint64_t*>(to), static_cast<const std::uint64_t*>(from));
  }
}

BoxCopy box_copy(DType type, const Shape& box, const Shape& to_strides, Index to_offset,
                 const Shape& from_strides, Index from_offset) {
  return {size_of(type).value(), to_offset, from_offset,
          make_loop_nest(loop_axes<2>(box, {to_strides, from_strides}))};
}

void fill(DType type, void* to, Index count, double value) {
  switch (type) {
    case DType::float32:
      std::fill_n(static_cast<float*>(to), count, static_cast<float>(value));
      return;
    case DType::int32:
      std::fill_n(static_cast<std::int32_t*>(to), count, static_cast<std::int32_t>(value));
      return;
    case DType::int64:
      std::fill_n(static_cast<std::int64_t*>(to), count, static_cast<std::int64_t>(value));
      return;
    case DType::bfloat16:
      std::fill_n(static_cast<std::uint16_t*>(to), count, rounded_to_bfloat16(static_cast<float>(value)));
      return;
    case DType::uint8:
      std::fill_n(static_cast<std::uint8_t*>(to), count, static_cast<std::uint8_t>(value));
      return;
  }
}

}  // namespace poet::runtime
