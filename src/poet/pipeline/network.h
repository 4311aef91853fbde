#pragma once

// From a network's spec to its training graph.

#include <cstdint>
#include <string>
#include <vector>

#include "poet/graph/graph.h"
#include "poet/pipeline/spec.h"

namespace poet {

/// The training graph of a built-in network or an ONNX file, with texts about its origin.
struct TrainingNetwork {
  Graph training;
  std::string model;
  std::int64_t batch_size = 1;
  std::string origin;  // "built-in network"
  std::string source;  // "built-in network resnet18"
  std::vector<std::string> notices;
};

/// Builds or imports the network and differentiates it. The source must not be an instance file. Throws
/// InputError naming the field of the spec or the file.
[[nodiscard]] TrainingNetwork build_training_network(const NetworkSpec& spec);

/// Returns the training graph alone; also of instance files.
[[nodiscard]] Graph training_graph(const NetworkSpec& spec);

/// Imports the ONNX file of the spec with its batch size.
[[nodiscard]] ImportedModel import_network(const NetworkSpec& spec);

/// Returns whether the whole of `name` matches one of the glob patterns (`*`, `?`, `[a-z]`) in `patterns`,
/// separated by commas.
[[nodiscard]] bool matches(const std::string& patterns, const std::string& name);

inline constexpr const char* kFixedByFile = "changes the graph or its costs, and an instance file fixes both";

/// Throws InputError for a field of the spec that would change a fixed graph. `why` ends the message: "the
/// published instances are fixed graphs...".
void refuse_changes(const NetworkSpec& spec, bool batch_of_one_is_fine, const std::string& why);

}  // namespace poet
