#include "poet/cost/instance_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "poet/cost/json_reader.h"

namespace poet {

using Json = nlohmann::ordered_json;

namespace {

// Arrays of objects, of which each field is split by itself.
constexpr std::array<std::string_view, 3> kTables = {"nodes", "ops", "values"};

constexpr std::array<std::string_view, 17> kCosts = {"platform",
                                                     "source",
                                                     "device",
                                                     "timing",
                                                     "persistent_bytes",
                                                     "persistent_of",
                                                     "has_storage",
                                                     "alignment_bytes",
                                                     "runtime_seconds",
                                                     "compute_joules",
                                                     "workspace_bytes",
                                                     "page_in_seconds",
                                                     "page_in_joules",
                                                     "page_out_seconds",
                                                     "page_out_joules",
                                                     "ram_bytes",
                                                     "storage_capacity_bytes"};

template <std::size_t n>
bool contains(const std::array<std::string_view, n>& keys, std::string_view key) {
  return std::find(keys.begin(), keys.end(), key) != keys.end();
}

}  // namespace

InstanceParts split_instance(const Json& instance) {
  InstanceParts parts{Json::object(), Json::object()};
  for (const auto& [key, value] : instance.items()) {
    if (!contains(kTables, key)) {
      (contains(kCosts, key) ? parts.costs : parts.graph)[key] = value;
      continue;
    }
    Json& rows = parts.graph[key] = Json::array();
    Json& columns = parts.costs[key] = Json::object();
    for (const Json& row : value) {
      Json rest = Json::object();
      for (const auto& [field, content] : row.items()) {
        if (!contains(kCosts, field)) {
          rest[field] = content;
          continue;
        }
        Json& column = columns[field];
        if (column.is_null()) column = Json::array_t(value.size());
        column[rows.size()] = content;
      }
      rows.push_back(std::move(rest));
    }
  }
  return parts;
}

Json merge_instance(const InstanceParts& parts, const std::string& place) {
  const JsonField graph(parts.graph, place + ": GRAPH");
  const JsonField costs(parts.costs, place + ": COSTS");
  if (!parts.graph.is_object()) graph.fail("must be an object");
  if (!parts.costs.is_object()) costs.fail("must be an object");
  Json instance = parts.graph;
  for (const auto& [key, value] : parts.costs.items()) {
    if (!contains(kTables, key)) {
      instance[key] = value;
      continue;
    }
    const std::size_t count = graph.at(key).items().size();
    const JsonField columns = costs.at(key);
    if (!value.is_object()) columns.fail("must be an object");
    Json& rows = instance[key];
    for (const auto& [field, content] : value.items()) {
      if (columns.at(field).items().size() != count)
        columns.fail_at(field, fmt::format("must have {} items, as in GRAPH", count));
      for (std::size_t i = 0; i < count; ++i) {
        if (content[i].is_null()) continue;
        if (!rows[i].is_object()) graph.at(key).items()[i].fail("must be an object");
        rows[i][field] = content[i];
      }
    }
  }
  return instance;
}

}  // namespace poet
