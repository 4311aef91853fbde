#pragma once

// Enumerators by the names that command lines and files use, case-insensitively. All throw InputError at
// `place`, listing the known names.

#include <string>
#include <utility>
#include <vector>

#include "poet/base/error.h"
#include "poet/base/nearest.h"
#include "poet/pipeline/spec.h"

namespace poet {

/// Returns the value named by `text`.
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

/// Parses numbers of pinned inputs, each "NAME=16000". Throws InputError for a repeated name.
[[nodiscard]] std::map<std::string, double> input_values_of(const std::string& place,
                                                            const std::vector<std::string>& texts);
/// Parses shapes of inputs, each "NAME=1x3x224x224". Throws InputError for a repeated name.
[[nodiscard]] std::map<std::string, Shape> input_shapes_of(const std::string& place,
                                                           const std::vector<std::string>& texts);

}  // namespace poet
