#include "poet/runtime/training/validation.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <utility>

#include "poet/base/amounts.h"
#include "poet/base/error.h"
#include "poet/runtime/data/batches.h"
#include "poet/runtime/executor/evaluation.h"
#include "poet/verify/replay.h"
#include "poet/verify/replay_layout.h"

namespace poet::runtime {
namespace {

/// A file of its own, without a name, in the same folder as the training's.
PageFileOptions beside(PageFileOptions storage) {
  std::error_code ignored;
  if (storage.where.empty() || std::filesystem::is_directory(storage.where, ignored)) return storage;
  storage.where = std::filesystem::absolute(storage.where).parent_path();
  return storage;
}

}  // namespace

struct Validation::State {
  std::int64_t samples;
  Batches batches;
  Evaluation evaluation;
  std::unique_ptr<PageFile> pages;  // null: the plan writes none

  State(const PlanFile& plan, const Dataset& data, const KernelOptions& kernels,
        const PageFileOptions& storage, const Graph& training, const Program& host)
      : samples(data.samples()),
        batches(plan.instance.graph, data, 0),
        evaluation(plan, kernels, training, host) {
    if (!evaluation.slots().empty()) pages = std::make_unique<PageFile>(beside(storage), evaluation.slots());
  }
};

void check_validation_plan(const PlanFile& plan) {
  const Report report = replay(plan.instance, plan.plan, plan.semantics, plan.limits);
  if (!report.valid) throw InputError("the validation's plan", "is invalid: " + report.violation);
  const ArenaReport arena = replay_layout(plan.instance, plan.plan, plan.layout, plan.semantics, plan.limits);
  if (!arena.valid) throw InputError("the validation's plan", "has invalid addresses: " + arena.violation);
}

Validation::Validation(const PlanFile& plan, const Dataset& data, const KernelOptions& kernels,
                       const PageFileOptions& storage, const Graph& training, const Program& host)
    : state_(std::make_unique<State>(plan, data, kernels, storage, training, host)) {}

Validation::~Validation() = default;

ValidationFigures Validation::run(std::int64_t step, const PersistentValues& persistent, PageFile* pages) {
  const auto begin = std::chrono::steady_clock::now();
  State& state = *state_;
  // The training's own channel is idle between steps.
  std::unique_ptr<TransferQueue> channel;
  const std::size_t transfers = state.evaluation.program().transfers();
  if (transfers > 0) channel = std::make_unique<TransferQueue>(*pages, transfers);
  const auto pass = [&](std::int64_t first, std::int64_t samples) {
    state.batches.select_from(first);
    return state.evaluation.run(
        persistent, channel.get(), state.pages.get(),
        [&state](OpId input, std::byte* to) { state.batches.read(input, to); }, samples);
  };
  const std::int64_t all = state.samples, batch = state.batches.size();
  ValidationFigures figures;
  double sum = 0;
  std::int64_t right = 0;
  for (std::int64_t first = 0; first < all; first += batch) {
    const std::int64_t here = std::min(batch, all - first);
    const PassFigures found = pass(first, here);
    if (!std::isfinite(found.loss) && figures.cause.empty()) figures.cause = state.batches.not_finite();
    sum += static_cast<double>(batch) * found.loss;
    right += found.right;
    // A batch of nothing but the last sample says what its copies were worth.
    if (here < batch) sum -= static_cast<double>(batch - here) * pass(all - 1, 0).loss;
  }
  figures.step = step;
  figures.loss = sum / static_cast<double>(all);
  if (state.evaluation.has_classes())
    figures.accuracy =
        static_cast<double>(right) / static_cast<double>(all * state.evaluation.rows_per_sample());
  figures.took = Seconds(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  return figures;
}

}  // namespace poet::runtime
