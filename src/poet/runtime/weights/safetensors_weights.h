#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "poet/graph/graph.h"
#include "poet/runtime/weights/safetensors.h"

namespace poet::runtime {

/// Weights of a safetensors file, by name.
class SafetensorsWeights {
 public:
  /// Without a file nothing is known. `graph` must outlive it. Throws InputError for a file that holds no
  /// value of the graph, or one of another type or shape.
  SafetensorsWeights(const Graph& graph, const std::optional<std::filesystem::path>& file);

  [[nodiscard]] bool has(ValueId v) const { return file_ && file_->has(tensor_name(graph_.values[v])); }

  /// Returns those of SafetensorsFile.
  [[nodiscard]] std::vector<std::string> notes() const {
    return file_ ? file_->notes() : std::vector<std::string>();
  }

  /// Whether the file has the value; `to` has its contents then. Throws as SafetensorsFile::read().
  [[nodiscard]] bool read(ValueId v, std::byte* to) const;

 private:
  const Graph& graph_;
  std::unique_ptr<SafetensorsFile> file_;
};

}  // namespace poet::runtime
