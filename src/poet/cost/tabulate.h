#pragma once

// Training graph + device -> cost table.

#include <cstdint>
#include <string>

#include "poet/cost/cost_table.h"
#include "poet/cost/device.h"
#include "poet/cost/persistent_policy.h"
#include "poet/graph/graph.h"

namespace poet {

/// What an operator does, independent of the device. `moved` counts each distinct tensor read and each
/// distinct tensor written once (one updated in place is both), parameters included; a gather reads only the
/// rows that it delivers.
struct Work {
  Flops flops{};
  Bytes moved{};
  Bytes workspace{};
};

/// A convolution, or a gradient of one, in which each group reads one channel and writes one: it has few
/// operations for what it moves. O(1).
[[nodiscard]] bool is_depthwise(const Graph& graph, OpId op);

/// How often an op begins anew: of its first operand's shape the product of the two leading axes, where it
/// has three or more, and that of all but the last, where it has two or more; else 0. O(axes).
struct PlanesAndRows {
  double planes = 0;
  double rows = 0;
};
[[nodiscard]] PlanesAndRows planes_and_rows(const Graph& graph, OpId op);

/// Throws InputError for an operator kind that has no cost rule or whose values do not fit it, naming the op.
[[nodiscard]] Work work_of(const Graph& graph, OpId op);

/// Multiply-accumulates of the forward pass's convolutions, linear layers and matrix products, as the field
/// counts them.
[[nodiscard]] std::int64_t forward_macs(const Graph& graph);
/// Elements of all parameters.
[[nodiscard]] std::int64_t parameter_count(const Graph& graph);

/// What a profile's overrides are keyed by, with the kind: the shapes of all inputs and all outputs (updated
/// values where there are none), "1x3x32x32,64x3x3x3->1x64x32x32"; a value without dimensions is "scalar".
[[nodiscard]] std::string shape_class(const Graph& graph, OpId op);

/// Runtime by a roofline per operator: max(flops / flops_per_second, moved / memory_bytes_per_second), or the
/// profile's override; energy = active power x time. Transfers: latency + bytes rounded up to blocks /
/// bandwidth, at the direction's power. Persistent values have their bytes in their own row and in
/// CostTable::persistent; parameter gradients live and die like other values. What lives in the arena,
/// scratch memory included, has its bytes rounded up to the device's alignment. Excluded ones occupy nothing
/// but keep their transfer costs. Rows of tables (Value::rows) are transferred one by one; their tables are
/// off the storage's capacity (negative: too little), and the numbers of the rows that a step names are in
/// CostTable::persistent. Throws InputError when a figure leaves the range of a double. O(ops +
/// values).
[[nodiscard]] CostTable tabulate(const Graph& training, const DeviceProfile& device,
                                 PersistentPolicy persistent = PersistentPolicy::resident);

}  // namespace poet
