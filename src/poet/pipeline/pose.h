#pragma once

// The problem: from network, device and policy to an instance with its limits, and the figures that every
// answer is measured by. Whatever solves, compares, sweeps, trains or measures poses its problem here, so
// that nobody else computes a floor, a storage limit or a budget.

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

/// An instance and where it comes from.
struct Workload {
  Instance instance;
  Semantics semantics = Semantics::device;
  std::string origin;  // "published instance", "built-in network", "ONNX file x.onnx", "instance file x.json"
  std::optional<DeviceProfile> device;  // of a built-in network or an ONNX file
  std::vector<std::string> notices;     // of an ONNX file: what was changed on the way
  bool persistent_excluded = false;
  std::optional<Bytes> part;     // the graph is split into parts of so many bytes
  std::vector<Unsplit> unsplit;  // what stays larger, the largest first
  bool choose_paged = false;     // persistent values may live on storage, as compile() decides
  Bytes whole_keep_all{};        // keep-all peak before splitting, nothing paged
};

/// What no limit changes.
struct Figures {
  Report keep_all;  // everything computed once and kept: baseline energy and time, keep-all peak
  RamFloor floor;   // no plan needs less
};

struct Posed {
  Workload workload;
  Figures figures;
  Limits limits;
};

/// Reads or builds the instance, split into parts where the policy says so: with automatic splitting its
/// limits decide how fine. Throws InputError naming the field of the spec or the file that is wrong: unknown
/// names (listing the known ones), fields that would change a graph which is fixed.
[[nodiscard]] Workload load(const NetworkSpec& network, const DeviceSpec& device, const Policy& policy);

/// O(ops * live values).
[[nodiscard]] Figures figures_of(const Instance& instance, Semantics semantics);

/// RAM in bytes as the policy says it; what is relative is cut off to whole bytes.
[[nodiscard]] Bytes ram_budget_of(const Policy& policy, const Workload& workload, const Figures& figures);

/// The limits of one training step. Where the storage's capacity can matter, it is one of them. Throws
/// InputError for a deadline that is not finite.
[[nodiscard]] Limits limits_of(const Policy& policy, const Workload& workload, const Figures& figures);

/// load(), figures_of() and limits_of(). A workload that was loaded before may have been changed since.
[[nodiscard]] Posed pose(Workload workload, const Policy& policy);
[[nodiscard]] Posed pose(const NetworkSpec& network, const DeviceSpec& device, const Policy& policy);

}  // namespace poet
