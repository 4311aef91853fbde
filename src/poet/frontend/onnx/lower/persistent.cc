#include "poet/frontend/onnx/lower/persistent.h"

#include <fmt/format.h>

#include <algorithm>

#include "poet/base/error.h"
#include "poet/frontend/onnx/lower/constants/shape_rules.h"
#include "poet/frontend/onnx/lower/lowering.h"
#include "poet/frontend/onnx/lower/stored_uses.h"
#include "poet/graph/nn.h"

namespace poet::onnx {
namespace {

/// Returns the transpose of the file's matrix, with shape `stored`.
Tensor transposed_matrix(const Tensor& matrix, const Shape& stored) {
  Tensor out = matrix;
  out.shape = stored;
  const auto rows = static_cast<std::size_t>(stored.at(0));
  const auto columns = static_cast<std::size_t>(stored.at(1));
  for (std::size_t i = 0; i < out.reals.size(); ++i)
    out.reals[i] = matrix.reals[i % columns * rows + i / columns];
  return out;
}

/// Adds the parameter or constant.
ValueId newly_stored(Lowering& net, const Fixed& w, const Shape& shape, bool transposed) {
  for (const std::int64_t d : shape) {
    if (d < 1) throw InputError(fmt::format("the weight '{}' is {}", w.name, shown(shape)));
  }
  GraphBuilder& graph = net.builder;
  PersistentValues& all = net.persistent;
  const Type type = w.tensor.type;
  if (type == Type::real && w.tensor.type_name != "float")
    net.notices.add(fmt::format("{} weights are taken as float32", w.tensor.type_name));
  const Persistence persistence = w.role.trains ? Persistence::parameter : Persistence::optimizer_state;
  const ValueId id = type == Type::real ? graph.parameter(w.name, shape, persistence)
                                        : graph.constant(w.name, shape, dtype_of(type));
  all.stored[w.name] = {id, shape, transposed};
  all.reasons[w.name] = w.role.why;
  if (w.in_file != shape || transposed) graph.set_layout_in_file(id, {w.in_file, transposed});
  // In a file without weights a fill stands for one; it is no initial value.
  const bool stands_for_weight = w.role.trains && w.tensor.fill && net.roles.without_weights;
  const bool is_known = (w.tensor.known || w.tensor.fill) && !stands_for_weight;
  if (is_known && !net.model.initializers.contains(w.name) && !net.persistent.placements.contains(w.name))
    all.contents[w.name] = transposed ? transposed_matrix(w.tensor, shape) : w.tensor;
  return id;
}

bool is_input_of(const Model& model, const std::string& name) {
  return std::any_of(model.inputs.begin(), model.inputs.end(),
                     [&](const Declaration& input) { return input.name == name; });
}

const Fixed& real_weight(const Lowering& net, const Node& node, std::size_t i) {
  const Fixed* w = fixed_of(net, node, i);
  if (w == nullptr || w->tensor.type != Type::real) {
    const std::string name = has_input(node, i) ? node.inputs[i] : "";
    const char* remedy =
        is_input_of(net.model, name)
            ? ", not an input of the model; export the weights as initialisers (export_params=True)"
            : "";
    throw InputError(fmt::format(
        "input {} ('{}') must be a weight: an initialiser or constant of real numbers{}", i, name, remedy));
  }
  return *w;
}

}  // namespace

ValueId stored_value(Lowering& net, const Node& node, const Fixed& w, const Shape& shape, bool transposed) {
  const auto found = net.persistent.stored.find(w.name);
  if (found == net.persistent.stored.end()) return newly_stored(net, w, shape, transposed);
  const PersistentValues::StoredWeight& stored = found->second;
  if (stored.shape == shape && stored.transposed == transposed) return stored.id;
  GraphBuilder& graph = net.builder;
  const std::string name = fmt::format("{}.{}", name_of(node), w.name);
  // The file's order in between: what is transposed is so of a matrix.
  const Shape matrix = transposed ? Shape{shape[1], shape[0]} : shape;
  ValueId seen = stored.transposed ? nn::permute(graph, name + ".T", stored.id, {1, 0}) : stored.id;
  if (graph.shape(seen) != matrix)
    seen =
        nn::reshape(graph, name + (stored.transposed ? ".shape" : ""), row_major(graph, name, seen), matrix);
  return transposed ? nn::permute(graph, name + (stored.transposed ? ".seen" : ".T"), seen, {1, 0}) : seen;
}

ValueId constant_of(Lowering& net, const Node& node, const Fixed& w) {
  PersistentValues& all = net.persistent;
  net.notices.add("constants of the file stay in RAM and do not train");
  const Tensor& t = w.tensor;
  if (!t.known || t.type == Type::real || all.stored.contains(w.name))
    return stored_value(net, node, w, t.shape);
  for (const auto& [like, id] : all.constants) {
    if (like.type != t.type || like.integers != t.integers) continue;
    if (like.shape == t.shape) return id;
    return nn::reshape(net.builder, fmt::format("{}.{}", name_of(node), w.name), id, t.shape);
  }
  const ValueId id = stored_value(net, node, w, t.shape);
  all.constants.emplace_back(t, id);
  return id;
}

ValueId add_constant(Lowering& net, const std::string& name, Tensor contents) {
  const ValueId id = net.builder.constant(name, contents.shape, dtype_of(contents.type));
  net.persistent.reasons[name] = Role{}.why;
  net.persistent.contents[name] = std::move(contents);
  return id;
}

ValueId add_filled(Lowering& net, const std::string& name, const Shape& shape, double number) {
  Tensor tensor;
  tensor.shape = shape;
  tensor.fill = number;
  return add_constant(net, name, std::move(tensor));
}

ValueId weight_of(Lowering& net, const Node& node, std::size_t i, const Shape& as_stored) {
  const Runtime* computed = has_input(node, i) ? std::get_if<Runtime>(&operand_of(net, node, i)) : nullptr;
  // A model input is not a weight, although files without weights declare weights as inputs.
  if (computed != nullptr && computed->type == Type::real && !is_input_of(net.model, node.inputs[i])) {
    const ValueId w = row_major(net, node, i);
    if (net.builder.shape(w) == as_stored) return w;
    if (element_count(net.builder.shape(w)) == element_count(as_stored))
      return nn::reshape(net.builder, fmt::format("{}.{}.weight", name_of(node), i), w, as_stored);
    throw InputError(fmt::format("the weight '{}' is {}, but must be {}", node.inputs[i],
                                 shown(net.builder.shape(w)), shown(as_stored)));
  }
  const Fixed& w = real_weight(net, node, i);
  if (element_count(w.tensor.shape) != element_count(as_stored)) {
    throw InputError(fmt::format("the weight '{}' is {}, but must be {}", w.name, shown(w.tensor.shape),
                                 shown(as_stored)));
  }
  const std::string name = fmt::format("{}.{}", name_of(node), w.name);
  if (!w.transposed) return row_major(net.builder, name, stored_value(net, node, w, as_stored));
  const ValueId seen = row_major(net.builder, name, stored_value(net, node, w, w.tensor.shape, true));
  return w.tensor.shape == as_stored ? seen : nn::reshape(net.builder, name + ".weight", seen, as_stored);
}

ValueId moving_state(Lowering& net, const Node& node, std::size_t i, std::int64_t size) {
  if (is_runtime(net, node, i)) {
    throw InputError(
        fmt::format("input {} ('{}') is computed in every step, but must be running statistics of the "
                    "file; export the layer with track_running_stats=True",
                    i, node.inputs[i]));
  }
  const Fixed& w = real_weight(net, node, i);
  if (w.transposed || element_count(w.tensor.shape) != size)
    throw InputError(
        fmt::format("the weight '{}' is {}, but must be ({})", w.name, shown(w.tensor.shape), size));
  Fixed own = w;
  own.role = {false, "running statistics, which the layer updates"};
  if (uses_through_views(net.uses, w.name).size() >= 2) {
    net.notices.add("running statistics that the file shares are kept once for each BatchNormalization");
    own.name = fmt::format("{}.{}", name_of(node), w.name);
    net.persistent.placements[own.name] = {node.index, i};
  }
  return stored_value(net, node, own, {size});
}

bool stored_as_out_in(const Lowering& net, const Node& node, std::size_t i, bool read_as_out_in) {
  const Fixed& w = real_weight(net, node, i);
  const auto found = net.persistent.stored.find(w.name);
  return found == net.persistent.stored.end() || found->second.transposed == (read_as_out_in == w.transposed);
}

ValueId linear_weight(Lowering& net, const Node& node, std::size_t i, bool read_as_out_in) {
  const Fixed& w = real_weight(net, node, i);
  if (w.tensor.shape.size() != 2) throw InputError(fmt::format("the weight '{}' must be a matrix", w.name));
  Shape stored = w.tensor.shape;
  if (!read_as_out_in) std::swap(stored[0], stored[1]);
  const bool transposed = read_as_out_in == w.transposed;
  if (transposed)
    net.notices.add(
        "weights of linear layers that the file stores as (in, out) are stored as (out, in) in RAM");
  return stored_value(net, node, w, stored, transposed);
}

}  // namespace poet::onnx
