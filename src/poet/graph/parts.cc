#include "poet/graph/parts.h"

#include <unordered_map>

namespace poet {

std::vector<Tensor> persistent_tensors(const Graph& graph) {
  std::vector<Tensor> all;
  std::unordered_map<std::string, std::size_t> places;  // of tensors in parts
  for (const ValueId v : ids<ValueId>(graph.values.size())) {
    const Value& value = graph.values[v];
    if (!is_persistent(value.persistence) || value.alias_of.valid()) continue;
    if (value.part) {
      const auto [place, is_new] = places.emplace(value.part->tensor, all.size());
      if (!is_new) {
        all[place->second].values.push_back(v);
        continue;
      }
    }
    all.push_back({tensor_name(value), value.dtype, tensor_shape(value), {v}});
  }
  return all;
}

}  // namespace poet
