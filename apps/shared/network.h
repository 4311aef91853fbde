#pragma once

// Which network is trained, and how: from the options that name it to its spec.

#include <optional>
#include <string>
#include <vector>

#include "poet/pipeline/spec.h"

namespace CLI {
class App;
}

namespace poet::cli {

/// As typed; absent where the user said nothing.
struct NetworkOptions {
  std::optional<std::string> model, onnx;
  std::vector<std::string> input_shapes;  // of --onnx: NAME=1x3x224x224
  std::optional<std::string> loss;        // of --onnx
  bool allow_opaque = false;              // of --onnx
  std::optional<std::string> batch_size, sequence_length, optimizer, trainable;
};

/// Adds the options to `app`, in `group` of the help; `options` must outlive the parsing. All of them, or
/// those that say how an ONNX file is read.
void add_network_options(CLI::App& app, NetworkOptions& options, const std::string& group);
void add_onnx_options(CLI::App& app, NetworkOptions& options, const std::string& group = "Options");

/// Throws InputError for an option of --onnx without it.
void check_onnx_options(const NetworkOptions& options);

/// --model or --onnx, and the options that say how it is trained. Throws InputError naming the option.
[[nodiscard]] NetworkSpec network_spec(const NetworkOptions& options);

/// --onnx and the options that say how it is read. Throws InputError naming the option or file.
[[nodiscard]] ImportedModel read_onnx(const NetworkOptions& options);

}  // namespace poet::cli
