#pragma once

// Weights, moving statistics and constants of the file as persistent values. Private to poet/frontend/onnx.

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "poet/frontend/onnx/import.h"
#include "poet/frontend/onnx/lower/operands.h"

namespace poet::onnx {

struct Lowering;

/// Those made so far, by their names in the file.
struct PersistentValues {
  struct StoredWeight {
    ValueId id;
    Shape shape;
    bool transposed = false;  // the other way round than in the file
  };
  std::map<std::string, StoredWeight> stored;
  std::vector<std::pair<Tensor, ValueId>> constants;  // with known contents: equal ones are one value
  std::map<std::string, std::string> reasons;         // see ImportedModel, as the following
  std::map<std::string, Tensor> contents;
  std::map<std::string, NodeInput> placements;
};

/// `w` in this shape, as a parameter or a constant: its elements in the file's order or, of a matrix, as the
/// transpose of the file's elements. Stored so at its first use; later ones see that, where they need another
/// shape or order by views.
[[nodiscard]] ValueId stored_value(Lowering& net, const Node& node, const Fixed& w, const Shape& shape,
                                   bool transposed = false);
/// A value for a constant of the file; where contents are known, equal ones share it.
[[nodiscard]] ValueId constant_of(Lowering& net, const Node& node, const Fixed& w);
/// A constant of real numbers that are all the same.
[[nodiscard]] ValueId add_filled(Lowering& net, const std::string& name, const Shape& shape, double number);
/// A constant that the file has no tensor for: `contents` are known or filled.
[[nodiscard]] ValueId add_constant(Lowering& net, const std::string& name, Tensor contents);

// Input `i` as what trains or moves. Throw InputError when it is no real tensor of the file, or does not fit.
/// A weight of this shape, made at its first use; it may also be computed in the step, as weight
/// normalisation does. `as_stored` may differ from the weight's own shape, not in its number of elements.
[[nodiscard]] ValueId weight_of(Lowering& net, const Node& node, std::size_t i, const Shape& as_stored);
/// Numbers that an op moves in every step, `size` of them. Each reader gets its own, since only one op may:
/// exporters join equal ones.
[[nodiscard]] ValueId moving_state(Lowering& net, const Node& node, std::size_t i, std::int64_t size);
/// The weight of a linear layer, stored (out, in). What the node reads is (out, in) too, or (in, out): then
/// a weight that the file stores so is stored the other way round.
[[nodiscard]] ValueId linear_weight(Lowering& net, const Node& node, std::size_t i, bool read_as_out_in);
/// Whether linear_weight() can give it: no reader has had it stored the other way round before.
[[nodiscard]] bool stored_as_out_in(const Lowering& net, const Node& node, std::size_t i,
                                    bool read_as_out_in);

}  // namespace poet::onnx
