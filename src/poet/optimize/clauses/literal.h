#pragma once

// Variables that are true or false, numbered from 0, and their literals.

#include <cstddef>
#include <cstdint>
#include <vector>

namespace poet {

/// A variable, or its negation.
struct Literal {
  int code = -1;  // twice the variable, plus one where negated; -1: none

  [[nodiscard]] static Literal of(int variable) { return {2 * variable}; }
  [[nodiscard]] bool exists() const { return code >= 0; }
  [[nodiscard]] int variable() const { return code >> 1; }
  [[nodiscard]] bool is_negated() const { return (code & 1) != 0; }
  [[nodiscard]] std::size_t index() const { return static_cast<std::size_t>(code); }
  Literal operator~() const { return {code ^ 1}; }
  bool operator==(const Literal&) const = default;
};

/// At least one of them is true.
using Clause = std::vector<Literal>;

struct WeightedLiteral {
  std::int64_t weight = 0;
  Literal literal;
};

}  // namespace poet
