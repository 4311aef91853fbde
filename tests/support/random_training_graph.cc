#include "tests/support/random_training_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "poet/base/error.h"
#include "tests/support/random_instance.h"
#include "tests/support/small_graphs.h"

namespace poet::test {
namespace {

enum class Kind { input, conv, norm, relu, add, product, metrics, loss };

struct Layer {
  Kind kind;
  std::vector<int> reads;  // layers
  std::int64_t area;       // of the feature map, in pixels
  std::int64_t channels;
  int gradients = 0;  // readers that send a gradient back
};

constexpr std::int64_t kBytesPerElement = 4;
constexpr std::int64_t kArea = std::int64_t{32} * 32;  // of the first resolution
constexpr std::int64_t kChannels = 4;
constexpr std::int64_t kKernel = 9;  // pixels

constexpr double kFlopsPerSecond = 1e9;
constexpr double kJoulesPerFlop = 2e-10;
constexpr double kReadBytesPerSecond = 100e6;
constexpr double kWrittenBytesPerSecond = 40e6;
constexpr double kJoulesPerByteRead = 3e-10;
constexpr double kJoulesPerByteWritten = 6e-10;

// The forward pass, until the whole step has as many ops as asked for.
class Outline {
 public:
  Outline(Rng& rng, const RandomTrainingGraphOptions& options) : rng_(rng), options_(options) {
    add(Kind::input, {}, 3);
    add(Kind::conv, {0}, kChannels);
    constexpr int kLoss = 2;
    constexpr int kMostOfBlock = 2 * (4 + 2 + 2) + 3;
    block_start_ = {1};
    while (left() >= kLoss + kMostOfBlock) {
      const int resolution = static_cast<int>(static_cast<std::int64_t>(ops_) * options_.resolutions /
                                              std::max(1, options_.ops));
      block(resolution);
    }
    while (left() >= kLoss + 2) add(Kind::relu, {last()}, layers.back().channels);
    add(Kind::loss, {last()}, 1);
    layers.back().area = 1;
    if (left() > 0) add(Kind::metrics, {last() - 1}, 1);
    ensure(left() == 0, "a training graph of the wrong size");
  }

  std::vector<Layer> layers;

 private:
  [[nodiscard]] int left() const { return options_.ops - ops_; }
  [[nodiscard]] int last() const { return static_cast<int>(layers.size()) - 1; }

  void add(Kind kind, std::vector<int> reads, std::int64_t channels) {
    ops_ += kind == Kind::conv ? 2 + (options_.updates ? 1 : 0) : 1;
    if (kind == Kind::norm || kind == Kind::relu || kind == Kind::product || kind == Kind::loss) ++ops_;
    for (int read : reads) {
      Layer& from = layers[static_cast<std::size_t>(read)];
      if (from.kind == Kind::input || kind == Kind::metrics) continue;
      if (kind == Kind::conv) ++ops_;     // passes a gradient on
      if (++from.gradients == 2) ++ops_;  // now they must be summed
    }
    layers.push_back({kind, std::move(reads), area_, channels});
  }

  void block(int resolution) {
    const bool smaller = resolution > resolution_;
    if (smaller) {
      resolution_ = resolution;
      area_ = std::max<std::int64_t>(1, area_ / 4);
      width_ *= 2;
      block_start_.clear();
    }
    const std::int64_t wide = width_ * (1 << pick(rng_, 0, 2)) / 2;
    if (chance(rng_, 0.5)) conv_norm_relu(wide);
    conv_norm_relu(width_);
    const bool joins = !block_start_.empty();
    if (joins && chance(rng_, options_.skip)) {
      const int most = static_cast<int>(block_start_.size());
      const int back = chance(rng_, 0.9) ? std::min(most, pick(rng_, 1, 3)) : pick(rng_, 1, most);
      const int from = block_start_[static_cast<std::size_t>(most - back)];
      add(chance(rng_, options_.product) ? Kind::product : Kind::add, {from, last()}, width_);
    }
    block_start_.push_back(last());
  }

  void conv_norm_relu(std::int64_t channels) {
    add(Kind::conv, {last()}, channels);
    add(Kind::norm, {last()}, channels);
    add(Kind::relu, {last()}, channels);
  }

