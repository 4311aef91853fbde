#include "poet/runtime/training/train.h"

#include <algorithm>
#include <cmath>

#include "poet/base/median.h"
#include "poet/runtime/data/batches.h"

namespace poet::runtime {
namespace {

constexpr std::int64_t kReserved = 1 << 20;  // steps whose figures have their memory beforehand

/// What the steps took.
class Measurement {
 public:
  Measurement(std::size_t plan_steps, std::int64_t steps) : seconds_(plan_steps, 0.0) {
    for (std::vector<double>* figures : {&makespans_, &stalled_, &fetching_})
      figures->reserve(static_cast<std::size_t>(std::min(steps, kReserved)));
  }

  void add(const Executor& executor) {
    // Once there is a second step the first no longer counts: it paid for the memory's first touch.
    if (makespans_.size() == 1 && !first_dropped_) {
      for (std::vector<double>* figures : {&makespans_, &stalled_, &fetching_}) figures->clear();
      std::fill(seconds_.begin(), seconds_.end(), 0.0);
      first_dropped_ = true;
    }
    makespans_.push_back((executor.makespan() - executor.fetching()).value());
    fetching_.push_back(executor.fetching().value());
    stalled_.push_back(executor.stalled().value());
    for (std::size_t i = 0; i < seconds_.size(); ++i) seconds_[i] += executor.seconds()[i];
  }

  Measured close(const TransferTotals& totals, std::int64_t steps) {
    Measured measured;
    measured.steps = static_cast<std::int64_t>(makespans_.size());
    if (makespans_.empty()) return measured;
    const auto count = static_cast<double>(makespans_.size());
    for (double& sum : seconds_) sum /= count;
    measured.seconds = std::move(seconds_);
    measured.stalled = Seconds(median(stalled_));
    measured.fetching = Seconds(median(fetching_));
    measured.step = Seconds(median(makespans_));
    const auto [least, most] = std::minmax_element(makespans_.begin(), makespans_.end());
    measured.fastest = Seconds(*least);
    measured.slowest = Seconds(*most);
    // Every step moves the same pages.
    const double per_step = 1.0 / static_cast<double>(steps);
    measured.transferred = {per_step * totals.reading, per_step * totals.writing,
                            Bytes(totals.read.value() / steps), Bytes(totals.written.value() / steps)};
    return measured;
  }

 private:
  std::vector<double> makespans_;
  std::vector<double> seconds_;
  std::vector<double> stalled_;
  std::vector<double> fetching_;
  bool first_dropped_ = false;
};

}  // namespace

TrainResult train(const PlanFile& file, const Program& program, Executor& executor, const Dataset& data,
                  const TrainOptions& options) {
  const Graph& graph = file.instance.graph;
  Batches batches(graph, data, options.from.seed);
  const InputSource source = [&batches](OpId input, std::byte* to) { batches.read(input, to); };

  TrainResult result;
  result.state = options.from;
  const std::int64_t steps = std::max<std::int64_t>(options.steps - options.from.step, 0);
  result.losses.reserve(static_cast<std::size_t>(std::min(steps, kReserved)));
  Measurement measurement(program.steps().size(), steps);
  // The last update may have spoilt what the loss before it does not show: no such checkpoint replaces a good
  // one.
  const auto save = [&] {
    if (!all_finite(graph, program)) return false;
    if (options.checkpoint) {
      write_checkpoint(*options.checkpoint, graph, program, result.state);
      result.saved = true;
    }
    return true;
  };

  fill_with_marks(program.arena());
  std::int64_t saved = options.from.step;
  while (result.state.step < options.steps) {
    const std::int64_t number = result.state.step + 1;
    batches.select(number);
    executor.run(number, options.from.seed, source);
    result.state.step = number;
    result.state.loss = executor.loss();
    result.losses.push_back(executor.loss());
    measurement.add(executor);
    if (options.on_step) options.on_step(result.state, executor.makespan());
    if (!std::isfinite(executor.loss())) {
      result.end = TrainEnd::not_finite;
      break;
    }
    if (options.checkpoint_every > 0 && number % options.checkpoint_every == 0) {
      if (!save()) {
        result.end = TrainEnd::not_finite;
        break;
      }
      saved = number;
    }
    if (options.interrupted && options.interrupted()) {
      if (number < options.steps) result.end = TrainEnd::interrupted;
      break;
    }
  }
  if (result.end != TrainEnd::not_finite && saved != result.state.step && !save())
    result.end = TrainEnd::not_finite;
  const auto done = static_cast<std::int64_t>(result.losses.size());
  if (done > 0) result.measured = measurement.close(executor.transferred(), done);
  result.measured.high_water = high_water(program.arena());
  return result;
}

}  // namespace poet::runtime
