// Weights, moving statistics and constants of the file as persistent values.

#include <fmt/format.h>

#include <algorithm>

#include "poet/base/error.h"
#include "poet/frontend/onnx/lower/walk.h"
#include "poet/graph/nn.h"

namespace poet::onnx {
namespace {

/// The elements of a matrix that the file has the other way round, as one of shape `stored`.
Tensor transposed_matrix(const Tensor& matrix, const Shape& stored) {
  Tensor out = matrix;
  out.shape = stored;
  const auto rows = static_cast<std::size_t>(stored.at(0));
  const auto columns = static_cast<std::size_t>(stored.at(1));
  for (std::size_t i = 0; i < out.reals.size(); ++i)
    out.reals[i] = matrix.reals[i % columns * rows + i / columns];
  return out;
}

}  // namespace

/// A value for a constant of the file; where contents are known, equal ones share it.
ValueId Walk::constant(const Node& node, const Fixed& w) {
  notice("constants of the file stay in RAM and do not train");
  const Tensor& t = w.tensor;
  if (!t.known || t.type == Type::real || parameters_.contains(w.name))
    return parameter(node, w, t.shape, Persistence::optimizer_state, false);
  for (const auto& [like, id] : constants_) {
    if (like.type != t.type || like.integers != t.integers) continue;
    if (like.shape == t.shape) return id;
    return nn::reshape(graph_, fmt::format("{}.{}", name_of(node), w.name), id, t.shape);
  }
  const ValueId id = parameter(node, w, t.shape, Persistence::optimizer_state, false);
  constants_.emplace_back(t, id);
  return id;
}

ValueId Walk::constant(const std::string& name, Tensor contents) {
  const ValueId id = graph_.constant(name, contents.shape, dtype_of(contents.type));
  contents_[name] = std::move(contents);
  return id;
}

const Fixed& Walk::real_weight(const Node& node, std::size_t i) const {
  const Fixed* w = fixed(node, i);
  if (w == nullptr || w->tensor.type != Type::real) {
    const std::string name = has(node, i) ? node.inputs[i] : "";
    const bool is_input = std::any_of(model_.inputs.begin(), model_.inputs.end(),
                                      [&](const Declaration& input) { return input.name == name; });
    const char* remedy = "";
    if (is_input) {
      remedy = ", not an input of the model; export the weights as initialisers (export_params=True)";
    }
    throw InputError(fmt::format(
        "input {} ('{}') must be a weight: an initialiser or constant of real numbers{}", i, name, remedy));
  }
  return *w;
}

ValueId Walk::weight(const Node& node, std::size_t i, const Shape& as_stored, Persistence persistence) {
  const Runtime* computed = has(node, i) ? std::get_if<Runtime>(&operand(node, i)) : nullptr;
  // An input of the model is no weight, although files without their weights say so.
  const bool fed = computed != nullptr &&
                   std::any_of(model_.inputs.begin(), model_.inputs.end(),
                               [&](const Declaration& input) { return input.name == node.inputs[i]; });
  if (computed != nullptr && computed->type == Type::real && persistence == Persistence::parameter && !fed) {
    const ValueId w = row_major(node, i);
    if (graph_.shape(w) == as_stored) return w;
    if (element_count(graph_.shape(w)) == element_count(as_stored))
      return nn::reshape(graph_, fmt::format("{}.{}.weight", name_of(node), i), w, as_stored);
    throw InputError(fmt::format("the weight '{}' is {}, but must be {}", node.inputs[i],
                                 shown(graph_.shape(w)), shown(as_stored)));
  }
  const Fixed& w = real_weight(node, i);
  if (w.transposed || element_count(w.tensor.shape) != element_count(as_stored)) {
    throw InputError(fmt::format("the weight '{}' is {}{}, but must be {}", w.name, shown(w.tensor.shape),
                                 w.transposed ? " (transposed)" : "", shown(as_stored)));
  }
  return row_major(fmt::format("{}.{}", name_of(node), w.name),
                   parameter(node, w, as_stored, persistence, false));
}

ValueId Walk::moving_state(const Node& node, std::size_t i, std::int64_t size) {
  if (is_runtime(node, i)) {
    throw InputError(
        fmt::format("input {} ('{}') is computed in every step, but must be running statistics of the "
                    "file; export the layer with track_running_stats=True",
                    i, node.inputs[i]));
  }
  const Fixed& w = real_weight(node, i);
  const std::vector<const Node*> all = readers(w.name);
  const auto shared =
      std::count_if(all.begin(), all.end(), [](const Node* n) { return n->op_type != "Identity"; });
  if (shared < 2) return weight(node, i, {size}, Persistence::optimizer_state);
  notice("running statistics that the file shares are kept once for each BatchNormalization");
  Fixed own = w;
  own.name = fmt::format("{}.{}", name_of(node), w.name);
  if (own.transposed || element_count(own.tensor.shape) != size) return weight(node, i, {size});  // throws
  place(own.name, node, i);
  return parameter(node, own, {size}, Persistence::optimizer_state, false);
}

bool Walk::stored_as_out_in(const Node& node, std::size_t i, bool read_as_out_in) const {
  const Fixed& w = real_weight(node, i);
  const auto found = parameters_.find(w.name);
  return found == parameters_.end() || found->second.transposed == (read_as_out_in == w.transposed);
}

ValueId Walk::linear_weight(const Node& node, std::size_t i, bool read_as_out_in) {
  const Fixed& w = real_weight(node, i);
  if (w.tensor.shape.size() != 2) throw InputError(fmt::format("the weight '{}' must be a matrix", w.name));
  Shape stored = w.tensor.shape;
  if (!read_as_out_in) std::swap(stored[0], stored[1]);
  const bool transposed = read_as_out_in == w.transposed;
  if (transposed)
    notice("weights of linear layers that the file stores as (in, out) are stored as (out, in)");
  return parameter(node, w, stored, Persistence::parameter, transposed);
}

ValueId Walk::parameter(const Node& node, const Fixed& w, const Shape& stored, Persistence persistence,
                        bool transposed) {
  const auto found = parameters_.find(w.name);
  if (found != parameters_.end()) {
    if (found->second.transposed != transposed) {
      const std::string name = fmt::format("{}.{}.T", name_of(node), w.name);
      const ValueId seen =
          nn::permute(graph_, name, found->second.id, {1, 0});  // only matrices are transposed
      if (graph_.shape(seen) == stored) return seen;
      return nn::reshape(graph_, name + ".shape", row_major(name, seen), stored);
    }
    if (found->second.shape == stored) return found->second.id;
    return nn::reshape(graph_, fmt::format("{}.{}", name_of(node), w.name), found->second.id, stored);
  }
  for (const std::int64_t d : stored) {
    if (d < 1) throw InputError(fmt::format("the weight '{}' is {}", w.name, shown(stored)));
  }
  const Type type = w.tensor.type;
  const ValueId id = type == Type::real ? graph_.parameter(w.name, stored, persistence)
                                        : graph_.constant(w.name, stored, dtype_of(type));
  parameters_[w.name] = {id, stored, transposed};
  // Files that go without their weights have one number in place of each: that is nothing to start from.
  const bool stands_for_weight = persistence == Persistence::parameter && w.tensor.fill;
  const bool is_known = (w.tensor.known || w.tensor.fill) && !stands_for_weight;
  if (is_known && !model_.initializers.contains(w.name))
    contents_[w.name] = transposed ? transposed_matrix(w.tensor, stored) : w.tensor;
  return id;
}

bool Walk::is_zero_state(const Node& node, std::size_t i) {
  if (zeros_.contains(node.inputs[i])) return true;
  const auto stored = model_.initializers.find(node.inputs[i]);
  if (stored == model_.initializers.end() || !stored->second.zeros) return false;
  notice("initial states of zeros that recurrent layers read from the file do not train");
  return true;
}

}  // namespace poet::onnx
