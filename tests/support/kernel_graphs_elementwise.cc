// Activations, arithmetic with operands that broadcast, integers and truth values, losses, reductions.

#include <algorithm>
#include <limits>

#include "poet/graph/nn.h"
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
  const ValueId positive = nn::scale(g, "positive", nn::unary(g, "sigmoid", "of_positive", x), 2.0, 0.25);
  std::vector<ValueId> all = {
      nn::clip(g, "clip", x, -0.5, 0.75),
      nn::clip(g, "at_most", x, -std::numeric_limits<double>::infinity(), 0.5),
      nn::scale(g, "scale", x, -1.5, 0.25),
      nn::scale(g, "shift", x, 1.0, 0.3),
      nn::unary(g, "pow", "square", x, {{"exponent", 2.0}}),
      nn::dropout(g, "dropout", x, 0.3),
  };
  const ValueId wide = nn::scale(g, "wide", x, 5.0);
  for (const FunctionRow& row : function_rows()) {
    using In = FunctionRow::Domain;
    const ValueId of = row.domain == In::positive ? positive : row.domain == In::wide ? wide : x;
    if (row.slope != nullptr) all.push_back(nn::unary(g, row.kind, row.kind, of, row.attributes));
  }
  if (!shape.empty()) {
    all.push_back(nn::softmax(g, "softmax", x));
    all.push_back(nn::log_softmax(g, "log_softmax", x));
  }
  ValueId steps = nn::unary(
      g, "sign", "sign",
      nn::unary(
          g, "round", "round",
          nn::scale(g, "halves", nn::unary(g, "floor", "floor", nn::unary(g, "ceil", "ceil", x)), 0.5)));
  ValueId sum = nn::mul(g, "steps", steps, x);
  for (std::size_t i = 0; i < all.size(); ++i) sum = nn::add(g, "sum" + std::to_string(i), all[i], sum);
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
  const ValueId positive = nn::scale(g, "above", nn::unary(g, "sigmoid", "gate", b), 1.0, 0.5);
  ValueId y =
      nn::add(g, "add", nn::sub(g, "sub", a, nn::mul(g, "mul", b, whole)), nn::sub(g, "other", whole, a));
  y = nn::add(g, "ratio", nn::div(g, "div", y, positive), nn::div(g, "small", a, positive));
  y = nn::prelu(g, "prelu", y, g.parameter("slope.weight", squeezed(draw, shape)));
  const ValueId condition = nn::binary(g, "less", "less", a, b);
  y = nn::add(g, "chosen", y, nn::where(g, "where", condition, whole, b));
  y = nn::add(g, "chosen2", y,
              nn::where(g, "where2", g.input("c", squeezed(draw, shape), DType::uint8), a, whole));
  return training_step(g, nn::add(g, "stretched", y, nn::expand(g, "expand", a, shape)));
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
  const ValueId few = nn::clip(g, "few", x, -0.5, 0.5);
  ValueId y = nn::add(g, "sums", nn::reduce(g, "reduce_sum", "sum", x, axes, keep),
                      nn::reduce(g, "reduce_mean", "mean", x, axes, keep));
  y = nn::add(g, "extremes", y,
              nn::sub(g, "range", nn::reduce(g, "reduce_max", "max", few, axes, keep),
                      nn::reduce(g, "reduce_min", "min", few, axes, keep)));
  const std::int64_t axis = draw(0, rank - 1);
  const ValueId sums = nn::cumsum(g, "cumsum", nn::cumsum(g, "before", x, axis, draw.half(), draw.half()),
                                  draw(0, rank - 1), draw.half(), draw.half());
  const ValueId flat = nn::reshape(g, "flat", sums, {element_count(shape)});
  const ValueId all = nn::reduce(g, "reduce_sum", "all", flat, {0}, false);
  return training_step(g, nn::add(g, "y", y, all));
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
  ValueId divisor = nn::scale(g, "one_more", b, 1.0, 1.0);
  divisor = nn::mul(g, "signed", divisor,
                    nn::scale(g, "sign", nn::cast(g, "c_as_int", c, DType::int32), 2.0, -1.0));
  ValueId whole = nn::sub(g, "difference", nn::mul(g, "product", nn::scale(g, "seven", a, -7.0, 3.0), a), b);
  whole = nn::add(g, "sum", nn::binary(g, "int_div", "quotient", whole, divisor),
                  nn::binary(g, "mod", "remainder", whole, divisor));
  const auto rank = static_cast<std::int64_t>(shape.size());
  whole = nn::cumsum(g, "cumsum", whole, draw(0, rank - 1), draw.half(), draw.half());
  ValueId mask = nn::binary(g, "logical_or", "or", nn::binary(g, "less", "less", a, b),
                            nn::binary(g, "greater_or_equal", "ge", x, z));
  mask = nn::binary(g, "logical_and", "and", mask,
                    nn::unary(g, "logical_not", "not", nn::binary(g, "equal", "equal", whole, a)));
  mask = nn::binary(g, "logical_xor", "xor", mask, nn::binary(g, "greater", "greater", z, x));
  mask = nn::binary(g, "logical_or", "kept", mask, nn::binary(g, "less_or_equal", "le", a, b));
  mask = nn::binary(g, "logical_xor", "given", mask, nn::binary(g, "equal", "same", c, mask));
  mask = nn::binary(g, "logical_and", "real", mask, nn::binary(g, "equal", "reals", x, x));
  const ValueId most = nn::argmax(g, "argmax", nn::add(g, "few", x, nn::clip(g, "c1", x, -0.5, 0.5)),
                                  draw(0, rank - 1), true, draw.half());
  const ValueId most_whole = nn::argmax(g, "argmax_int", a, draw(0, rank - 1), true, draw.half());
  whole = nn::where(g, "one_of_two", mask, whole,
                    nn::unary(g, "abs", "abs", nn::add(g, "places", most, most_whole)));
  const ValueId truncated = nn::cast(g, "truncated", nn::scale(g, "large", x, 3.0), DType::int32);
  const ValueId truth = nn::cast(g, "truth", truncated, DType::uint8);
  ValueId y = nn::add(g, "with_whole", x, nn::cast(g, "as_real", whole, DType::float32));
  y = nn::add(
      g, "with_truth", y,
      nn::cast(g, "truth_as_real", nn::binary(g, "logical_and", "both", truth, mask), DType::float32));
  return training_step(g, nn::where(g, "chosen", mask, y, x));
}

Graph losses(std::uint64_t seed) {
  Draws draw(seed);
  GraphBuilder g("losses");
  const std::int64_t rows = draw(1, 40);
  const std::int64_t classes = draw(3, 30);
  const ValueId x = nn::scale(g, "wide", g.parameter("x.weight", {rows, classes}), 20.0);
  nn::softmax_cross_entropy(g, "loss", x, g.input("targets", {rows}, DType::int32));
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
