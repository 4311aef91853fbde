#include "apps/cli/training/safetensors_weights.h"

#include "poet/base/error.h"

namespace poet::cli {

SafetensorsWeights::SafetensorsWeights(const Graph& graph, const std::optional<std::filesystem::path>& file) {
  if (!file) return;
  values_ = graph.values;
  file_ = std::make_unique<runtime::SafetensorsFile>(*file);
  bool any = false;
  for (const Value& value : values_) {
    if (!is_persistent(value.persistence) || value.alias_of.valid() || !file_->has(value.name)) continue;
    file_->check(value.name, value.dtype, value.shape);
    any = true;
  }
  if (!any)
    throw InputError(file->string(), "holds no tensor with the name of one of the network's parameters");
}

runtime::WeightSource SafetensorsWeights::source() const {
  if (!file_) return {};
  return [this](ValueId v, std::byte* to) {
    if (!has(v)) return false;
    const Value& value = values_[v];
    file_->read(value.name, value.dtype, value.shape, to);
    return true;
  };
}

}  // namespace poet::cli
