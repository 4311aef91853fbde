#pragma once

// Choices by the names that command lines and files use, in any case. All throw InputError, with `place` for
// where the name stands, that lists the names there are.

#include <string>
#include <utility>
#include <vector>

#include "poet/base/error.h"
#include "poet/base/nearest.h"
#include "poet/pipeline/spec.h"

namespace poet {

/// The value named by `text`.
template <class T>
[[nodiscard]] T choose(const std::string& place, const std::string& text,
                       const std::vector<std::pair<std::string, T>>& choices) {
  std::vector<std::string> names;
  for (const auto& [name, value] : choices) names.push_back(name);
  const std::optional<std::size_t> at = place_in(text, names);
  if (!at) throw InputError(place, not_one_of(text, names));
  return choices[*at].second;
}

[[nodiscard]] Semantics semantics_named(const std::string& place, const std::string& text);
[[nodiscard]] PersistentPolicy persistent_policy_named(const std::string& place, const std::string& text);
[[nodiscard]] Optimizer optimizer_named(const std::string& place, const std::string& text);
[[nodiscard]] Precision precision_named(const std::string& place, const std::string& text);
[[nodiscard]] Loss loss_named(const std::string& place, const std::string& text);

/// Of inputs, each "NAME=1x3x224x224"; throws for two of one name.
[[nodiscard]] std::map<std::string, Shape> input_shapes_of(const std::string& place,
                                                           const std::vector<std::string>& texts);

}  // namespace poet
