// Exact RAM, time and energy of a candidate: the optimiser's own reading of the semantics. The referee has
// another.

#include <algorithm>

#include "poet/optimize/candidate.h"

namespace poet {
namespace {

// Device timeline: one compute engine, one FIFO channel (docs/formulation.md, section 1).
class Clock {
 public:
  explicit Clock(const Problem& problem)
      : p_(problem),
        arrival_(static_cast<std::size_t>(p_.values), 0.0),
        moving_until_(static_cast<std::size_t>(p_.values), 0.0) {}

  void page_out(int v) { move(v, p_.out_seconds[static_cast<std::size_t>(v)]); }
  void page_in(int v) {
    arrival_[static_cast<std::size_t>(v)] = move(v, p_.in_seconds[static_cast<std::size_t>(v)]);
  }

  // RAM that a transfer still needs is not given back, nor written again, before the transfer ends.
  void release(int v) { compute_ = std::max(compute_, moving_until_[static_cast<std::size_t>(v)]); }

  void run(int op) {
    const auto i = static_cast<std::size_t>(op);
    for (int v : p_.reads[i]) compute_ = std::max(compute_, arrival_[static_cast<std::size_t>(v)]);
    for (int v : p_.writes[i]) release(v);
    compute_ += p_.seconds[i];
  }

  [[nodiscard]] double makespan() const { return std::max(compute_, channel_); }
  [[nodiscard]] int bursts() const { return bursts_; }

 private:
  double move(int v, double seconds) {
    double start = std::max(channel_, compute_);
    if (start > channel_) {
      ++bursts_;
      start += p_.wake_seconds;
    }
    channel_ = start + seconds;
    if (!p_.concurrent) compute_ = std::max(compute_, channel_);
    return moving_until_[static_cast<std::size_t>(v)] = channel_;
  }

  const Problem& p_;
  double compute_ = 0;
  double channel_ = -1;  // asleep
  int bursts_ = 0;
  std::vector<double> arrival_;       // when a page-in ends
  std::vector<double> moving_until_;  // when the value's last transfer ends
};

class Meter {
 public:
  Meter(const Problem& problem, const Candidate& candidate)
      : p_(problem),
        c_(candidate),
        clock_(problem),
        live_mark_(static_cast<std::size_t>(p_.values), 0),
        kept_mark_(static_cast<std::size_t>(p_.values), 0),
        uses_left_(static_cast<std::size_t>(p_.values), 0) {}

  [[nodiscard]] const Clock& clock() const { return clock_; }

  // Replays stage t; its peak bytes.
  std::int64_t stage(int t) {
    const auto stage = static_cast<std::size_t>(t);
    now_ = t + 1;
    ram_ = 0;
    std::vector<int> ops = c_.decisions.recompute[stage];
    ops.push_back(t);
    for (int v : c_.retain[stage]) bring(v);
    if (t + 1 < p_.ops)
      for (int v : c_.retain[stage + 1]) kept_mark_[static_cast<std::size_t>(v)] = now_;
    if (p_.transfers_take_ram())
      start_transfers(stage);
    else
      leave_arrivals_to_next_stage(stage, ops);
    std::int64_t peak = ram_;
    for (int op : ops)
      for (int v : p_.reads[static_cast<std::size_t>(op)]) ++uses_left_[static_cast<std::size_t>(v)];
    for (int v : c_.retain[stage]) release_if_done(v);
    for (int op : ops) {
      const auto i = static_cast<std::size_t>(op);
      clock_.run(op);
      for (int v : p_.writes[i]) bring(v);
      peak = std::max(peak, ram_ + p_.workspace[i]);
      for (int v : p_.reads[i]) {
        --uses_left_[static_cast<std::size_t>(v)];
        release_if_done(v);
      }
      for (int v : p_.writes[i]) release_if_done(v);
    }
    for (int v : c_.decisions.page_out[stage])  // held for the transfer only
      if (!retained_next(stage, v)) clock_.release(v);
    return peak;
  }

 private:
  [[nodiscard]] bool is_live(int v) const { return live_mark_[static_cast<std::size_t>(v)] == now_; }

  [[nodiscard]] bool retained_next(std::size_t stage, int v) const {
    return stage + 1 < c_.retain.size() &&
           std::binary_search(c_.retain[stage + 1].begin(), c_.retain[stage + 1].end(), v);
  }

  void bring(int v) {
    if (is_live(v)) return;
    live_mark_[static_cast<std::size_t>(v)] = now_;
    ram_ += p_.bytes[static_cast<std::size_t>(v)];
  }

  void release_if_done(int v) {
    const auto i = static_cast<std::size_t>(v);
    if (!is_live(v) || kept_mark_[i] == now_ || uses_left_[i] > 0) return;
    live_mark_[i] = 0;
    ram_ -= p_.bytes[i];
    clock_.release(v);
  }

  // What arrives has its RAM reserved, what leaves keeps it, during the whole stage.
  void start_transfers(std::size_t stage) {
    for (int v : c_.decisions.page_out[stage]) {
      kept_mark_[static_cast<std::size_t>(v)] = now_;
      clock_.page_out(v);
    }
    for (int v : c_.decisions.page_in[stage]) {
      kept_mark_[static_cast<std::size_t>(v)] = now_;
      bring(v);
      clock_.page_in(v);
    }
  }

  void leave_arrivals_to_next_stage(std::size_t stage, const std::vector<int>& ops) {
    for (int v : c_.decisions.page_in[stage]) {
      const auto& retain = c_.retain[stage];
      const bool elsewhere =
          std::binary_search(retain.begin(), retain.end(), v) ||
          std::binary_search(ops.begin(), ops.end(), p_.producer[static_cast<std::size_t>(v)]);
      if (!elsewhere) kept_mark_[static_cast<std::size_t>(v)] = 0;
    }
  }

  const Problem& p_;
  const Candidate& c_;
  Clock clock_;
  int now_ = 0;  // stage + 1: marks of other stages do not count
  std::int64_t ram_ = 0;
  std::vector<int> live_mark_;  // value -> in RAM or reserved
  std::vector<int> kept_mark_;  // value -> not released in this stage
  std::vector<int> uses_left_;  // value -> reads still to come in this stage
};

}  // namespace

void measure(const Problem& p, Candidate& c) {
  Meter meter(p, c);
  c.stage_peak.assign(static_cast<std::size_t>(p.ops), 0);
  c.peak = 0;
  c.joules = 0;
  c.seconds = p.baseline_seconds;
  c.bytes_written = 0;
  for (int t = 0; t < p.ops; ++t) {
    const auto stage = static_cast<std::size_t>(t);
    c.stage_peak[stage] = meter.stage(t);
    c.peak = std::max(c.peak, c.stage_peak[stage]);
    c.joules += p.joules[stage];
    for (int op : c.decisions.recompute[stage]) {
      c.joules += p.joules[static_cast<std::size_t>(op)];
      c.seconds += p.seconds[static_cast<std::size_t>(op)];
    }
    for (int v : c.decisions.page_in[stage]) c.joules += p.in_joules[static_cast<std::size_t>(v)];
    for (int v : c.decisions.page_out[stage]) {
      c.joules += p.out_joules[static_cast<std::size_t>(v)];
      c.bytes_written += p.bytes[static_cast<std::size_t>(v)];
    }
  }
  if (p.transfers_take_time()) {
    c.seconds = meter.clock().makespan();
    c.joules += p.idle_watts * c.seconds + p.wake_joules * meter.clock().bursts();
  }
}

}  // namespace poet
