#include "poet/frontend/onnx/lower/persistent.h"

#include <fmt/format.h>

#include <algorithm>

#include "poet/base/error.h"
#include "poet/frontend/onnx/lower/constants/shape_rules.h"
#include "poet/frontend/onnx/lower/lowering.h"
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

ValueId stored_value(Lowering& net, const Node& node, const Fixed& w, const Shape& stored,
                     Persistence persistence, bool transposed) {
  GraphBuilder& graph = net.builder;
  PersistentValues& all = net.persistent;
  const auto found = all.stored.find(w.name);
  if (found != all.stored.end()) {
    if (found->second.transposed != transposed) {
      const std::string name = fmt::format("{}.{}.T", name_of(node), w.name);
      // Only matrices are transposed.
      const ValueId seen = nn::permute(graph, name, found->second.id, {1, 0});
      if (graph.shape(seen) == stored) return seen;
      return nn::reshape(graph, name + ".shape", row_major(graph, name, seen), stored);
    }
    if (found->second.shape == stored) return found->second.id;
    return nn::reshape(graph, fmt::format("{}.{}", name_of(node), w.name), found->second.id, stored);
  }
  for (const std::int64_t d : stored) {
    if (d < 1) throw InputError(fmt::format("the weight '{}' is {}", w.name, shown(stored)));
  }
  const Type type = w.tensor.type;
  if (type == Type::real && w.tensor.type_name != "float")
    net.notices.add(fmt::format("{} weights are taken as float32", w.tensor.type_name));
  const ValueId id = type == Type::real ? graph.parameter(w.name, stored, persistence)
                                        : graph.constant(w.name, stored, dtype_of(type));
  all.stored[w.name] = {id, stored, transposed};
  const auto initializer = net.model.initializers.find(w.name);
  Shape in_file = initializer != net.model.initializers.end() ? initializer->second.shape : w.tensor.shape;
  if (initializer == net.model.initializers.end() && w.transposed) std::swap(in_file[0], in_file[1]);
  if (in_file != stored || transposed) graph.set_layout_in_file(id, {in_file, transposed});
  // Files without weights have one number in place of each weight; it is not an initial value.
  const bool stands_for_weight = persistence == Persistence::parameter && w.tensor.fill;
  const bool is_known = (w.tensor.known || w.tensor.fill) && !stands_for_weight;
  if (is_known && !net.model.initializers.contains(w.name))
    all.contents[w.name] = transposed ? transposed_matrix(w.tensor, stored) : w.tensor;
  return id;
}

ValueId constant_of(Lowering& net, const Node& node, const Fixed& w) {
  PersistentValues& all = net.persistent;
  net.notices.add("constants of the file stay in RAM and do not train");
  const Tensor& t = w.tensor;
  if (!t.known || t.type == Type::real || all.stored.contains(w.name))
    return stored_value(net, node, w, t.shape, Persistence::optimizer_state);
  for (const auto& [like, id] : all.constants) {
    if (like.type != t.type || like.integers != t.integers) continue;
    if (like.shape == t.shape) return id;
    return nn::reshape(net.builder, fmt::format("{}.{}", name_of(node), w.name), id, t.shape);
  }
  const ValueId id = stored_value(net, node, w, t.shape, Persistence::optimizer_state);
  all.constants.emplace_back(t, id);
  return id;
}

ValueId add_constant(Lowering& net, const std::string& name, Tensor contents) {
  const ValueId id = net.builder.constant(name, contents.shape, dtype_of(contents.type));
  net.persistent.contents[name] = std::move(contents);
  return id;
}

ValueId weight_of(Lowering& net, const Node& node, std::size_t i, const Shape& as_stored,
                  Persistence persistence) {
  const Runtime* computed = has_input(node, i) ? std::get_if<Runtime>(&operand_of(net, node, i)) : nullptr;
  // A model input is not a weight, although files without weights declare weights as inputs.
  if (computed != nullptr && computed->type == Type::real && persistence == Persistence::parameter &&
      !is_input_of(net.model, node.inputs[i])) {
    const ValueId w = row_major(net, node, i);
    if (net.builder.shape(w) == as_stored) return w;
    if (element_count(net.builder.shape(w)) == element_count(as_stored))
      return nn::reshape(net.builder, fmt::format("{}.{}.weight", name_of(node), i), w, as_stored);
    throw InputError(fmt::format("the weight '{}' is {}, but must be {}", node.inputs[i],
                                 shown(net.builder.shape(w)), shown(as_stored)));
  }
  const Fixed& w = real_weight(net, node, i);
  if (w.transposed || element_count(w.tensor.shape) != element_count(as_stored)) {
    throw InputError(fmt::format("the weight '{}' is {}{}, but must be {}", w.name, shown(w.tensor.shape),
                                 w.transposed ? " (transposed)" : "", shown(as_stored)));
  }
  return row_major(net.builder, fmt::format("{}.{}", name_of(node), w.name),
                   stored_value(net, node, w, as_stored, persistence));
}

ValueId moving_state(Lowering& net, const Node& node, std::size_t i, std::int64_t size) {
  if (is_runtime(net, node, i)) {
    throw InputError(
        fmt::format("input {} ('{}') is computed in every step, but must be running statistics of the "
                    "file; export the layer with track_running_stats=True",
                    i, node.inputs[i]));
  }
  const Fixed& w = real_weight(net, node, i);
  const std::vector<const Node*>& all = readers(net.uses, w.name);
  const auto shared =
      std::count_if(all.begin(), all.end(), [](const Node* n) { return n->op_type != "Identity"; });
  if (shared < 2) return weight_of(net, node, i, {size}, Persistence::optimizer_state);
  net.notices.add("running statistics that the file shares are kept once for each BatchNormalization");
  Fixed own = w;
  own.name = fmt::format("{}.{}", name_of(node), w.name);
  if (own.transposed || element_count(own.tensor.shape) != size)
    return weight_of(net, node, i, {size});  // throws
  net.persistent.placements[own.name] = {node.index, i};
  return stored_value(net, node, own, {size}, Persistence::optimizer_state);
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
  return stored_value(net, node, w, stored, Persistence::parameter, transposed);
}

}  // namespace poet::onnx
