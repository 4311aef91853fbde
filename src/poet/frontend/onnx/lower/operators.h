#pragma once

// One rule per ONNX operator: how a node becomes ops of the graph. Private to poet/frontend/onnx.

#include <string>
#include <vector>

#include "poet/frontend/onnx/lower/constants.h"
#include "poet/frontend/onnx/lower/lowering.h"

namespace poet::onnx {

/// Adds what the node does to net.builder and sets its results. Throws InputError saying which attribute or
/// input does not fit and what to do; lower_model() adds which node it is.
using OperatorRule = void (*)(Lowering& net, const Node& node);

struct OperatorEntry {
  const char* op_type;
  OperatorRule rule;
};

// One list per file in operators/.
[[nodiscard]] const std::vector<OperatorEntry>& product_operators();  // of matrices
[[nodiscard]] const std::vector<OperatorEntry>& norm_operators();
[[nodiscard]] const std::vector<OperatorEntry>& convolution_operators();
[[nodiscard]] const std::vector<OperatorEntry>& pooling_operators();
[[nodiscard]] const std::vector<OperatorEntry>& arithmetic_operators();  // of real numbers
[[nodiscard]] const std::vector<OperatorEntry>& view_operators();        // in another shape, order or type
[[nodiscard]] const std::vector<OperatorEntry>& copy_operators();        // joined, cut, repeated
[[nodiscard]] const std::vector<OperatorEntry>& padding_operators();
[[nodiscard]] const std::vector<OperatorEntry>& gather_operators();      // elements at positions
[[nodiscard]] const std::vector<OperatorEntry>& position_operators();    // of several axes
[[nodiscard]] const std::vector<OperatorEntry>& logic_operators();       // truth values and choice
[[nodiscard]] const std::vector<OperatorEntry>& activation_operators();  // and softmax, dropout
[[nodiscard]] const std::vector<OperatorEntry>& reduction_operators();   // along axes
[[nodiscard]] const std::vector<OperatorEntry>& resize_operators();      // images of other sizes
[[nodiscard]] const std::vector<OperatorEntry>& einsum_operators();
[[nodiscard]] const std::vector<OperatorEntry>& recurrent_operators();  // recurrent layers
[[nodiscard]] const std::vector<OperatorEntry>& composed_operators();   // several ops each
[[nodiscard]] const std::vector<OperatorEntry>& attention_operators();
[[nodiscard]] const std::vector<OperatorEntry>& loss_operators();
[[nodiscard]] const std::vector<OperatorEntry>& noise_operators();
// These take the place of others of the same name where the first input holds integers or truth values.
[[nodiscard]] const std::vector<OperatorEntry>& integer_operators();

/// Null when there is none. `integers`: the first input holds integers or truth values.
[[nodiscard]] OperatorRule find_operator(const std::string& op_type, bool integers);

/// The domain of operators that ONNX Runtime's optimiser writes; null when there is no rule for one.
inline constexpr const char* kMicrosoftDomain = "com.microsoft";
[[nodiscard]] OperatorRule find_microsoft_operator(const std::string& op_type);

/// Whether the node is a batch normalisation in training.
[[nodiscard]] bool is_training(const Model& model, const Node& node);

/// Does what a node of the file would do that is like this one, with any name of a result.
void lower_as(Lowering& net, const Node& node);

/// Throws InputError unless the operands from `first` on have one type.
void check_same_types(const Lowering& net, const Node& node, std::size_t first);
/// Adds the op `kind` of the node's two operands, which have one type.
void joined(Lowering& net, const Node& node, const char* kind);
/// The known integer at input `i`, if there is one. Throws InputError if it does not fit int32.
[[nodiscard]] std::optional<std::int64_t> whole_int32(const Lowering& net, const Node& node, std::size_t i);

/// A constant (rows, columns): true where column - row is at least k (`upper`) or at most k.
[[nodiscard]] ValueId triangle(Lowering& net, const std::string& name, const Shape& matrix, std::int64_t k,
                               bool upper);

/// All, in alphabetical order.
[[nodiscard]] std::vector<std::string> imported_operators();

}  // namespace poet::onnx
