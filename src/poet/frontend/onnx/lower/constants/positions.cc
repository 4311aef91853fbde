// Operators on elements by position: triangles, prefix sums, gathering and scattering.

#include <fmt/format.h>

#include <algorithm>

#include "poet/base/error.h"
#include "poet/frontend/onnx/lower/constants/rules.h"

namespace poet::onnx::constants {
namespace {

using Position = std::vector<std::size_t>;

Position position_of(const Shape& shape, std::size_t element) {
  Position position(shape.size());
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    position[axis] = element % static_cast<std::size_t>(shape[axis]);
    element /= static_cast<std::size_t>(shape[axis]);
  }
  return position;
}

std::size_t element_at(const Shape& shape, const Position& position) {
  std::size_t element = 0;
  for (std::size_t axis = 0; axis < shape.size(); ++axis)
    element = element * static_cast<std::size_t>(shape[axis]) + position[axis];
  return element;
}

std::size_t counted_from_front(std::int64_t at, std::int64_t size) {
  return checked_axis(at, static_cast<std::size_t>(size));
}

void check_integers(const Tensor& indices) {
  if (indices.type != Type::integer) throw InputError("the indices must be integers");
}

/// Writes element `j` of `updates` to element `i`, combined as the attribute 'reduction' specifies.
void write(const Node& node, Tensor& out, std::size_t i, const Tensor& updates, std::size_t j) {
  const std::string how = text(node, "reduction", "none");
  if (how == "none") return copy(out, i, updates, j);
  if (how != "add" && how != "mul")
    throw InputError("attribute 'reduction'", fmt::format("must be 'none', 'add' or 'mul', not '{}'", how));
  if (out.type != Type::real) {
    out.integers[i] = combine(how == "add" ? "Add" : "Mul", out.integers[i], updates.integers[j]);
    return;
  }
  out.reals[i] = how == "add" ? out.reals[i] + updates.reals[j] : out.reals[i] * updates.reals[j];
}

/// Returns, for each tuple of `indices` (..., K), the first element of its slice of `whole`, after `batch`
/// common axes, and the number of elements of a slice.
std::vector<std::size_t> slices(const Shape& whole, const Tensor& indices, std::size_t batch,
                                std::size_t& length) {
  check_integers(indices);
  if (indices.shape.size() < batch + 1 || whole.size() < batch)
    throw InputError("the indices have too few axes");
  const std::int64_t depth = indices.shape.back();
  if (depth < 1 || static_cast<std::size_t>(depth) > whole.size() - batch)
    throw InputError(fmt::format("tuples of {} indices do not fit {}", depth, shown(whole)));
  for (std::size_t i = 0; i < batch; ++i) {
    if (indices.shape[i] != whole[i]) throw InputError("the axes of the batch differ");
  }
  length = 1;
  for (std::size_t axis = batch + static_cast<std::size_t>(depth); axis < whole.size(); ++axis)
    length *= static_cast<std::size_t>(whole[axis]);
  const Shape outer(indices.shape.begin(), indices.shape.end() - 1);
  std::vector<std::size_t> out;
  const std::size_t count = size(indices) / static_cast<std::size_t>(depth);
  for (std::size_t i = 0; i < count; ++i) {
    const Position place = position_of(outer, i);
    std::size_t at = 0;
    for (std::size_t axis = 0; axis < batch; ++axis)
      at = at * static_cast<std::size_t>(whole[axis]) + place[axis];
    for (std::size_t k = 0; k < static_cast<std::size_t>(depth); ++k) {
      const std::int64_t extent = whole[batch + k];
      at = at * static_cast<std::size_t>(extent) +
           counted_from_front(indices.integers[i * static_cast<std::size_t>(depth) + k], extent);
    }
    out.push_back(at * length);
  }
  return out;
}

}  // namespace

Tensor trilu(const Node& node, const Operands& in, std::int64_t /*opset*/) {
  Tensor out = *in.at(0);
  const std::size_t rank = out.shape.size();
  if (rank < 2) throw InputError("needs a matrix");
  std::int64_t k = 0;
  if (in.size() > 1 && in[1] != nullptr) {
    if (in[1]->type != Type::integer || in[1]->integers.size() != 1)
      throw InputError("the diagonal must be one integer");
    k = in[1]->integers.front();
  }
  const bool upper = integer(node, "upper", 1) != 0;
  for (std::size_t i = 0; i < size(out); ++i) {
    const auto column = static_cast<std::int64_t>(i) % out.shape[rank - 1];
    const auto row = static_cast<std::int64_t>(i) / out.shape[rank - 1] % out.shape[rank - 2];
    const bool kept = upper ? column - row >= k : column - row <= k;
    if (kept) continue;
    if (out.type == Type::real) out.reals[i] = 0.0;
    if (out.type != Type::real) out.integers[i] = 0;
  }
  return out;
}

