// Tables by index train as whole ones do: on random networks with tables, whose steps name some rows more
// than once, losses and checkpoints are the same, bit for bit, in parts and not, from RAM and from storage,
// and when one run goes on from another's page file.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <random>
#include <set>

#include "poet/autodiff/differentiate.h"
#include "poet/compile.h"
#include "poet/cost/device.h"
#include "poet/cost/tabulate.h"
#include "poet/graph/nn.h"
#include "poet/plan/allowance.h"
#include "poet/runtime/data/dataset.h"
#include "poet/runtime/executor/program.h"
#include "poet/runtime/training/trainer.h"
#include "poet/split/indexed.h"
#include "poet/split/split.h"
#include "tests/support/background.h"
#include "tests/support/effort.h"
#include "tests/support/program.h"

namespace poet::test {
namespace {

constexpr int kSteps = 4;
const runtime::KernelOptions kLoops{runtime::KernelLibrary::reference, 1, ""};

/// One or two tables, summed, a layer or two, a class for each token. Few rows and many tokens, so that most
/// steps name a row twice.
Graph random_network(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto draw = [&](std::int64_t from, std::int64_t to) {
    return from + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(to - from + 1));
  };
  GraphBuilder g("tables");
  const std::int64_t batch = draw(1, 3), length = draw(2, 6), width = draw(1, 9);
  const std::int64_t tokens = batch * length;
  const ValueId ids = g.input("ids", {batch, length}, DType::int32);
  ValueId x = nn::embedding(g, "words", ids, tokens + draw(1, 12), width);
  if (draw(0, 1) == 1) {
    const ValueId more = g.input("more", {batch, length}, DType::int32);
    x = nn::add(g, "sum", x, nn::embedding(g, "others", more, tokens + draw(1, 5), width));
  }
  if (draw(0, 1) == 1) x = nn::tanh(g, "tanh", nn::linear(g, "hidden", x, width));
  const std::int64_t classes = draw(2, 5);
  const ValueId logits = nn::reshape(g, "rows", nn::linear(g, "fc", x, classes), {tokens, classes});
  nn::softmax_cross_entropy(g, "loss", logits, g.input("targets", {tokens}, DType::int32));
  const bool frozen = draw(0, 3) == 0;
  return differentiate(g.finish(), {Optimizer::sgd, [frozen](const std::string& name) {
                                      return !frozen || !name.starts_with("words");
                                    }});
}

PlanFile planned(const Graph& graph, std::uint64_t seed, bool paged) {
  DeviceProfile device = find_device("m4");
  device.storage->concurrent = seed % 2 == 0;
  Instance instance;
  instance.graph = graph;
  instance.costs = tabulate(graph, device);
  instance.has_device = true;
  runtime::charge_workspaces(instance, kLoops);
  CompileRequest request;
  request.instance = with_paged(instance, paged ? pageable(instance) : std::vector<ValueId>());
  const Bytes floor = ram_floor(request.instance, Semantics::device).bytes();
  const Bytes most = replay_keep_all(request.instance, Semantics::device).peak_ram;
  request.limits.ram_budget = paged ? floor + Bytes((most - floor).value() / 4) : most;
  request.options.time_limit_seconds = 1;
  request.options.gap = 0.9;
  request.options.explain = false;
  const CompileResult result = compile(request);
  EXPECT_FALSE(result.plan.steps.empty()) << "seed " << seed;
  PlanFile file;
  file.instance = request.instance;
  file.limits = request.limits;
  file.plan = result.plan;
  file.layout = result.layout;
  return plan_from_binary(to_binary(file), "p.plan");
}

struct Trained {
  std::vector<float> losses;
  std::string checkpoint;
};

Trained trained(const PlanFile& file, const TemporaryFolder& folder, int killed_after = kSteps) {
  const std::string pages = folder.file("pages");
  const std::string checkpoint = folder.file("checkpoint");
  runtime::TrainerOptions options;
  options.seed = 3;
  options.samples = 16;
  options.kernels = kLoops;
  options.storage.where = pages;
  Trained made;
  for (int done = 0; done < kSteps;) {
    runtime::Trainer trainer(file, options);
    EXPECT_EQ(trainer.state().step, done);
    const int until = done < killed_after ? killed_after : kSteps;
    for (; done < until; ++done) made.losses.push_back(trainer.step().loss);
    if (done == kSteps) {
      trainer.save(checkpoint);
      trainer.discard_storage();
    }
    options.seed.reset();
    options.resume = pages;
  }
  made.checkpoint = file_text(checkpoint);
  std::filesystem::remove(checkpoint);
  return made;
}

/// Whether some step names a row twice.
bool repeats_rows(const Graph& graph) {
  const auto data = runtime::synthetic_dataset(graph, 16, 3);
  const std::vector<runtime::DataInput> inputs = runtime::data_inputs(graph);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].name != "ids") continue;
    std::vector<std::int32_t> numbers(static_cast<std::size_t>(element_count(inputs[i].shape)));
    std::vector<std::int64_t> batch(static_cast<std::size_t>(inputs[i].shape[0]));
    runtime::batch_of_step(1, data->samples(), 3, batch);
    data->read(i, batch, reinterpret_cast<std::byte*>(numbers.data()));
    return std::set(numbers.begin(), numbers.end()).size() < numbers.size();
  }
  return false;
}

TEST(IndexedTables, TrainToTheBitsOfWholeOnes) {
  const int networks = test::cases(3, 6);
  int repeated = 0, in_parts = 0;
  const TemporaryFolder folder;
  for (std::uint64_t seed = 1; seed <= static_cast<std::uint64_t>(networks); ++seed) {
    const Graph whole = random_network(seed);
    const std::vector<ValueId> tables = indexable_tables(whole);
    ASSERT_FALSE(tables.empty());
    const Graph indexed = with_indexed(whole, tables);
    repeated += repeats_rows(whole) ? 1 : 0;
    const Trained expected = trained(planned(whole, seed, false), folder);
    const auto same = [&](const Graph& graph, bool paged, int killed_after, const char* what) {
      const Trained made = trained(planned(graph, seed, paged), folder, killed_after);
      EXPECT_EQ(made.losses, expected.losses) << what << ", seed " << seed;
      EXPECT_TRUE(made.checkpoint == expected.checkpoint) << what << ", seed " << seed;
    };
    same(indexed, false, kSteps, "only tables on storage");
    same(indexed, true, 1 + static_cast<int>(seed % 3), "everything on storage, left and gone on from");
    const Graph parts = split(indexed, {Bytes(24)});
    in_parts += static_cast<int>(std::count_if(parts.values.begin(), parts.values.end(),
                                               [](const Value& value) { return value.rows && value.part; }));
    same(parts, true, 2, "in parts");
    if (HasFailure()) return;
  }
  EXPECT_GE(repeated, networks / 2);
  EXPECT_GE(in_parts, networks);
}

}  // namespace
}  // namespace poet::test
