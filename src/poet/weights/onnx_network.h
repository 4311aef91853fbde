#pragma once

// The ONNX file that a network was imported from: its weights into a training run, trained ones into a copy.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "poet/frontend/onnx/import.h"
#include "poet/frontend/onnx/weights.h"
#include "poet/graph/graph.h"
#include "poet/runtime/training/trainer.h"

namespace poet {

/// Imports a file at the batch size of the step that takes its weights, or, if its batch is fixed to another
/// one, at that. Throws as import_onnx().
[[nodiscard]] ImportedModel import_at_batch(const std::filesystem::path& file, ImportOptions options,
                                            std::int64_t batch_size);

/// The parameters of a training graph.
[[nodiscard]] std::set<std::string> parameter_names(const Graph& training);

/// Imports a file for its weights alone, which need no loss, with these of its tensors as parameters; as
/// import_at_batch().
[[nodiscard]] ImportedModel import_for_weights(const std::filesystem::path& file, std::int64_t batch_size,
                                               const std::set<std::string>& parameters);

/// An ONNX file and how it is imported.
struct OnnxNetwork {
  std::filesystem::path file;
  std::function<ImportedModel()> import;
  bool is_chosen = false;  // by the user as a file of weights: it must have some of the network's
};

/// Reads the first contents of a persistent value of a training graph. Returns whether the file has them;
/// `contents` has the value's size either way. Throws as OnnxWeights::read().
[[nodiscard]] bool read_weight(const OnnxWeights& weights, const Value& value,
                               std::vector<std::byte>& contents);

/// Throws InputError naming `file` unless it has the contents of some persistent value of `training`.
void check_any(const OnnxWeights& weights, const Graph& training, const std::filesystem::path& file);

/// Returns why `training` was not made of the graph `imported`: a parameter that only one of them has. Empty
/// if it may have been.
[[nodiscard]] std::string other_parameter(const Graph& imported, const Graph& training);

/// Throws InputError where write_trained_onnx() would, whatever the weights.
void check_exportable(const Graph& training, const std::optional<OnnxNetwork>& network);

/// Writes the trained network as an ONNX file: `network` with its weights replaced, or without one the
/// forward part of the training graph. Throws InputError.
void write_trained_onnx(const runtime::Trainer& trainer, const std::optional<OnnxNetwork>& network,
                        const std::filesystem::path& file);

}  // namespace poet
