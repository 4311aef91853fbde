#include "poet/runtime/training/train.h"

#include <algorithm>
#include <cmath>

#include "poet/base/error.h"
#include "poet/runtime/sensors/transfer_fit.h"

namespace poet::runtime {
namespace {

constexpr std::int64_t kReserved = 1 << 20;  // steps whose figures have their memory beforehand

/// What the steps took.
class Measurement {
 public:
  Measurement(std::size_t plan_steps, std::int64_t steps) : seconds_(plan_steps, 0.0) {
    makespans_.reserve(static_cast<std::size_t>(std::min(steps, kReserved)));
  }

  void add(const Executor& executor) {
    // Once there is a second step the first no longer counts: it paid for the memory's first touch.
    if (makespans_.size() == 1 && !first_dropped_) {
      makespans_.clear();
      std::fill(seconds_.begin(), seconds_.end(), 0.0);
      stalled_ = fetching_ = 0;
      first_dropped_ = true;
    }
    makespans_.push_back((executor.makespan() - executor.fetching()).value());
    fetching_ += executor.fetching().value();
    stalled_ += executor.stalled().value();
    for (std::size_t i = 0; i < seconds_.size(); ++i) seconds_[i] += executor.seconds()[i];
  }

  Measured close(const TransferTotals& totals, std::int64_t steps) {
    Measured measured;
    measured.steps = static_cast<std::int64_t>(makespans_.size());
    if (makespans_.empty()) return measured;
    const auto count = static_cast<double>(makespans_.size());
    for (double& sum : seconds_) sum /= count;
    measured.seconds = std::move(seconds_);
    measured.stalled = Seconds(stalled_ / count);
    measured.fetching = Seconds(fetching_ / count);
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
  double stalled_ = 0;
  double fetching_ = 0;
  bool first_dropped_ = false;
};

std::int64_t batch_size(const std::vector<DataInput>& inputs) {
  return inputs.empty() ? 1 : inputs.front().shape.front();
}

/// The place of each `input` op's data in data_inputs().
IdVector<OpId, std::size_t> input_places(const Graph& graph) {
  IdVector<OpId, std::size_t> places(graph.ops.size(), 0);
  std::size_t next = 0;
  for (const OpId op : ids<OpId>(graph.ops.size()))
    if (graph.ops[op].kind == "input") places[op] = next++;
  return places;
}

}  // namespace

TrainResult train(const PlanFile& file, const Program& program, Executor& executor, const Dataset& data,
                  const TrainOptions& options) {
  const Graph& graph = file.instance.graph;
  const std::vector<DataInput> inputs = data_inputs(graph);
  const IdVector<OpId, std::size_t> place = input_places(graph);
  std::vector<std::int64_t> batch(static_cast<std::size_t>(batch_size(inputs)));
  const InputSource source = [&](OpId op, std::byte* to) { data.read(place[op], batch, to); };

  TrainResult result;
  result.state = options.from;
  const std::int64_t steps = std::max<std::int64_t>(options.steps - options.from.step, 0);
  result.losses.reserve(static_cast<std::size_t>(std::min(steps, kReserved)));
  Measurement measurement(program.steps().size(), steps);
  // The last update may have spoilt what the loss before it does not show: no such checkpoint replaces a good
  // one.
  const auto save = [&] {
    if (!all_finite(graph, program)) return false;
    if (options.checkpoint) write_checkpoint(*options.checkpoint, graph, program, result.state);
    return true;
  };

  fill_with_marks(program.arena());
  std::int64_t saved = options.from.step;
  while (result.state.step < options.steps) {
    const std::int64_t number = result.state.step + 1;
    batch_of_step(number, data.samples(), options.from.seed, batch);
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
