#pragma once

// A data set as a training step's `input` ops see it: which samples this step takes, and where they go.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "poet/graph/graph.h"
#include "poet/runtime/data/dataset.h"

namespace poet::runtime {

class Batches {
 public:
  /// `data` must outlive it; its samples are as the inputs of `graph`. Throws InputError where it has too few
  /// for one batch.
  Batches(const Graph& graph, const Dataset& data, std::uint64_t seed);

  /// What read() gives from now on: batch_of_step(step). Does not allocate.
  void select(std::int64_t step);

  /// Throws as Dataset::read(). Does not allocate.
  void read(OpId input, std::byte* to) const { data_.read(places_[input], batch_, to); }

 private:
  const Dataset& data_;
  std::uint64_t seed_;
  IdVector<OpId, std::size_t> places_;  // of each `input` op's data in data_inputs()
  std::vector<std::int64_t> batch_;     // sample numbers
};

}  // namespace poet::runtime
