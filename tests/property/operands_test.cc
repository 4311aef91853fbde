// Every op that the builder and differentiate make passes the check of its operands.

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "poet/autodiff/differentiate.h"
#include "poet/base/error.h"
#include "poet/frontend/onnx/import.h"
#include "poet/frontend/zoo.h"
#include "tests/support/kernel_graphs.h"
#include "tests/support/paths.h"
#include "tests/support/random_network.h"

namespace poet {
namespace {

void expect_accepted(const Graph& graph) {
  try {
    verify(graph);
  } catch (const InputError& error) {
    ADD_FAILURE() << graph.name << ": " << error.what();
  }
}

class OperandsOfFamilies : public testing::TestWithParam<test::KernelGraphFamily> {};

TEST_P(OperandsOfFamilies, AreAccepted) {
  for (int seed = 0; seed < GetParam().seeds && !HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    expect_accepted(GetParam().make(static_cast<std::uint64_t>(seed)));
  }
}

INSTANTIATE_TEST_SUITE_P(All, OperandsOfFamilies, testing::ValuesIn(test::kernel_graph_families()),
                         [](const auto& family) { return family.param.name; });

TEST(Operands, OfAllNetworksAreAccepted) {
  for (const ZooEntry& entry : zoo()) {
    for (const Optimizer optimizer : {Optimizer::sgd, Optimizer::momentum, Optimizer::adam})
      expect_accepted(
          differentiate(entry.build({.batch_size = 2, .sequence_length = {}}), {optimizer, nullptr}));
  }
}

TEST(Operands, OfRandomNetworksThatTrainInPartAreAccepted) {
  for (std::uint64_t seed = 0; seed < 300 && !HasFailure(); ++seed) {
    const auto optimizer = static_cast<Optimizer>(seed % 3);
    expect_accepted(differentiate(test::RandomNetwork(seed).build(),
                                  {optimizer, test::RandomNetwork::some_trainable(seed)}));
  }
}

TEST(Operands, OfImportedModelsAreAccepted) {
  const std::filesystem::path models = test::shared() / "models";
  if (!std::filesystem::is_directory(models)) GTEST_SKIP() << models << " is absent";
  for (const auto& entry : std::filesystem::directory_iterator(models)) {
    if (entry.path().extension() != ".onnx") continue;
    SCOPED_TRACE(entry.path());
    expect_accepted(differentiate(import_onnx(entry.path()).forward));
  }
}

}  // namespace
}  // namespace poet
