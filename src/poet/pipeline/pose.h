#pragma once

// Poses problems: from network, device and policy to an instance with its limits, and the baseline figures of
// every answer. All programs pose their problems here, so RAM floors, storage limits and budgets are computed
// nowhere else.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "poet/cost/cuts.h"
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
  Cut cut;                       // of the instance
  std::vector<Unsplit> unsplit;  // values that stay larger than the parts, the largest first
  std::optional<Cuts> cuts;      // other graphs, of which compile() chooses
  std::function<std::vector<Unsplit>(const Cut&)> unsplit_of;  // if there are
  bool choose_paged = false;  // persistent values may live on storage, as compile() decides
  Bytes whole_keep_all{};     // keep-all peak before splitting, nothing paged
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

/// Reads or builds the instance, split into parts if the policy says so; with automatic splitting, whole,
/// with the other cuts beside it. Throws InputError naming the field of the spec or the file: unknown names
/// (listing the known ones), fields that would change a fixed graph.
[[nodiscard]] Workload load(const NetworkSpec& network, const DeviceSpec& device, const Policy& policy);

/// Replaces the instance by the coarsest of the other cuts, or whole operators, in which the largest op takes
/// at most half of the RAM beside the persistent bytes, or by the one that needs the least if none does.
/// Afterwards there is no choice of cuts.
void cut_to_fit(Workload& workload, Bytes ram_budget);

/// `all_paged`: with every persistent value on storage that can be. O(ops * live values).
[[nodiscard]] Figures figures_of(const Instance& instance, Semantics semantics, bool all_paged = false);

/// Returns the limits of one training step, with the storage's capacity if it can matter. Throws InputError
/// for a deadline that is not finite.
[[nodiscard]] Limits limits_of(const Policy& policy, const Workload& workload, const Figures& figures);

/// Runs load(), figures_of() and limits_of(). A loaded workload may have been changed before.
[[nodiscard]] Posed pose(Workload workload, const Policy& policy);
[[nodiscard]] Posed pose(const NetworkSpec& network, const DeviceSpec& device, const Policy& policy);

}  // namespace poet
