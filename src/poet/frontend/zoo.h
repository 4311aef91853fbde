#pragma once

// The built-in networks, forward pass with loss.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "poet/graph/graph.h"

namespace poet {

struct ZooOptions {
  std::int64_t batch_size = 1;
  std::optional<std::int64_t> sequence_length;  // bert, bert_tiny, transformer; 512 by default
};

struct ZooEntry {
  std::string name;
  std::string description;  // one line: what, input size, classes
  Graph (*build)(const ZooOptions&);
};

/// In the order in which `poet models` lists them.
[[nodiscard]] const std::vector<ZooEntry>& zoo();

/// The forward graph (verified) of a network by name. Throws InputError when the name is unknown (listing the
/// known ones), an option is out of range, or sequence_length is given to a network without one.
[[nodiscard]] Graph build_network(const std::string& name, const ZooOptions& options = {});

}  // namespace poet
