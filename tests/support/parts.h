#pragma once

// Tensors and their parts.

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "poet/graph/graph.h"

namespace poet::test {

/// Calls f(element of the part, element of the whole), both counted row-major.
template <class F>
void for_each_element_of(const Value& part, const F& f) {
  const Shape& whole = tensor_shape(part);
  for (std::int64_t i = 0; i < element_count(part.shape); ++i) {
    std::int64_t rest = i, place = 0, stride = 1;
    for (std::size_t axis = whole.size(); axis-- > 0;) {
      const std::int64_t at = rest % part.shape[axis] + (part.part ? part.part->begin[axis] : 0);
      rest /= part.shape[axis];
      place += at * stride;
      stride *= whole[axis];
    }
    f(static_cast<std::size_t>(i), static_cast<std::size_t>(place));
  }
}

/// What the part holds of the whole tensor's elements.
inline std::vector<double> part_of(const Value& part, const std::vector<double>& whole) {
  std::vector<double> elements(static_cast<std::size_t>(element_count(part.shape)));
  for_each_element_of(part, [&](std::size_t i, std::size_t at) { elements[i] = whole.at(at); });
  return elements;
}

}  // namespace poet::test
