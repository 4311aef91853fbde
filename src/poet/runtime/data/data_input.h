#pragma once

// The inputs of a training step and their roles.

#include <cstdint>
#include <string>
#include <vector>

#include "poet/graph/graph.h"

namespace poet::runtime {

enum class InputRole {
  features,        // real numbers
  tokens,          // ids, rows of a table
  positions,       // of tokens in their sequence
  token_types,     // the sequence of a token, if several are joined
  mask,            // the tokens that exist
  class_targets,   // of a cross-entropy
  number_targets,  // of losses of numbers
};

/// The value of an `input` op, or a tensor whose parts several such ops write.
struct DataInput {
  ValueId value;     // the first part of a tensor in parts
  std::string name;  // of the op
  Shape shape;       // axis 0: samples of a batch, or several rows per sample
  DType dtype = DType::float32;
  InputRole role = InputRole::features;
  std::int64_t range = 0;       // its numbers are 0 to range - 1; 0: any. Integers only.
  bool is_probability = false;  // its numbers are 0 to 1: targets of a binary cross-entropy
  Shape sample;                 // the shape of one sample
};

/// Returns the inputs of a forward or training graph in the order of the ops. Roles follow from use and name:
/// targets are operands of the loss, integers that index an embedding are positions or token types if the
/// table (or else the input) is named so, and inputs named as masks are masks. Throws InputError if inputs
/// disagree on the batch size, or if the first axis counts time steps (time_axis.h); targets may have a fixed
/// number of rows per sample. O(ops * depth + values).
[[nodiscard]] std::vector<DataInput> data_inputs(const Graph& graph);

/// Returns the number of samples per step; 1 if there are no inputs.
[[nodiscard]] std::int64_t samples_per_step(const std::vector<DataInput>& inputs);

}  // namespace poet::runtime
