#pragma once

// Operators in parts: a training graph of which no tensor is larger than a limit, as far as its operators can
// be computed in parts.
//
// A tensor that is larger is cut along one axis or more into parts, which are values of their own
// (Value::part); the whole does not exist. An op becomes one op per part; where it sums over an axis that is
// cut, its parts go on from one another (the attribute `accumulate`) in the order in which the whole op sums,
// so that the portable kernels compute the bits of the graph that was given. Updates come as early as they
// may.

#include <cstddef>
#include <string>
#include <vector>

#include "poet/graph/graph.h"

namespace poet {

struct SplitOptions {
  Bytes part;   // no value is larger where it can be cut, as operators work on it (bytes_in_float32()); at
                // least a number's
  Bytes ram{};  // for which the order of an op's parts is chosen; 0: four parts
};

/// A tensor that stays larger than the limit.
struct Unsplit {
  std::string tensor;
  Bytes bytes;         // of its largest part, as operators work on it
  std::string reason;  // what needs it so
};

struct SplitReport {
  std::vector<Unsplit> unsplit;  // the largest first
  std::size_t tensors = 0;       // that are cut
  Bytes largest_value;
  Bytes working_set;       // operands and results of the op with most of them
  std::string largest_op;  // its name
};

/// `training` in parts of at most `options.part` bytes; itself where none of its values is larger. Names of
/// parts are those of tensors with the ranges along the axes up to the last that is cut:
/// "layer4.1.conv2.weight[64:128,0:64]". Verified. Throws InputError when `training` breaks a rule of
/// verify(), the limit is less than a number or makes more than a million ops. O(ops and values of the
/// result, times the logarithm of their number).
[[nodiscard]] Graph split(const Graph& training, const SplitOptions& options, SplitReport* report = nullptr);

/// About how many ops split() makes with parts of at most `part` bytes, copies left out. Expects what split()
/// expects; O(edges + axes * steps * ops) of `training`.
[[nodiscard]] double ops_in_parts(const Graph& training, Bytes part);

}  // namespace poet
