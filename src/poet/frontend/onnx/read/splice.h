#pragma once

// Moving nodes from one scope of an ONNX model into another. Private to poet/frontend/onnx.

#include <onnx/onnx_pb.h>

#include <map>
#include <set>
#include <string>

namespace poet::onnx {

/// The most nodes that a model may come to when its functions are inlined and its loops unrolled.
inline constexpr int kMostNodes = 1 << 20;

/// Names of values: those of a graph and all its subgraphs, and new ones. O(nodes) to make.
class ValueNames {
 public:
  explicit ValueNames(const ::onnx::GraphProto& graph) { take(graph); }

  /// "scope/name", with a number behind it where that is taken; taken from then on.
  [[nodiscard]] std::string fresh(const std::string& scope, const std::string& name);

 private:
  void take(const ::onnx::GraphProto& graph);

  std::set<std::string> taken_;
};

using Renaming = std::map<std::string, std::string>;

/// Gives what a node and its subgraphs read and write the names that `renaming` has for them. Names of outer
/// values are never hidden by inner ones in ONNX. O(size of the node).
void rename(::onnx::NodeProto& node, const Renaming& renaming);

/// What a node is called, or writes first: what stands before the names of all that comes out of it.
[[nodiscard]] std::string scope_of(const ::onnx::NodeProto& node);

/// Adds a copy of an inner scope's node, with the scope before its name.
::onnx::NodeProto& add_copy(::onnx::GraphProto& to, const ::onnx::NodeProto& node, const std::string& scope,
                            const Renaming& renaming);

}  // namespace poet::onnx
