#include "poet/runtime/data/batches.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>

#include "poet/graph/parts.h"
#include "poet/runtime/data/data_input.h"
#include "poet/runtime/data/numbers.h"

namespace poet::runtime {

Batches::Batches(const Graph& graph, const Dataset& data, std::optional<std::uint64_t> seed)
    : graph_(graph), data_(data), seed_(seed), places_(graph.ops.size(), 0) {
  const std::vector<DataInput> inputs = data_inputs(graph);
  std::map<std::string, std::size_t> by_tensor;
  for (std::size_t i = 0; i < inputs.size(); ++i) by_tensor[tensor_name(graph.values[inputs[i].value])] = i;
  for (const OpId op : ids<OpId>(graph.ops.size())) {
    if (graph.ops[op].kind != "input") continue;
    const Value& value = graph.values[graph.ops[op].outputs[0]];
    places_[op] = by_tensor.at(tensor_name(value));
    if (!value.part) continue;
    const DataInput& input = inputs[places_[op]];
    sample_.resize(
        std::max(sample_.size(), static_cast<std::size_t>(byte_count(input.sample, input.dtype).value())));
  }
  batch_.resize(static_cast<std::size_t>(samples_per_step(inputs)));
}

void Batches::select(std::int64_t step) { batch_of_step(step, data_.samples(), seed_, batch_); }

void Batches::select_from(std::int64_t first) {
  for (std::int64_t& sample : batch_) sample = std::min(first++, data_.samples() - 1);
}

void Batches::read(OpId input, std::byte* to) {
  const Value& value = graph_.values[graph_.ops[input].outputs[0]];
  if (value.part) {
    read_part(value, places_[input], to);
  } else {
    data_.read(places_[input], batch_, to);
  }
}

std::string Batches::not_finite() const {
  const std::vector<DataInput> inputs = data_inputs(graph_);
  std::vector<std::byte> contents;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].dtype != DType::float32) continue;
    contents.resize(static_cast<std::size_t>(byte_count(inputs[i].sample, DType::float32).value()));
    for (const std::int64_t sample : batch_) {
      data_.read(i, {&sample, 1}, contents.data());
      if (const std::string found = first_not_finite(contents); !found.empty())
        return fmt::format("'{}' has {} at sample {}", inputs[i].name, found, sample);
    }
  }
  return "";
}

void Batches::read_part(const Value& value, std::size_t place, std::byte* to) {
  const std::int64_t size = size_of(value.dtype).value();
  const std::int64_t sample = element_count(tensor_shape(value)) / static_cast<std::int64_t>(batch_.size());
  std::int64_t loaded = -1;
  for_each_run_of_part(value, [&](std::int64_t first, std::int64_t at, std::int64_t count) {
    while (count > 0) {
      const std::int64_t number = first / sample;
      if (number != loaded) {
        data_.read(place, {&batch_[static_cast<std::size_t>(number)], 1}, sample_.data());
        loaded = number;
      }
      const std::int64_t here = std::min(count, (number + 1) * sample - first);
      std::copy_n(sample_.data() + first % sample * size, here * size, to + at * size);
      first += here;
      at += here;
      count -= here;
    }
  });
}

}  // namespace poet::runtime
