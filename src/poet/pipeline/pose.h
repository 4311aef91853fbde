#pragma once

// Poses problems: from network, device and policy to an instance with its limits, and the baseline figures of
// every answer. All programs pose their problems here, so RAM floors, storage limits and budgets are computed
// nowhere else.

#include <optional>
#include <string>
#include <vector>

#include "poet/cost/device.h"
#include "poet/cost/instance.h"
#include "poet/pipeline/spec.h"
#include "poet/plan/allowance.h"
#include "poet/plan/limits.h"
#include "poet/split/split.h"
#include "poet/verify/replay.h"

namespace poet {

/// An instance and its origin.
struct Workload {
  Instance instance;
  Semantics semantics = Semantics::device;
  std::string origin;  // "published instance", "built-in network", "ONNX file x.onnx", "instance file x.json"
  std::optional<DeviceProfile> device;  // of a built-in network or an ONNX file
  std::vector<std::string> notices;     // of an ONNX file: what the import changed
  bool persistent_excluded = false;
  std::optional<Bytes> part;     // the part size, if the graph is split
  std::vector<Unsplit> unsplit;  // values that stay larger, the largest first
  bool choose_paged = false;     // persistent values may live on storage, as compile() decides
  Bytes whole_keep_all{};        // keep-all peak before splitting, nothing paged
};

/// Figures that do not depend on limits.
struct Figures {
  Report keep_all;  // everything computed once and kept: baseline energy and time, keep-all peak
  RamFloor floor;   // lower bound on the RAM of every plan
};

struct Posed {
  Workload workload;
  Figures figures;
  Limits limits;
};

/// Reads or builds the instance, split into parts if the policy says so; with automatic splitting, the limits
/// determine the part size. Throws InputError naming the field of the spec or the file: unknown names
/// (listing the known ones), fields that would change a fixed graph.
[[nodiscard]] Workload load(const NetworkSpec& network, const DeviceSpec& device, const Policy& policy);

/// O(ops * live values).
[[nodiscard]] Figures figures_of(const Instance& instance, Semantics semantics);

/// Returns the policy's RAM budget in bytes; relative budgets are rounded down.
[[nodiscard]] Bytes ram_budget_of(const Policy& policy, const Workload& workload, const Figures& figures);

/// Returns the limits of one training step, with the storage's capacity if it can matter. Throws InputError
/// for a deadline that is not finite.
[[nodiscard]] Limits limits_of(const Policy& policy, const Workload& workload, const Figures& figures);

/// Runs load(), figures_of() and limits_of(). A loaded workload may have been changed before.
[[nodiscard]] Posed pose(Workload workload, const Policy& policy);
[[nodiscard]] Posed pose(const NetworkSpec& network, const DeviceSpec& device, const Policy& policy);

}  // namespace poet
