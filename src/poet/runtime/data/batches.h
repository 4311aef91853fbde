#pragma once

// A data set as a training step's `input` ops see it: which samples this step takes, and where they go.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "poet/graph/graph.h"
#include "poet/runtime/data/dataset.h"

namespace poet::runtime {

class Batches {
 public:
  /// `graph` and `data` must outlive it; its samples are as the inputs of `graph`. Nothing is selected yet.
  Batches(const Graph& graph, const Dataset& data, std::uint64_t seed);

  /// What read() gives from now on: batch_of_step(step). Throws InputError where the data has too few samples
  /// for one batch. Does not allocate else.
  void select(std::int64_t step);
  /// Sample `first` and those that follow it; in places behind the last sample of the set, that one again.
  void select_from(std::int64_t first);
  [[nodiscard]] std::int64_t size() const { return static_cast<std::int64_t>(batch_.size()); }

  /// Throws as Dataset::read(). Does not allocate. Part of an input is taken out of whole samples, for one of
  /// which there is memory.
  void read(OpId input, std::byte* to);

  /// What in the selected samples is infinite or no number: "'input' has nan at sample 3". Empty: nothing is.
  [[nodiscard]] std::string not_finite() const;

 private:
  void read_part(const Value& value, std::size_t place, std::byte* to);

  const Graph& graph_;
  const Dataset& data_;
  std::uint64_t seed_;
  IdVector<OpId, std::size_t> places_;  // of each `input` op's data in data_inputs()
  std::vector<std::int64_t> batch_;     // sample numbers
  std::vector<std::byte> sample_;       // the largest of those that are read in parts
};

}  // namespace poet::runtime
