#pragma once

// ONNX model -> forward graph with a loss.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "poet/frontend/onnx/model.h"
#include "poet/graph/graph.h"

namespace poet {

enum class Loss {
  cross_entropy,
  mean_squared_error,
  absolute_error,
  huber,
  binary_cross_entropy,              // of probabilities
  binary_cross_entropy_with_logits,  // of what a sigmoid makes probabilities of
  none,                              // the network computes it
};

struct ImportOptions {
  /// Samples per step: the size of an open first dimension of the inputs, or in place of a first dimension of
  /// 1. Absent: 1 where it is open, else what the file says.
  std::optional<std::int64_t> batch_size;
  /// Shapes of inputs by name, in place of what the file says.
  std::map<std::string, Shape> input_shapes{};
  /// Inputs that have this number everywhere, in every step: a sampling rate, a state that starts at 0.
  std::map<std::string, double> input_values{};
  /// Cross-entropy takes a softmax off the output and has integer targets, the other losses have targets of
  /// the output's shape.
  Loss loss = Loss::cross_entropy;
  /// Operators, and settings of operators, that poet has no rule for become opaque ops, with a notice each.
  bool allow_opaque = false;
  /// Where Huber's loss goes over from squared to absolute differences; > 0, absent: 1.
  std::optional<double> huber_delta{};
  /// The output that has the loss; absent: the first. With Loss::none those that are losses, separated by
  /// commas: their sum is trained.
  std::optional<std::string> loss_output{};
  /// Tensors of real numbers that train whatever the rules say (docs/onnx.md).
  std::set<std::string> trained{};
};

/// What became of the file's nodes. The others are operators or views of the graph.
struct NodeCounts {
  std::int64_t listed = 0;     // as the file has them
  std::int64_t all = 0;        // with those of functions, If and Loop in the place of these
  std::int64_t evaluated = 0;  // while importing: shape arithmetic and constants
  std::int64_t merged = 0;     // into the operator that another node became
  std::int64_t unneeded = 0;   // for the output that has the loss
};

/// Input `input` of node `node` of a file, both counted from 0.
struct NodeInput {
  std::size_t node = 0;
  std::size_t input = 0;
};

/// An initialiser with the numbers of another, of the same shape or, for a matrix, transposed.
struct TiedCopy {
  std::string name;
  std::string of;
  bool transposed = false;
};

struct ImportedModel {
  Graph forward;
  NodeCounts nodes;
  std::int64_t batch_size = 1;       // first dimension of the first input
  std::vector<std::string> notices;  // what was changed on the way, one line each
  /// Persistent values, by name, and why they train or do not.
  std::map<std::string, std::string> reasons;
  /// Initialisers that are copies of a parameter: they get its new numbers.
  std::vector<TiedCopy> copies;
  /// Persistent values, by name, whose numbers are in no tensor of the file: evaluated while importing, or
  /// one number everywhere (`fill`).
  std::map<std::string, onnx::Tensor> contents;
  /// Persistent values, by name, that no tensor of the file is named as, and where it reads them or would:
  /// running statistics that several nodes share.
  std::map<std::string, NodeInput> placements;
  /// Nodes of the file, its own functions inlined, in whose places what they run was put, one after the
  /// other.
  std::vector<onnx::ResolvedControl> resolved;
};

/// The forward graph of an ONNX file for training, verified: parameters named as in the file, batch
/// normalisation and dropout in training mode, shape arithmetic evaluated away, and a loss on one
/// output, with its targets as one more input. 64-bit integer inputs become 32-bit ones. Nodes that the
/// output does not depend on are left out. Throws InputError naming file, node (index, name, operator) and
/// rule. O(size of the file).
[[nodiscard]] ImportedModel import_onnx(const std::filesystem::path& file, const ImportOptions& options = {});

/// The same for a parsed model, without If and Loop; the message does not name a file.
[[nodiscard]] ImportedModel import_model(const onnx::Model& model, const ImportOptions& options = {});

}  // namespace poet