  Rng& rng_;
  const RandomTrainingGraphOptions& options_;
  int ops_ = 0;
  int resolution_ = 0;
  std::int64_t area_ = kArea;
  std::int64_t width_ = kChannels;
  std::vector<int> block_start_;  // what skip connections may read, at this resolution
};

class GraphOfLayers {
 public:
  GraphOfLayers(Rng& rng, const RandomTrainingGraphOptions& options, const std::vector<Layer>& layers)
      : rng_(rng), options_(options), layers_(layers), gradients_(layers.size()), weights_(layers.size()) {}

  Instance build() {
    for (std::size_t i = 0; i < layers_.size(); ++i) forward(i);
    for (std::size_t i = layers_.size(); i-- > 0;) backward(i);
    Instance instance;
    instance.graph = std::move(graph_);
    add_costs(instance);
    return instance;
  }

 private:
  [[nodiscard]] static std::int64_t elements(const Layer& layer) { return layer.area * layer.channels; }
  [[nodiscard]] static std::int64_t bytes(const Layer& layer) { return kBytesPerElement * elements(layer); }
  [[nodiscard]] const Layer& read_by(const Layer& layer) const {
    return layers_[static_cast<std::size_t>(layer.reads.front())];
  }
  [[nodiscard]] std::int64_t weight_elements(const Layer& layer) const {
    return kKernel * read_by(layer).channels * layer.channels;
  }

  OpId add(const std::string& name, std::vector<ValueId> reads, std::vector<ValueId> writes, Pass pass,
           std::int64_t flops, std::int64_t workspace = 0) {
    const OpId op = add_op(graph_, name, std::move(reads), std::move(writes));
    graph_.ops[op].pass = pass;
    flops_.push_back(flops);
    workspace_.push_back(workspace);
    return op;
  }

  void forward(std::size_t i) {
    const Layer& layer = layers_[i];
    const std::string name = fmt::format("f{}", i);
    std::vector<ValueId> reads;
    for (int from : layer.reads) reads.push_back(outputs_[static_cast<std::size_t>(from)]);
    std::int64_t flops = 4 * elements(layer);
    std::int64_t workspace = 0;
    if (layer.kind == Kind::conv) {
      weights_[i] =
          add_persistent(graph_, fmt::format("{}.w", name), kBytesPerElement * weight_elements(layer));
      reads.push_back(weights_[i]);
      flops = 2 * weight_elements(layer) * layer.area;
      workspace = bytes(read_by(layer)) / 8;
    }
    const bool input = layer.kind == Kind::input;
    const ValueId y =
        add_output(graph_, name, bytes(layer), input ? Persistence::input : Persistence::activation);
    const OpId op = add(name, std::move(reads), {y}, Pass::forward, flops, workspace);
    if (input || layer.kind == Kind::metrics || chance(rng_, options_.not_recomputable))
      graph_.ops[op].recomputable = false;
    outputs_.push_back(y);
  }

  // The gradient of what layer i wrote: what its readers sent back, summed.
  ValueId gradient_of(std::size_t i) {
    const std::vector<ValueId>& parts = gradients_[i];
    if (parts.size() == 1) return parts.front();
    const Layer& layer = layers_[i];
    const std::string name = fmt::format("f{}.sum", i);
    const ValueId sum = add_output(graph_, name, bytes(layer));
    add(name, parts, {sum}, Pass::backward, elements(layer) * static_cast<std::int64_t>(parts.size()));
    return sum;
  }

  void send(int layer, ValueId gradient) { gradients_[static_cast<std::size_t>(layer)].push_back(gradient); }

  void backward(std::size_t i) {
    const Layer& layer = layers_[i];
    if (layer.kind == Kind::input || layer.kind == Kind::metrics) return;
    const std::string name = fmt::format("f{}.back", i);
    if (layer.kind == Kind::loss) {
      const int from = layer.reads.front();
      const ValueId dx = add_output(graph_, name, bytes(read_by(layer)));
      add(name, {outputs_[i], outputs_[static_cast<std::size_t>(from)]}, {dx}, Pass::backward,
          4 * elements(read_by(layer)));
      send(from, dx);
      return;
    }
    const ValueId dy = gradient_of(i);
    if (layer.kind == Kind::add) {
      for (int from : layer.reads) send(from, dy);
    } else if (layer.kind == Kind::conv) {
      conv_backward(i, dy);
    } else {
      std::vector<ValueId> reads = {dy};
      if (layer.kind == Kind::relu) reads.push_back(outputs_[i]);
      std::vector<ValueId> writes;
      for (int from : layer.reads) {
        if (layer.kind != Kind::relu) reads.push_back(outputs_[static_cast<std::size_t>(from)]);
        writes.push_back(add_output(graph_, fmt::format("{}{}", name, writes.size()),
                                    bytes(layers_[static_cast<std::size_t>(from)])));
        send(from, writes.back());
      }
      add(name, std::move(reads), std::move(writes), Pass::backward, 6 * elements(layer));
    }
  }

