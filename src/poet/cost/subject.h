#pragma once

// An op as the cost rules see it. Private to poet/cost.

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "poet/base/error.h"
#include "poet/graph/graph.h"

namespace poet::cost {

using Count = std::int64_t;

/// The op under the rule: shapes by position, complaints that name it.
class Subject {
 public:
  Subject(const Graph& graph, OpId id) : graph_(graph), op_(graph.ops[id]), id_(id) {}

  [[noreturn]] void fail(const std::string& rule) const {
    throw InputError(fmt::format("op {} \"{}\" ({})", id_.index, op_.name, op_.kind), rule);
  }

  [[nodiscard]] const Op& op() const { return op_; }
  [[nodiscard]] const Shape& input(std::size_t position) const {
    return shape(op_.inputs, position, "input");
  }
  [[nodiscard]] const Shape& output(std::size_t position) const {
    return shape(op_.outputs, position, "output");
  }
  [[nodiscard]] const Shape& update(std::size_t position) const {
    return shape(op_.updates, position, "update");
  }
  [[nodiscard]] bool has_input(std::size_t position) const { return position < op_.inputs.size(); }
  [[nodiscard]] bool has_output(std::size_t position) const { return position < op_.outputs.size(); }

  [[nodiscard]] Count times(Count a, Count b) const {
    Count product = 0;
    if (__builtin_mul_overflow(a, b, &product)) fail("its work does not fit 64 bits");
    return product;
  }
  [[nodiscard]] Count plus(Count a, Count b) const {
    Count sum = 0;
    if (__builtin_add_overflow(a, b, &sum)) fail("its work does not fit 64 bits");
    return sum;
  }
  [[nodiscard]] Count elements(const Shape& shape) const {
    Count product = 1;
    for (const Count dimension : shape) product = times(product, dimension);
    return product;
  }
  /// `per_element` for each element of `shape`.
  [[nodiscard]] Count each(const Shape& shape, Count per_element) const {
    return times(elements(shape), per_element);
  }
  [[nodiscard]] Count last(const Shape& shape) const {
    if (shape.empty()) fail("needs a value of at least one dimension");
    return shape.back();
  }
  /// Rows along the last axis.
  [[nodiscard]] Count rows(const Shape& shape) const {
    return last(shape) == 0 ? 0 : elements(shape) / last(shape);
  }
  [[nodiscard]] Count integer(const char* name) const {
    const auto found = op_.attributes.find(name);
    const auto* number = found == op_.attributes.end() ? nullptr : std::get_if<Count>(&found->second);
    if (number == nullptr) fail(fmt::format("needs the attribute {}, an integer", name));
    return *number;
  }
  [[nodiscard]] double real(const char* name) const {
    const auto found = op_.attributes.find(name);
    if (found != op_.attributes.end()) {
      if (const auto* number = std::get_if<double>(&found->second)) return *number;
      if (const auto* whole = std::get_if<Count>(&found->second)) return static_cast<double>(*whole);
    }
    fail(fmt::format("needs the attribute {}, a number", name));
  }
  [[nodiscard]] Count window() const {
    const auto kernel = op_.attributes.find("kernel");
    const auto* sides =
        kernel == op_.attributes.end() ? nullptr : std::get_if<std::vector<Count>>(&kernel->second);
    if (sides == nullptr || sides->empty()) fail("needs the attribute kernel, a list of integers");
    Count area = 1;
    for (const Count side : *sides) area = times(area, side);
    return area;
  }

 private:
  [[nodiscard]] const Shape& shape(const std::vector<ValueId>& values, std::size_t position,
                                   const char* role) const {
    if (position >= values.size()) fail(fmt::format("needs {} {}", role, position));
    return graph_.values[values[position]].shape;
  }

  const Graph& graph_;
  const Op& op_;
  OpId id_;
};

}  // namespace poet::cost
