#pragma once

// Measuring this machine for one network: its operators, its storage, and its power where a sensor can be
// read.

#include <functional>
#include <string>

#include "poet/base/units.h"
#include "poet/cost/device.h"
#include "poet/graph/graph.h"
#include "poet/runtime/kernels/kernel.h"
#include "poet/runtime/profile/profiler.h"
#include "poet/runtime/storage/page_file.h"

namespace poet::runtime {

struct MachineProfileOptions {
  std::string name;         // of the device
  KernelOptions kernels;    // that compute
  PageFileOptions storage;  // that is paged to
  PowerFigures power;       // what is known of it, with origins; the rest is measured where there is a sensor
  Seconds budget{10};       // of measuring operators, as OpTimesOptions has it
  /// Each may be empty; called by the calling thread.
  std::function<void(const std::string& phase)> on_phase;
  std::function<void(int repetition, int repetitions)> on_repetition;
  std::function<bool()> interrupted;  // ends the operators' repetitions early
};

struct MachineProfile {
  DeviceProfile device;
  bool in_context = true;  // operators were measured inside whole training steps
  int repetitions = 0;
  Seconds step{};       // median of those steps; 0 without
  std::string kernels;  // what computed
  std::string storage;  // what was paged to
  bool storage_in_ram = false;
};

/// Takes the time that is given for operators, and some four seconds for the storage. Throws InputError as
/// the runtime: for an op without a kernel, and for a storage that cannot be written, before anything is
/// measured.
[[nodiscard]] MachineProfile profile_machine(const Graph& training, const MachineProfileOptions& options);

}  // namespace poet::runtime
