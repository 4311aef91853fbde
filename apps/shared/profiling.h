#pragma once

// Measuring this machine for one network: what `poet profile` and the program for boards share.

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

/// Measures, with progress on stderr. Throws InputError naming the option that is wrong, and as the runtime.
[[nodiscard]] runtime::MachineProfile profile_machine(const Graph& training, const ProfilingOptions& options);

/// The profile as its file has it.
[[nodiscard]] std::string profile_file(const runtime::MachineProfile& profiled);

/// Some ten aligned lines: what was measured, and the slowest operators.
[[nodiscard]] std::string profile_text(const runtime::MachineProfile& profiled, const std::string& file);

}  // namespace poet::cli
