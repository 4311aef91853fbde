#include "poet/runtime/weights/safetensors_weights.h"

#include "poet/base/error.h"

namespace poet::runtime {

SafetensorsWeights::SafetensorsWeights(const Graph& graph, const std::optional<std::filesystem::path>& file)
    : graph_(graph) {
  if (!file) return;
  file_ = std::make_unique<SafetensorsFile>(*file);
  bool any = false;
  for (const Value& value : graph.values) {
    if (!is_persistent(value.persistence) || value.alias_of.valid() || !file_->has(value.name)) continue;
    file_->check(value.name, value.dtype, value.shape);
    any = true;
  }
  if (!any)
    throw InputError(file->string(), "holds no tensor with the name of one of the network's parameters");
}

bool SafetensorsWeights::read(ValueId v, std::byte* to) const {
  if (!has(v)) return false;
  const Value& value = graph_.values[v];
  file_->read(value.name, value.dtype, value.shape, to);
  return true;
}

}  // namespace poet::runtime
