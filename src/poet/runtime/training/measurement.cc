#include "poet/runtime/training/measurement.h"

#include <algorithm>
#include <utility>

#include "poet/base/median.h"
#include "poet/base/quantile.h"
#include "poet/cost/variation.h"

namespace poet::runtime {
namespace {

constexpr std::int64_t kReservedSteps = 1 << 20;  // steps whose figures have their memory beforehand

}  // namespace

Measurement::Measurement(std::size_t plan_steps, std::int64_t steps) : seconds_(plan_steps, 0.0) {
  for (std::vector<double>* figures : {&makespans_, &stalled_, &fetching_})
    figures->reserve(static_cast<std::size_t>(std::min(steps, kReservedSteps)));
}

void Measurement::add(const StepFigures& step, const std::vector<double>& seconds) {
  // Once there is a second step the first no longer counts: it paid for the memory's first touch.
  if (steps_ == 1) {
    for (std::vector<double>* figures : {&makespans_, &stalled_, &fetching_}) figures->clear();
    std::fill(seconds_.begin(), seconds_.end(), 0.0);
  }
  ++steps_;
  makespans_.push_back((step.makespan - step.fetching).value());
  fetching_.push_back(step.fetching.value());
  stalled_.push_back(step.stalled.value());
  for (std::size_t i = 0; i < seconds_.size(); ++i) seconds_[i] += seconds[i];
}

Measured Measurement::close(const TransferTotals& totals) {
  Measured measured;
  measured.steps = static_cast<std::int64_t>(makespans_.size());
  if (makespans_.empty()) return measured;
  const auto count = static_cast<double>(makespans_.size());
  for (double& sum : seconds_) sum /= count;
  measured.seconds = std::move(seconds_);
  measured.stalled = Seconds(median(stalled_));
  measured.fetching = Seconds(median(fetching_));
  measured.step = Seconds(median(makespans_));
  measured.p95_step = Seconds(quantile(makespans_, kHighQuantile));
  measured.p95_stalled = Seconds(quantile(stalled_, kHighQuantile));
  const auto [least, most] = std::minmax_element(makespans_.begin(), makespans_.end());
  measured.fastest = Seconds(*least);
  measured.slowest = Seconds(*most);
  // Every step moves the same pages.
  const double per_step = 1.0 / static_cast<double>(steps_);
  measured.transferred = {per_step * totals.reading, per_step * totals.writing,
                          Bytes(totals.read.value() / steps_), Bytes(totals.written.value() / steps_)};
  return measured;
}

}  // namespace poet::runtime
