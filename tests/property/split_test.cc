// Graphs in parts compute the bits of the graphs that they were made from: losses, parameters and optimiser
// state after some steps, with plain loops.

#include "poet/split/split.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "poet/autodiff/differentiate.h"
#include "poet/frontend/zoo.h"
#include "poet/graph/nn.h"
#include "poet/graph/operators/schema.h"
#include "tests/support/parts.h"
#include "tests/support/random_network.h"
#include "tests/support/runtime_interpreter.h"

namespace poet::test {
namespace {

using Numbers = std::vector<double>;

/// Numbers for every tensor that nothing computes, by name. Integers are small enough for any table.
std::map<std::string, Numbers> starts(const Graph& graph, std::uint64_t seed) {
  std::map<std::string, Numbers> all;
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal(0.0, 0.3);
  for (const Value& value : graph.values) {
    if (value.alias_of.valid()) continue;
    const bool input = value.producer.valid() && graph.ops[value.producer].kind == "input";
    if (!input && !is_persistent(value.persistence)) continue;
    const bool magnitude =
        value.name.ends_with(".m") || value.name.ends_with(".v") || value.name.ends_with("var");
    Numbers& numbers = all[value.name];
    for (std::int64_t i = 0; i < element_count(value.shape); ++i) {
      const double number =
          value.dtype == DType::float32 ? normal(random) : static_cast<double>(random() % 2);
      numbers.push_back(magnitude ? std::abs(number) : number);
    }
  }
  return all;
}

class Run {
 public:
  Run(const Graph& graph, const std::map<std::string, Numbers>& numbers) : graph_(graph), run_(graph) {
    for (const ValueId v : ids<ValueId>(graph.values.size())) {
      const Value& value = graph.values[v];
      const auto found = numbers.find(tensor_name(value));
      if (!value.alias_of.valid() && found != numbers.end()) run_.set(v, part_of(value, found->second));
    }
    for (const Op& op : graph.ops)
      if (is_loss(op)) loss_ = op.outputs.front();
  }
  void step(std::int64_t number) { run_.run(number, 3); }
  double loss() const { return run_.get(loss_).front(); }
  bool intact() const { return run_.intact(); }
  const RuntimeInterpreter& values() const { return run_; }

 private:
  const Graph& graph_;
  RuntimeInterpreter run_;
  ValueId loss_;
};

bool same_bits(const Numbers& a, const Numbers& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0;
}

/// Whether anything was cut.
bool expect_same_bits(const Graph& whole, Bytes limit, std::uint64_t seed) {
  SplitReport report;
  const Graph parts = split(whole, {limit}, &report);
  if (report.tensors == 0) return false;
  const auto numbers = starts(whole, seed);
  Run of_whole(whole, numbers), of_parts(parts, numbers);
  std::map<std::string, ValueId> tensors;
  for (const ValueId v : ids<ValueId>(whole.values.size()))
    if (!whole.values[v].alias_of.valid()) tensors[whole.values[v].name] = v;
  for (std::int64_t step = 1; step <= 2; ++step) {
    of_whole.step(step);
    of_parts.step(step);
    const double expected = of_whole.loss(), actual = of_parts.loss();
    EXPECT_EQ(std::memcmp(&expected, &actual, sizeof expected), 0) << expected << " and " << actual;
    for (const ValueId v : ids<ValueId>(parts.values.size())) {
      const Value& value = parts.values[v];
      const auto tensor = tensors.find(tensor_name(value));
      if (value.alias_of.valid() || tensor == tensors.end()) continue;  // sums under way
      const Numbers wanted = part_of(value, of_whole.values().get(tensor->second));
      EXPECT_TRUE(same_bits(of_parts.values().get(v), wanted)) << value.name << " after step " << step;
      if (testing::Test::HasFailure()) return true;
    }
  }
  EXPECT_TRUE(of_parts.intact());
  return true;
}

TEST(Split, OfNetworksOfTheZooTrainsToTheSameBits) {
  const std::vector<std::pair<std::string, std::vector<std::int64_t>>> cases = {
      {"linear", {8 << 10, 1 << 10}}, {"resnet14_cifar", {64 << 10, 24 << 10, 8 << 10}}};
  for (const auto& [name, limits] : cases) {
    for (const Optimizer optimizer : {Optimizer::sgd, Optimizer::adam}) {
      const Graph whole = differentiate(build_network(name, {2, {}}), {optimizer, {}});
      for (const std::int64_t limit : limits) {
        SCOPED_TRACE(fmt::format("{} in parts of {} bytes", name, limit));
        EXPECT_TRUE(expect_same_bits(whole, Bytes(limit), 1));
        ASSERT_FALSE(HasFailure());
      }
    }
  }
}

TEST(Split, OfRandomNetworksTrainsToTheSameBits) {
  int cut = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const Graph whole = differentiate(RandomNetwork(seed).build(),
                                      {Optimizer::momentum, RandomNetwork::some_trainable(seed)});
    for (const std::int64_t limit : {48, 16, 4}) {
      SCOPED_TRACE(fmt::format("seed {}, parts of {} bytes", seed, limit));
      cut += expect_same_bits(whole, Bytes(limit), seed) ? 1 : 0;
      ASSERT_FALSE(HasFailure());
    }
  }
  EXPECT_GT(cut, 60);
}

}  // namespace
}  // namespace poet::test
