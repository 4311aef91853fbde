#pragma once

// Whole tensors of values that are parts (Value::part).

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "poet/graph/graph.h"

namespace poet {

/// A tensor of a graph, whole or in parts.
struct Tensor {
  std::string name;
  DType dtype = DType::float32;
  Shape shape;
  Shape shape_in_file;          // see Value::in_file
  std::vector<ValueId> values;  // its parts, or itself: at_home()
};

/// Returns the value at home: for rows (Value::rows) the table, cut along its columns like the rows;
/// otherwise the value itself.
[[nodiscard]] Value at_home(const Value& value);

/// Returns whether the value stands for its home: parts with the same columns share a table.
[[nodiscard]] inline bool stands_for_home(const Value& value) {
  return !value.rows || !value.part || value.part->begin[0] == 0;
}

/// A table whose rows are transferred by index.
struct IndexedTable {
  std::string name;
  std::string indices;     // the input with the indices
  Bytes bytes{};           // of the table
  std::int64_t rows = 0;   // of it
  std::int64_t named = 0;  // indices per step
  Bytes row{};
  bool updated = false;
  std::vector<ValueId> values;  // that hold its rows
};

/// Returns the indexed tables in the order of their first values. O(ops + values).
[[nodiscard]] std::vector<IndexedTable> indexed_tables(const Graph& graph);

/// Returns the persistent tensors in the order of their first values. O(values log values).
[[nodiscard]] std::vector<Tensor> persistent_tensors(const Graph& graph);

/// Returns whether the value has the tensor's first element, as exactly one value of each tensor does.
[[nodiscard]] inline bool begins_tensor(const Value& value) {
  return !value.part ||
         std::all_of(value.part->begin.begin(), value.part->begin.end(), [](auto i) { return i == 0; });
}

/// Calls f(first element in the tensor, first in the value, number of elements) for all contiguous runs of a
/// row-major value in its tensor, in order: a single run if the value is no part.
template <class F>
void for_each_run_of_part(const Value& value, const F& f) {
  const std::int64_t count = element_count(value.shape);
  if (count == 0) return;
  const Shape& whole = tensor_shape(value);
  std::size_t inner = whole.size();  // axes from here on are whole
  std::int64_t run = 1;
  while (inner > 0 && whole[inner - 1] == value.shape[inner - 1]) run *= whole[--inner];
  if (inner > 0) run *= value.shape[inner - 1];
  for (std::int64_t first = 0; first < count; first += run) {
    std::int64_t rest = first, place = 0, stride = 1;
    for (std::size_t axis = whole.size(); axis-- > 0;) {
      place += (rest % value.shape[axis] + (value.part ? value.part->begin[axis] : 0)) * stride;
      rest /= value.shape[axis];
      stride *= whole[axis];
    }
    f(place, first, run);
  }
}

/// The same for the tensor as files have it (Value::in_file): calls f(first element in the file's tensor,
/// first in the value, number of elements, distance of neighbours in the value).
template <class F>
void for_each_run_in_file(const Value& value, const F& f) {
  if (!value.in_file || !value.in_file->transposed) {
    for_each_run_of_part(value, [&](std::int64_t first, std::int64_t at, std::int64_t count) {
      f(first, at, count, std::int64_t{1});
    });
    return;
  }
  const std::int64_t rows = value.shape.at(0), columns = value.shape.at(1);
  const std::int64_t row = value.part ? value.part->begin[0] : 0;
  const std::int64_t column = value.part ? value.part->begin[1] : 0;
  for (std::int64_t i = 0; rows > 0 && i < columns; ++i)
    f((column + i) * tensor_shape(value)[0] + row, i, rows, columns);
}

}  // namespace poet
