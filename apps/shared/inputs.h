#pragma once

// Options that name the problem, and their conversion to specs; shared by all commands that solve.

#include <optional>
#include <string>

#include "apps/shared/network.h"
#include "poet/pipeline/spec.h"

namespace poet::cli {

/// As typed; absent if not given.
struct InputOptions : NetworkOptions {
  std::optional<std::string> instance, platform, semantics, persistent, split;
};

/// As typed.
struct LimitOptions {
  std::optional<std::string> ram_budget, runtime_budget, deadline, total_deadline, steps, max_bytes_written;
  std::optional<std::string> on_time;  // only for commands that solve
  bool beyond_device_ram = false;
};

/// Returns the specs of network (or --instance) and device. Throws InputError naming the option: no network,
/// several, or a network without a device.
[[nodiscard]] NetworkSpec network_spec(const InputOptions& options);
[[nodiscard]] DeviceSpec device_spec(const InputOptions& options);

/// Returns the policy without limits.
[[nodiscard]] Policy policy_of(const InputOptions& options);
/// Returns the policy with the limits of one training step but the RAM budget. Throws InputError for
/// conflicting deadlines.
[[nodiscard]] Policy policy_of(const InputOptions& options, const LimitOptions& limits);

}  // namespace poet::cli
