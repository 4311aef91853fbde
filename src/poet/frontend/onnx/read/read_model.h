#pragma once

// ONNX file -> plain structs. Only what is in this folder knows protobuf and libonnx.

#include <filesystem>
#include <memory>
#include <string_view>

#include "poet/frontend/onnx/model.h"

namespace poet::onnx {

/// Contents of integer tensors and of patterned ones are read up to this many elements, of others up to
/// kMostReals: constants that shapes and masks (of up to 2048 tokens) are computed from, not weights.
inline constexpr std::int64_t kMostIntegers = std::int64_t{1} << 22;
inline constexpr std::int64_t kMostReals = 4096;

/// Parses and checks a model of up to 2 GiB. Weights may be in other files, which are not opened, or absent.
/// The model is checked by libonnx when it has its data and is not newer than libonnx. Throws InputError, one
/// line, when the file cannot be read, is no ONNX model, has a negative or overflowing shape, or is one that
/// the checker refuses; the message starts with the file's name. O(size of the file).
[[nodiscard]] Model read_model(const std::filesystem::path& file);

/// The same for a model in memory; `place` begins the messages.
[[nodiscard]] Model parse_model(std::string_view bytes, const std::string& place);

/// A model, and its file, in which what If and Loop nodes run takes their places once it is known.
class OpenedModel {
 public:
  /// As read_model().
  explicit OpenedModel(const std::filesystem::path& file);
  ~OpenedModel();
  OpenedModel(const OpenedModel&) = delete;
  OpenedModel& operator=(const OpenedModel&) = delete;
  OpenedModel(OpenedModel&&) = delete;
  OpenedModel& operator=(OpenedModel&&) = delete;

  [[nodiscard]] const Model& model() const;
  /// As resolve() of control_flow.h; its messages do not name the file. O(nodes, and what was added).
  void resolve(const ResolvedControl& known);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace poet::onnx
