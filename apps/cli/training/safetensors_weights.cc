#include "apps/cli/training/safetensors_weights.h"

#include <algorithm>

#include "poet/base/error.h"

namespace poet::cli {

SafetensorsWeights::SafetensorsWeights(const Graph& graph, const std::optional<std::filesystem::path>& file) {
  if (!file) return;
  values_ = graph.values;
  file_ = std::make_unique<runtime::SafetensorsFile>(*file);
  const bool any = std::any_of(values_.begin(), values_.end(), [this](const Value& value) {
    return is_persistent(value.persistence) && file_->has(value.name);
  });
  if (!any)
    throw InputError(file->string(), "holds no tensor with the name of one of the network's parameters");
}

runtime::WeightSource SafetensorsWeights::source() const {
  if (!file_) return {};
  return [this](ValueId v, std::byte* to) {
    const Value& value = values_[v];
    if (!file_->has(value.name)) return false;
    file_->read(value.name, value.dtype, value.shape, to);
    return true;
  };
}

}  // namespace poet::cli
