#pragma once

// The safetensors file format (huggingface/safetensors): a JSON header of names, types, shapes and offsets,
// then the bytes. What poet writes as checkpoints, and other programs read.

#include <cstddef>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "poet/graph/graph.h"

namespace poet::runtime {

struct TensorEntry {
  std::string name;
  DType dtype = DType::float32;
  Shape shape;
  const std::byte* data = nullptr;  // row-major; to be written
};

/// Streams the tensors into a file beside `file`, flushes it to storage and renames it: the earlier file
/// stays whole whatever happens. `metadata` becomes "__metadata__". Throws InputError naming the file.
void write_safetensors(const std::filesystem::path& file, const std::vector<TensorEntry>& tensors,
                       const std::map<std::string, std::string>& metadata);

/// An opened file: its header is in memory, its tensors are read on demand.
class SafetensorsFile {
 public:
  /// Throws InputError naming the file and the rule of the format that it breaks.
  explicit SafetensorsFile(const std::filesystem::path& file);
  ~SafetensorsFile();
  SafetensorsFile(const SafetensorsFile&) = delete;
  SafetensorsFile& operator=(const SafetensorsFile&) = delete;
  SafetensorsFile(SafetensorsFile&&) = delete;
  SafetensorsFile& operator=(SafetensorsFile&&) = delete;

  [[nodiscard]] const std::map<std::string, std::string>& metadata() const { return metadata_; }
  [[nodiscard]] std::vector<std::string> names() const;
  [[nodiscard]] bool has(const std::string& name) const { return tensors_.contains(name); }

  /// Reads a tensor of exactly this type and shape into `to`. Throws InputError naming file and tensor.
  void read(const std::string& name, DType dtype, const Shape& shape, std::byte* to) const;

 private:
  struct Place {
    DType dtype;
    Shape shape;
    std::int64_t begin;  // in the file
    std::int64_t end;
  };
  std::filesystem::path file_;
  int descriptor_ = -1;
  std::map<std::string, Place> tensors_;
  std::map<std::string, std::string> metadata_;
};

}  // namespace poet::runtime
