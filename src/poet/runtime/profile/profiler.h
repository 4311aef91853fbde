#pragma once

// A device profile of this machine, for one network.

#include <optional>
#include <string>

#include "poet/cost/device.h"
#include "poet/runtime/profile/op_times.h"
#include "poet/runtime/profile/storage_speed.h"

namespace poet::runtime {

struct PowerFigures {
  std::optional<Watts> active;  // above idle, while computing
  std::optional<Watts> idle;
  std::optional<Watts> storage;  // above idle, while transferring
  // "measured: RAPL package-0", "assumed: as given on the command line"
  std::string active_origin, idle_origin, storage_origin;
};

struct Measurements {
  OpTimes ops;
  std::optional<StorageSpeed> storage;
  PowerFigures power;
  Bytes ram{};           // of the machine
  Bytes storage_free{};  // on the file system that is paged to
  std::string machine;   // "aarch64, Cortex-A72, 4 cores"
  std::string kernels;   // what computed
  std::string date;      // "2026-11-22"
};

/// Every figure with its origin: operators, storage and RAM `measured`, power as their origins say. Without
/// any power figure computing is given 1 W, the storage a twentieth of it, idling none: energies are then a
/// measure of time, and the origin says so. The two rates that stand for operators which were not measured
/// are those that the measured ones reached: dense kernels' FLOPs and everything else's bytes per second.
[[nodiscard]] DeviceProfile profile_of(const std::string& name, const Graph& training,
                                       const Measurements& measured);

}  // namespace poet::runtime
