#pragma once

// An instance's JSON in two parts: the graph, which is the same for every device, and the rest.

#include <nlohmann/json.hpp>
#include <string>

namespace poet {

struct InstanceParts {
  nlohmann::ordered_json graph;
  nlohmann::ordered_json costs;  // the rest; fields of nodes, ops and values as one array each, null: absent
};

/// Splits the JSON of to_json(Instance).
[[nodiscard]] InstanceParts split_instance(const nlohmann::ordered_json& instance);

/// Merges the parts again for instance_from_json(), which validates the contents. Throws InputError with
/// `place` if the parts do not fit together.
[[nodiscard]] nlohmann::ordered_json merge_instance(const InstanceParts& parts, const std::string& place);

}  // namespace poet
