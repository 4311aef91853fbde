// Integers, truth values and what they decide: conversions, choice and gathering.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <optional>
#include <utility>

#include "poet/base/error.h"
#include "poet/graph/broadcast.h"
#include "poet/graph/builder.h"
#include "poet/graph/diagnostics.h"
#include "poet/graph/operators/schema.h"

namespace poet {

using diagnostics::checked_axis;
using diagnostics::place;
using diagnostics::text;

ValueId GraphBuilder::constant(const std::string& name, const Shape& shape, DType dtype) {
  const ValueId v = parameter(name, shape, Persistence::optimizer_state);
  graph_.values[v].dtype = dtype;
  graph_.values[v].bytes = byte_count(shape, dtype);
  return v;
}

DType GraphBuilder::dtype(ValueId v) const {
  ensure(graph_.values.contains(v), "GraphBuilder: a value of this builder");
  return graph_.values[v].dtype;
}

DType GraphBuilder::written_type(const std::string& kind, std::size_t inputs, DType read) {
  const OperatorSchema* schema = find_operator(kind);
  ensure(schema != nullptr && schema->inputs.size() == inputs && schema->outputs.size() == 1,
         "GraphBuilder: an operator of that many operands and one result");
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

DType GraphBuilder::any_type(const std::string& op, ValueId v) const {
  ensure(graph_.values.contains(v), "GraphBuilder: a value of this builder");
  check_operand(op, v, -1, graph_.values[v].dtype);
  return graph_.values[v].dtype;
}

ValueId GraphBuilder::cast(const std::string& name, ValueId x, DType to) {
  const DType from = any_type(name, x);
  for (const DType type : {from, to}) {
    if (type == DType::int64) throw InputError(place(name), "converts between float32, int32 and uint8 only");
  }
  if (from == to)
    throw InputError(place(name), fmt::format("'{}' is {} already", graph_.values[x].name, to_string(to)));
  const ValueId y = output(name, name, {shape(x), {}}, to);
  append(name, "cast", {{"to", std::string(to_string(to))}}, {x}, {y});
  return y;
}

ValueId GraphBuilder::cumsum(const std::string& name, ValueId x, std::int64_t axis, bool exclusive,
                             bool reverse) {
  const DType type = any_type(name, x);
  (void)checked_axis(name, axis, shape(x));
  const ValueId y = output(name, name, {shape(x), {}}, type);
  append(name, "cumsum",
         {{"axis", axis},
          {"exclusive", std::int64_t{exclusive ? 1 : 0}},
          {"reverse", std::int64_t{reverse ? 1 : 0}}},
         {x}, {y});
  return y;
}

ValueId GraphBuilder::argmax(const std::string& name, ValueId x, std::int64_t axis, bool keepdims,
                             bool last) {
  (void)any_type(name, x);
  const std::size_t along = checked_axis(name, axis, shape(x));
  Shape to = shape(x);
  if (to[along] > std::numeric_limits<std::int32_t>::max())
    throw InputError(place(name), fmt::format("positions of {} do not fit int32", to[along]));
  if (keepdims) {
    to[along] = 1;
  } else {
    to.erase(to.begin() + axis);
  }
  const ValueId y = output(name, name, {std::move(to), {}}, DType::int32);
  append(name, "argmax",
         {{"axis", axis}, {"keepdims", std::int64_t{keepdims ? 1 : 0}}, {"last", std::int64_t{last ? 1 : 0}}},
         {x}, {y});
  return y;
}

ValueId GraphBuilder::where(const std::string& name, ValueId condition, ValueId a, ValueId b) {
  check_operand(name, condition, -1, DType::uint8);
  const DType type = any_type(name, a);
  check_operand(name, b, -1, type);
  Shape to = diagnostics::stretched(name, shape(condition), diagnostics::stretched(name, shape(a), shape(b)));
  const ValueId y = output(name, name, {std::move(to), {}}, type);
  append(name, "where", {}, {condition, a, b}, {y});
  return y;
}

ValueId GraphBuilder::gather(const std::string& name, ValueId x, ValueId indices, std::int64_t axis) {
  const DType type = any_type(name, x);
  check_operand(name, indices, -1, DType::int32);
  Shape to = shape(x);
  (void)checked_axis(name, axis, to);
  const auto at = to.erase(to.begin() + axis);
  const Shape& by = shape(indices);
  to.insert(at, by.begin(), by.end());
  const ValueId y = output(name, name, {std::move(to), {}}, type);
  append(name, "gather", {{"axis", axis}}, {x, indices}, {y});
  return y;
}

ValueId GraphBuilder::gather_elements(const std::string& name, ValueId x, ValueId indices,
                                      std::int64_t axis) {
  const DType type = any_type(name, x);
  check_operand(name, indices, static_cast<int>(shape(x).size()), DType::int32);
  const Shape& from = shape(x);
  const Shape to = shape(indices);
  const std::size_t along = checked_axis(name, axis, from);
  for (std::size_t i = 0; i < to.size(); ++i) {
    if (i != along && to[i] > from[i]) {
      throw InputError(place(name),
                       fmt::format("positions {} reach out of {} along axis {}", text(to), text(from), i));
    }
  }
  const ValueId y = output(name, name, {to, {}}, type);
  append(name, "gather_elements", {{"axis", axis}}, {x, indices}, {y});
  return y;
}

ValueId GraphBuilder::expand(const std::string& name, ValueId x, const Shape& to) {
  const DType type = any_type(name, x);
  if (broadcast_shape(shape(x), to) != to) {
    throw InputError(place(name), fmt::format("{} does not broadcast to {}", text(shape(x)), text(to)));
  }
  if (std::any_of(to.begin(), to.end(), [](std::int64_t d) { return d < 1; }))
    throw InputError(place(name), fmt::format("every dimension of {} must be positive", text(to)));
  const ValueId y = output(name, name, {to, {}}, type);
  append(name, "expand", {}, {x}, {y});
  return y;
}

}  // namespace poet
