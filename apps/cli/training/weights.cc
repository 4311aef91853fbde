#include "apps/cli/training/weights.h"

#include "poet/base/error.h"
#include "poet/runtime/training/checkpoint.h"

namespace poet::cli {

Weights::Weights(const Graph& graph, const std::optional<std::filesystem::path>& chosen,
                 const std::optional<std::filesystem::path>& /*network*/)
    : values_(graph.values) {
  if (chosen) safetensors_ = std::make_unique<runtime::SafetensorsFile>(*chosen);
}

runtime::WeightSource Weights::source() {
  if (!safetensors_) return {};
  return [this](ValueId v, std::byte* to) {
    const Value& value = values_[v];
    if (!safetensors_->has(value.name)) return false;
    safetensors_->read(value.name, value.dtype, value.shape, to);
    return true;
  };
}

void export_weights(const Graph&, const runtime::Program&, const std::optional<std::filesystem::path>&,
                    const std::filesystem::path&) {}

}  // namespace poet::cli
