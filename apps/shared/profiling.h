#pragma once

// Profiling of this machine for a network, shared by poet and poet-device.

#include <optional>
#include <string>

#include "apps/shared/training/options.h"
#include "poet/graph/graph.h"
#include "poet/runtime/profile/machine_profile.h"

namespace poet::cli {

class Parser;

/// As typed.
struct ProfilingOptions {
  std::optional<std::string> output, name, active_watts, idle_watts, storage_watts, budget;
  MachineOptions machine;
  bool quiet = false;
};

void add_profiling_options(const Parser& parser, ProfilingOptions& options);

/// Measures, with progress on stderr. Throws InputError naming the wrong option, and as the runtime.
[[nodiscard]] runtime::MachineProfile profile_machine(const Graph& training, const ProfilingOptions& options);

/// Returns the profile's JSON.
[[nodiscard]] std::string profile_file(const runtime::MachineProfile& profiled);

/// Returns about ten aligned lines: the measurements and the slowest operators.
[[nodiscard]] std::string profile_text(const runtime::MachineProfile& profiled, const std::string& file);

}  // namespace poet::cli
