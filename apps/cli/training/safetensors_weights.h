#pragma once

#include <filesystem>
#include <memory>
#include <optional>

#include "poet/graph/graph.h"
#include "poet/runtime/weights/initial_weights.h"
#include "poet/runtime/weights/safetensors.h"

namespace poet::cli {

/// Weights of a safetensors file, by name.
class SafetensorsWeights {
 public:
  /// Without a file nothing is known. Throws InputError for a file that holds no value of the graph, or one
  /// of another type or shape.
  SafetensorsWeights(const Graph& graph, const std::optional<std::filesystem::path>& file);

  [[nodiscard]] bool has(ValueId v) const { return file_ && file_->has(values_[v].name); }

  /// Valid as long as this object. Throws as SafetensorsFile::read().
  [[nodiscard]] runtime::WeightSource source() const;

 private:
  IdVector<ValueId, Value> values_;  // a copy: the graph moves on
  std::unique_ptr<runtime::SafetensorsFile> file_;
};

}  // namespace poet::cli
