#pragma once

// Access to an op that fits its operator's schema, for the rules of operators and the makers of kernels. It
// refers to the graph; kernels copy the data that they need. Missing operands or attributes are an
// InternalError, as check_operands() has checked the op.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "poet/base/error.h"
#include "poet/graph/graph.h"

namespace poet::operators {

using Index = std::int64_t;

class OpReader {
 public:
  OpReader(const Graph& graph, OpId id) : graph_(graph), id_(id), op_(graph.ops[id]) {}

  [[nodiscard]] const Op& op() const { return op_; }
  /// Without the accumulators behind them.
  [[nodiscard]] std::size_t inputs() const { return op_.inputs.size() - accumulated().size(); }
  [[nodiscard]] std::size_t outputs() const { return op_.outputs.size(); }
  [[nodiscard]] const Value& value(ValueId v) const { return graph_.values[v]; }
  [[nodiscard]] const Value& input(std::size_t i) const { return at(op_.inputs, i); }
  [[nodiscard]] const Value& output(std::size_t i) const { return at(op_.outputs, i); }
  [[nodiscard]] const Value& update(std::size_t i) const { return at(op_.updates, i); }
  [[nodiscard]] const Shape& in(std::size_t i) const { return input(i).shape; }
  [[nodiscard]] const Shape& out(std::size_t i) const { return output(i).shape; }
  [[nodiscard]] Index in_count(std::size_t i) const { return element_count(in(i)); }
  [[nodiscard]] Index out_count(std::size_t i) const { return element_count(out(i)); }

  [[nodiscard]] bool has(const char* name) const { return op_.attributes.contains(name); }
  [[nodiscard]] double real(const char* name) const { return get<double>(name); }
  [[nodiscard]] float real32(const char* name) const { return static_cast<float>(real(name)); }
  [[nodiscard]] Index integer(const char* name) const { return get<Index>(name); }
  [[nodiscard]] const std::string& text(const char* name) const { return get<std::string>(name); }
  [[nodiscard]] const std::vector<Index>& list(const char* name) const {
    return get<std::vector<Index>>(name);
  }

  /// Returns the outputs that accumulate.
  [[nodiscard]] std::vector<Index> accumulated() const {
    return has("accumulate") ? list("accumulate") : std::vector<Index>();
  }
  /// Returns the position of the accumulator of output `i`; -1: none.
  [[nodiscard]] int accumulator(std::size_t i) const {
    const std::vector<Index> outputs = accumulated();
    const auto found = std::find(outputs.begin(), outputs.end(), static_cast<Index>(i));
    return found == outputs.end() ? -1
                                  : static_cast<int>(inputs()) + static_cast<int>(found - outputs.begin());
  }

  /// Returns the output that is the gradient of forward input `position`; -1: none. `all` are the positions
  /// if there is no attribute `gradients`.
  [[nodiscard]] int gradient(Index position, const std::vector<Index>& all) const {
    const std::vector<Index>& positions = has("gradients") ? list("gradients") : all;
    const auto found = std::find(positions.begin(), positions.end(), position);
    const auto place = static_cast<std::size_t>(found - positions.begin());
    return found != positions.end() && place < outputs() ? static_cast<int>(place) : -1;
  }

 protected:
  [[nodiscard]] const Value& at(const std::vector<ValueId>& list, std::size_t i) const {
    ensure(i < list.size(), "an op has the operands of its operator");
    return graph_.values[list[i]];
  }
  template <class T>
  [[nodiscard]] const T& get(const char* name) const {
    const auto found = op_.attributes.find(name);
    const T* value = found == op_.attributes.end() ? nullptr : std::get_if<T>(&found->second);
    if (value == nullptr) throw InternalError("an op has the attributes of its operator");
    return *value;
  }

  const Graph& graph_;
  OpId id_;
  const Op& op_;
};

}  // namespace poet::operators
