#pragma once

// An op under the rules of its operator; what does not fit is refused with the op's place. Private to
// graph/operators.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "poet/graph/operators/op_reader.h"

namespace poet::operators {

class Checker : public OpReader {
 public:
  using OpReader::OpReader;

  [[nodiscard]] Bytes storage_bytes(ValueId v) const { return graph_.values[storage(graph_, v)].bytes; }

  /// Throws InputError: the op, and what it needs.
  [[noreturn]] void refuse(const std::string& rule) const;
  template <class... Args>
  void need(bool holds, fmt::format_string<Args...> rule, Args&&... args) const {
    if (!holds) refuse(fmt::format(rule, std::forward<Args>(args)...));
  }
  void need_in(std::size_t i, const Shape& wanted) const { need_shape("input", i, in(i), wanted); }
  void need_out(std::size_t i, const Shape& wanted) const { need_shape("output", i, out(i), wanted); }
  void need_shape(const char* list, std::size_t i, const Shape& shape, const Shape& wanted) const;
  void need_row_major(const Value& value, const char* what) const;

  // Attributes. Those that are missing, of another type or out of range are refused.
  [[nodiscard]] Index integer(const char* name, Index low, Index high) const;
  /// Finite.
  [[nodiscard]] double real(const char* name) const;
  [[nodiscard]] double any_real(const char* name) const;
  [[nodiscard]] const std::string& text(const char* name, std::initializer_list<std::string_view> of) const;
  [[nodiscard]] const std::vector<Index>& list(const char* name) const;
  /// Of `size` numbers in [low, high].
  [[nodiscard]] const std::vector<Index>& list(const char* name, std::size_t size, Index low,
                                               Index high) const;
  /// An axis of a tensor of this rank.
  [[nodiscard]] std::size_t axis(const char* name, std::size_t rank) const;
  /// Ascending axes, at least one.
  [[nodiscard]] const std::vector<Index>& axes(const char* name, std::size_t rank) const;
  /// Numbers in [0, end), ascending, as many as `of_what` has.
  [[nodiscard]] const std::vector<Index>& positions(const char* name, Index end, std::size_t count,
                                                    const char* of_what) const;

  /// The forward input that each output is the gradient of: attribute `gradients`, else 0, 1... from `first`
  /// to `last`, of which the last one may be missing where it is `optional`.
  [[nodiscard]] std::vector<Index> gradients(Index first, Index last, bool optional) const;

 private:
  [[nodiscard]] const Attribute& attribute(const char* name) const;
};

/// A shape as messages show it, "(3, 4)"; formatted when it is needed, which is seldom. Refers to the shape.
struct ShapeText {
  const Shape& shape;
};
[[nodiscard]] inline ShapeText text_of(const Shape& shape) { return {shape}; }

/// Whether an operand of this shape can be stretched to `whole`.
[[nodiscard]] bool broadcasts_to(const Shape& shape, const Shape& whole);

}  // namespace poet::operators

template <>
struct fmt::formatter<poet::operators::ShapeText> {
  constexpr auto parse(format_parse_context& context) { return context.begin(); }
  template <class Context>
  auto format(const poet::operators::ShapeText& text, Context& context) const {
    return fmt::format_to(context.out(), "({})", fmt::join(text.shape, ", "));
  }
};
