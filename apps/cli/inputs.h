#pragma once

// What to schedule: from the options that name it to an instance, shared by every command that solves.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "poet/base/units.h"
#include "poet/cost/device.h"
#include "poet/cost/instance.h"
#include "poet/frontend/onnx/import.h"
#include "poet/plan/limits.h"

namespace poet::cli {

/// As typed; absent where the user said nothing.
struct InputOptions {
  std::optional<std::string> model, onnx, instance, platform, semantics;
  std::vector<std::string> input_shapes;  // of --onnx: NAME=1x3x224x224
  std::optional<std::string> loss;        // of --onnx
  bool allow_opaque = false;              // of --onnx
  std::optional<std::string> batch_size, sequence_length, persistent, optimizer, trainable;
};

/// As typed.
struct LimitOptions {
  std::optional<std::string> ram_budget, runtime_budget, deadline, total_deadline, steps, max_bytes_written;
};

struct Inputs {
  Instance instance;
  Semantics semantics = Semantics::device;
  std::string origin;  // "published instance", "built-in network", "ONNX file x.onnx", "instance file x.json"
  std::optional<DeviceProfile> device;  // of a built-in network or an ONNX file
  std::vector<std::string> notices;     // of an ONNX file: what was changed on the way
  bool persistent_excluded = false;
};

/// The training graph of a built-in network or an ONNX file, and what is to be said about where it comes
/// from.
struct TrainingNetwork {
  Graph training;
  std::string model;
  std::int64_t batch_size = 1;
  std::string origin;  // "built-in network"
  std::string source;  // "built-in network resnet18"
  std::vector<std::string> notices;
};

struct PublishedName {
  std::string model;
  std::string platform;
};

/// The instances in data/published, sorted by model, then platform.
[[nodiscard]] std::vector<PublishedName> published_instances();

/// Loads or builds the instance. Throws InputError naming the option or file that is wrong: unknown names
/// (listing the known ones), options that contradict each other, options that would change a graph that is
/// fixed.
[[nodiscard]] Inputs load_inputs(const InputOptions& options);

/// --model or --onnx, and the options that say how it is trained; those of the device are not looked at.
/// Throws InputError naming the option or file.
[[nodiscard]] TrainingNetwork load_network(const InputOptions& options);

/// --onnx and the options that say how it is read. Throws InputError naming the option or file.
[[nodiscard]] ImportedModel read_onnx(const InputOptions& options);

/// The limits of one training step. `unlimited_runtime` is the time of the step with everything computed
/// once, which
/// --runtime-budget multiplies. Throws InputError for a missing budget and for deadlines that exclude each
/// other.
[[nodiscard]] Limits read_limits(const LimitOptions& options, Seconds unlimited_runtime);

/// Whether `name` matches one of the glob patterns in `patterns`, separated by commas: `*`, `?`, `[a-z]`;
/// whole names.
[[nodiscard]] bool matches(const std::string& patterns, const std::string& name);

}  // namespace poet::cli
