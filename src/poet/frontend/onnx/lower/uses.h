#pragma once

// The nodes that the loss depends on, and their readers. Private to poet/frontend/onnx.

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "poet/frontend/onnx/model.h"

namespace poet::onnx {

struct Uses {
  std::set<std::string> outputs;                            // what the loss reads
  std::set<std::size_t> needed;                             // nodes, by index, that they depend on
  std::map<std::string, std::vector<const Node*>> readers;  // needed ones, once per input that reads it
  // PyTorch's older exporter merges initialisers that are equal when exported (such as the scales of a new
  // network's normalisations) into one, with an Identity for each other name: that is a tensor of its own.
  std::set<std::string> parted;                // these names
  std::map<std::string, const Node*> writers;  // of all results
};

/// `zeros`: values that no recurrent layer needs as its initial state (zero_values()), unless it is one of
/// the `opaque` nodes, by index. `model` must outlive the result, unchanged. O(nodes log nodes).
[[nodiscard]] Uses uses_of(const Model& model, std::set<std::string> outputs,
                           const std::set<std::string>& zeros,
                           const std::map<std::size_t, std::string>& opaque);

/// The node that writes each value. O(nodes log nodes).
[[nodiscard]] std::map<std::string, const Node*> writers_of(const Model& model);

/// The node of ONNX's own domain that writes it; null where there is none. O(log nodes), as the following.
[[nodiscard]] const Node* writer(const Uses& uses, const std::string& value);

/// The needed nodes that read it, once per input. O(log nodes), as the following.
[[nodiscard]] const std::vector<const Node*>& readers(const Uses& uses, const std::string& value);

/// The only reader of a node's first output, unless that is also the model's output; null otherwise. For
/// operators that the file spells as several.
[[nodiscard]] const Node* only_reader(const Uses& uses, const Node& node);
/// The same, if it is an `op_type`.
[[nodiscard]] const Node* only_reader(const Uses& uses, const Node& node, std::string_view op_type);

/// Whether the loss or a node that is needed reads output `output` of a node.
[[nodiscard]] bool is_read(const Uses& uses, const Node& node, std::size_t output);

}  // namespace poet::onnx
