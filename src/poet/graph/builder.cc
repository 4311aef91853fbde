#include "poet/graph/builder.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "poet/base/error.h"
#include "poet/graph/diagnostics.h"
#include "poet/graph/operators/schema.h"

namespace poet {

using diagnostics::checked_bytes;
using diagnostics::place;
using diagnostics::text;

GraphBuilder::GraphBuilder(std::string graph_name) { graph_.name = std::move(graph_name); }

const Value& GraphBuilder::value(ValueId v) const {
  ensure(graph_.values.contains(v), "GraphBuilder: a value of this builder");
  return graph_.values[v];
}

Graph GraphBuilder::finish() { return verified(std::exchange(graph_, Graph{})); }

ValueId GraphBuilder::input(const std::string& name, const Shape& shape, DType dtype) {
  for (const std::int64_t d : shape) {
    if (d < 1)
      throw InputError(place(name), fmt::format("every dimension of {} must be positive", text(shape)));
  }
  const ValueId x = output(name, name, {shape, {}}, dtype, Persistence::input);
  append(name, "input", {}, {}, {x}).recomputable = false;
  return x;
}

ValueId GraphBuilder::parameter(const std::string& name, const Shape& shape, Persistence persistence) {
  if (std::any_of(shape.begin(), shape.end(), [](std::int64_t d) { return d < 1; })) {
    throw InputError(fmt::format("value '{}'", name),
                     fmt::format("every dimension of {} must be positive", text(shape)));
  }
  return persistent(name, name, shape, persistence);
}

ValueId GraphBuilder::constant(const std::string& name, const Shape& shape, DType dtype) {
  const ValueId v = parameter(name, shape, Persistence::optimizer_state);
  graph_.values[v].dtype = dtype;
  graph_.values[v].bytes = byte_count(shape, dtype);
  return v;
}

void GraphBuilder::set_layout_in_file(ValueId v, FileLayout layout) {
  ensure(is_persistent(graph_.values[v].persistence), "GraphBuilder: files have persistent values");
  graph_.values[v].in_file = std::move(layout);
}

void GraphBuilder::bind(const std::string& name, ValueId existing) {
  ensure(graph_.values.contains(existing), "GraphBuilder: a value of this builder");
  bound_[name] = existing;
}

ValueId GraphBuilder::view(const std::string& name, ValueId x, const StridedShape& as) {
  ensure(element_count(as.shape) == element_count(shape(x)), "GraphBuilder: a view shows all of its storage");
  return add_view(graph_, x, as, name);
}

ValueId GraphBuilder::persistent(const std::string& op, const std::string& name, const Shape& shape,
                                 Persistence persistence) {
  if (const auto found = bound_.find(name); found != bound_.end()) {
    const Value& given = graph_.values[found->second];
    if (given.shape != shape) {
      throw InputError(place(op),
                       fmt::format("'{}' is {}, but must be {}", given.name, text(given.shape), text(shape)));
    }
    return found->second;
  }
  Value value;
  value.name = name;
  value.shape = shape;
  value.bytes = checked_bytes(op, shape, DType::float32);
  value.persistence = persistence;
  return graph_.values.push_back(std::move(value));
}

ValueId GraphBuilder::output(const std::string& op, const std::string& name, StridedShape layout, DType dtype,
                             Persistence persistence) {
  Value value;
  value.name = name;
  value.bytes = checked_bytes(op, layout.shape, dtype);
  value.shape = std::move(layout.shape);
  value.strides = std::move(layout.strides);
  value.dtype = dtype;
  value.producer = graph_.ops.next_id();
  value.persistence = persistence;
  return graph_.values.push_back(std::move(value));
}

Op& GraphBuilder::append(const std::string& name, const std::string& kind, Attributes attributes,
                         std::vector<ValueId> inputs, std::vector<ValueId> outputs,
                         std::vector<ValueId> updates) {
  Op op;
  op.name = name;
  op.kind = kind;
  op.attributes = std::move(attributes);
  op.inputs = std::move(inputs);
  op.outputs = std::move(outputs);
  op.updates = std::move(updates);
  if (!op.updates.empty()) op.pass = Pass::update;
  op.recomputable = op.updates.empty();
  const OpId id = graph_.ops.push_back(std::move(op));
  check_operands(graph_, id);
  return graph_.ops[id];
}

void GraphBuilder::check_operand(const std::string& op, ValueId v, int rank, DType dtype) const {
  const Value& value = this->value(v);
  if (value.dtype != dtype) {
    throw InputError(place(op), fmt::format("'{}' must be {}, not {}", value.name, to_string(dtype),
                                            to_string(value.dtype)));
  }
  if (!value.strides.empty()) {
    throw InputError(
        place(op),
        fmt::format("'{}' must be row-major: only matmul and transpose read strided views", value.name));
  }
  if (rank >= 0 && value.shape.size() != static_cast<std::size_t>(rank)) {
    throw InputError(
        place(op), fmt::format("'{}' must have {} dimensions, not {}", value.name, rank, text(value.shape)));
  }
}

DType GraphBuilder::any_type(const std::string& op, ValueId v) const {
  check_operand(op, v, -1, dtype(v));
  return dtype(v);
}

}  // namespace poet
