#include "poet/graph/builder.h"
#include "poet/graph/diagnostics.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "poet/base/error.h"
#include "poet/graph/broadcast.h"
#include "poet/graph/operators/schema.h"

// What every operator shares, and the operators without windows or parameters. The others:
// builder_layers.cc, builder_norms.cc, builder_windows.cc, builder_recurrent.cc; copies of elements:
// builder_layout.cc.

namespace poet {

using diagnostics::place;
using diagnostics::text;

namespace {

Bytes checked_bytes(const std::string& op, const Shape& shape, DType dtype) {
  try {
    return byte_count(shape, dtype);
  } catch (const InputError& error) {
    throw InputError(place(op), error.what());
  }
}

}  // namespace

GraphBuilder::GraphBuilder(std::string graph_name) { graph_.name = std::move(graph_name); }

const Shape& GraphBuilder::shape(ValueId v) const {
  ensure(graph_.values.contains(v), "GraphBuilder: a value of this builder");
  return graph_.values[v].shape;
}

StridedShape GraphBuilder::layout(ValueId v) const {
  ensure(graph_.values.contains(v), "GraphBuilder: a value of this builder");
  return strided_shape(graph_.values[v]);
}

Graph GraphBuilder::finish() { return verified(std::exchange(graph_, Graph{})); }

ValueId GraphBuilder::parameter(const std::string& name, const Shape& shape, Persistence persistence) {
  if (std::any_of(shape.begin(), shape.end(), [](std::int64_t d) { return d < 1; })) {
    throw InputError(fmt::format("value '{}'", name),
                     fmt::format("every dimension of {} must be positive", text(shape)));
  }
  return persistent(name, name, shape, persistence);
}

void GraphBuilder::bind(const std::string& name, ValueId existing) {
  ensure(graph_.values.contains(existing), "GraphBuilder: a value of this builder");
  bound_[name] = existing;
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
  ensure(graph_.values.contains(v), "GraphBuilder: a value of this builder");
  const Value& value = graph_.values[v];
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

ValueId GraphBuilder::input(const std::string& name, const Shape& shape, DType dtype) {
  for (const std::int64_t d : shape) {
    if (d < 1)
      throw InputError(place(name), fmt::format("every dimension of {} must be positive", text(shape)));
  }
  const ValueId x = output(name, name, {shape, {}}, dtype, Persistence::input);
  append(name, "input", {}, {}, {x}).recomputable = false;
  return x;
}

ValueId GraphBuilder::unary(const std::string& kind, const std::string& name, ValueId x,
                            Attributes attributes) {
  const DType type = written_type(kind, 1, any_type(name, x));
  const ValueId y = output(name, name, {shape(x), {}}, type);
  append(name, kind, std::move(attributes), {x}, {y});
  return y;
}

ValueId GraphBuilder::dropout(const std::string& name, ValueId x, double probability) {
  check_operand(name, x, -1);
  if (!(probability >= 0 && probability < 1)) {
    throw InputError(place(name), fmt::format("the probability must be in [0, 1), not {}", probability));
  }
  const ValueId y = output(name, name, {shape(x), {}});
  const ValueId mask = output(name, name + ".mask", {shape(x), {}}, DType::uint8);
  append(name, "dropout", {{"p", probability}, {"seed", next_seed_++}}, {x}, {y, mask});
  return y;
}

ValueId GraphBuilder::matmul(const std::string& name, ValueId a, ValueId b, const MatmulOptions& options) {
  const Shape& left = shape(a);
  const Shape& right = shape(b);
  if (graph_.values[a].dtype != DType::float32 || graph_.values[b].dtype != DType::float32) {
    throw InputError(place(name), "both operands must be float32");
  }
  std::optional<Shape> leading;
  if (left.size() >= 2 && right.size() >= 2 && left.back() == right[right.size() - 2]) {
    leading = broadcast_shape(Shape(left.begin(), left.end() - 2), Shape(right.begin(), right.end() - 2));
  }
  if (!leading) {
    throw InputError(
        place(name),
        fmt::format("multiplies {} by {}: they must be (..., M, K) and (..., K, N), their leading axes equal "
                    "or broadcast",
                    text(left), text(right)));
  }
  StridedShape product{std::move(*leading), {}};
  product.shape.push_back(left[left.size() - 2]);
  product.shape.push_back(right.back());
  checked_bytes(name, product.shape, DType::float32);
  if (!options.storage_order.empty()) {
    try {
      product = stored_in_order(product.shape, options.storage_order);
    } catch (const InputError& error) {
      throw InputError(place(name), error.what());
    }
  }
  const ValueId c = output(name, name, std::move(product));
  append(name, "matmul", {{"alpha", options.alpha}}, {a, b}, {c});
  return c;
}

ValueId GraphBuilder::select(const std::string& name, ValueId x, std::int64_t index) {
  check_operand(name, x, 3);
  const Shape from = shape(x);
  if (index < 0 || index >= from[1]) {
    throw InputError(place(name), fmt::format("selects position {} of {}", index, from[1]));
  }
  const ValueId y = output(name, name, {{from[0], from[2]}, {}});
  append(name, "select", {{"index", index}}, {x}, {y});
  return y;
}

ValueId GraphBuilder::softmax_cross_entropy(const std::string& name, ValueId logits, ValueId targets) {
  check_operand(name, logits, 2);
  check_operand(name, targets, 1, DType::int32);
  if (shape(logits)[0] != shape(targets)[0]) {
    throw InputError(place(name),
                     fmt::format("{} rows of logits but {} targets", shape(logits)[0], shape(targets)[0]));
  }
  const ValueId loss = output(name, name, {{1}, {}});
  const ValueId probabilities = output(name, name + ".probabilities", {shape(logits), {}});
  append(name, "softmax_cross_entropy", {}, {logits, targets}, {loss, probabilities});
  return loss;
}

ValueId GraphBuilder::mse_loss(const std::string& name, ValueId x, ValueId targets) {
  check_operand(name, x, -1);
  check_operand(name, targets, -1);
  if (shape(x) != shape(targets)) {
    throw InputError(place(name), fmt::format("compares {} with targets of shape {}", text(shape(x)),
                                              text(shape(targets))));
  }
  const ValueId loss = output(name, name, {{1}, {}});
  append(name, "mse_loss", {}, {x, targets}, {loss});
  return loss;
}

std::vector<ValueId> GraphBuilder::opaque(const std::string& name, const std::string& what,
                                          const std::vector<ValueId>& inputs,
                                          const std::vector<TensorType>& outputs) {
  for (const ValueId v : inputs) (void)any_type(name, v);
  std::vector<ValueId> written;
  for (const TensorType& type : outputs) {
    const std::string suffix = written.empty() ? "" : fmt::format(".{}", written.size());
    written.push_back(output(name, name + suffix, {type.shape, {}}, type.dtype));
  }
  append(name, "opaque", {{"operator", what}}, inputs, written).recomputable = false;
  return written;
}

ValueId GraphBuilder::view(const std::string& name, ValueId x, const StridedShape& as) {
  ensure(element_count(as.shape) == element_count(shape(x)), "GraphBuilder: a view shows all of its storage");
  return add_view(graph_, x, as, name);
}

ValueId GraphBuilder::reshape(const std::string& name, ValueId x, const Shape& to) {
  try {
    return view(name, x, reshaped(layout(x), to));
  } catch (const InputError& error) {
    throw InputError(fmt::format("view '{}'", name), error.what());
  }
}

ValueId GraphBuilder::flatten(const std::string& name, ValueId x) {
  const Shape& from = shape(x);
  if (from.empty()) throw InputError(fmt::format("view '{}'", name), "needs at least one dimension");
  return reshape(name, x, {from[0], element_count(Shape(from.begin() + 1, from.end()))});
}

ValueId GraphBuilder::permute(const std::string& name, ValueId x, const std::vector<std::int64_t>& axes) {
  try {
    return view(name, x, permuted(layout(x), axes));
  } catch (const InputError& error) {
    throw InputError(fmt::format("view '{}'", name), error.what());
  }
}

}  // namespace poet
