#pragma once

// The state of an import, and the import itself. Private to poet/frontend/onnx.

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "poet/base/error.h"
#include "poet/frontend/onnx/import.h"
#include "poet/frontend/onnx/lower/inputs.h"
#include "poet/frontend/onnx/lower/notices.h"
#include "poet/frontend/onnx/lower/operands.h"
#include "poet/frontend/onnx/lower/persistent.h"
#include "poet/frontend/onnx/lower/roles.h"
#include "poet/frontend/onnx/lower/uses.h"
#include "poet/frontend/onnx/read/infer_types.h"
#include "poet/graph/builder.h"

namespace poet::onnx {

/// What is wrong with one node.
class NodeError : public InputError {
 public:
  NodeError(std::size_t node, const std::string& place, const std::string& rule)
      : InputError(place, rule), node_(node) {}
  [[nodiscard]] std::size_t node() const { return node_; }

 private:
  std::size_t node_;
};

/// What an If or a Loop does, found out while lowering: the file has to put it in the node's place.
struct ControlKnown {
  ResolvedControl control;
};

/// Nodes, by index, that become opaque operators, and what their rules do not support.
using OpaqueNodes = std::map<std::size_t, std::string>;

/// What the rules of operators read and add to: a network (`net`) of which some nodes are ops already.
struct Lowering {
  const Model& model;
  const ImportOptions& options;
  const OpaqueNodes& opaque;
  std::set<std::string> zeros;  // zero_values()
  Uses uses;
  Notices notices;
  Roles roles;
  bool exported_in_training = false;  // some batch normalisation is in training
  GraphBuilder builder;

  std::map<std::string, Operand> operands = {};  // of the inputs, constants and nodes so far, by name
  std::map<std::string, std::vector<std::string>> sequences = {};  // of operands, by names
  InputSizes sizes = {};
  PersistentValues persistent = {};
  TypeInference type_inference = {};
  NodeCounts counts = {};
  std::set<std::size_t> done = {};      // nodes, by index
  std::int64_t evaluated_elements = 0;  // that nodes have made while importing
};

/// The whole import. Throws NodeError where it is a node that cannot be taken, otherwise InputError.
[[nodiscard]] ImportedModel lower_model(const Model& model, const ImportOptions& options,
                                        const OpaqueNodes& opaque);

/// The node's work was done by another one's rule.
void skip(Lowering& net, const Node& node);

/// The name that ops and values get.
[[nodiscard]] std::string name_of(const Node& node);
/// "node 5 'conv1' (Conv)", for messages.
[[nodiscard]] std::string place_of(const Node& node);

}  // namespace poet::onnx
