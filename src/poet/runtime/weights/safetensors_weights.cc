#include "poet/runtime/weights/safetensors_weights.h"

#include "poet/base/error.h"
#include "poet/graph/parts.h"

namespace poet::runtime {

SafetensorsWeights::SafetensorsWeights(const Graph& graph, const std::optional<std::filesystem::path>& file)
    : graph_(graph) {
  if (!file) return;
  file_ = std::make_unique<SafetensorsFile>(*file);
  bool any = false;
  for (const Value& stored : graph.values) {
    if (!is_persistent(stored.persistence) || stored.alias_of.valid()) continue;
    const Value value = at_home(stored);
    if (!file_->has(tensor_name(value))) continue;
    file_->check(value);
    any = true;
  }
  if (!any)
    throw InputError(file->string(), "holds no tensor with the name of one of the network's parameters");
}

bool SafetensorsWeights::read(ValueId v, std::byte* to) const {
  if (!has(v)) return false;
  file_->read(at_home(graph_.values[v]), to);
  return true;
}

}  // namespace poet::runtime
