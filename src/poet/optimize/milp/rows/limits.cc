// In published and staged semantics the deadline limits compute only: sum R[t,i] seconds_i <= deadline.
// In device semantics deadline and idle energy act on the makespan M. Relaxed timing:
//
//   M >= compute,  M >= channel        or, when the channel blocks, M >= compute + channel
//
// Conservative timing, with a duration d_t per stage (the sum of both if the channel blocks):
//
//   M = sum_t d_t,  d_t >= compute in t,  d_t >= transfers in t
//
// Wear: sum Stored[v] bytes_v <= the limit on bytes written.
// Times are divided by the baseline's, so that coefficients are near one.

#include <algorithm>
#include <cmath>

#include "poet/optimize/milp/rows/rows.h"

namespace poet::rows {
namespace {

double seconds_of(const std::vector<double>& seconds, int i) { return seconds[static_cast<std::size_t>(i)]; }

struct StageTimes {
  std::vector<Linear> compute, channel;
};

StageTimes stage_times(const Problem& p, const Variables& vars, double unit) {
  StageTimes times;
  times.compute.resize(static_cast<std::size_t>(p.ops));
  times.channel.resize(static_cast<std::size_t>(p.ops));
  for (int op = 0; op < p.ops; ++op) {
    times.compute[static_cast<std::size_t>(op)].add(seconds_of(p.seconds, op) / unit, Term::fixed(1));
    for (const auto& [t, column] : vars.recomputes(op))
      times.compute[static_cast<std::size_t>(t)].add(seconds_of(p.seconds, op) / unit, Term::of(column));
  }
  for (int v = 0; v < p.values; ++v) {
    for (const auto& [t, column] : vars.page_ins(v))
      times.channel[static_cast<std::size_t>(t)].add(seconds_of(p.in_seconds, v) / unit, Term::of(column));
    for (const auto& [t, column] : vars.page_outs(v))
      times.channel[static_cast<std::size_t>(t)].add(seconds_of(p.out_seconds, v) / unit, Term::of(column));
    if (vars.page_outs(v).empty() && !vars.page_ins(v).empty())  // open stage: any serves for the total
      times.channel.front().add(vars.stored(v), seconds_of(p.out_seconds, v) / unit);
  }
  return times;
}

}  // namespace

void limits(Model& model, const Problem& p, const Variables& vars, TransferTiming timing, double scale) {
  if (p.max_bytes_written < std::numeric_limits<std::int64_t>::max()) {
    const double unit = static_cast<double>(std::max<std::int64_t>(p.max_bytes_written, 1));
    Linear written;
    for (int v = 0; v < p.values; ++v)
      if (!vars.page_ins(v).empty())
        written.add(vars.stored(v), static_cast<double>(p.bytes[static_cast<std::size_t>(v)]) / unit);
    model.at_most(written, static_cast<double>(p.max_bytes_written) / unit);
  }
  if (std::isinf(p.deadline) && p.idle_watts == 0) return;
  const double unit = p.baseline_seconds > 0 ? p.baseline_seconds : 1;
  const StageTimes times = stage_times(p, vars, unit);
  Linear compute, channel;
  for (const Linear& stage : times.compute) compute.add(stage, 1);
  for (const Linear& stage : times.channel) channel.add(stage, 1);
  if (!p.transfers_take_time()) {
    model.at_most(compute, p.latest() / unit);
    return;
  }
  const double baseline = p.baseline_seconds / unit;
  const Term makespan =
      Term::of(model.add_column(baseline, p.latest() / unit, scale * p.idle_watts * unit, false));
  model.cost_constant -= scale * p.idle_watts * unit * baseline;  // the objective is relative to the baseline
  if (timing == TransferTiming::relaxed) {
    Linear busy;
    busy.add(compute, 1).add(-1, makespan);
    if (!p.concurrent) busy.add(channel, 1);
    model.at_most(busy, 0);
    Linear transfers;
    if (p.concurrent) model.at_most(transfers.add(channel, 1).add(-1, makespan), 0);
    return;
  }
  Linear total;
  for (std::size_t t = 0; t < times.compute.size(); ++t) {
    if (times.channel[t].terms().empty()) {
      total.add(times.compute[t], 1);
      continue;
    }
    if (!p.concurrent) {
      total.add(times.compute[t], 1).add(times.channel[t], 1);
      continue;
    }
    const Term duration = Term::of(model.add_column(0, kInfinity, 0, false));
    Linear computes, transfers;
    model.at_most(computes.add(times.compute[t], 1).add(-1, duration), 0);
    model.at_most(transfers.add(times.channel[t], 1).add(-1, duration), 0);
    total.add(1, duration);
  }
  model.at_most(total.add(-1, makespan), 0);
}

}  // namespace poet::rows
