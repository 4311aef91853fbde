#pragma once

// Training data: samples by number, delivered input by input straight into the step's memory.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "poet/graph/graph.h"

namespace poet::runtime {

/// A value that an `input` op writes.
struct DataInput {
  ValueId value;
  std::string name;  // of the op
  Shape shape;       // axis 0 counts the samples of a batch
  DType dtype = DType::float32;
};

/// In the order of the ops. Throws InputError when two inputs do not agree on the batch.
[[nodiscard]] std::vector<DataInput> data_inputs(const Graph& graph);

class Dataset {
 public:
  Dataset() = default;
  Dataset(const Dataset&) = delete;
  Dataset& operator=(const Dataset&) = delete;
  Dataset(Dataset&&) = delete;
  Dataset& operator=(Dataset&&) = delete;
  virtual ~Dataset() = default;

  [[nodiscard]] virtual std::int64_t samples() const = 0;

  /// Writes one input of a batch: the named samples (numbers below samples()), one per place of axis 0, in
  /// the input's element type, row-major. Throws InputError naming the file on an I/O error. Does not
  /// allocate.
  virtual void read(std::size_t input, std::span<const std::int64_t> samples, std::byte* to) const = 0;

  /// "CIFAR-10, 50,000 images of 3x32x32, 10 classes".
  [[nodiscard]] virtual std::string description() const = 0;
};

/// What lies at `path`: CIFAR-10's binary files (a folder of data_batch_*.bin, or one such file), MNIST's IDX
/// files (a folder with an images and a labels file), raw tensors (a folder with one INPUT.bin per input of
/// the graph, the samples one after another in the input's element type, little-endian), token ids
/// (TEXT.tokens...). Throws InputError where it is none of these or does not fit the graph's inputs.
[[nodiscard]] std::unique_ptr<Dataset> open_dataset(const std::filesystem::path& path, const Graph& graph);

/// A task that any network can learn, made from numbers alone: `samples` samples; each class has a pattern of
/// its own in every real input (tokens: a distribution of its own), and noise on top.
[[nodiscard]] std::unique_ptr<Dataset> synthetic_dataset(const Graph& graph, std::int64_t samples,
                                                         std::uint64_t seed);

/// Which samples step `step` (from 1) trains on: each epoch goes through all samples once in an order of its
/// own, by a keyed permutation and not a list, so that resuming needs no state. Batches do not straddle
/// epochs: the last samples of an order that fill no batch are left out of that epoch. Writes into `batch`.
void batch_of_step(std::int64_t step, std::int64_t samples, std::uint64_t seed,
                   std::span<std::int64_t> batch);

}  // namespace poet::runtime
