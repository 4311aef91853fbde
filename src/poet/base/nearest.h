#pragma once

// Names as people type them: in another case, or mistyped.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace poet {

/// Whether two names differ in nothing but case, and "-" for "_". Names are ASCII.
[[nodiscard]] bool same_name(std::string_view a, std::string_view b);

/// What is the same for names that are.
[[nodiscard]] std::string folded_name(std::string name);

/// The one of `known` that `name` was most likely meant to be: the fewest letters are missing, superfluous,
/// wrong or swapped with their neighbours, at most one in three; the first of equals. Nothing where none is
/// that near. O(sum of length * length).
[[nodiscard]] std::optional<std::string> nearest(std::string_view name,
                                                 const std::vector<std::string>& known);

/// "; did you mean X?", or nothing.
[[nodiscard]] std::string did_you_mean(std::string_view name, const std::vector<std::string>& known);

/// Where `name` is in `known`, as same_name() compares them; nothing where it is not.
[[nodiscard]] std::optional<std::size_t> place_in(std::string_view name,
                                                  const std::vector<std::string>& known);

/// "\"adma\" is not one of sgd, adam; did you mean adam?"
[[nodiscard]] std::string not_one_of(std::string_view name, const std::vector<std::string>& known);

}  // namespace poet
