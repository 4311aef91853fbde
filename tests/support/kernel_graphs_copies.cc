// Copies of elements, elements found by index, images in other sizes.

#include <algorithm>
#include <numeric>

#include "poet/graph/nn.h"
#include "tests/support/kernel_graphs.h"

namespace poet::test {
namespace {

/// Slices, pads, parts and orders of one value, one after another.
Graph copies(std::uint64_t seed) {
  Draws draw(seed);
  GraphBuilder g("copies");
  Shape shape = draw.shape(1, 4);
  ValueId x = g.parameter("x.weight", shape);
  const auto rank = static_cast<std::int64_t>(shape.size());
  std::vector<std::int64_t> axes(shape.size());
  std::iota(axes.begin(), axes.end(), 0);
  for (std::size_t i = axes.size(); i > 1; --i) {
    std::swap(axes[i - 1], axes[static_cast<std::size_t>(draw(0, static_cast<std::int64_t>(i) - 1))]);
  }
  x = nn::transpose(g, "transposed", nn::permute(g, "view", x, axes), axes);
  x = nn::pad(g, "pad", x, draw.list(shape.size(), 0, 2), draw.list(shape.size(), 0, 2), 0.5);
  std::vector<std::int64_t> some = {draw(0, rank - 1)};
  x = nn::flip(g, "flip", x, some);
  shape = g.shape(x);
  std::vector<std::int64_t> starts;
  std::vector<std::int64_t> ends;
  for (const std::int64_t size : shape) {
    starts.push_back(draw(0, size - 1));
    ends.push_back(draw(starts.back() + 1, size));
  }
  const ValueId part = nn::slice(g, "slice", x, starts, ends, draw.list(shape.size(), 1, 3));
  return training_step(g, part);
}

/// split and concat, at times with parts that nobody reads.
Graph parts(std::uint64_t seed) {
  Draws draw(seed);
  GraphBuilder g("parts");
  Shape shape = draw.shape(1, 4);
  const auto axis = static_cast<std::size_t>(draw(0, static_cast<std::int64_t>(shape.size()) - 1));
  const std::vector<std::int64_t> sizes = draw.list(3, 1, 5);
  shape[axis] = sizes[0] + sizes[1] + sizes[2];
  const auto along = static_cast<std::int64_t>(axis);
  const std::vector<ValueId> some = nn::split(g, "split", g.parameter("x.weight", shape), along, sizes);
  const ValueId y = draw.half() ? nn::concat(g, "concat", {some[2], some[0], some[1]}, along)
                                : nn::concat(g, "concat", {some[2], some[0], some[2]}, along);
  return training_step(g, nn::tanh(g, "tanh", y));
}

/// Tables read by index, and what is read from the end.
Graph gathers(std::uint64_t seed) {
  Draws draw(seed);
  GraphBuilder g("gathers");
  const std::int64_t width = draw(1, 9);
  const ValueId ids = g.input("ids", draw.shape(1, 2), DType::int32);  // 0, 1, 2
  const ValueId from_end = nn::scale(g, "from_end", ids, 1.0, -3.0);
  const ValueId words = nn::embedding(g, "words", ids, draw(3, 5), width);
  Shape shape = draw.shape(1, 3);
  const auto axis = static_cast<std::size_t>(draw(0, static_cast<std::int64_t>(shape.size()) - 1));
  shape[axis] = draw(3, 6);
  const ValueId x = g.parameter("x.weight", shape);
  const auto along = static_cast<std::int64_t>(axis);
  const ValueId gathered = nn::gather(g, "gather", x, draw.half() ? ids : from_end, along);
  Shape picks = shape;
  for (std::int64_t& size : picks) size = draw(1, size);
  picks[axis] = draw(3, 8);
  ValueId places = g.input("places", picks, DType::int32);
  if (draw.half()) places = nn::scale(g, "places_from_end", places, 1.0, -3.0);
  const ValueId picked = nn::gather_elements(g, "pick", x, places, along);
  const ValueId whole = nn::gather(g, "whole", nn::gather_elements(g, "pick_int", places, places, along),
                                   g.input("first", {2}, DType::int32), along);
  static_cast<void>(whole);
  const auto sum = [&g](const std::string& name, ValueId v) {
    const ValueId flat = nn::reshape(g, name + ".flat", v, {element_count(g.shape(v))});
    return nn::reduce(g, "reduce_mean", name + ".mean", nn::tanh(g, name + ".tanh", flat), {0});
  };
  const ValueId first = g.output("first_like_it", "first_like_it", {g.shape(ids), {}}, DType::int32);
  g.append("first_like_it", "first_occurrences", {}, {ids}, {first});
  const std::int64_t rows = std::max<std::int64_t>(element_count(g.shape(ids)), 3);
  const ValueId by_first = nn::embedding(g, "by_first", first, rows, width);
  const ValueId row =
      nn::select(g, "select", g.parameter("s.weight", {draw(1, 3), draw(3, 4), width}), draw(0, 2));
  ValueId y = nn::add(g, "y", nn::add(g, "both", sum("a", words), sum("d", by_first)),
                      nn::mul(g, "m", sum("b", gathered), sum("c", picked)));
  y = nn::add(g, "z", y, row);
  return training_step(g, y);
}

Graph resizes(std::uint64_t seed) {
  Draws draw(seed);
  const auto axes = static_cast<std::size_t>(draw(1, 3));
  Shape shape = {draw(1, 2), draw(1, 2)};
  for (std::size_t a = 0; a < axes; ++a) shape.push_back(draw(1, 5));
  static const std::vector<std::string> modes = {"nearest", "linear", "cubic"};
  static const std::vector<std::string> places = {"half_pixel", "pytorch_half_pixel", "align_corners",
                                                  "asymmetric", "tf_half_pixel_for_nn"};
  static const std::vector<std::string> roundings = {"round_prefer_floor", "round_prefer_ceil", "floor",
                                                     "ceil"};
  nn::ResizeOptions o;
  o.mode = modes[static_cast<std::size_t>(draw(0, 2))];
  o.coordinates = places[static_cast<std::size_t>(draw(0, 4))];
  o.nearest = roundings[static_cast<std::size_t>(draw(0, 3))];
  o.cubic_a = draw.half() ? -0.75 : -0.5;
  o.exclude_outside = o.mode == "cubic" && draw.half();
  if (draw(0, 2) == 0) {
    for (std::size_t a = 0; a < axes; ++a) o.scales.push_back(0.37 * static_cast<double>(draw(1, 6)));
  }
  GraphBuilder g("resizes");
  ValueId x =
      nn::flip(g, "flip", g.parameter("x.weight", shape), {draw(0, static_cast<std::int64_t>(axes) + 1)});
  return training_step(g, nn::resize(g, "resize", x, draw.list(axes, 1, 8), o));
}

}  // namespace

void add_copy_families(std::vector<KernelGraphFamily>& families) {
  families.push_back({"copies", 60, copies});
  families.push_back({"parts", 30, parts});
  families.push_back({"gathers", 60, gathers});
  families.push_back({"resizes", 150, resizes});
}

}  // namespace poet::test
