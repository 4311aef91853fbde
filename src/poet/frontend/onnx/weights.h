#pragma once

// Where an ONNX file has the numbers that a run starts from.

#include <cstddef>
#include <filesystem>
#include <memory>

#include "poet/frontend/onnx/import.h"
#include "poet/graph/graph.h"

namespace poet {

/// An opened file: all of it is in memory (within protobuf's structs, once more for the tensor that is read).
/// Data in other files are read when they are asked for.
class OnnxWeights {
 public:
  /// `imported`: what this file was imported as, which need not outlive this. Throws InputError naming the
  /// file when it cannot be read.
  OnnxWeights(const std::filesystem::path& file, const ImportedModel& imported);
  ~OnnxWeights();
  OnnxWeights(const OnnxWeights&) = delete;
  OnnxWeights& operator=(const OnnxWeights&) = delete;
  OnnxWeights(OnnxWeights&&) = delete;
  OnnxWeights& operator=(OnnxWeights&&) = delete;

  /// Writes the contents of a persistent value of the imported graph (or of a training graph made of it), in
  /// its element type: a parameter, running statistics or a constant. False when the file has none for it:
  /// optimiser state, or a weight that it goes without. Throws InputError naming file and tensor when the
  /// contents do not fit, or cannot be read from the file that the model refers to. O(elements).
  /// Part of a tensor is taken out of it; that of the last part stays in memory for the next one.
  [[nodiscard]] bool read(const Value& value, std::byte* to) const;

 private:
  bool read_part(const Value& value, std::byte* to) const;

  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace poet
