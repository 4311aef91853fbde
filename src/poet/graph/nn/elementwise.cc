#include "poet/graph/nn/elementwise.h"

#include <fmt/format.h>

#include <cmath>
#include <cstddef>
#include <utility>

#include "poet/base/error.h"
#include "poet/graph/diagnostics.h"
#include "poet/graph/operators/schema.h"

namespace poet::nn {

using diagnostics::place;

namespace {

/// Of what an operator writes that reads `inputs` operands, the first of type `read`.
DType written_type(const std::string& kind, std::size_t inputs, DType read) {
  const OperatorSchema* schema = find_operator(kind);
  ensure(schema != nullptr && schema->inputs.size() == inputs && schema->outputs.size() == 1,
         "nn: an operator of that many operands and one result");
  switch (schema->outputs[0].type) {
    case 'f':
      return DType::float32;
    case 'i':
      return DType::int32;
    case 'b':
      return DType::uint8;
    default:
      return read;
  }
}

}  // namespace

ValueId unary(GraphBuilder& g, const std::string& kind, const std::string& name, ValueId x,
              Attributes attributes) {
  const DType type = written_type(kind, 1, g.any_type(name, x));
  const ValueId y = g.output(name, name, {g.shape(x), {}}, type);
  g.append(name, kind, std::move(attributes), {x}, {y});
  return y;
}

ValueId binary(GraphBuilder& g, const std::string& kind, const std::string& name, ValueId a, ValueId b) {
  const DType type = written_type(kind, 2, g.any_type(name, a));
  (void)g.any_type(name, b);
  const ValueId y = g.output(name, name, {diagnostics::stretched(name, g.shape(a), g.shape(b)), {}}, type);
  g.append(name, kind, {}, {a, b}, {y});
  return y;
}

ValueId scale(GraphBuilder& g, const std::string& name, ValueId x, double alpha, double beta) {
  if (alpha == 1.0) return unary(g, "shift", name, x, {{"beta", beta}});
  return unary(g, "scale", name, x, {{"alpha", alpha}, {"beta", beta}});
}

ValueId neg(GraphBuilder& g, const std::string& name, ValueId x) { return scale(g, name, x, -1.0); }

ValueId clip(GraphBuilder& g, const std::string& name, ValueId x, double minimum, double maximum) {
  if (!(minimum < maximum)) {
    throw InputError(place(name),
                     fmt::format("the minimum must be below the maximum, not {} and {}", minimum, maximum));
  }
  // Files have no infinite numbers.
  Attributes bounds;
  if (std::isfinite(minimum)) bounds["min"] = minimum;
  if (std::isfinite(maximum)) bounds["max"] = maximum;
  if (bounds.empty()) throw InputError(place(name), "needs a minimum or a maximum");
  return unary(g, "clip", name, x, std::move(bounds));
}

ValueId prelu(GraphBuilder& g, const std::string& name, ValueId x, ValueId slope) {
  for (const ValueId v : {x, slope}) (void)g.any_type(name, v);
  const ValueId y = g.output(name, name, {g.shape(x), {}});
  g.append(name, "prelu", {}, {x, slope}, {y});
  return y;
}

ValueId where(GraphBuilder& g, const std::string& name, ValueId condition, ValueId a, ValueId b) {
  g.check_operand(name, condition, -1, DType::uint8);
  const DType type = g.any_type(name, a);
  g.check_operand(name, b, -1, type);
  Shape to =
      diagnostics::stretched(name, g.shape(condition), diagnostics::stretched(name, g.shape(a), g.shape(b)));
  const ValueId y = g.output(name, name, {std::move(to), {}}, type);
  g.append(name, "where", {}, {condition, a, b}, {y});
  return y;
}

ValueId cast(GraphBuilder& g, const std::string& name, ValueId x, DType to) {
  const DType from = g.any_type(name, x);
  for (const DType type : {from, to}) {
    if (type == DType::int64) throw InputError(place(name), "converts between float32, int32 and uint8 only");
  }
  if (from == to)
    throw InputError(place(name), fmt::format("'{}' is {} already", g.value(x).name, to_string(to)));
  const ValueId y = g.output(name, name, {g.shape(x), {}}, to);
  g.append(name, "cast", {{"to", std::string(to_string(to))}}, {x}, {y});
  return y;
}

ValueId dropout(GraphBuilder& g, const std::string& name, ValueId x, double probability) {
  g.check_operand(name, x);
  if (!(probability >= 0 && probability < 1)) {
    throw InputError(place(name), fmt::format("the probability must be in [0, 1), not {}", probability));
  }
  const ValueId y = g.output(name, name, {g.shape(x), {}});
  const ValueId mask = g.output(name, name + ".mask", {g.shape(x), {}}, DType::uint8);
  g.append(name, "dropout", {{"p", probability}, {"seed", g.next_seed()}}, {x}, {y, mask});
  return y;
}

}  // namespace poet::nn
