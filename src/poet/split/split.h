#pragma once

// Splits operators into parts such that no tensor of a training graph exceeds a limit, as far as operators
// can be split.
//
// Larger tensors are cut along one or more axes into parts, which are separate values (Value::part); the
// whole tensor does not exist. An op becomes one op per part; if it sums over a cut axis, its parts
// accumulate (attribute `accumulate`) in the order in which the original op sums, so that portable kernels
// compute the same bits. Updates run as early as possible.

#include <cstddef>
#include <string>
#include <vector>

#include "poet/graph/graph.h"

namespace poet {

struct SplitOptions {
  Bytes part;   // limit of each value that can be cut, in bytes_in_float32(); at least a number's
  Bytes ram{};  // determines the order of an op's parts; 0: four parts
};

/// A tensor that exceeds the limit.
struct Unsplit {
  std::string tensor;
  Bytes bytes;         // of its largest part, as operators work on it
  std::string reason;  // why it is not cut further
};

struct SplitReport {
  std::vector<Unsplit> unsplit;  // the largest first
  std::size_t tensors = 0;       // number of tensors that were cut
  Bytes largest_value;
  Bytes working_set;       // operands and results of the op with most of them
  std::string largest_op;  // its name
};

/// Returns the verified graph in parts of at most `options.part` bytes; `training` itself if none of its
/// values is larger. Parts are named by the tensor and the ranges along the axes up to the last that is cut:
/// "layer4.1.conv2.weight[64:128,0:64]". Throws InputError if `training` is invalid by verify(), or if the
/// limit is less than a number or yields more than a million ops. O(ops and values of the result, times the
/// logarithm of their number).
[[nodiscard]] Graph split(const Graph& training, const SplitOptions& options, SplitReport* report = nullptr);

/// Estimates the number of ops of split() with parts of at most `part` bytes, without copies. Same
/// preconditions as split(). O(edges + axes * steps * ops) of `training`.
[[nodiscard]] double ops_in_parts(const Graph& training, Bytes part);

}  // namespace poet
