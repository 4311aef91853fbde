#pragma once

// The safetensors file format (huggingface/safetensors): a JSON header of names, types, shapes and offsets,
// then the bytes. Used for checkpoints.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "poet/graph/graph.h"
#include "poet/runtime/storage/file_io.h"

namespace poet::runtime {

/// The "format" in the metadata of checkpoints: tensors are as they are in memory, or, where that differs, as
/// files have them.
inline constexpr const char* kCheckpointInMemory = "poet checkpoint 1";
inline constexpr const char* kCheckpointAsInFile = "poet checkpoint 2";

/// The key and value of the metadata of weights that are not a checkpoint: matrices are as the ONNX file has
/// them. Files without it may be of an older version, which wrote them as they are in memory.
inline constexpr const char* kWeightsFormatKey = "poet.format";
inline constexpr const char* kWeightsFormat = "2";

/// A tensor in a file.
struct SafetensorsPlace {
  std::string type;  // in the format's words: "F32", "BF16"
  Shape shape;
  std::int64_t begin = 0;  // in the file
  std::int64_t end = 0;
};

struct TensorEntry {
  std::string name;
  DType dtype = DType::float32;
  Shape shape;                      // the file's
  const std::byte* data = nullptr;  // row-major; to be written

  /// In place of `data` the parts that make up the tensor, written as files have it (Value::in_file).
  struct Slice {
    const Value* value;
    const std::byte* data;
  };
  std::vector<Slice> parts{};
};

/// Streams the tensors into a file beside `file`, flushes it to storage and renames it: the earlier file
/// stays whole whatever happens, and a link keeps pointing where it points. Temporary files left by killed
/// processes (FILE.NUMBER.tmp, not locked) are removed. `metadata` becomes "__metadata__". Byte for byte what
/// the reference implementation writes (metadata by key, whose order it leaves open): types of large elements
/// first, then by name, the data from a multiple of 8 on. Throws InputError naming the file. Memory: the
/// header's, whatever the tensors' size.
void write_safetensors(const std::filesystem::path& file, const std::vector<TensorEntry>& tensors,
                       const std::map<std::string, std::string>& metadata);

/// An opened file: its header is in memory, its tensors are read on demand. Accepts files of any program with
/// any element type of the format that obey its rules: each tensor's type, shape and bytes agree, tensors
/// fill the data without gap or overlap, names are unique, the header has at most 100,000,000 bytes of UTF-8.
class SafetensorsFile {
 public:
  /// Throws InputError naming the file and the violated rule of the format, and for weights of a format that
  /// this version does not know.
  explicit SafetensorsFile(const std::filesystem::path& file);

  [[nodiscard]] const std::map<std::string, std::string>& metadata() const { return metadata_; }
  [[nodiscard]] std::vector<std::string> names() const;
  [[nodiscard]] bool has(const std::string& name) const { return tensors_.contains(name); }

  /// Where a tensor of this type and shape lies; float32 may be stored as F16 or BF16, and axes of length 1
  /// may differ. Throws InputError naming file and tensor where there is none, or it has another type or
  /// shape.
  const SafetensorsPlace& check(const std::string& name, DType dtype, const Shape& shape) const;

  /// Returns notes on what check() has found, one line each: narrow types that are widened to float32, and
  /// square matrices of a file that does not say which way round it has them.
  [[nodiscard]] std::vector<std::string> notes() const;

  /// Reads such a tensor into `to`, every number as it is. Throws InputError as check(), and where it cannot
  /// be read.
  void read(const std::string& name, DType dtype, const Shape& shape, std::byte* to) const;

  /// The tensor with the name of this one's tensor, as files have it (Value::in_file), or what the value is
  /// of it.
  void read(const Value& value, std::byte* to) const;
  /// Throws as read().
  void check(const Value& value) const;

  /// Whether a version of poet wrote it that stored tensors as they are in memory: without Value::in_file.
  [[nodiscard]] bool is_as_in_memory() const;

 private:
  [[nodiscard]] std::string described(const std::string& name) const;
  [[nodiscard]] std::string widened_note() const;
  [[nodiscard]] std::string orientation_note() const;
  void read_elements(const std::string& name, const SafetensorsPlace& place, std::int64_t first,
                     std::int64_t count, std::byte* to) const;

  std::string file_;
  Descriptor descriptor_;
  std::map<std::string, SafetensorsPlace> tensors_;
  std::map<std::string, std::string> metadata_;
  mutable std::set<std::string> widened_;  // types
  /// The tensors that are matrices whose orientation neither shape nor format tells.
  mutable std::set<std::string> ambiguous_;
};

}  // namespace poet::runtime
