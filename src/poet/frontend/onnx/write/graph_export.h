#pragma once

// A forward graph on its way into an ONNX model: what the rules of operators may ask and add. Private to
// poet/frontend/onnx.

#include <onnx/onnx_pb.h>

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "poet/frontend/onnx/export.h"

namespace poet::onnx {

using Names = std::vector<std::string>;
using Integers = std::vector<std::int64_t>;

class GraphExport {
 public:
  GraphExport(const Graph& forward, const WeightLookup& weights, const OnnxOptions& options);

  [[nodiscard]] const Graph& forward() const { return forward_; }
  [[nodiscard]] const OnnxOptions& options() const { return options_; }
  [[nodiscard]] const Value& value(ValueId v) const { return forward_.values[v]; }

  // The model's inputs and outputs.
  void add_input(ValueId v);
  void add_output(ValueId v);

  ::onnx::NodeProto& node(const std::string& name, const char* op_type, const Names& inputs,
                          const Names& outputs);

  // Small tensors that nodes read; each gives back its name.
  std::string number(const std::string& name, double real);
  std::string integer(const std::string& name, std::int64_t number);
  std::string integers(const std::string& name, const Integers& list);
  std::string truth(const std::string& name, bool holds);

  /// The name of a persistent value, which is stored when it is named first. `transposed`: a matrix, stored
  /// the other way round.
  std::string weight(ValueId v, bool transposed = false);

  /// The name of what an operator reads. A persistent value is stored, a view becomes nodes where it is read
  /// first: its storage in row-major order, that in the view's shape in storage order, that with the view's
  /// order of axes. Throws InputError for a view that mixes samples.
  std::string read(ValueId v);

  /// Throws InputError when a message cannot be that large.
  [[nodiscard]] std::string bytes() const;

 private:
  ::onnx::GraphProto& graph() { return *model_.mutable_graph(); }
  void describe(::onnx::ValueInfoProto& to, ValueId v, const std::string& name) const;
  std::string reshaped(ValueId view, const std::string& from_name, const Shape& from, const Shape& to);

  const Graph& forward_;
  const WeightLookup& weights_;
  OnnxOptions options_;
  ::onnx::ModelProto model_;
  std::set<ValueId> written_;  // weights and views
};

// Attributes.
void set(::onnx::NodeProto& to, const char* name, std::int64_t number);
void set(::onnx::NodeProto& to, const char* name, double number);
void set(::onnx::NodeProto& to, const char* name, const Integers& list);

}  // namespace poet::onnx
