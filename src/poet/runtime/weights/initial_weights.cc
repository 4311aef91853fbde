#include "poet/runtime/weights/initial_weights.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <string_view>

#include "poet/base/error.h"
#include "poet/graph/parts.h"
#include "poet/runtime/random.h"

namespace poet::runtime {
namespace {

constexpr double kPreluSlope = 0.25;            // torch.nn.PReLU's
constexpr double kTransformerDeviation = 0.02;  // BERT's initializer_range

/// mean + deviation * normal + bound * uniform(-1, 1), of which one is 0.
struct Distribution {
  double mean = 0.0;
  double deviation = 0.0;
  double bound = 0.0;
};

constexpr Distribution kZeros{};
constexpr Distribution kOnes{1.0, 0.0, 0.0};

Distribution all(double number) { return {number, 0.0, 0.0}; }
Distribution normal(double deviation) { return {0.0, deviation, 0.0}; }
Distribution uniform_by(std::int64_t fan_in) {
  return {0.0, 0.0, 1.0 / std::sqrt(static_cast<double>(std::max<std::int64_t>(fan_in, 1)))};
}

template <std::size_t kCount>
bool is_one_of(std::string_view kind, const std::array<std::string_view, kCount>& kinds) {
  return std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
}

constexpr auto kMovers = std::to_array<std::string_view>(
    {"cast", "concat", "expand", "flip", "pad", "slice", "split", "transpose"});
constexpr auto kWeighted =
    std::to_array<std::string_view>({"conv2d", "conv3d", "conv_transpose2d", "conv_transpose3d", "linear"});
constexpr auto kNorms = std::to_array<std::string_view>({"batch_norm", "layer_norm", "group_norm"});
constexpr auto kRecurrent = std::to_array<std::string_view>({"lstm", "gru", "rnn"});
constexpr auto kFactors = std::to_array<std::string_view>({"mul", "div"});

/// How many numbers an output sums over: the axes of a weight but the first.
std::int64_t fan_in(const Shape& weight) {
  return weight.empty() ? 1 : element_count(weight) / std::max<std::int64_t>(weight.front(), 1);
}

Distribution of_product(const Shape& operand, std::size_t position) {
  if (operand.size() < 2) return uniform_by(element_count(operand));
  return uniform_by(position == 0 ? operand.back() : operand[operand.size() - 2]);
}

/// weight_ih, weight_hh and the bias; between them may be initial states, which begin at zero.
Distribution of_recurrent(const Graph& graph, const InitialWeights::Use& reader) {
  const Op& op = graph.ops[reader.op];
  const bool has_state = op.attributes.contains("initial_state");
  const std::size_t states = !has_state ? 0 : op.kind == "lstm" ? 2 : 1;
  if (reader.position > 2 && reader.position < 3 + states) return kZeros;
  return uniform_by(tensor_shape(graph.values[op.inputs[2]]).back());
}

Distribution of_parameter(const Graph& graph, const InitialWeights::Use& reader) {
  const Op& op = graph.ops[reader.op];
  const auto shape = [&](std::size_t i) { return tensor_shape(graph.values[op.inputs.at(i)]); };
  if (is_one_of(op.kind, kWeighted) && reader.position > 0) return uniform_by(fan_in(shape(1)));
  if (is_one_of(op.kind, kNorms) && reader.position > 0) return reader.position == 1 ? kOnes : kZeros;
  if (is_one_of(op.kind, kRecurrent) && reader.position > 0) return of_recurrent(graph, reader);
  if (op.kind == "matmul") return of_product(shape(reader.position), reader.position);
  if (op.kind == "embedding") return normal(1.0);
  if (op.kind == "prelu") return all(kPreluSlope);
  if (is_one_of(op.kind, kFactors)) return kOnes;
  return normal(kTransformerDeviation);
}

/// State that an update moves. Its gradient's sums begin at zero, and so do means; variances begin at one.
Distribution of_state(const Graph& graph, ValueId v, const InitialWeights::Use& update) {
  if (!update.op.valid())
    throw InputError(fmt::format("constant '{}'", graph.values[v].name),
                     "has numbers that only the model's file knows; take the weights from it (`weights`)");
  return graph.ops[update.op].kind == "batch_norm_stats" && update.position == 1 ? kOnes : kZeros;
}

}  // namespace

InitialWeights::InitialWeights(const Graph& training)
    : graph_(training), readers_(training.values.size()), updates_(training.values.size()) {
  // Which persistent values a storage has numbers of.
  const IdVector<ValueId, ValueId> storage_of = storages(training);
  IdVector<ValueId, std::vector<ValueId>> origins(training.values.size());
  for (const ValueId v : ids<ValueId>(training.values.size()))
    if (is_persistent(training.values[v].persistence) && storage_of[v] == v) origins[v] = {v};
  for (const OpId id : ids<OpId>(training.ops.size())) {
    const Op& op = training.ops[id];
    const bool moves = is_one_of(op.kind, kMovers);
    for (std::size_t i = 0; i < op.inputs.size(); ++i) {
      for (const ValueId v : origins[storage_of[op.inputs[i]]]) {
        if (!moves && !readers_[v].op.valid()) readers_[v] = {id, i};
        if (!moves || readers_[v].op.valid()) continue;
        for (const ValueId output : op.outputs) origins[output].push_back(v);
      }
    }
    for (std::size_t i = 0; i < op.updates.size(); ++i) updates_[op.updates[i]] = {id, i};
  }
}

void InitialWeights::write(ValueId v, std::uint64_t seed, std::byte* to) const {
  const Value value = at_home(graph_.values[v]);
  ensure(is_persistent(value.persistence) && !value.alias_of.valid(), "what is initialised is persistent");
  Distribution from = kZeros;
  if (value.persistence != Persistence::parameter) {
    from = of_state(graph_, v, updates_[v]);
  } else if (readers_[v].op.valid()) {
    from = of_parameter(graph_, readers_[v]);
  }
  ensure(value.dtype == DType::float32, "what trains, and what an update moves, is float32");
  const std::uint64_t key = subkey(seed, key_of(tensor_name(value)));
  for_each_run_of_part(value, [&](std::int64_t first, std::int64_t, std::int64_t count) {
    for (std::int64_t k = 0; k < count; ++k, to += sizeof(float)) {
      const auto i = static_cast<std::uint64_t>(first + k);
      double x = from.mean;
      if (from.deviation > 0) x += from.deviation * random_normal(key, i);
      if (from.bound > 0) x += from.bound * (2.0 * random_uniform(key, i) - 1.0);
      const auto number = static_cast<float>(x);
      std::memcpy(to, &number, sizeof(number));
    }
  });
}

void InitialWeights::check(ValueId v) const {
  if (graph_.values[v].persistence != Persistence::parameter)
    static_cast<void>(of_state(graph_, v, updates_[v]));
}

}  // namespace poet::runtime
