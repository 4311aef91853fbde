#pragma once

// The request, before anything is read or built: a network, a device, and the allowed mechanisms and limits.
// Plain values, for command lines, sweeps, programs and servers to fill in; pose() (pose.h) turns them into a
// problem.

#include <cstdint>
#include <filesystem>
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
#include "poet/pipeline/ram_budget.h"
#include "poet/plan/limits.h"

namespace poet {

/// A built-in network; in published and staged semantics the published instance of it.
struct BuiltInNetwork {
  std::string name;
  std::optional<std::int64_t> sequence_length = {};
};

struct OnnxFile {
  std::filesystem::path file;
  ImportOptions reading = {};  // except the batch size, which is the spec's
};

/// A forward graph that ends in a loss, made by hand (graph/nn.h) or imported.
struct ForwardGraph {
  Graph graph;
  std::int64_t batch_size = 1;  // of the graph
};

/// A graph with its costs; no device and no other field of the spec may be set.
struct InstanceFile {
  std::filesystem::path file;
};

/// The network and its training. An Instance is the content of an InstanceFile.
struct NetworkSpec {
  std::variant<BuiltInNetwork, OnnxFile, InstanceFile, ForwardGraph, Instance> source;
  // Absent: 1, or the ONNX file's. Must be absent for a ForwardGraph and an Instance, which have their own.
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
  std::optional<DeviceProfile> profile = {};  // instead of the name
};

/// The deadline of one training step; without either there is none.
struct StepDeadline {
  std::optional<double> factor = {};  // of the time of the step without limits
  std::optional<Seconds> time = {};
};

/// Whether the training graph is split into parts (split/split.h). Without either it is not.
struct Splitting {
  bool automatic = false;          // compile() chooses the size of the parts, or none
  std::optional<Bytes> part = {};  // the largest part, bytes
  bool tables = false;             // may be transferred by index (split/indexed.h)
};

/// The semantics, and what a plan may use.
struct Policy {
  std::optional<Semantics> semantics = {};          // absent: device, or the instance file's
  std::optional<PersistentPolicy> persistent = {};  // absent: resident
  Splitting split = {};
  bool paging = true;
  bool rematerialization = true;
  RamBudget ram = {};
  bool within_device = false;  // device semantics: more RAM than the device's is refused
  StepDeadline deadline = {};
  std::optional<Bytes> max_bytes_written = {};  // per step
  std::optional<Bytes> storage_capacity = {};   // instead of the device's
  std::optional<std::int64_t> op_limit = {};    // of the training step before splitting; more are refused
};

}  // namespace poet
