#pragma once

// Delivers the samples of a data set to the `input` ops of a training step.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "poet/graph/graph.h"
#include "poet/runtime/data/dataset.h"

namespace poet::runtime {

class Batches {
 public:
  /// `graph` and `data` must outlive it; the samples must fit the inputs of `graph`. `seed`: as of
  /// batch_of_step(). Nothing is selected yet.
  Batches(const Graph& graph, const Dataset& data, std::optional<std::uint64_t> seed);

  /// Selects batch_of_step(step) for read(). Throws InputError if the data has too few samples for a batch.
  /// Does not allocate otherwise.
  void select(std::int64_t step);
  /// Selects sample `first` and those that follow it; positions beyond the last sample repeat it.
  void select_from(std::int64_t first);
  [[nodiscard]] std::int64_t size() const { return static_cast<std::int64_t>(batch_.size()); }

  /// Writes the selected samples of an input. A part of an input is cut out of whole samples, which are read
  /// one at a time. Throws as Dataset::read(). Does not allocate.
  void read(OpId input, std::byte* to);

  /// Returns the first number in the selected samples that is not finite: "'input' has nan at sample 3".
  /// Empty if all are finite.
  [[nodiscard]] std::string not_finite() const;

 private:
  void read_part(const Value& value, std::size_t place, std::byte* to);

  const Graph& graph_;
  const Dataset& data_;
  std::optional<std::uint64_t> seed_;   // of the order of samples
  IdVector<OpId, std::size_t> places_;  // of each `input` op's data in data_inputs()
  std::vector<std::int64_t> batch_;     // sample numbers
  std::vector<std::byte> sample_;       // the largest of those that are read in parts
};

}  // namespace poet::runtime
