#pragma once

// Options that name the network and its training, and their conversion to a spec.

#include <optional>
#include <string>
#include <vector>

#include "poet/pipeline/spec.h"

namespace poet::cli {

class Parser;

/// As typed; absent if not given.
struct NetworkOptions {
  std::optional<std::string> model, onnx;
  std::vector<std::string> input_shapes;  // of --onnx: NAME=1x3x224x224
  std::vector<std::string> input_values;  // of --onnx: NAME=16000
  std::optional<std::string> loss;        // of --onnx
  bool allow_opaque = false;              // of --onnx
  std::optional<std::string> batch_size, sequence_length, optimizer, trainable;
  std::optional<std::string> accumulate, clip_norm, label_smoothing, precision;
  std::optional<std::string> huber_delta, loss_output;  // of --onnx
};

/// Adds all options, or only those of ONNX files, to `parser`; `options` must outlive the parsing.
void add_network_options(const Parser& parser, NetworkOptions& options);
void add_onnx_options(const Parser& parser, NetworkOptions& options);

/// Throws InputError for options that need --onnx without it.
void check_onnx_options(const NetworkOptions& options);

/// Returns the spec of --model or --onnx with the training options. Throws InputError naming the option.
[[nodiscard]] NetworkSpec network_spec(const NetworkOptions& options);

/// Imports --onnx with its options. Throws InputError naming the option or file.
[[nodiscard]] ImportedModel read_onnx(const NetworkOptions& options);

}  // namespace poet::cli
