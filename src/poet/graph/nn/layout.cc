#include "poet/graph/nn/layout.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <utility>

#include "poet/base/error.h"
#include "poet/graph/broadcast.h"
#include "poet/graph/diagnostics.h"

namespace poet::nn {

using diagnostics::checked_axis;
using diagnostics::place;
using diagnostics::text;

namespace {

// One number of `list` per axis.
void check_length(const std::string& op, const char* what, const std::vector<std::int64_t>& list,
                  const Shape& shape) {
  if (list.size() == shape.size()) return;
  throw InputError(place(op), fmt::format("{} has {} numbers for the {} axes of {}", what, list.size(),
                                          shape.size(), text(shape)));
}

std::int64_t checked_sum(const std::string& op, std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) throw InputError(place(op), "the axis is too long for 64 bits");
  return sum;
}

}  // namespace

ValueId concat(GraphBuilder& g, const std::string& name, const std::vector<ValueId>& inputs,
               std::int64_t axis) {
  if (inputs.empty()) throw InputError(place(name), "needs at least one input");
  const DType type = g.any_type(name, inputs.front());
  for (const ValueId v : inputs) g.check_operand(name, v, -1, type);
  Shape to = g.shape(inputs.front());
  const std::size_t along = checked_axis(name, axis, to);
  std::vector<std::int64_t> sizes;
  for (const ValueId v : inputs) {
    Shape other = g.shape(v);
    const bool same_rank = other.size() == to.size();
    sizes.push_back(same_rank ? std::exchange(other[along], to[along]) : 0);
    if (other != to) {
      throw InputError(place(name), fmt::format("joins {} and {} along axis {}: the other axes must be equal",
                                                text(g.shape(inputs.front())), text(g.shape(v)), axis));
    }
  }
  to[along] = 0;
  for (const std::int64_t size : sizes) to[along] = checked_sum(name, to[along], size);
  const ValueId y = g.output(name, name, {std::move(to), {}}, type);
  // With the sizes a backward op knows by itself which part of the gradient is its own.
  g.append(name, "concat", {{"axis", axis}, {"sizes", std::move(sizes)}}, inputs, {y});
  return y;
}

ValueId slice(GraphBuilder& g, const std::string& name, ValueId x, const std::vector<std::int64_t>& starts,
              const std::vector<std::int64_t>& ends, const std::vector<std::int64_t>& steps) {
  const DType type = g.any_type(name, x);
  Shape to = g.shape(x);
  const std::vector<std::int64_t> by = steps.empty() ? std::vector<std::int64_t>(to.size(), 1) : steps;
  check_length(name, "starts", starts, to);
  check_length(name, "ends", ends, to);
  check_length(name, "steps", by, to);
  for (std::size_t axis = 0; axis < to.size(); ++axis) {
    if (starts[axis] < 0 || starts[axis] >= ends[axis] || ends[axis] > to[axis] || by[axis] < 1) {
      throw InputError(place(name), fmt::format("takes {} to {} by {} of an axis of {}: needs 0 <= start < "
                                                "end <= size and step >= 1",
                                                starts[axis], ends[axis], by[axis], to[axis]));
    }
    to[axis] = (ends[axis] - starts[axis] - 1) / by[axis] + 1;
  }
  const ValueId y = g.output(name, name, {std::move(to), {}}, type);
  g.append(name, "slice", {{"starts", starts}, {"ends", ends}, {"steps", by}}, {x}, {y});
  return y;
}

std::vector<ValueId> split(GraphBuilder& g, const std::string& name, ValueId x, std::int64_t axis,
                           const std::vector<std::int64_t>& sizes) {
  const DType type = g.any_type(name, x);
  const Shape from = g.shape(x);
  const std::size_t along = checked_axis(name, axis, from);
  std::int64_t total = 0;
  for (const std::int64_t size : sizes) {
    if (size < 1) throw InputError(place(name), fmt::format("sizes must be positive, not {}", size));
    total = checked_sum(name, total, size);
  }
  if (total != from[along]) {
    throw InputError(place(name), fmt::format("splits an axis of {} into ({}): the sizes must add up to it",
                                              from[along], fmt::join(sizes, ", ")));
  }
  std::vector<ValueId> parts;
  Shape part = from;
  for (const std::int64_t size : sizes) {
    part[along] = size;
    parts.push_back(g.output(name, fmt::format("{}.{}", name, parts.size()), {part, {}}, type));
  }
  g.append(name, "split", {{"axis", axis}, {"sizes", sizes}}, {x}, parts);
  return parts;
}

