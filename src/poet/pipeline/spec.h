#pragma once

// What is asked for, before anything is read or built: a network, a device, and what a plan may use. Plain
// values, so that a command line, a sweep, a program or a server can fill them in. pose() (pose.h) makes the
// problem of them.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <variant>

#include "poet/autodiff/differentiate.h"
#include "poet/base/units.h"
#include "poet/cost/device.h"
#include "poet/cost/instance.h"
#include "poet/cost/persistent_policy.h"
#include "poet/frontend/onnx/import.h"
#include "poet/graph/graph.h"
#include "poet/graph/precision.h"
#include "poet/plan/limits.h"

namespace poet {

/// A built-in network; in published and staged semantics the published instance of it.
struct BuiltInNetwork {
  std::string name;
  std::optional<std::int64_t> sequence_length = {};
};

struct OnnxFile {
  std::filesystem::path file;
  ImportOptions reading = {};  // but for the batch size, which is the spec's
};

/// A forward graph that ends in a loss, made by hand (graph/nn.h) or imported.
struct ForwardGraph {
  Graph graph;
  std::int64_t batch_size = 1;  // that it was made for
};

/// A graph with its costs: it takes no device and none of the spec's other fields.
struct InstanceFile {
  std::filesystem::path file;
};

/// What is trained, and how. An Instance is what an InstanceFile holds.
struct NetworkSpec {
  std::variant<BuiltInNetwork, OnnxFile, InstanceFile, ForwardGraph, Instance> source;
  // Absent: 1; of an ONNX file, what it says. Must be absent for a ForwardGraph and an Instance, which have
  // their own.
  std::optional<std::int64_t> batch_size = {};
  std::optional<Optimizer> optimizer = {};      // absent: SGD
  std::optional<std::string> trainable = {};    // glob patterns, separated by commas; absent: all parameters
  std::optional<std::int64_t> accumulate = {};  // steps per update; absent: 1
  std::optional<double> clip_norm = {};         // of all gradients together; absent: any
  std::optional<double> label_smoothing = {};   // of a cross-entropy, in [0, 1); absent: 0
  std::optional<Precision> precision = {};      // of activations; absent: float32
};

struct DeviceSpec {
  std::string name;  // of a shipped profile, or a profile file; empty for instance files
  std::optional<DeviceProfile> profile = {};  // instead
};

/// RAM for everything that the step needs.
struct RamBudget {
  std::optional<double> fraction = {};     // of the way from the RAM floor (0) to the keep-all peak (1)
  std::optional<double> of_keep_all = {};  // of the keep-all peak before the graph is split, nothing paged
  bool of_device = false;                  // all that the device has
  bool least = false;                      // to be settled before it is posed (answer/least_budget.h)
  Bytes bytes{};                           // without any of these
  bool within_device = false;              // more than the device has is refused, by device semantics
};

/// Of one training step; neither: no deadline.
struct StepDeadline {
  std::optional<double> factor = {};  // on the time of the step without limits
  std::optional<Seconds> time = {};
};

/// Whether the training graph is split into parts (split/split.h). Neither: never.
struct Splitting {
  bool automatic = false;          // where a RAM budget in bytes is below twice what the largest op needs
  std::optional<Bytes> part = {};  // into parts of so many bytes at most
  /// What a step takes, roughly, within these limits, by which granularities are compared
  /// (optimize/quick_energy.h); nothing without a plan.
  std::function<std::optional<Joules>(const Instance&, const Limits&)> energy = {};
  double compared_ops = 200'000;  // once there is a plan, graphs of more ops are not compared with it
  bool tables = false;  // may be transferred by index (split/indexed.h): only poet's own plans load rows
};

/// Whose rules hold, and what a plan may use.
struct Policy {
  std::optional<Semantics> semantics = {};          // absent: device; of an instance file, what fits it
  std::optional<PersistentPolicy> persistent = {};  // absent: resident
  Splitting split = {};
  bool paging = true;
  bool rematerialization = true;
  RamBudget ram = {};
  StepDeadline deadline = {};
  std::optional<Bytes> max_bytes_written = {};  // per step
  std::optional<Bytes> storage_capacity = {};   // instead of the device's
  std::optional<std::int64_t> op_limit = {};    // of the training step, before it is split; more are refused
};

}  // namespace poet
