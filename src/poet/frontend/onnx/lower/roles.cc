#include "poet/frontend/onnx/lower/roles.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>

#include "poet/frontend/onnx/lower/computed.h"
#include "poet/frontend/onnx/lower/generated_names.h"
#include "poet/frontend/onnx/lower/stored_uses.h"
#include "poet/frontend/onnx/lower/tied.h"
#include "poet/frontend/onnx/lower/views.h"
#include "poet/frontend/onnx/lower/weights_in_nodes.h"
#include "poet/frontend/onnx/lower/zero_states.h"

namespace poet::onnx {
namespace {

/// Returns whether PyTorch's newer exporter has named it after a product of matrices.
bool is_product(const std::string& name) {
  static const std::set<std::string_view> functions = {"addmm", "bmm", "linear", "matmul", "mm"};
  return functions.contains(stem(name));
}

/// Returns whether a tensor is a bias or scale by its name, as "conv.bias": a list, under a module's name.
bool is_named_bias(const Model& model, const std::string& name, const Tensor& tensor) {
  const std::string last = name.substr(name.find_last_of("./") + 1);
  return tensor.shape.size() == 1 && !is_generated(model, name) &&
         (last.find("bias") != std::string::npos || last.find("weight") != std::string::npos);
}

/// Returns whether PyTorch's older exporter reads the scale or shift of a group normalisation there: of one
/// without them it writes no such node.
bool is_of_group_norm(const Uses& uses, const Use& use) {
  if (use.node->inputs.size() != 2) return false;
  const Node* other = writer(uses, use.node->inputs[1 - use.input]);
  if (use.node->op_type == "Add" && other != nullptr && other->op_type == "Mul")
    return is_of_group_norm(uses, {other, 0}) || is_of_group_norm(uses, {other, 1});
  const bool is_reshaped = other != nullptr && other->op_type == "Reshape" && !other->inputs.empty();
  if (use.node->op_type != "Mul" || !is_reshaped) return false;
  const Node* normalised = writer(uses, other->inputs[0]);
  return normalised != nullptr && normalised->op_type == "InstanceNormalization";
}

std::string shown_number(double x) { return x == 0 ? "zeros" : x == 1 ? "ones" : "one number everywhere"; }

constexpr const char* kPatterned = "few numbers over and over or infinite ones, as formulas make them";
constexpr const char* kNamedByExporter = ", named by the exporter";

class Decision {
 public:
  Decision(const Model& model, const Uses& uses, const ImportOptions& options)
      : model_(model), uses_(uses), options_(options), in_nodes_(weights_in_nodes(model, uses)) {}

  [[nodiscard]] bool without_weights() const { return in_nodes_.are && in_nodes_.by_fills; }

  [[nodiscard]] Role of_initializer(const std::string& name, const Tensor& tensor) const {
    const auto origin = model_.origins.find(name);
    const bool said = origin != model_.origins.end();
    const std::vector<Use> uses = uses_through_views(uses_, name);
    const auto every = [&](auto is) { return !uses.empty() && std::all_of(uses.begin(), uses.end(), is); };
    const auto some = [&](auto is) { return std::any_of(uses.begin(), uses.end(), is); };
    if (every(is_statistics)) return {false, "running statistics, which the layer updates"};
    // A module's bound may be a parameter: it then is read as the smaller or larger of two.
    const bool generated = is_generated(model_, name);
    const bool may_train = options_.trained.contains(name) || (said && origin->second == Origin::parameter) ||
                           (!said && model_.producer == "pytorch" && !generated);
    if (some([&](const Use& use) { return is_setting(use) && !(may_train && is_bound(use)); }))
      return {false, "a setting of an operator"};
    if (options_.trained.contains(name)) return {true, "--trainable names it"};
    if (said && origin->second == Origin::parameter) return {true, "the file says that it is a parameter"};
    if (said && origin->second == Origin::buffer) return {false, "the file says that it is a buffer"};
    if (said && origin->second == Origin::folded_of_parameter) {
      // The first state of a recurrent layer times its matrix comes to zeros, which no module has.
      if (tensor.fill == 0.0 && is_product(name) && !every(is_filter))
        return {false, shown_number(0) + kNamedByExporter};
      return {true, "the file says that it was computed of parameters"};
    }
    if (said && origin->second == Origin::folded_of_constants)
      return {false, "the file says that it was computed of buffers and constants"};
    if (every(is_compared)) return {false, "only compared, so that it has no gradient"};
    // A linear layer's weight, which the exporter has transposed, may begin as zeros or as an identity.
    const bool of_layer = generated && every(is_filter);
    const bool is_surely =
        some(is_only_weight) || is_named_bias(model_, name, tensor) || some([&](const Use& use) {
          return is_of_group_norm(uses_, use) || (model_.has_scoped_names && is_bias(use));
        });
    // Operators read tables of coordinates and the like as data, first.
    const auto is_no_data = [](const Use& use) { return use.input > 0 && is_weight(use); };
    if (tensor.patterned && !is_surely && !(of_layer && is_of_layer(name)) &&
        (generated || !every(is_no_data)))
      return {false, kPatterned};
    if (is_table(model_, name)) return {false, "named after a function that makes tables"};
    if (generated && tensor.fill && !of_layer && !is_surely)
      return {false, shown_number(*tensor.fill) + kNamedByExporter};
    if (tensor.fill == 0.0 && every([](const Use& use) { return is_initial_state(*use.node, use.input); }))
      return {false, "zeros, the initial state of a layer"};
    // Parameters of PyTorch's modules have names of their own, its numbers do not.
    const bool named = model_.producer == "pytorch" && !generated;
    if (element_count(tensor.shape) == 1 && !named && !some(is_weight)) return {false, "a single number"};
    return {true, "an initialiser of real numbers"};
  }

