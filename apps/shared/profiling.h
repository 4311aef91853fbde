#pragma once

// Measuring this machine for one network: what `poet profile` and the program for boards share.

#include <filesystem>
#include <optional>
#include <string>

#include "apps/shared/training/options.h"
#include "poet/cost/device.h"
#include "poet/graph/graph.h"

namespace poet::cli {

class Parser;

/// As typed.
struct ProfilingOptions {
  std::optional<std::string> output, name, active_watts, idle_watts, storage_watts, budget;
  MachineOptions machine;
  bool quiet = false;
};

void add_profiling_options(const Parser& parser, ProfilingOptions& options);

struct Profiled {
  DeviceProfile device;
  bool in_context = true;  // operators were measured inside whole training steps
  int repetitions = 0;
  Seconds step{};  // median of those steps; 0 without
  std::string kernels;
  std::string storage;
  bool storage_in_ram = false;
};

/// Measures, with progress on stderr. Throws InputError naming the option that is wrong, and as the runtime.
[[nodiscard]] Profiled profile_machine(const Graph& training, const ProfilingOptions& options);

/// The profile as its file has it.
[[nodiscard]] std::string profile_file(const Profiled& profiled);

/// Some ten aligned lines: what was measured, and the slowest operators.
[[nodiscard]] std::string profile_text(const Profiled& profiled, const std::string& file);

}  // namespace poet::cli
