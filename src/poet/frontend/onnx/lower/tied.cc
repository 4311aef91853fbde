#include "poet/frontend/onnx/lower/tied.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "poet/frontend/onnx/lower/generated_names.h"
#include "poet/frontend/onnx/lower/stored_uses.h"

namespace poet::onnx {
namespace {

using Kinds = std::set<std::pair<std::string, std::size_t>>;  // operators and inputs

/// The kinds of inputs that read a tensor; matrices of products are of one.
Kinds kinds_of_uses(const Uses& uses, const std::string& name) {
  Kinds kinds;
  for (const Use& use : uses_through_views(uses, name)) {
    const bool product = use.node->op_type == "MatMul" || (use.node->op_type == "Gemm" && use.input < 2);
    if (product)
      kinds.emplace("matrix", 0);
    else
      kinds.emplace(use.node->op_type, use.input);
  }
  return kinds;
}

/// Returns whether b has the numbers of a in its order (false) or transposed (true), if it has them.
std::optional<bool> orientation(const Tensor& a, const Tensor& b) {
  if (a.shape == b.shape && a.digest.as_stored == b.digest.as_stored) return false;
  if (a.shape.size() == 2 && b.shape == Shape{a.shape[1], a.shape[0]} &&
      a.digest.as_stored == b.digest.transposed) {
    return true;
  }
  return std::nullopt;
}

/// Returns whether the file says that it is a parameter. It stores each once.
bool is_parameter(const Model& model, const std::string& name) {
  const auto origin = model.origins.find(name);
  return origin != model.origins.end() && origin->second == Origin::parameter;
}

/// Returns whether the file says that both are one parameter, or computed of one alone.
bool have_one_source(const Model& model, const std::string& a, const std::string& b) {
  const auto source = [&](const std::string& name) -> std::string {
    if (is_parameter(model, name)) return name;
    const auto found = model.sources.find(name);
    return found == model.sources.end() || found->second.size() != 1 ? "" : found->second.front();
  };
  return !source(a).empty() && source(a) == source(b);
}

/// Returns whether `a` is rather a module's own tensor than `b`.
bool comes_first(const Model& model, const std::string& a, const std::string& b) {
  const auto rank = [&](const std::string& name) {
    return std::tuple(is_parameter(model, name) ? 0 : 1, is_generated(model, name) ? 1 : 0,
                      name.find('.') == std::string::npos ? 1 : 0, name);
  };
  return rank(a) < rank(b);
}

bool share(const Kinds& a, const Kinds& b) {
  return std::any_of(a.begin(), a.end(), [&](const auto& kind) { return b.contains(kind); });
}

}  // namespace

void find_copies(const Model& model, const Uses& uses, Roles& roles, Notices& notices) {
  std::map<std::uint64_t, std::vector<std::string>> groups;  // by the numbers that they have
  for (const auto& [name, role] : roles.of) {
    const auto stored = model.initializers.find(name);
    // Lists of few numbers may be equal by chance.
    if (!role.trains || stored == model.initializers.end() || stored->second.shape.size() < 2 ||
        stored->second.fill || stored->second.digest.as_stored == 0 || readers(uses, name).empty()) {
      continue;
    }
    groups[stored->second.digest.as_stored + stored->second.digest.transposed].push_back(name);
  }
  for (auto& [numbers, names] : groups) {
    std::sort(names.begin(), names.end(),
              [&](const std::string& a, const std::string& b) { return comes_first(model, a, b); });
    const std::string first = names.front();
    const auto kinds = kinds_of_uses(uses, first);
    std::vector<std::string> alike;
    for (std::size_t i = 1; i < names.size(); ++i) {
      const auto turned = orientation(model.initializers.at(first), model.initializers.at(names[i]));
      if (!turned) continue;
      // Layers made as copies may be read in one orientation and, by exporters of linear layers, in the
      // other.
      const bool is_layer = !*turned || is_of_layer(names[i]);
      const bool both = is_parameter(model, first) && is_parameter(model, names[i]);
      const bool is_same = have_one_source(model, first, names[i]);
      if (!is_same && (both || (is_layer && share(kinds, kinds_of_uses(uses, names[i])))))
        alike.push_back(names[i]);
      else
        roles.copies.push_back({names[i], first, *turned});
    }
    if (!alike.empty())
      notices.add(
          fmt::format("'{}' and {} have equal numbers and train apart; share the parameter and export "
                      "without optimisation if they are one weight",
                      first, listed(alike)));
  }
  if (roles.copies.empty()) return;
  const TiedCopy& copy = roles.copies.front();
  const std::size_t more = roles.copies.size() - 1;
  notices.add(
      fmt::format("'{}' has the numbers of '{}'{} and trains with it{}: the exporter stored a tied "
                  "weight twice",
                  copy.name, copy.of, copy.transposed ? ", transposed," : "",
                  more == 0 ? "" : fmt::format(", and {} more are such copies", more)));
}

}  // namespace poet::onnx