  [[nodiscard]] Role of_constant(const std::string& name, const Tensor* tensor) const {
    if (options_.trained.contains(name)) return {true, "--trainable names it"};
    const std::vector<Use> uses = uses_through_views(uses_, name);
    const bool one = tensor == nullptr || element_count(tensor->shape) == 1;
    if (in_nodes_.are && !one && !tensor->patterned && !tensor->fill &&
        std::any_of(uses.begin(), uses.end(), is_weight)) {
      return {true, "a Constant node read as a weight: the file keeps its weights in nodes"};
    }
    return {false, "a Constant node"};
  }

  [[nodiscard]] Role of_fill(const std::string& name) const {
    if (options_.trained.contains(name)) return {true, "--trainable names it"};
    if (without_weights()) return {true, "stands for a weight: the file has none"};
    return {false, "a ConstantOfShape node"};
  }

 private:
  const Model& model_;
  const Uses& uses_;
  const ImportOptions& options_;
  WeightsInNodes in_nodes_;
};

/// Says which tensors do not train only because of the numbers that they hold.
void note_constants(const Model& model, const Uses& uses, const Roles& roles, Notices& notices) {
  std::vector<std::string> names;
  for (const auto& [name, role] : roles.of) {
    const auto stored = model.initializers.find(name);
    if (role.trains || stored == model.initializers.end() || readers(uses, name).empty()) continue;
    const std::vector<Use> all = uses_through_views(uses, name);
    // PyTorch's older exporter writes bounds of its own as Constant nodes.
    const bool is_bound_of_module = model.has_scoped_names && std::any_of(all.begin(), all.end(), is_bound);
    const bool by_numbers = role.why == kPatterned || role.why.ends_with(kNamedByExporter);
    if (is_bound_of_module || (by_numbers && element_count(stored->second.shape) > 1)) names.push_back(name);
  }
  if (names.empty()) return;
  notices.add(fmt::format(
      "{} {} not trained, as {} one number or few over and over, like what formulas make; --trainable "
      "\"*,{}\" trains {}",
      listed(names), names.size() == 1 ? "is" : "are", names.size() == 1 ? "it holds" : "they hold",
      names.front(), names.size() == 1 ? "it" : "the first"));
}

}  // namespace

Roles roles_of(const Model& model, const Uses& uses, const ImportOptions& options, Notices& notices) {
  const Decision decision(model, uses, options);
  Roles roles;
  roles.without_weights = decision.without_weights();
  for (const auto& [name, tensor] : model.initializers) {
    if (tensor.type != Type::real) continue;
    roles.of[name] = decision.of_initializer(name, tensor);
    for (const Node* node : readers(uses, name))
      if (!node->outputs.empty() && uses.parted.contains(node->outputs[0]))
        roles.of[node->outputs[0]] = decision.of_initializer(node->outputs[0], tensor);
  }
  for (const Node& node : model.nodes) {
    if (!makes_reals(node)) continue;
    const std::string& name = node.outputs.front();
    roles.of[name] =
        node.op_type == "Constant" ? decision.of_constant(name, stated_value(node)) : decision.of_fill(name);
  }
  if (roles.without_weights)
    notices.add(
        "the file has no weights: what ConstantOfShape nodes make stands for them, and they start from the "
        "seed");
  find_copies(model, uses, roles, notices);
  note_computed(model, uses, roles, notices);
  note_constants(model, uses, roles, notices);
  return roles;
}

Role role_in(const Roles& roles, const std::string& name, const Tensor& tensor) {
  if (tensor.type == Type::boolean) return {false, "truth values"};
  if (tensor.type != Type::real) return {false, "integers"};
  const auto found = roles.of.find(name);
  return found == roles.of.end() ? Role{} : found->second;
}

}  // namespace poet::onnx
