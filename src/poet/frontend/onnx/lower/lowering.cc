#include "poet/frontend/onnx/lower/lowering.h"

#include <fmt/format.h>

#include <algorithm>

#include "poet/frontend/onnx/lower/evaluated.h"
#include "poet/frontend/onnx/lower/loss.h"
#include "poet/frontend/onnx/lower/opaque.h"
#include "poet/frontend/onnx/lower/operators.h"
#include "poet/frontend/onnx/lower/sequences.h"
#include "poet/frontend/onnx/lower/zero_states.h"

namespace poet::onnx {
namespace {

/// Throws ControlKnown with the branch of an If or the trip count of a Loop, since ops have no subgraphs, or
/// InputError if it is not known.
[[noreturn]] void find_out_control(const Lowering& net, const Node& node) {
  const bool loop = node.op_type == "Loop";
  const std::size_t condition_input = loop ? 1 : 0;
  const std::optional<std::int64_t> condition = loop && !has_input(node, condition_input)
                                                    ? std::optional<std::int64_t>(1)
                                                    : whole_number(net, node, condition_input);
  if (condition && (!loop || *condition == 0)) throw ControlKnown{{node.index, *condition != 0 ? 1 : 0}};
  if (condition && !has_input(node, 0)) throw ControlKnown{{node.index, ResolvedControl::kOnceMore}};
  const std::optional<std::int64_t> trips = loop ? whole_number(net, node, 0) : std::nullopt;
  if (condition && trips) throw ControlKnown{{node.index, std::max<std::int64_t>(0, *trips)}};
  throw InputError(loop
                       ? "poet imports a Loop only where it is known how often it runs and nothing else ends "
                         "it; export with fixed shapes, or unroll it in the model"
                       : "poet imports an If only where its condition is known; export with fixed shapes, or "
                         "take the branch in the model");
}

/// Evaluates the node, or adds its ops by its rule, or adds it as an opaque op.
void lower_node(Lowering& net, const Node& node) {
  if (!net.uses.needed.contains(node.index) || !net.done.insert(node.index).second) return;
  const auto reason = net.opaque.find(node.index);
  const bool evaluable = node.domain.empty() && is_evaluated(node.op_type);
  bool opaque = reason != net.opaque.end();
  try {
    if (!opaque && lowered_sequence(net, node)) return;
    if (!opaque && was_evaluated(net, node)) {
      ++net.counts.evaluated;
      return;
    }
    if (node.domain.empty() && (node.op_type == "If" || node.op_type == "Loop")) find_out_control(net, node);
    const bool integers = has_input(node, 0) && type_of(net, node, 0) != Type::real;
    const OperatorRule rule = node.domain.empty()               ? find_operator(node.op_type, integers)
                              : node.domain == kMicrosoftDomain ? find_microsoft_operator(node.op_type)
                                                                : nullptr;
    if (rule == nullptr && net.options.allow_opaque) opaque = true;
    if (opaque) {
      const std::string evaluates =
          rule == nullptr && evaluable ? "poet only evaluates it, of known inputs" : "";
      return add_opaque(net, node, reason == net.opaque.end() ? evaluates : reason->second);
    }
    if (rule == nullptr && evaluable) {
      throw InputError(
          "poet only evaluates this operator while importing, so all its inputs must be known then; export "
          "with fixed shapes where it computes one, otherwise replace it or plan around it with "
          "`allow_opaque`");
    }
    if (rule == nullptr) {
      throw InputError(
          fmt::format("poet cannot import the operator {}; replace it in the model, cut the model "
                      "before it, or plan around it with `allow_opaque`",
                      operator_name(node)));
    }
    rule(net, node);
  } catch (const InputError& error) {
    if (opaque) throw InputError(place_of(node), error.what());
    throw NodeError(node.index, place_of(node), error.what());
  }
}

/// Lowers constants before all other nodes, so that rules that look ahead know them.
void add_constants(Lowering& net) {
  for (const auto& [name, tensor] : net.model.initializers)
    net.operands[name] = Fixed{name, tensor, false, role_in(net.roles, name, tensor)};
  for (const TiedCopy& copy : net.roles.copies) {
    Fixed& seen = std::get<Fixed>(net.operands.at(copy.name));
    seen.name = copy.of;
    seen.transposed = copy.transposed;
    seen.role = net.roles.of.at(copy.of);
    seen.in_file = net.model.initializers.at(copy.of).shape;
  }
  const auto is_fixed = [&net](const std::string& input) {
    const auto found = net.operands.find(input);
    return found != net.operands.end() && std::holds_alternative<Fixed>(found->second);
  };
  for (const Node& node : net.model.nodes) {
    static const std::set<std::string> kinds = {"Cast",    "Constant", "ConstantOfShape", "Identity",
                                                "Reshape", "Squeeze",  "Unsqueeze"};
    if (node.domain.empty() && kinds.contains(node.op_type) &&
        std::all_of(node.inputs.begin(), node.inputs.end(), is_fixed)) {
      lower_node(net, node);
    }
  }
}

/// Adds notices about functions and about opsets that the rules do not cover.
void note_versions(Lowering& net) {
  constexpr std::int64_t kOldest = 7, kNewest = 24;  // opsets that the operators' rules cover
  if (const std::int64_t calls = net.model.listed.calls; calls > 0)
    net.notices.add(calls == 1
                        ? "a node that calls a function of the file was replaced by the function's nodes"
                        : fmt::format("{} nodes that call functions of the file were replaced by the "
                                      "functions' nodes",
                                      calls));
  const std::int64_t opset = net.model.opset;
  if (opset > kNewest || opset < kOldest)
    net.notices.add(
        fmt::format("the file is of opset {}; its operators are read by the rules of opsets {} to {}", opset,
                    kOldest, kNewest));
}

ImportedModel imported(Lowering& net) {
  ImportedModel out;
  out.forward = net.builder.finish();
  out.nodes = net.counts;
  out.nodes.all = static_cast<std::int64_t>(net.model.nodes.size());
  out.nodes.listed = net.model.listed.all > 0 ? net.model.listed.all : out.nodes.all;
  out.nodes.unneeded = out.nodes.all - static_cast<std::int64_t>(net.uses.needed.size());
  out.batch_size = net.sizes.batch_size;
  out.reasons = std::move(net.persistent.reasons);
  out.copies = std::move(net.roles.copies);
  out.contents = std::move(net.persistent.contents);
  out.placements = std::move(net.persistent.placements);
  out.notices = net.notices.lines();
  return out;
}

ImportedModel lowered(const Model& model, const ImportOptions& options, const OpaqueNodes& opaque,
                      const LossInput& loss, Notices& notices) {
  const std::set<std::string> zeros = zero_values(model);
  Uses uses = uses_of(model, {loss.outputs.begin(), loss.outputs.end()}, zeros, opaque);
  Roles roles = roles_of(model, uses, options, notices);
  Lowering net{.model = model,
               .options = options,
               .opaque = opaque,
               .zeros = zeros,
               .uses = std::move(uses),
               .notices = notices,
               .roles = std::move(roles),
               .builder = GraphBuilder(model.name)};
  net.exported_in_training = std::any_of(model.nodes.begin(), model.nodes.end(),
                                         [&](const Node& node) { return is_training(model, node); });
  add_inputs(net);
  add_constants(net);
  for (const Node& node : model.nodes) lower_node(net, node);
  add_loss(net, loss);
  note_versions(net);
  return imported(net);
}

}  // namespace

ImportedModel lower_model(const Model& model, const ImportOptions& options, const OpaqueNodes& opaque) {
  if (options.batch_size && *options.batch_size < 1) throw InputError("batch size", "must be >= 1");
  Notices notices;
  const LossInput loss = loss_input(model, options, notices);
  if (loss.rewired.empty()) return lowered(model, options, opaque, loss, notices);
  Model rewired = model;
  for (const auto& [node, input] : loss.rewired) rewired.nodes.at(node).inputs.at(0) = input;
  return lowered(rewired, options, opaque, loss, notices);
}

void skip(Lowering& net, const Node& node) {
  if (net.done.insert(node.index).second) ++net.counts.merged;
}

std::string name_of(const Node& node) {
  return node.name.empty() ? fmt::format("{}_{}", node.op_type, node.index) : node.name;
}

std::string place_of(const Node& node) {
  return fmt::format("node {} '{}' ({})", node.index, node.name, node.op_type);
}

}  // namespace poet::onnx
