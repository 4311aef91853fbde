#include "poet/frontend/onnx/lower/constants/elements.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "poet/frontend/onnx/read/read_model.h"

namespace poet::onnx {

Tensor integer_list(const std::vector<std::int64_t>& elements) {
  Tensor out;
  out.type = Type::integer;
  out.type_name = "int64";
  out.shape = {static_cast<std::int64_t>(elements.size())};
  out.known = true;
  out.integers = elements;
  return out;
}

Tensor with_contents(const Tensor& filled) {
  Tensor out = constants::like(filled, filled.shape);
  std::fill(out.reals.begin(), out.reals.end(), filled.fill.value());
  return out;
}

namespace constants {

std::size_t size(const Tensor& tensor) { return static_cast<std::size_t>(element_count(tensor.shape)); }

Tensor like(const Tensor& type, Shape shape) {
  Tensor out;
  out.type = type.type;
  out.type_name = type.type_name;
  out.shape = std::move(shape);
  out.known = element_count(out.shape) <= kMostIntegers;
  if (!out.known) return out;
  if (out.type == Type::real) {
    out.reals.resize(size(out));
  } else {
    out.integers.resize(size(out));
  }
  return out;
}

void copy(Tensor& to, std::size_t i, const Tensor& from, std::size_t j) {
  if (to.type == Type::real) {
    to.reals[i] = from.reals[j];
  } else {
    to.integers[i] = from.integers[j];
  }
}

std::size_t broadcast_index(std::size_t i, const Shape& to, const Shape& shape) {
  std::size_t index = 0;
  std::size_t stride = 1;
  for (std::size_t k = 1; k <= to.size(); ++k) {
    const auto extent = static_cast<std::size_t>(to[to.size() - k]);
    const std::size_t at = i % extent;
    i /= extent;
    if (k > shape.size()) continue;
    const auto own = static_cast<std::size_t>(shape[shape.size() - k]);
    if (own > 1) index += at * stride;
    stride *= own;
  }
  return index;
}

std::int64_t truncated(double x) {
  if (std::isnan(x)) return 0;
  if (x >= 9.2e18) return std::numeric_limits<std::int64_t>::max();
  if (x <= -9.2e18) return std::numeric_limits<std::int64_t>::min();
  return static_cast<std::int64_t>(x);
}

}  // namespace constants
}  // namespace poet::onnx
