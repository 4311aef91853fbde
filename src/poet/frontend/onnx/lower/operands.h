#pragma once

// What the names of a file stand for while its nodes are lowered: what a node reads, and what it gives.
// Private to poet/frontend/onnx.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "poet/frontend/onnx/lower/roles.h"
#include "poet/frontend/onnx/model.h"
#include "poet/graph/builder.h"

namespace poet::onnx {

struct Lowering;

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
  Role role = {};
  Shape in_file = tensor.shape;  // before views
};

/// monostate: an optional input that is left out.
using Operand = std::variant<std::monostate, Runtime, Fixed>;

[[nodiscard]] bool has_input(const Node& node, std::size_t i);
/// Its name. Throws InputError where there is none.
[[nodiscard]] const std::string& input_name(const Node& node, std::size_t i);

// Of input `i`. Throw InputError when there is none, or it is of another sort.
[[nodiscard]] const Operand& operand_of(const Lowering& net, const Node& node, std::size_t i);
[[nodiscard]] Shape shape_of(const Lowering& net, const Node& node, std::size_t i);
[[nodiscard]] Type type_of(const Lowering& net, const Node& node, std::size_t i);
[[nodiscard]] bool is_runtime(const Lowering& net, const Node& node, std::size_t i);
/// Computed in every step, or a constant of the file: nothing that trains.
[[nodiscard]] bool is_data(const Lowering& net, const Node& node, std::size_t i);
/// A weight or constant, or null.
[[nodiscard]] const Fixed* fixed_of(const Lowering& net, const Node& node, std::size_t i);
/// A known real number of any shape with one element that does not train, or nothing.
[[nodiscard]] std::optional<double> scalar_of(const Lowering& net, const Node& node, std::size_t i);
/// The same for integers and booleans.
[[nodiscard]] std::optional<std::int64_t> whole_number(const Lowering& net, const Node& node, std::size_t i);
[[nodiscard]] const std::vector<std::int64_t>& known_integers(const Lowering& net, const Node& node,
                                                              std::size_t i);
/// The same, from the input of newer opsets or the attribute of older ones; empty where neither is there.
[[nodiscard]] std::vector<std::int64_t> integers_of(const Lowering& net, const Node& node, std::size_t i,
                                                    const std::string& attribute);

// Input `i` as a value of the graph, added where it is not there yet.
/// Real tensor; a weight becomes a parameter, a constant a value that does not train. Views keep their
/// strides.
[[nodiscard]] ValueId value_of(Lowering& net, const Node& node, std::size_t i);
/// The same, copied where its layout is not row-major.
[[nodiscard]] ValueId row_major(Lowering& net, const Node& node, std::size_t i);
[[nodiscard]] ValueId row_major(GraphBuilder& graph, const std::string& name, ValueId v);
/// Row-major, of any type: known integers and booleans become constants of the graph.
[[nodiscard]] ValueId any_value(Lowering& net, const Node& node, std::size_t i);

/// A value as an operand.
[[nodiscard]] Runtime runtime_of(const GraphBuilder& graph, ValueId v);
/// Of a node with one result.
void set_result(Lowering& net, const Node& node, Operand result);
void set_result(Lowering& net, const Node& node, ValueId result);

}  // namespace poet::onnx
