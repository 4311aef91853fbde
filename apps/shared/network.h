#pragma once

// Which network is trained, and how: from the options that name it to its spec.

#include <optional>
#include <string>
#include <vector>

#include "poet/pipeline/spec.h"

namespace poet::cli {

class Parser;

/// As typed; absent where the user said nothing.
struct NetworkOptions {
  std::optional<std::string> model, onnx;
  std::vector<std::string> input_shapes;  // of --onnx: NAME=1x3x224x224
  std::optional<std::string> loss;        // of --onnx
  bool allow_opaque = false;              // of --onnx
  std::optional<std::string> batch_size, sequence_length, optimizer, trainable;
  std::optional<std::string> accumulate, clip_norm, label_smoothing, precision;
  std::optional<std::string> huber_delta, loss_output;  // of --onnx
};

/// Adds the options to `parser`; `options` must outlive the parsing. All of them, or
/// those that say how an ONNX file is read.
void add_network_options(const Parser& parser, NetworkOptions& options);
void add_onnx_options(const Parser& parser, NetworkOptions& options);

/// Throws InputError for an option of --onnx without it.
void check_onnx_options(const NetworkOptions& options);

/// --model or --onnx, and the options that say how it is trained. Throws InputError naming the option.
[[nodiscard]] NetworkSpec network_spec(const NetworkOptions& options);

/// --onnx and the options that say how it is read. Throws InputError naming the option or file.
[[nodiscard]] ImportedModel read_onnx(const NetworkOptions& options);

}  // namespace poet::cli
