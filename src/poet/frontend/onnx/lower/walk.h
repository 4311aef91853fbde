#pragma once

// The state of one walk over a model's nodes, and what the rules of operators may ask and do. Private to
// poet/frontend/onnx.

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "poet/base/error.h"
#include "poet/frontend/onnx/import.h"
#include "poet/frontend/onnx/lower/constants.h"
#include "poet/frontend/onnx/model.h"
#include "poet/frontend/onnx/read/infer_types.h"
#include "poet/graph/builder.h"

namespace poet::onnx {

/// What the graph stores values of this type as.
[[nodiscard]] constexpr DType dtype_of(Type type) {
  return type == Type::real ? DType::float32 : type == Type::boolean ? DType::uint8 : DType::int32;
}

/// A value of the graph that is being built. What is read is `scale` times it: a factor waits here for a
/// matrix product, which takes it as its alpha.
struct Runtime {
  ValueId id;
  double scale = 1.0;
  Type type = Type::real;
};

/// Known while importing, or (real numbers) a weight that becomes a parameter once an operator uses it.
struct Fixed {
  std::string name;  // in the file
  Tensor tensor;
  bool transposed = false;  // a matrix read the other way round than it is stored
  // Of a Constant node, evaluated, or patterned: where operands are not weights by nature, it does not train.
  bool constant = false;
};

/// monostate: an optional input that is left out.
using Operand = std::variant<std::monostate, Runtime, Fixed>;

/// What is wrong with one node.
class NodeError : public InputError {
 public:
  NodeError(std::size_t node, const std::string& place, const std::string& rule)
      : InputError(place, rule), node_(node) {}
  [[nodiscard]] std::size_t node() const { return node_; }

 private:
  std::size_t node_;
};

class Walk {
 public:
  /// `opaque`: nodes, by index, that become opaque operators, and what their rules do not support.
  Walk(const Model& model, const ImportOptions& options, const std::map<std::size_t, std::string>& opaque);

  /// The whole import.
  ImportedModel run();

  GraphBuilder& graph() { return graph_; }
  [[nodiscard]] std::int64_t opset() const { return model_.opset; }
  TypeInference& type_inference() { return type_inference_; }

  // A node's inputs. Throw InputError when there is none at `i`, or it is of another sort.
  [[nodiscard]] bool has(const Node& node, std::size_t i) const;
  /// Whether the walk has come past what provides this name.
  [[nodiscard]] bool known(const std::string& name) const { return operands_.contains(name); }
  [[nodiscard]] const Operand& operand(const Node& node, std::size_t i) const;
  [[nodiscard]] Shape shape(const Node& node, std::size_t i) const;
  [[nodiscard]] bool is_runtime(const Node& node, std::size_t i) const;
  /// Computed in every step, or a constant of the file: nothing that trains.
  [[nodiscard]] bool is_data(const Node& node, std::size_t i) const;
  [[nodiscard]] Type type(const Node& node, std::size_t i) const;
  /// A weight or constant, or null.
  [[nodiscard]] const Fixed* fixed(const Node& node, std::size_t i) const;
  /// A known real number of any shape with one element, or nothing.
  [[nodiscard]] std::optional<double> scalar(const Node& node, std::size_t i) const;
  /// The same for integers and booleans.
  [[nodiscard]] std::optional<std::int64_t> whole_number(const Node& node, std::size_t i) const;
  /// Known integers.
  [[nodiscard]] const std::vector<std::int64_t>& known_integers(const Node& node, std::size_t i) const;
  /// Real tensor as a value; a weight becomes a parameter. Views keep their strides.
  [[nodiscard]] ValueId value(const Node& node, std::size_t i);
  /// The same, copied where its layout is not row-major.
  [[nodiscard]] ValueId row_major(const Node& node, std::size_t i);
  [[nodiscard]] ValueId row_major(const std::string& name, ValueId v);
  /// Row-major, of any type: known integers and booleans become constants of the graph.
  [[nodiscard]] ValueId any(const Node& node, std::size_t i);
  /// A weight of this shape as parameter (or as state), made at its first use; a parameter may also be
  /// computed in the step, as weight normalisation does. `as_stored` may differ from the weight's own shape
  /// in axes of size 1.
  [[nodiscard]] ValueId weight(const Node& node, std::size_t i, const Shape& as_stored,
                               Persistence persistence = Persistence::parameter);
  /// Numbers that an op moves in every step, `size` of them. Each reader gets its own, since only one op may:
  /// exporters join equal ones.
  [[nodiscard]] ValueId moving_state(const Node& node, std::size_t i, std::int64_t size);
  /// The weight of a linear layer, stored (out, in). What the node reads is (out, in) too, or (in, out): then
  /// a weight that the file stores so is stored the other way round.
  [[nodiscard]] ValueId linear_weight(const Node& node, std::size_t i, bool read_as_out_in);

