#include "tests/support/faithful.h"

#include <algorithm>
#include <filesystem>

#include "poet/base/error.h"
#include "poet/compile.h"
#include "poet/runtime/data/dataset.h"
#include "poet/runtime/executor/executor.h"
#include "poet/runtime/training/checkpoint.h"
#include "poet/runtime/weights/initial_weights.h"

namespace poet::test {
namespace {

constexpr std::uint64_t kSeed = 5;
constexpr std::int64_t kSamples = 512;

/// FNV-1a.
std::uint64_t hash_of(const void* data, Bytes size, std::uint64_t hash = 14695981039346656037u) {
  const auto* bytes = static_cast<const unsigned char*>(data);
  for (std::int64_t i = 0; i < size.value(); ++i) hash = (hash ^ bytes[i]) * 1099511628211u;
  return hash;
}

CompileResult solved(const Instance& instance, Bytes budget) {
  CompileRequest request;
  request.instance = instance;
  request.limits.ram_budget = budget;
  request.options.time_limit_seconds = 0.4;
  request.options.gap = 0.2;  // any plan that recomputes and pages will do
  return compile(request);
}

}  // namespace

Bits carried_out(const PlanFile& file, const runtime::KernelOptions& kernels, int steps) {
  const Graph& graph = file.instance.graph;
  runtime::set_up_kernels(kernels);
  const runtime::Program program(file, kernels);
  std::unique_ptr<runtime::PageFile> pages;
  if (!program.slots().empty())
    pages = std::make_unique<runtime::PageFile>(
        runtime::PageFileOptions{.where = std::filesystem::temp_directory_path()}, program.slots());
  runtime::PersistentValues persistent(graph, program, pages.get());
  const runtime::InitialWeights weights(graph);
  for (const ValueId v : runtime::persistent_values(graph))
    persistent.set(v, [&](std::byte* to) { weights.write(v, kSeed, to); });
  runtime::Executor executor(file, program, persistent, pages.get());
  const auto data = runtime::synthetic_dataset(graph, kSamples, kSeed);
  const std::vector<runtime::DataInput> inputs = runtime::data_inputs(graph);
  std::vector<std::int64_t> batch(static_cast<std::size_t>(inputs.front().shape.front()));

  Bits bits;
  const runtime::InputSource source = [&](OpId op, std::byte* to) {
    const ValueId v = graph.ops[op].outputs.front();
    const auto place = std::find_if(inputs.begin(), inputs.end(),
                                    [v](const runtime::DataInput& input) { return input.value == v; });
    data->read(static_cast<std::size_t>(place - inputs.begin()), batch, to);
  };
  for (int step = 1; step <= steps; ++step) {
    std::vector<std::uint64_t> first(graph.ops.size(), 0);
    runtime::batch_of_step(step, data->samples(), kSeed, batch);
    executor.run(step, kSeed, source, [&](const runtime::PreparedStep& done) {
      std::uint64_t hash = 0;
      const Op& op = graph.ops[done.op];
      for (std::size_t i = 0; i < op.outputs.size(); ++i)
        hash = hash_of(done.call.outputs[i], graph.values[op.outputs[i]].bytes, hash + 1);
      std::uint64_t& known = first[static_cast<std::size_t>(done.op.index)];
      if (done.first) {
        known = hash;
      } else {
        ++bits.recomputed;
        if (known != hash && bits.differs.empty()) bits.differs = op.name;
      }
    });
    bits.losses.push_back(executor.loss());
    bits.outputs.insert(bits.outputs.end(), first.begin(), first.end());
  }
  for (const ValueId v : runtime::persistent_values(graph))
    bits.persistent.push_back(hash_of(persistent.contents(v), graph.values[v].bytes));
  bits.paged = static_cast<int>(program.transfers());
  return bits;
}

Bytes least_known_ram(const Instance& instance) {
  const CompileResult none = solved(instance, instance.costs.persistent + Bytes(1));
  ensure(none.outcome.explanation.least_ram.has_value(), "a least budget is known");
  return *none.outcome.explanation.least_ram;
}

PlanFile plan_between(const Instance& instance, Bytes least, double part) {
  const Bytes keep_all = replay_keep_all(instance, Semantics::device).peak_ram;
  Bytes budget =
      least + Bytes(static_cast<std::int64_t>(part * static_cast<double>((keep_all - least).value())));
  CompileResult result = solved(instance, budget);
  // Addresses may need some bytes more than the least peak.
  while (result.plan.steps.empty()) {
    budget = Bytes(budget.value() + std::max<std::int64_t>(budget.value() / 50, 64));
    result = solved(instance, budget);
  }
  PlanFile file;
  file.instance = instance;
  file.limits.ram_budget = budget;
  file.plan = std::move(result.plan);
  file.layout = std::move(result.layout);
  return file;
}

PlanFile plan_between(const Instance& instance, double part) {
  return plan_between(instance, least_known_ram(instance), part);
}

}  // namespace poet::test
