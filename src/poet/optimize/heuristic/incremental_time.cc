// The device timeline of the incremental replay (docs/formulation.md, section 1). A stage without transfers
// that starts with an idle channel cannot stall, so only the other stages are walked.

#include <algorithm>

#include "poet/optimize/heuristic/incremental_walk.h"
#include "poet/plan/timing/device_clock.h"

namespace poet {

class IncrementalReplay::Timing {
 public:
  explicit Timing(const IncrementalReplay& replay)
      : r_(replay), p_(replay.p_), clock_{p_.wake_seconds, p_.concurrent} {
    std::fill(r_.arrival_.begin(), r_.arrival_.end(), 0.0);
    std::fill(r_.quiet_.begin(), r_.quiet_.end(), 0.0);
  }

  // Returns energy and makespan; appends the stall of each stage to `waits` if given.
  Total run(std::vector<double>* waits = nullptr) {
    for (int t = 0; t < p_.ops; ++t) {
      clock_.stalled = 0;
      stage(t);
      if (waits) waits->push_back(clock_.stalled);
    }
    const double makespan = clock_.makespan();
    return {r_.joules_ + p_.idle_watts * makespan + p_.wake_joules * clock_.wakes, makespan};
  }

  // Events of a stage, called by walk_stage().
  void enters(int) {}
  void page_out(int v) { r_.quiet_[at(v)] = clock_.transfer(p_.out_seconds[at(v)]).end; }
  void page_in(int v) { r_.arrival_[at(v)] = r_.quiet_[at(v)] = clock_.transfer(p_.in_seconds[at(v)]).end; }
  void starts() {}
  void produces(int) {}
  void overwrites(int v) { leaves(v); }
  void computes(int op) {
    for (int v : p_.reads[at(op)]) clock_.wait_until(r_.arrival_[at(v)]);
    for (int v : p_.writes[at(op)]) leaves(v);
    clock_.compute(p_.seconds[at(op)]);
  }
  void leaves(int v) { clock_.wait_until(r_.quiet_[at(v)]); }

 private:
  void stage(int t) {
    if (r_.outs_at_[at(t)].empty() && r_.ins_at_[at(t)].empty() && clock_.channel <= clock_.now) {
      for (int op : r_.recompute_[at(t)]) clock_.compute(p_.seconds[at(op)]);
      clock_.compute(p_.seconds[at(t)]);
      return;
    }
    WalkedStage walked(r_, t);
    walk_stage(walked, *this, true);
  }

  const IncrementalReplay& r_;
  const Problem& p_;
  DeviceClock clock_;
};

IncrementalReplay::Total IncrementalReplay::total() const {
  if (!p_.transfers_take_time()) return {joules_, seconds_};
  return Timing(*this).run();
}

std::vector<double> IncrementalReplay::waits() const {
  std::vector<double> waits;
  Timing(*this).run(&waits);
  return waits;
}

double IncrementalReplay::least_joules() const {
  return p_.transfers_take_time() ? joules_ + p_.idle_watts * seconds_ : joules_;
}

}  // namespace poet
