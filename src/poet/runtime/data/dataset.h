#pragma once

// Training data: numbered samples, written input by input into the memory of a step.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "poet/base/error.h"
#include "poet/runtime/data/data_input.h"

namespace poet::runtime {

class Dataset {
 public:
  Dataset() = default;
  Dataset(const Dataset&) = delete;
  Dataset& operator=(const Dataset&) = delete;
  Dataset(Dataset&&) = delete;
  Dataset& operator=(Dataset&&) = delete;
  virtual ~Dataset() = default;

  [[nodiscard]] virtual std::int64_t samples() const = 0;

  /// Writes the given samples (numbers below samples()) of one input, an index into data_inputs(), one after
  /// another, row-major and in the input's element type. Throws InputError naming the file on an I/O error
  /// and for an id, label or target that is out of range. Does not allocate.
  virtual void read(std::size_t input, std::span<const std::int64_t> samples, std::byte* to) const = 0;

  /// "CIFAR-10, 50,000 images of 3x32x32, 10 classes".
  [[nodiscard]] virtual std::string description() const = 0;
};

/// Opens the data at `path` for the inputs of this graph (forward or training); docs/formats_run.md has the
/// formats:
///   CIFAR-10's binary files: a folder of data_batch_*.bin, or one such file;
///   MNIST's IDX files: a folder with an images and a labels file (of several, those called train...);
///   raw tensors: a folder with one INPUT.bin per input, the samples one after another in the input's element
///     type, little-endian (integers also as unsigned INPUT.u8 or INPUT.u16). Positions, token types and
///     masks that have no file are 0, 1, 2..., 0 and 1;
///   a text: one file TEXT.u16 or TEXT.i32 of token ids, cut into sequences, for networks that predict the
///     next token at every position.
/// Images are float32, (pixel / 255 - mean) / deviation with the data set's constants per channel. All
/// targets and ids are read once and checked against the network. Throws InputError with `field` if `path` is
/// none of these or does not fit the graph's inputs.
[[nodiscard]] std::unique_ptr<Dataset> open_dataset(const std::filesystem::path& path, const Graph& graph,
                                                    const Field& field = {"data"});

/// Returns a synthetic task that any network can learn: `samples` samples of at most ten classes; each class
/// has its own pattern in every real input and its own frequent tokens, plus noise. Targets of a squared
/// error are a pattern of the class, those of a binary cross-entropy its signs. Throws InputError for less
/// than one sample.
[[nodiscard]] std::unique_ptr<Dataset> synthetic_dataset(const Graph& graph, std::int64_t samples,
                                                         std::uint64_t seed);

/// Writes the samples of step `step` (from 1) to `batch`. Each epoch visits all samples once in a different
/// order, a permutation keyed by `seed`, so that resuming needs no state; without a seed, in the data's own.
/// Batches do not cross epochs: the last samples of an epoch that do not fill a batch are dropped. Throws
/// InputError if there are fewer samples than a batch has. O(batch); does not allocate.
void batch_of_step(std::int64_t step, std::int64_t samples, std::optional<std::uint64_t> seed,
                   std::span<std::int64_t> batch);

}  // namespace poet::runtime
