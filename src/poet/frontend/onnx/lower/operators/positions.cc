// Elements written or read at positions of several axes, and the largest ones.

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "poet/base/error.h"
#include "poet/frontend/onnx/lower/operators.h"
#include "poet/frontend/onnx/read/read_model.h"
#include "poet/graph/nn.h"

namespace poet::onnx {
namespace {

std::int64_t product(Shape::const_iterator from, Shape::const_iterator to) {
  return std::accumulate(from, to, std::int64_t{1}, std::multiplies<>());
}

/// What replaces slices of `data`: the indices name axes 0 to k - 1, and each of their tuples one slice.
struct Slices {
  std::int64_t count = 1, size = 1;       // of the data
  std::vector<std::int64_t> places = {};  // of the tuples, in order
};

/// Returns the slices of a value of this shape that known tuples of `length` indices name.
Slices slices_of(const Shape& data, const std::vector<std::int64_t>& indices, std::size_t length) {
  if (length == 0 || length > data.size())
    throw InputError(fmt::format("indices of {} axes are for no value of {}", length, data.size()));
  const auto cut = data.begin() + static_cast<std::ptrdiff_t>(length);
  Slices slices{product(data.begin(), cut), product(cut, data.end())};
  for (std::size_t at = 0; at + length <= indices.size(); at += length) {
    std::int64_t place = 0;
    for (std::size_t axis = 0; axis < length; ++axis) {
      const std::size_t size = static_cast<std::size_t>(data[axis]);
      place = place * data[axis] + static_cast<std::int64_t>(checked_axis(indices[at + axis], size));
    }
    slices.places.push_back(place);
  }
  return slices;
}

/// Returns the indices at input 1.
const std::vector<std::int64_t>& written_positions(const Lowering& net, const Node& node) {
  if (is_runtime(net, node, 1))
    throw InputError("the positions must be known while importing, but they are computed in every step");
  return known_integers(net, node, 1);
}

/// Lists of positions are made while importing.
void check_size(std::int64_t count) {
  if (count > kMostIntegers)
    throw InputError(fmt::format("moves {} slices, more than the {} supported", count, kMostIntegers));
}

ValueId constant_integers(Lowering& net, const std::string& name, const std::vector<std::int64_t>& numbers) {
  return add_constant(net, name, integer_list(numbers));
}

/// Adds `data` with `updates` in place of its slices: both one after the other, gathered.
void scattered(Lowering& net, const Node& node, const Slices& slices) {
  const std::string reduction = text(node, "reduction", "none");
  if (reduction != "none")
    throw InputError("attribute 'reduction'", fmt::format("{} is not supported", reduction));
  GraphBuilder& g = net.builder;
  const std::string name = name_of(node);
  const ValueId data = any_value(net, node, 0);
  const ValueId updates = any_value(net, node, 2);
  const auto written = static_cast<std::int64_t>(slices.places.size());
  check_size(slices.count);
  if (element_count(g.shape(updates)) != written * slices.size)
    throw InputError(fmt::format("the updates are {}, for {} slices of {} elements", shown(g.shape(updates)),
                                 written, slices.size));
  std::vector<std::int64_t> rows(static_cast<std::size_t>(slices.count));
  std::iota(rows.begin(), rows.end(), 0);
  for (std::int64_t i = 0; i < written; ++i)
    rows.at(static_cast<std::size_t>(slices.places[static_cast<std::size_t>(i)])) = slices.count + i;
  const ValueId all = nn::concat(g, name + ".all",
                                 {nn::reshape(g, name + ".data", data, {slices.count, slices.size}),
                                  nn::reshape(g, name + ".updates", updates, {written, slices.size})},
                                 0);
  const ValueId y = nn::gather(g, name, all, constant_integers(net, name + ".rows", rows), 0);
  set_result(net, node, nn::reshape(g, name + ".shape", y, shape_of(net, node, 0)));
}

void scatter_nd(Lowering& net, const Node& node) {
  const Shape indices = shape_of(net, node, 1);
  if (indices.empty()) throw InputError("the indices must have an axis");
  scattered(net, node,
            slices_of(shape_of(net, node, 0), written_positions(net, node),
                      static_cast<std::size_t>(indices.back())));
}

void scatter_elements(Lowering& net, const Node& node) {
  const Shape data = shape_of(net, node, 0);
  const Shape shape = shape_of(net, node, 1);
  const std::size_t axis = checked_axis(integer(node, "axis", 0), data.size());
  const std::vector<std::int64_t>& indices = written_positions(net, node);
  if (shape.size() != data.size()) throw InputError("the indices must have as many axes as the data");
  Slices slices{element_count(data), 1};
  for (std::size_t i = 0; i < indices.size(); ++i) {
    auto rest = static_cast<std::int64_t>(i);
    std::int64_t place = 0, stride = 1;
    for (std::size_t a = data.size(); a-- > 0;) {
      const std::int64_t at = rest % shape[a];
      rest /= shape[a];
      const auto size = static_cast<std::size_t>(data[a]);
      place += stride * static_cast<std::int64_t>(checked_axis(a == axis ? indices[i] : at, size));
      stride *= data[a];
    }
    slices.places.push_back(place);
  }
  scattered(net, node, slices);
}

/// Adds the slices that tuples of indices name: known ones, or computed in the step.
void gather_nd(Lowering& net, const Node& node) {
  if (integer(node, "batch_dims", 0) != 0) throw InputError("attribute 'batch_dims'", "must be 0");
  GraphBuilder& g = net.builder;
  const std::string name = name_of(node);
  const Shape data = shape_of(net, node, 0);
  const Shape shape = shape_of(net, node, 1);
  if (shape.empty() || shape.back() < 1 || shape.back() > static_cast<std::int64_t>(data.size()))
    throw InputError(fmt::format("indices {} are for no value {}", shown(shape), shown(data)));
  const auto length = static_cast<std::size_t>(shape.back());
  const auto cut = data.begin() + static_cast<std::ptrdiff_t>(length);
  Shape to(shape.begin(), shape.end() - 1);
  const std::int64_t tuples = element_count(to);
  to.insert(to.end(), cut, data.end());
  ValueId places;
  if (const Fixed* known = fixed_of(net, node, 1); known != nullptr && known->tensor.known) {
    places = constant_integers(net, name + ".rows", slices_of(data, known->tensor.integers, length).places);
  } else {
    const ValueId indices = nn::reshape(g, name + ".tuples", any_value(net, node, 1), {tuples, shape.back()});
    for (std::size_t axis = 0; axis < length; ++axis) {
      const std::string part = fmt::format("{}.axis{}", name, axis);
      const auto at = static_cast<std::int64_t>(axis);
      // From the end where negative.
      const ValueId size = constant_integers(net, part + ".size", {data[axis]});
      const ValueId index =
          nn::binary(g, "mod", part,
                     nn::reshape(g, part + ".list",
                                 nn::slice(g, part + ".index", indices, {0, at}, {tuples, at + 1}), {tuples}),
                     size);
      places = axis == 0
                   ? index
                   : nn::add(g, part + ".place",
                             nn::scale(g, part + ".rows", places, static_cast<double>(data[axis])), index);
    }
  }
  const ValueId rows = nn::reshape(g, name + ".data", any_value(net, node, 0),
                                   {product(data.begin(), cut), product(cut, data.end())});
  set_result(net, node, nn::reshape(g, name + ".shape", nn::gather(g, name, rows, places, 0), to));
}

/// Adds the k largest (or smallest) along an axis, in their order, one after the other.
void top_k(Lowering& net, const Node& node) {
  constexpr std::int64_t kMost = 64;
  GraphBuilder& g = net.builder;
  const std::string name = name_of(node);
  const Shape shape = shape_of(net, node, 0);
  const std::size_t axis = checked_axis(integer(node, "axis", -1), shape.size());
  const std::vector<std::int64_t>& number = known_integers(net, node, 1);
  if (number.size() != 1 || number[0] < 1 || number[0] > std::min(kMost, shape[axis]))
    throw InputError(fmt::format("k must be known, from 1 to {} and no more than {}", kMost, shape[axis]));
  check_size(shape[axis]);
  const auto along = static_cast<std::int64_t>(axis);
  const bool largest = integer(node, "largest", 1) != 0;
  const ValueId x = row_major(net, node, 0);
  // Below the least of what is left are those that are taken.
  ValueId left = nn::clip(g, name + ".finite", largest ? x : nn::neg(g, name + ".negative", x),
                          std::numeric_limits<float>::lowest(), kInfinity);
  Shape positions(shape.size(), 1);
  positions[axis] = shape[axis];
  std::vector<std::int64_t> each(static_cast<std::size_t>(shape[axis]));
  std::iota(each.begin(), each.end(), 0);
  Tensor numbers = integer_list(each);
  numbers.shape = positions;
  const ValueId place = add_constant(net, name + ".positions", numbers);
  const ValueId never = add_filled(net, name + ".taken", {}, -kInfinity);
  std::vector<ValueId> indices;
  for (std::int64_t i = 0; i < number[0]; ++i) {
    const std::string step = fmt::format("{}.{}", name, i);
    indices.push_back(nn::argmax(g, step + ".index", left, along));
    if (i + 1 == number[0]) break;
    const ValueId taken = nn::binary(g, "equal", step + ".is_taken", place, indices.back());
    left = nn::where(g, step + ".left", taken, never, left);
  }
  const ValueId all = nn::concat(g, name + ".indices", indices, along);
  if (is_read(net.uses, node, 0))
    net.operands[node.outputs[0]] = runtime_of(g, nn::gather_elements(g, name, x, all, along));
  if (is_read(net.uses, node, 1)) net.operands[node.outputs[1]] = runtime_of(g, all);
}

}  // namespace

const std::vector<OperatorEntry>& position_operators() {
  static const std::vector<OperatorEntry> entries = {
      {"GatherND", gather_nd},
      {"ScatterElements", scatter_elements},
      {"ScatterND", scatter_nd},
      {"TopK", top_k},
  };
  return entries;
}

}  // namespace poet::onnx