  /// Whether linear_weight() can give it: no reader has had it stored the other way round before.
  [[nodiscard]] bool stored_as_out_in(const Node& node, std::size_t i, bool read_as_out_in) const;
  /// A constant that the file has no tensor for: `contents` are known or filled.
  [[nodiscard]] ValueId constant(const std::string& name, Tensor contents);
  /// The persistent value `name` is what the node reads, or would read, as input `i`.
  void place(const std::string& name, const Node& node, std::size_t i) {
    placements_[name] = {node.index, i};
  }
  /// Whether input `i`, the initial state of a recurrent layer, is known to be nothing but zeros.
  [[nodiscard]] bool is_zero_state(const Node& node, std::size_t i);

  // A node's results.
  void set(const Node& node, Operand result);
  void set(const Node& node, ValueId result) { set(node, Operand{runtime(result)}); }
  void set_output(const std::string& name, Operand result);
  [[nodiscard]] Runtime runtime(ValueId v) const;
  /// The name that ops and values get.
  [[nodiscard]] static std::string name_of(const Node& node);

  /// "node 5 'conv1' (Conv)", for messages.
  [[nodiscard]] static std::string place_of(const Node& node);
  /// Type and shape that the file declares for a node's result, at this batch size.
  [[nodiscard]] std::optional<Tensor> declared(const std::string& result) const;

  // Looking ahead, for operators that the file spells as several.
  /// The only reader of a node's first output, unless that is also the model's output; null otherwise.
  [[nodiscard]] const Node* only_reader(const Node& node) const;
  /// All readers.
  [[nodiscard]] std::vector<const Node*> readers(const std::string& value) const;
  /// Whether it is what the loss reads.
  [[nodiscard]] bool is_logits(const std::string& value) const { return value == logits_; }
  /// Whether the loss or a node that is needed reads output `output` of a node.
  [[nodiscard]] bool is_read(const Node& node, std::size_t output) const;
  /// How many inputs of nodes read it, also of nodes that are not needed. O(log n).
  [[nodiscard]] std::size_t reader_count(const std::string& value) const;
  /// The node's work was done by another one's rule.
  void skip(const Node& node) {
    if (skipped_.insert(node.index).second) ++counts_.merged;
  }

  /// Said to the user once, with how often it happened.
  void notice(const std::string& text);
  /// By how many times the batch is larger than in the file, and its size there; nothing when it is not.
  [[nodiscard]] std::optional<std::pair<std::int64_t, std::int64_t>> rescaled_batch() const {
    return rescaled_batch_;
  }

 private:
  void add_inputs();
  void mark_needed();
  void add_constants();
  void visit(const Node& node);
  void add_loss();
  [[nodiscard]] bool evaluated(const Node& node);
  [[nodiscard]] const Fixed& real_weight(const Node& node, std::size_t i) const;
  // In this shape, stored so or seen so: where an earlier reader had it stored the other way round, it is a
  // view with strides.
  ValueId parameter(const Node& node, const Fixed& w, const Shape& stored, Persistence persistence,
                    bool transposed);
  ValueId constant(const Node& node, const Fixed& w);

  const Model& model_;
  const ImportOptions& options_;
  const std::map<std::size_t, std::string>& opaque_;
  GraphBuilder graph_;
  TypeInference type_inference_;
  std::map<std::string, Operand> operands_;
  std::map<std::string, std::vector<const Node*>> readers_;
  struct Parameter {
    ValueId id;
    Shape shape;
    bool transposed = false;  // stored the other way round than in the file
  };
  std::map<std::string, Parameter> parameters_;
  std::vector<std::pair<Tensor, ValueId>> constants_;  // with known contents: equal ones are one value
  std::map<std::string, Tensor> contents_;             // see ImportedModel
  std::map<std::string, NodeInput> placements_;
  std::set<std::string> zeros_;  // made by nodes
  std::set<std::size_t> needed_;
  std::set<std::size_t> skipped_;
  NodeCounts counts_;
  std::vector<std::pair<std::string, std::int64_t>> notices_;
  std::string logits_;                   // what the loss reads
  bool own_loss_ = false;                // the file had one, which was taken off
  const Node* final_softmax_ = nullptr;  // that was taken off
  std::int64_t held_ = 0;                // known elements that nodes have made
  std::int64_t batch_size_ = 1;
  std::map<std::string, std::int64_t> symbols_;  // sizes of the inputs' open dimensions
  std::optional<std::pair<std::int64_t, std::int64_t>> rescaled_batch_;
};

}  // namespace poet::onnx
