#pragma once

// The comments at the head of an MPS file that poet writes for an external solver.

#include <iosfwd>
#include <set>
#include <string>
#include <vector>

#include "poet/optimize/milp/formulation.h"

namespace poet {

/// The data needed to rebuild the model of an MPS file; written to its head as comments.
struct ExternalModel {
  rows::TransferTiming timing = rows::TransferTiming::relaxed;
  std::set<int> exact_stages;
  std::string fingerprint;  // of the model; empty before it is built
};

/// Returns a hash over the model's content. O(model).
[[nodiscard]] std::string fingerprint_of(const Model& model);

/// Returns the lines of the head, as comments for write_mps().
[[nodiscard]] std::vector<std::string> head_of(const ExternalModel& external);

/// Reads the head of an MPS file written with head_of(). Throws InputError at `place` for other files.
[[nodiscard]] ExternalModel read_head(std::istream& in, const std::string& place);

}  // namespace poet