Tensor cumsum(const Node& node, const Operands& in, std::int64_t /*opset*/) {
  const Tensor& x = *in.at(0);
  if (in.at(1)->type != Type::integer || in[1]->integers.size() != 1)
    throw InputError("the axis must be one integer");
  const std::size_t axis = checked_axis(in[1]->integers.front(), x.shape.size());
  const bool exclusive = integer(node, "exclusive", 0) != 0;
  const bool reverse = integer(node, "reverse", 0) != 0;
  Tensor out = like(x, x.shape);
  const auto length = static_cast<std::size_t>(x.shape[axis]);
  std::size_t inner = 1;
  for (std::size_t i = axis + 1; i < x.shape.size(); ++i) inner *= static_cast<std::size_t>(x.shape[i]);
  for (std::size_t i = 0; out.known && i < size(out); ++i) {
    const std::size_t step = i / inner % length;
    if (step != 0) continue;  // one run along the axis starts here
    double real_sum = 0.0;
    std::int64_t sum = 0;
    for (std::size_t k = 0; k < length; ++k) {
      const std::size_t at = i + (reverse ? length - 1 - k : k) * inner;
      if (x.type == Type::real) {
        out.reals[at] = exclusive ? real_sum : real_sum + x.reals[at];
        real_sum += x.reals[at];
      } else {
        const std::int64_t next = combine("Add", sum, x.integers[at]);
        out.integers[at] = exclusive ? sum : next;
        sum = next;
      }
    }
  }
  return out;
}

Tensor tile(const Node& /*node*/, const Operands& in, std::int64_t /*opset*/) {
  const Tensor& x = *in.at(0);
  const std::vector<std::int64_t>& repeats = in.at(1)->integers;
  if (repeats.size() != x.shape.size()) throw InputError("needs one number of repeats per axis");
  Shape shape;
  for (std::size_t axis = 0; axis < repeats.size(); ++axis) {
    if (repeats[axis] < 0) throw InputError("repeats must not be negative");
    shape.push_back(combine("Mul", x.shape[axis], repeats[axis]));
  }
  Tensor out = like(x, shape);
  for (std::size_t i = 0; out.known && i < size(out); ++i) {
    Position at = position_of(shape, i);
    for (std::size_t axis = 0; axis < at.size(); ++axis) at[axis] %= static_cast<std::size_t>(x.shape[axis]);
    copy(out, i, x, element_at(x.shape, at));
  }
  return out;
}

Tensor gather_elements(const Node& node, const Operands& in, std::int64_t /*opset*/) {
  const Tensor& x = *in.at(0);
  const Tensor& indices = *in.at(1);
  check_integers(indices);
  const std::size_t axis = checked_axis(integer(node, "axis", 0), x.shape.size());
  if (indices.shape.size() != x.shape.size())
    throw InputError("the indices must have as many axes as the data");
  for (std::size_t i = 0; i < x.shape.size(); ++i) {
    if (i != axis && indices.shape[i] > x.shape[i]) throw InputError("the indices reach out of the data");
  }
  Tensor out = like(x, indices.shape);
  for (std::size_t i = 0; out.known && i < size(out); ++i) {
    Position at = position_of(indices.shape, i);
    at[axis] = counted_from_front(indices.integers[i], x.shape[axis]);
    copy(out, i, x, element_at(x.shape, at));
  }
  return out;
}

Tensor scatter_elements(const Node& node, const Operands& in, std::int64_t /*opset*/) {
  const Tensor& indices = *in.at(1);
  const Tensor& updates = *in.at(2);
  Tensor out = *in.at(0);
  check_integers(indices);
  const std::size_t axis = checked_axis(integer(node, "axis", 0), out.shape.size());
  if (updates.type != out.type || indices.shape.size() != out.shape.size() || updates.shape != indices.shape)
    throw InputError("its inputs do not fit together");
  for (std::size_t i = 0; i < out.shape.size(); ++i) {
    if (i != axis && indices.shape[i] > out.shape[i]) throw InputError("the indices reach out of the data");
  }
  for (std::size_t i = 0; i < size(indices); ++i) {
    Position at = position_of(indices.shape, i);
    at[axis] = counted_from_front(indices.integers[i], out.shape[axis]);
    write(node, out, element_at(out.shape, at), updates, i);
  }
  return out;
}

Tensor gather_nd(const Node& node, const Operands& in, std::int64_t /*opset*/) {
  const Tensor& x = *in.at(0);
  const Tensor& indices = *in.at(1);
  const std::int64_t batch = integer(node, "batch_dims", 0);
  if (batch < 0) throw InputError("attribute 'batch_dims'", "must not be negative");
  std::size_t length = 0;
  const std::vector<std::size_t> from = slices(x.shape, indices, static_cast<std::size_t>(batch), length);
  Shape shape(indices.shape.begin(), indices.shape.end() - 1);
  shape.insert(shape.end(), x.shape.begin() + batch + indices.shape.back(), x.shape.end());
  Tensor out = like(x, shape);
  for (std::size_t i = 0; out.known && i < size(out); ++i) copy(out, i, x, from[i / length] + i % length);
  return out;
}

Tensor scatter_nd(const Node& node, const Operands& in, std::int64_t /*opset*/) {
  Tensor out = *in.at(0);
  const Tensor& updates = *in.at(2);
  std::size_t length = 0;
  const std::vector<std::size_t> to = slices(out.shape, *in.at(1), 0, length);
  if (updates.type != out.type || size(updates) != to.size() * length)
    throw InputError("its inputs do not fit together");
  for (std::size_t i = 0; i < size(updates); ++i) write(node, out, to[i / length] + i % length, updates, i);
  return out;
}

}  // namespace poet::onnx::constants
