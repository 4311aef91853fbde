#pragma once

// What to schedule: from the options that name it to specs, shared by every command that solves.

#include <optional>
#include <string>

#include "apps/shared/network.h"
#include "poet/pipeline/spec.h"

namespace poet::cli {

/// As typed; absent where the user said nothing.
struct InputOptions : NetworkOptions {
  std::optional<std::string> instance, platform, semantics, persistent, split;
};

/// As typed.
struct LimitOptions {
  std::optional<std::string> ram_budget, runtime_budget, deadline, total_deadline, steps, max_bytes_written;
  std::optional<std::string> on_time;  // of what solves alone
  bool beyond_device_ram = false;
};

/// The network, --instance included, and the device. Throws InputError naming the option: none or several
/// networks, a network without a device.
[[nodiscard]] NetworkSpec network_spec(const InputOptions& options);
[[nodiscard]] DeviceSpec device_spec(const InputOptions& options);

/// Whose rules hold; without limits.
[[nodiscard]] Policy policy_of(const InputOptions& options);
/// With the limits of one training step; without a RAM budget, all that the device has. Throws InputError for
/// deadlines that exclude each other.
[[nodiscard]] Policy policy_of(const InputOptions& options, const LimitOptions& limits);

}  // namespace poet::cli
