// Activations, arithmetic with operands that broadcast, integers and truth values, losses, reductions.

#include <algorithm>
#include <limits>

#include "tests/support/function_rows.h"
#include "tests/support/kernel_graphs.h"

namespace poet::test {
namespace {

/// Every activation on one value, each with its gradient.
Graph activations(std::uint64_t seed) {
  Draws draw(seed);
  GraphBuilder g("activations");
  const Shape shape = draw.shape(0, 4);
  const ValueId x = g.parameter("x.weight", shape);
  const ValueId positive = g.scale("positive", g.unary("sigmoid", "of_positive", x), 2.0, 0.25);
  std::vector<ValueId> all = {
      g.clip("clip", x, -0.5, 0.75),
      g.clip("at_most", x, -std::numeric_limits<double>::infinity(), 0.5),
      g.scale("scale", x, -1.5, 0.25),
      g.scale("shift", x, 1.0, 0.3),
      g.unary("pow", "square", x, {{"exponent", 2.0}}),
      g.dropout("dropout", x, 0.3),
  };
  const ValueId wide = g.scale("wide", x, 5.0);
  for (const FunctionRow& row : function_rows()) {
    using Domain = FunctionRow::Domain;
    const ValueId of = row.domain == Domain::positive ? positive : row.domain == Domain::wide ? wide : x;
    if (row.slope != nullptr) all.push_back(g.unary(row.kind, row.kind, of, row.attributes));
  }
  if (!shape.empty()) {
    all.push_back(g.softmax("softmax", x));
    all.push_back(g.log_softmax("log_softmax", x));
  }
  ValueId steps =
      g.unary("sign", "sign",
              g.unary("round", "round",
                      g.scale("halves", g.unary("floor", "floor", g.unary("ceil", "ceil", x)), 0.5)));
  ValueId sum = g.mul("steps", steps, x);
  for (std::size_t i = 0; i < all.size(); ++i) sum = g.add("sum" + std::to_string(i), all[i], sum);
  return training_step(g, sum);
}

/// `shape` with some axes of size 1, and perhaps fewer of them.
Shape squeezed(Draws& draw, const Shape& shape) {
  Shape result = shape;
  for (std::int64_t& size : result) {
    if (draw.half()) size = 1;
  }
  const std::int64_t missing = draw.half() ? draw(0, static_cast<std::int64_t>(shape.size())) : 0;
  result.erase(result.begin(), result.begin() + missing);
  return result;
}

Graph arithmetic(std::uint64_t seed) {
  Draws draw(seed);
  Shape shape = draw.shape(0, 5);
  if (!shape.empty() && draw(0, 3) == 0)
    shape[static_cast<std::size_t>(draw(0, static_cast<std::int64_t>(shape.size()) - 1))] = draw(60, 150);
  GraphBuilder g("arithmetic");
  const ValueId whole = g.parameter("whole.weight", shape);
  const ValueId a = g.parameter("a.weight", squeezed(draw, shape));
  const ValueId b = g.parameter("b.weight", squeezed(draw, shape));
  const ValueId positive = g.scale("above", g.unary("sigmoid", "gate", b), 1.0, 0.5);
  ValueId y = g.add("add", g.sub("sub", a, g.mul("mul", b, whole)), g.sub("other", whole, a));
  y = g.add("ratio", g.div("div", y, positive), g.div("small", a, positive));
  y = g.prelu("prelu", y, g.parameter("slope.weight", squeezed(draw, shape)));
  const ValueId condition = g.binary("less", "less", a, b);
  y = g.add("chosen", y, g.where("where", condition, whole, b));
  y = g.add("chosen2", y, g.where("where2", g.input("c", squeezed(draw, shape), DType::uint8), a, whole));
  return training_step(g, g.add("stretched", y, g.expand("expand", a, shape)));
}

Graph reductions(std::uint64_t seed) {
  Draws draw(seed);
  Shape shape = draw.shape(1, 5);
  if (draw(0, 3) == 0)
    shape[static_cast<std::size_t>(draw(0, static_cast<std::int64_t>(shape.size()) - 1))] = draw(60, 150);
  std::vector<std::int64_t> axes;
  const auto rank = static_cast<std::int64_t>(shape.size());
  for (std::int64_t axis = 0; axis < rank; ++axis) {
    if (draw.half()) axes.push_back(axis);
  }
  if (axes.empty()) axes.push_back(draw(0, rank - 1));
  const bool keep = draw.half();
  GraphBuilder g("reductions");
  // Whole numbers of a few values: equally extreme ones.
  const ValueId x = g.parameter("x.weight", shape);
  const ValueId few = g.clip("few", x, -0.5, 0.5);
  ValueId y = g.add("sums", g.reduce("reduce_sum", "sum", x, axes, keep),
                    g.reduce("reduce_mean", "mean", x, axes, keep));
  y = g.add("extremes", y,
            g.sub("range", g.reduce("reduce_max", "max", few, axes, keep),
                  g.reduce("reduce_min", "min", few, axes, keep)));
  const std::int64_t axis = draw(0, rank - 1);
  const ValueId sums = g.cumsum("cumsum", g.cumsum("before", x, axis, draw.half(), draw.half()),
                                draw(0, rank - 1), draw.half(), draw.half());
  const ValueId flat = g.reshape("flat", sums, {element_count(shape)});
  const ValueId all = g.reduce("reduce_sum", "all", flat, {0}, false);
  return training_step(g, g.add("y", y, all));
}

Graph integers(std::uint64_t seed) {
  Draws draw(seed);
  const Shape shape = draw.shape(1, 4);
  GraphBuilder g("integers");
  const ValueId a = g.input("a", shape, DType::int32);
  const ValueId b = g.input("b", squeezed(draw, shape), DType::int32);
  const ValueId c = g.input("c", squeezed(draw, shape), DType::uint8);
  const ValueId x = g.parameter("x.weight", shape);
  const ValueId z = g.input("z", squeezed(draw, shape));
  // 1 to 3, with both signs.
  ValueId divisor = g.scale("one_more", b, 1.0, 1.0);
  divisor = g.mul("signed", divisor, g.scale("sign", g.cast("c_as_int", c, DType::int32), 2.0, -1.0));
  ValueId whole = g.sub("difference", g.mul("product", g.scale("seven", a, -7.0, 3.0), a), b);
  whole = g.add("sum", g.binary("int_div", "quotient", whole, divisor),
                g.binary("mod", "remainder", whole, divisor));
  const auto rank = static_cast<std::int64_t>(shape.size());
  whole = g.cumsum("cumsum", whole, draw(0, rank - 1), draw.half(), draw.half());
  ValueId mask =
      g.binary("logical_or", "or", g.binary("less", "less", a, b), g.binary("greater_or_equal", "ge", x, z));
  mask = g.binary("logical_and", "and", mask,
                  g.unary("logical_not", "not", g.binary("equal", "equal", whole, a)));
  mask = g.binary("logical_xor", "xor", mask, g.binary("greater", "greater", z, x));
  mask = g.binary("logical_or", "kept", mask, g.binary("less_or_equal", "le", a, b));
  mask = g.binary("logical_xor", "given", mask, g.binary("equal", "same", c, mask));
  mask = g.binary("logical_and", "real", mask, g.binary("equal", "reals", x, x));
  const ValueId most =
      g.argmax("argmax", g.add("few", x, g.clip("c1", x, -0.5, 0.5)), draw(0, rank - 1), true, draw.half());
  const ValueId most_whole = g.argmax("argmax_int", a, draw(0, rank - 1), true, draw.half());
  whole = g.where("one_of_two", mask, whole, g.unary("abs", "abs", g.add("places", most, most_whole)));
  const ValueId truncated = g.cast("truncated", g.scale("large", x, 3.0), DType::int32);
  const ValueId truth = g.cast("truth", truncated, DType::uint8);
  ValueId y = g.add("with_whole", x, g.cast("as_real", whole, DType::float32));
  y = g.add("with_truth", y,
            g.cast("truth_as_real", g.binary("logical_and", "both", truth, mask), DType::float32));
  return training_step(g, g.where("chosen", mask, y, x));
}

Graph losses(std::uint64_t seed) {
  Draws draw(seed);
  GraphBuilder g("losses");
  const std::int64_t rows = draw(1, 40);
  const std::int64_t classes = draw(3, 30);
  const ValueId x = g.scale("wide", g.parameter("x.weight", {rows, classes}), 20.0);
  g.softmax_cross_entropy("loss", x, g.input("targets", {rows}, DType::int32));
  return differentiate(g.finish());
}

}  // namespace

void add_elementwise_families(std::vector<KernelGraphFamily>& families) {
  families.push_back({"activations", 10, activations});
  families.push_back({"arithmetic", 100, arithmetic});
  families.push_back({"reductions", 80, reductions});
  families.push_back({"integers", 60, integers});
  families.push_back({"losses", 20, losses});
}

}  // namespace poet::test
