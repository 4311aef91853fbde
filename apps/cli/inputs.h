#pragma once

// What to schedule: from the options that name it to an instance, shared by every command that solves.

#include <optional>
#include <string>
#include <vector>

#include "apps/shared/network.h"
#include "poet/base/units.h"
#include "poet/cost/device.h"
#include "poet/cost/instance.h"
#include "poet/plan/limits.h"

namespace poet::cli {

/// As typed; absent where the user said nothing.
struct InputOptions : NetworkOptions {
  std::optional<std::string> instance, platform, semantics, persistent;
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

/// The limits of one training step. `unlimited_runtime` is the time of the step with everything computed
/// once, which --runtime-budget multiplies. Throws InputError for a missing budget and for deadlines that
/// exclude each other.
[[nodiscard]] Limits read_limits(const LimitOptions& options, Seconds unlimited_runtime);

}  // namespace poet::cli
