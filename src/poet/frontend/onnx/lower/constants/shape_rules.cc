#include "poet/frontend/onnx/lower/constants/shape_rules.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <optional>

#include "poet/base/error.h"

namespace poet::onnx {

std::string shown(const Shape& shape) { return fmt::format("({})", fmt::join(shape, ", ")); }

Shape broadcast(const Shape& a, const Shape& b) {
  const std::size_t rank = std::max(a.size(), b.size());
  Shape out(rank);
  for (std::size_t k = 1; k <= rank; ++k) {
    const std::int64_t x = k <= a.size() ? a[a.size() - k] : 1;
    const std::int64_t y = k <= b.size() ? b[b.size() - k] : 1;
    if (x != y && x != 1 && y != 1) {
      throw InputError(fmt::format("the shapes {} and {} do not broadcast", shown(a), shown(b)));
    }
    out[rank - k] = x == 1 ? y : x;
  }
  return out;
}

std::size_t checked_axis(std::int64_t axis, std::size_t rank) {
  const auto size = static_cast<std::int64_t>(rank);
  if (axis < -size || axis >= size) throw InputError(fmt::format("{} is not in [-{}, {})", axis, size, size));
  return static_cast<std::size_t>(axis < 0 ? axis + size : axis);
}

Shape unsqueezed(const Shape& shape, const std::vector<std::int64_t>& axes) {
  const std::size_t rank = shape.size() + axes.size();
  std::vector<bool> is_new(rank, false);
  for (const std::int64_t axis : axes) {
    const std::size_t at = checked_axis(axis, rank);
    if (is_new[at]) throw InputError(fmt::format("the axes ({}) repeat one", fmt::join(axes, ", ")));
    is_new[at] = true;
  }
  Shape out;
  auto next = shape.begin();
  for (std::size_t i = 0; i < rank; ++i) out.push_back(is_new[i] ? 1 : *next++);
  return out;
}

Shape squeezed(const Shape& shape, const std::vector<std::int64_t>& axes) {
  std::vector<bool> gone(shape.size(), false);
  for (const std::int64_t axis : axes) {
    const std::size_t at = checked_axis(axis, shape.size());
    if (shape[at] != 1) throw InputError(fmt::format("axis {} of {} is not of size 1", axis, shown(shape)));
    gone[at] = true;
  }
  Shape out;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (axes.empty() ? shape[i] != 1 : !gone[i]) out.push_back(shape[i]);
  }
  return out;
}

Shape reshape_target(const Shape& shape, const std::vector<std::int64_t>& target, bool allow_zero) {
  Shape out = target;
  std::optional<std::size_t> open;
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (out[i] == 0 && !allow_zero) {
      if (i >= shape.size()) throw InputError(fmt::format("keeps dimension {} of {}", i, shown(shape)));
      out[i] = shape[i];
    }
    if (out[i] < -1 || (out[i] == -1 && open)) {
      throw InputError(fmt::format("the target {} is no shape", shown(target)));
    }
    if (out[i] == -1) open = i;
  }
  if (!open) return out;
  out[*open] = 1;
  const std::int64_t rest = element_count(out);
  const std::int64_t all = element_count(shape);
  if (rest == 0 || all % rest != 0) {
    throw InputError(fmt::format("{} elements do not fill {}", all, shown(target)));
  }
  out[*open] = all / rest;
  return out;
}

std::vector<Range> slice_ranges(const Shape& shape, const std::vector<std::int64_t>& starts,
                                const std::vector<std::int64_t>& ends, const std::vector<std::int64_t>& axes,
                                const std::vector<std::int64_t>& steps) {
  if (starts.size() != ends.size() || (!axes.empty() && axes.size() != starts.size()) ||
      (!steps.empty() && steps.size() != starts.size()) || starts.size() > shape.size()) {
    throw InputError("starts, ends, axes and steps must be lists of one length");
  }
  std::vector<Range> out;
  for (const std::int64_t d : shape) out.push_back({0, d, 1});
  for (std::size_t i = 0; i < starts.size(); ++i) {
    const std::size_t axis =
        checked_axis(axes.empty() ? static_cast<std::int64_t>(i) : axes[i], shape.size());
    const std::int64_t size = shape[axis];
    const std::int64_t step = steps.empty() ? 1 : steps[i];
    if (step == 0 || step == std::numeric_limits<std::int64_t>::min())
      throw InputError("a step must not be 0");
    const auto from_front = [size](std::int64_t x) { return x < 0 ? x + size : x; };
    if (step > 0) {
      out[axis] = {std::clamp<std::int64_t>(from_front(starts[i]), 0, size),
                   std::clamp<std::int64_t>(from_front(ends[i]), 0, size), step};
    } else {
      out[axis] = {std::clamp<std::int64_t>(from_front(starts[i]), -1, size - 1),
                   std::clamp<std::int64_t>(from_front(ends[i]), -1, size - 1), step};
    }
  }
  return out;
}

std::int64_t range_length(const Range& range) {
  const std::int64_t span = range.step > 0 ? range.end - range.start : range.start - range.end;
  const std::int64_t step = range.step > 0 ? range.step : -range.step;
  return span <= 0 ? 0 : (span - 1) / step + 1;
}

}  // namespace poet::onnx
