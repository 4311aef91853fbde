#include "poet/runtime/data/batches.h"

#include "poet/runtime/data/data_input.h"

namespace poet::runtime {

Batches::Batches(const Graph& graph, const Dataset& data, std::uint64_t seed)
    : data_(data), seed_(seed), places_(graph.ops.size(), 0) {
  const std::vector<DataInput> inputs = data_inputs(graph);
  for (std::size_t i = 0; i < inputs.size(); ++i) places_[graph.values[inputs[i].value].producer] = i;
  batch_.resize(static_cast<std::size_t>(samples_per_step(inputs)));
  select(1);
}

void Batches::select(std::int64_t step) { batch_of_step(step, data_.samples(), seed_, batch_); }

}  // namespace poet::runtime
