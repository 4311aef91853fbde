#pragma once

// Texts and checks for the diagnostics of builder.cc, nn/ and autodiff.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "poet/base/error.h"
#include "poet/graph/broadcast.h"
#include "poet/graph/graph.h"

namespace poet::diagnostics {

inline std::string place(const std::string& op) { return fmt::format("op '{}'", op); }

inline std::string text(const Shape& shape) { return fmt::format("({})", fmt::join(shape, ", ")); }

/// Returns the bytes. Throws InputError if they overflow 64 bits.
inline Bytes checked_bytes(const std::string& op, const Shape& shape, DType dtype) {
  try {
    return byte_count(shape, dtype);
  } catch (const InputError& error) {
    throw InputError(place(op), error.what());
  }
}

inline void check_positive(const std::string& op, const char* what, std::int64_t number) {
  if (number < 1) throw InputError(place(op), fmt::format("{} must be positive, not {}", what, number));
}

/// Returns `axis`, counted from 0. Throws InputError if `shape` has no such axis.
inline std::size_t checked_axis(const std::string& op, std::int64_t axis, const Shape& shape) {
  if (axis < 0 || axis >= static_cast<std::int64_t>(shape.size()))
    throw InputError(place(op), fmt::format("{} has no axis {}", text(shape), axis));
  return static_cast<std::size_t>(axis);
}

/// Returns the shape to which both broadcast. Throws InputError if there is none.
inline Shape stretched(const std::string& op, const Shape& a, const Shape& b) {
  const std::optional<Shape> to = broadcast_shape(a, b);
  if (!to)
    throw InputError(place(op), fmt::format("{} and {} do not broadcast to one shape", text(a), text(b)));
  return *to;
}

}  // namespace poet::diagnostics
