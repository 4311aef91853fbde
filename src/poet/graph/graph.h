#pragma once

// The data model: ops in topological order and the values they read and write.
//
// A value is an immutable tensor. An op may have several outputs (BatchNorm's saved statistics, MaxPool's
// indices, a Dropout mask): values are kept or paged one by one, ops are recomputed as a whole. A view
// (Reshape, Flatten) is not an op but a value that aliases another one's storage. The only mutation is an
// update op's: it changes the persistent values in `Op::updates` in place, after every other reader of them.
// A persistent value is resident (in RAM from step to step) or paged (Value::paged).

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "poet/base/id.h"
#include "poet/base/units.h"

namespace poet {

enum class Pass { forward, backward, update };

enum class Persistence {
  activation,  // live within one step: activations and gradients with respect to them
  input,       // data of the step (batch, targets); produced by an `input` op that cannot be recomputed
  parameter,   // trained weights; kept from step to step
  parameter_gradient,  // from a weight gradient op to the update
  optimizer_state,     // momentum, Adam moments, BatchNorm running statistics; kept from step to step
};

/// bfloat16 is a storage format: a float32 without its last 16 bits. Operators always compute in float32 and
/// round the results that they store. Only activations may be bfloat16.
enum class DType { float32, int32, int64, uint8, bfloat16 };

using Shape = std::vector<std::int64_t>;
using Attribute = std::variant<std::int64_t, double, std::string, std::vector<std::int64_t>>;
using Attributes = std::map<std::string, Attribute>;

/// The part of a tensor that a value holds; the tensor exists in parts only (split/split.h).
struct Part {
  std::string tensor;  // its name
  Shape shape;         // of the whole
  Shape begin;         // the first element along every axis; Value::shape says how many there are
};

/// The rows of a table that a paged parameter holds; the table is never in RAM as a whole (split/indexed.h).
/// An input of the step has their indices: row i of the value is the row of the table with index i of the
/// input, if no earlier index is the same; else it is unused, and zero after a page-in. The value's shape has
/// a row per index, and a part of the value is a part of that shape; its tensor is the table.
struct Rows {
  std::string table;    // its name
  std::string indices;  // name of the input's tensor, int32
  std::int64_t of = 0;  // rows of the table
};

/// How files that exchange a persistent value under its tensor's name have the tensor, where that differs
/// from the value: the model's file stores it so. Whatever shape the file gives it, the elements are those of
/// the tensor in row-major order, or of the transposed matrix.
struct FileLayout {
  Shape shape;  // the file's, of the whole tensor
  bool transposed = false;
};

struct Value {
  std::string name;
  Shape shape;
  Shape strides;  // in elements, of a layout that is not row-major (transposed views); empty: row-major
  DType dtype = DType::float32;
  Bytes bytes{};     // of this value; an alias has its storage's bytes but occupies none of its own
  OpId producer;     // invalid for persistent values (in RAM before the step starts)
  ValueId alias_of;  // valid for views: the value whose storage they share
  Persistence persistence = Persistence::activation;
  bool paged = false;  // persistent values: at home on storage, in RAM only while a plan keeps it there
  std::optional<Part> part{};           // absent: a whole tensor
  std::optional<Rows> rows{};           // absent: no rows of a table
  std::optional<FileLayout> in_file{};  // absent: as in RAM
};

/// Return the tensor's name and shape: the value's own unless it is a part.
[[nodiscard]] inline const std::string& tensor_name(const Value& value) {
  return value.part ? value.part->tensor : value.name;
}
[[nodiscard]] inline const Shape& tensor_shape(const Value& value) {
  return value.part ? value.part->shape : value.shape;
}

/// The shape that files give the value's tensor.
[[nodiscard]] inline const Shape& shape_in_file(const Value& value) {
  return value.in_file ? value.in_file->shape : tensor_shape(value);
}

struct Op {
  std::string name;
  std::string kind;  // "conv2d", "relu_backward", "sgd_update"...: docs/operators.md lists them
  Attributes attributes;
  Pass pass = Pass::forward;
  std::vector<ValueId> inputs;  // in the operator's order; may name views and persistent values, may repeat
  std::vector<ValueId> outputs;
  std::vector<ValueId> updates;  // persistent values this op changes in place
  bool recomputable = true;      // false: has a side effect (update) or cannot be repeated (input)
};

struct Graph {
  std::string name;
  IdVector<OpId, Op> ops;  // topological order: an op comes after the producers of its inputs
  IdVector<ValueId, Value> values;
};

[[nodiscard]] constexpr bool is_persistent(Persistence p) {
  return p == Persistence::parameter || p == Persistence::optimizer_state;
}

/// Returns whether the value stays in RAM from step to step.
[[nodiscard]] inline bool is_resident(const Value& value) {
  return is_persistent(value.persistence) && !value.paged;
}

/// Returns the number of elements, 1 for the empty shape. Throws InputError if a dimension is negative or the
/// product overflows.
[[nodiscard]] std::int64_t element_count(const Shape& shape);
[[nodiscard]] Bytes size_of(DType dtype);
/// Returns the type that operators compute in: float32 for bfloat16, else the type itself.
[[nodiscard]] constexpr DType computed_as(DType dtype) {
  return dtype == DType::bfloat16 ? DType::float32 : dtype;
}
/// Returns the bytes of a tensor. Throws InputError if a dimension is negative or the product overflows.
[[nodiscard]] Bytes byte_count(const Shape& shape, DType dtype);

/// Returns the value whose storage `v` occupies: follows alias_of to its end.
[[nodiscard]] ValueId storage(const Graph& graph, ValueId v);
/// Returns storage() of every value. Throws InputError if an alias names no value or views form a cycle.
/// O(values).
[[nodiscard]] IdVector<ValueId, ValueId> storages(const Graph& graph);

/// Checks the invariants of a graph and throws InputError naming the op or value that violates one: ids in
/// range, topological order, one producer per value and the producer lists it, no alias cycles, non-negative
/// bytes, only persistent values updated, every reader of a persistent value before its update, ops with side
/// effects not recomputable, only persistent values that are no views `paged`, rows of a table only paged
/// parameters of two axes whose input is there. Also: a value that is neither persistent nor a view has a
/// producer, persistent values and views have none; a view has the bytes, the element type and the
/// persistence of its storage; only activations are bfloat16; what produces an input cannot be recomputed; a
/// persistent value is updated by one op at most; all sizes together fit 64 bits. Last, every op fits its
/// operator's schema (operators/schema.h). O(ops + values + edges).
void verify(const Graph& graph);

/// Verifies and returns the graph, so that stages compose: `differentiate(verified(forward))`.
[[nodiscard]] Graph verified(Graph graph);

[[nodiscard]] const char* to_string(Pass pass);
[[nodiscard]] const char* to_string(Persistence persistence);
[[nodiscard]] const char* to_string(DType dtype);
/// The inverses; throw InputError on an unknown name.
[[nodiscard]] Pass pass_from_string(const std::string& name);
[[nodiscard]] Persistence persistence_from_string(const std::string& name);
[[nodiscard]] DType dtype_from_string(const std::string& name);

}  // namespace poet