ValueId pad(GraphBuilder& g, const std::string& name, ValueId x, const std::vector<std::int64_t>& before,
            const std::vector<std::int64_t>& after, double value) {
  const DType type = g.any_type(name, x);
  Shape to = g.shape(x);
  check_length(name, "before", before, to);
  check_length(name, "after", after, to);
  for (std::size_t axis = 0; axis < to.size(); ++axis) {
    if (before[axis] < 0 || after[axis] < 0) {
      throw InputError(place(name), fmt::format("padding must be >= 0, not {} and {} at axis {}",
                                                before[axis], after[axis], axis));
    }
    to[axis] = checked_sum(name, to[axis], checked_sum(name, before[axis], after[axis]));
  }
  const ValueId y = g.output(name, name, {std::move(to), {}}, type);
  g.append(name, "pad", {{"before", before}, {"after", after}, {"value", value}}, {x}, {y});
  return y;
}

ValueId transpose(GraphBuilder& g, const std::string& name, ValueId x,
                  const std::vector<std::int64_t>& axes) {
  Shape to;
  try {
    to = permuted(g.layout(x), axes).shape;
  } catch (const InputError& error) {
    throw InputError(place(name), error.what());
  }
  const ValueId y = g.output(name, name, {std::move(to), {}}, g.value(x).dtype);
  g.append(name, "transpose", {{"axes", axes}}, {x}, {y});
  return y;
}

ValueId expand(GraphBuilder& g, const std::string& name, ValueId x, const Shape& to) {
  const DType type = g.any_type(name, x);
  if (broadcast_shape(g.shape(x), to) != to) {
    throw InputError(place(name), fmt::format("{} does not broadcast to {}", text(g.shape(x)), text(to)));
  }
  if (std::any_of(to.begin(), to.end(), [](std::int64_t d) { return d < 1; }))
    throw InputError(place(name), fmt::format("every dimension of {} must be positive", text(to)));
  const ValueId y = g.output(name, name, {to, {}}, type);
  g.append(name, "expand", {}, {x}, {y});
  return y;
}

ValueId flip(GraphBuilder& g, const std::string& name, ValueId x, std::vector<std::int64_t> axes) {
  g.check_operand(name, x);
  const auto rank = static_cast<std::int64_t>(g.shape(x).size());
  std::sort(axes.begin(), axes.end());
  const bool twice = std::adjacent_find(axes.begin(), axes.end()) != axes.end();
  if (axes.empty() || twice || axes.front() < 0 || axes.back() >= rank) {
    throw InputError(place(name), fmt::format("reverses the axes ({}) of {} dimensions: needs at least one, "
                                              "each once",
                                              fmt::join(axes, ", "), rank));
  }
  const ValueId y = g.output(name, name, {g.shape(x), {}});
  g.append(name, "flip", {{"axes", std::move(axes)}}, {x}, {y});
  return y;
}

ValueId reshape(GraphBuilder& g, const std::string& name, ValueId x, const Shape& to) {
  try {
    return g.view(name, x, reshaped(g.layout(x), to));
  } catch (const InputError& error) {
    throw InputError(fmt::format("view '{}'", name), error.what());
  }
}

ValueId flatten(GraphBuilder& g, const std::string& name, ValueId x) {
  const Shape& from = g.shape(x);
  if (from.empty()) throw InputError(fmt::format("view '{}'", name), "needs at least one dimension");
  return reshape(g, name, x, {from[0], element_count(Shape(from.begin() + 1, from.end()))});
}

ValueId permute(GraphBuilder& g, const std::string& name, ValueId x, const std::vector<std::int64_t>& axes) {
  try {
    return g.view(name, x, permuted(g.layout(x), axes));
  } catch (const InputError& error) {
    throw InputError(fmt::format("view '{}'", name), error.what());
  }
}

}  // namespace poet::nn
