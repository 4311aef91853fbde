// Exact RAM, time and energy of a candidate, by the planner's rules for stages (plan/schedule/stage_walk.h)
// and time (plan/timing/device_clock.h). The verifier has its own implementation.

#include <algorithm>

#include "poet/base/numbers.h"
#include "poet/optimize/problem/candidate.h"
#include "poet/plan/schedule/stage_walk.h"
#include "poet/plan/timing/device_clock.h"

namespace poet {
namespace {

class Meter {
 public:
  Meter(const Problem& problem, const Candidate& candidate)
      : p_(problem),
        c_(candidate),
        clock_{p_.wake_seconds, p_.concurrent},
        retained_(at(p_.values), -1),
        retained_next_(at(p_.values), -1),
        state_(at(p_.values), InStage::away),
        uses_(at(p_.values), 0),
        arrival_(at(p_.values), 0.0),
        quiet_(at(p_.values), 0.0) {}

  [[nodiscard]] const DeviceClock& clock() const { return clock_; }

  // Returns the peak bytes of stage t. Must be called in order of stages.
  std::int64_t stage(int t) {
    t_ = t;
    ram_ = 0;
    for (int v : c_.retain[at(t)]) retained_[at(v)] = t;
    if (t + 1 < p_.ops)
      for (int v : c_.retain[at(t + 1)]) {
        retained_next_[at(v)] = t;
        if (retained_[at(v)] == t) ram_ += p_.bytes[at(v)];  // throughout
      }
    peak_ = ram_;
    walk_stage(*this, *this, p_.transfers_take_ram());
    return peak_;
  }

  // The stage, as required by walk_stage().
  [[nodiscard]] const std::vector<int>& present() const { return c_.retain[at(t_)]; }
  [[nodiscard]] const std::vector<int>& page_outs() const { return c_.decisions.page_out[at(t_)]; }
  [[nodiscard]] const std::vector<int>& page_ins() const { return c_.decisions.page_in[at(t_)]; }
  [[nodiscard]] const std::vector<int>& reads(int op) const { return p_.reads[at(op)]; }
  [[nodiscard]] const std::vector<int>& writes(int op) const { return p_.writes[at(op)]; }
  void for_each_op(const auto& visit) const {
    for (int op : c_.decisions.recompute[at(t_)]) visit(op);
    visit(t_);
  }
  [[nodiscard]] Retention retention(int v) const {
    return {retained_[at(v)] == t_, retained_next_[at(v)] == t_};
  }
  InStage& state(int v) { return state_[at(v)]; }
  int& uses(int v) { return uses_[at(v)]; }
  [[nodiscard]] const std::vector<int>& overwritable(int op) const { return p_.overwritable[at(op)]; }
  [[nodiscard]] int first_result(int op) const { return p_.first_result[at(op)]; }

  // Events of the stage, called by walk_stage().
  void enters(int v) { ram_ += p_.bytes[at(v)]; }
  void page_out(int v) { quiet_[at(v)] = clock_.transfer(p_.out_seconds[at(v)]).end; }
  void page_in(int v) {
    ram_ += p_.bytes[at(v)];
    arrival_[at(v)] = quiet_[at(v)] = clock_.transfer(p_.in_seconds[at(v)]).end;
  }
  void starts() { peak_ = ram_; }
  void produces(int v) { ram_ += p_.bytes[at(v)]; }
  void overwrites(int v) {
    once_ = p_.bytes[at(v)];
    clock_.wait_until(quiet_[at(v)]);
  }
  void computes(int op) {
    peak_ = std::max(peak_, ram_ + p_.workspace[at(op)] - once_);
    once_ = 0;
    for (int v : reads(op)) clock_.wait_until(arrival_[at(v)]);
    for (int v : writes(op)) clock_.wait_until(quiet_[at(v)]);
    clock_.compute(p_.seconds[at(op)]);
  }
  void leaves(int v) {
    ram_ -= p_.bytes[at(v)];
    clock_.wait_until(quiet_[at(v)]);
  }

 private:
  const Problem& p_;
  const Candidate& c_;
  DeviceClock clock_;
  int t_ = 0;
  std::int64_t ram_ = 0;
  std::int64_t peak_ = 0;
  std::int64_t once_ = 0;           // bytes shared by operand and result of the next op
  std::vector<int> retained_;       // value -> last stage that starts with it in RAM
  std::vector<int> retained_next_;  // value -> last stage that ends with it in RAM
  std::vector<InStage> state_;
  std::vector<int> uses_;
  std::vector<double> arrival_;  // when its last page-in ends
  std::vector<double> quiet_;    // when its last transfer ends
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
    c.joules += p.idle_watts * c.seconds + p.wake_joules * meter.clock().wakes;
  }
}

}  // namespace poet
