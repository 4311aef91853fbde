#pragma once

// What a training step is fed with, and what each part of it is for.

#include <cstdint>
#include <string>
#include <vector>

#include "poet/graph/graph.h"

namespace poet::runtime {

enum class InputRole {
  features,        // real numbers
  tokens,          // ids, rows of a table
  positions,       // of tokens in their sequence
  token_types,     // which of the sequences that are fed together a token belongs to
  mask,            // which tokens are there
  class_targets,   // what a cross-entropy compares with
  number_targets,  // what a squared error compares with
};

/// A value that an `input` op writes; a tensor of which several such ops write parts.
struct DataInput {
  ValueId value;     // of a tensor in parts the first part
  std::string name;  // of the op
  Shape shape;       // axis 0 counts the samples of a batch, or what is predicted of them, sample by sample
  DType dtype = DType::float32;
  InputRole role = InputRole::features;
  std::int64_t range = 0;       // its numbers are 0 to range - 1; 0: any. Integers only.
  bool is_probability = false;  // its numbers are 0 to 1: targets of a binary cross-entropy
  Shape sample;                 // the shape of one sample
};

/// In the order of the ops; of a forward or a training graph. Roles are told by use and by name: targets are
/// what the loss compares with, integers that are looked up in an embedding are positions or token types when
/// the table (or else the input) is called so, and what is called a mask is one. Throws InputError when
/// inputs do not agree on the batch, or the first axis counts time steps (time_axis.h). Targets may have
/// several rows per sample, as many for each. O(ops * depth + values).
[[nodiscard]] std::vector<DataInput> data_inputs(const Graph& graph);

/// How many samples a step takes; 1 where it takes no data.
[[nodiscard]] std::int64_t samples_per_step(const std::vector<DataInput>& inputs);

}  // namespace poet::runtime