  void conv_backward(std::size_t i, ValueId dy) {
    const Layer& layer = layers_[i];
    const int from = layer.reads.front();
    const std::string name = fmt::format("f{}", i);
    const std::int64_t flops = 2 * weight_elements(layer) * layer.area;
    if (read_by(layer).kind != Kind::input) {
      const ValueId dx = add_output(graph_, fmt::format("{}.dx", name), bytes(read_by(layer)));
      add(fmt::format("{}.dx", name), {dy, weights_[i]}, {dx}, Pass::backward, flops, bytes(layer) / 8);
      send(from, dx);
    }
    const std::int64_t weight_bytes = kBytesPerElement * weight_elements(layer);
    const ValueId dw =
        add_output(graph_, fmt::format("{}.dw", name), weight_bytes, Persistence::parameter_gradient);
    add(fmt::format("{}.dw", name), {outputs_[static_cast<std::size_t>(from)], dy}, {dw}, Pass::backward,
        flops, bytes(read_by(layer)) / 8);
    if (!options_.updates) return;
    add_update(graph_, fmt::format("{}.update", name), {weights_[i], dw}, {weights_[i]});
    flops_.push_back(2 * weight_elements(layer));
    workspace_.push_back(0);
  }

  void add_costs(Instance& instance) {
    CostTable& costs = instance.costs;
    for (std::size_t i = 0; i < flops_.size(); ++i) {
      const double flops = static_cast<double>(flops_[i]) * (0.75 + pick(rng_, 0, 50) / 100.0);
      costs.ops.push_back(
          {Seconds(flops / kFlopsPerSecond), Joules(flops * kJoulesPerFlop), Bytes(workspace_[i])});
    }
    for (const Value& value : instance.graph.values) {
      ValueCost cost;
      if (is_persistent(value.persistence)) {
        costs.persistent += value.bytes;
      } else {
        cost.bytes = value.bytes;
        const auto size = static_cast<double>(value.bytes.value());
        cost.page_out = {Seconds(size / kWrittenBytesPerSecond), Joules(size * kJoulesPerByteWritten)};
        cost.page_in = {Seconds(size / kReadBytesPerSecond), Joules(size * kJoulesPerByteRead)};
      }
      costs.values.push_back(cost);
    }
    costs.timing.concurrent = true;
    costs.timing.idle = Watts(0.02);
    costs.timing.wake_time = Seconds(1e-4);
    costs.timing.wake_energy = Joules(1e-6);
    instance.has_device = true;
  }

  Rng& rng_;
  const RandomTrainingGraphOptions& options_;
  const std::vector<Layer>& layers_;
  Graph graph_;
  std::vector<ValueId> outputs_;                 // per layer
  std::vector<std::vector<ValueId>> gradients_;  // per layer
  std::vector<ValueId> weights_;                 // per layer
  std::vector<std::int64_t> flops_, workspace_;  // per op
};

}  // namespace

Instance random_training_graph(std::uint64_t seed, const RandomTrainingGraphOptions& options) {
  ensure(options.ops >= 16, "random training graphs have at least 16 ops");
  Rng rng(seed);
  const Outline outline(rng, options);
  Instance instance = GraphOfLayers(rng, options, outline.layers).build();
  // So that instance files can have the form of the published ones.
  for (Op& op : instance.graph.ops) op.kind = "published";
  for (Value& value : instance.graph.values) {
    value.dtype = DType::uint8;
    value.shape = {value.bytes.value()};
  }
  instance.graph.name = fmt::format("random{}_{}", options.ops, seed);
  instance.model = instance.graph.name;
  instance.platform = "random";
  instance.source = "generated";
  verify(instance);
  return instance;
}

}  // namespace poet::test
