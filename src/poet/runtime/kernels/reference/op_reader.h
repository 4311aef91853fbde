#pragma once

// What a factory of kernels reads of an op. It points into the graph and lives only while kernels are made:
// a kernel copies what it needs.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "poet/graph/graph.h"
#include "poet/graph/strides.h"

namespace poet::runtime {

using Index = std::int64_t;

class OpReader {
 public:
  OpReader(const Graph& graph, OpId id) : graph_(graph), op_(graph.ops[id]) {}

  [[nodiscard]] const Op& op() const { return op_; }
  [[nodiscard]] std::size_t inputs() const { return op_.inputs.size(); }
  [[nodiscard]] std::size_t outputs() const { return op_.outputs.size(); }
  [[nodiscard]] const Value& input(std::size_t i) const { return graph_.values[op_.inputs.at(i)]; }
  [[nodiscard]] const Value& output(std::size_t i) const { return graph_.values[op_.outputs.at(i)]; }
  [[nodiscard]] const Shape& in(std::size_t i) const { return input(i).shape; }
  [[nodiscard]] const Shape& out(std::size_t i) const { return output(i).shape; }
  [[nodiscard]] Index in_count(std::size_t i) const { return element_count(in(i)); }
  [[nodiscard]] Index out_count(std::size_t i) const { return element_count(out(i)); }

  [[nodiscard]] bool has(const char* name) const { return op_.attributes.contains(name); }
  [[nodiscard]] double real(const char* name) const { return std::get<double>(op_.attributes.at(name)); }
  [[nodiscard]] float real32(const char* name) const { return static_cast<float>(real(name)); }
  [[nodiscard]] Index integer(const char* name) const { return std::get<Index>(op_.attributes.at(name)); }
  [[nodiscard]] const std::string& text(const char* name) const {
    return std::get<std::string>(op_.attributes.at(name));
  }
  [[nodiscard]] const std::vector<Index>& list(const char* name) const {
    return std::get<std::vector<Index>>(op_.attributes.at(name));
  }

  /// Which output is the gradient of forward input `position`; -1: none. `all`: the positions when no
  /// attribute `gradients` says otherwise.
  [[nodiscard]] int gradient(Index position, const std::vector<Index>& all) const {
    const std::vector<Index>& positions = has("gradients") ? list("gradients") : all;
    const auto found = std::find(positions.begin(), positions.end(), position);
    const auto place = static_cast<std::size_t>(found - positions.begin());
    return found != positions.end() && place < outputs() ? static_cast<int>(place) : -1;
  }

 private:
  const Graph& graph_;
  const Op& op_;
};

/// The strides, spelled out.
[[nodiscard]] inline Shape strides_of(const Value& value) {
  return value.strides.empty() ? row_major_strides(value.shape) : value.strides;
}

}  // namespace poet::runtime
