#pragma once

// Names as users type them: in another case, or mistyped.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace poet {

/// Returns whether two ASCII names are equal but for case and "-" for "_".
[[nodiscard]] bool same_name(std::string_view a, std::string_view b);

/// Returns the canonical form: lower case, '-' as '_'. same_name(a, b) iff the forms of a and b are equal.
[[nodiscard]] std::string folded_name(std::string name);

/// Returns the first of the names in `known` with the least edit distance to `name` (letters inserted,
/// deleted, replaced or swapped with a neighbour), or nullopt if that is more than a third of its letters.
/// O(sum of length * length).
[[nodiscard]] std::optional<std::string> nearest(std::string_view name,
                                                 const std::vector<std::string>& known);

/// Returns "; did you mean X?", or "" if nothing is near.
[[nodiscard]] std::string did_you_mean(std::string_view name, const std::vector<std::string>& known);

/// Returns the index of `name` in `known`, compared by same_name(), or nullopt.
[[nodiscard]] std::optional<std::size_t> place_in(std::string_view name,
                                                  const std::vector<std::string>& known);

/// "\"adma\" is not one of sgd, adam; did you mean adam?"
[[nodiscard]] std::string not_one_of(std::string_view name, const std::vector<std::string>& known);

}  // namespace poet
