// The device timeline of the incremental replay (docs/formulation.md, section 1). A stage without transfers
// that starts with the channel at rest cannot stall, so that only the others are looked into.

#include <algorithm>

#include "poet/optimize/incremental.h"

namespace poet {

class IncrementalReplay::Clock {
 public:
  explicit Clock(const IncrementalReplay& replay) : r_(replay), p_(replay.p_) {
    std::fill(r_.arrival_.begin(), r_.arrival_.end(), 0.0);
    std::fill(r_.moving_until_.begin(), r_.moving_until_.end(), 0.0);
  }

  // Per stage, where asked for, how long compute waits.
  Total run(std::vector<double>* waits = nullptr) {
    for (int t = 0; t < p_.ops; ++t) {
      waited_ = 0;
      stage(t);
      if (waits) waits->push_back(waited_);
    }
    const double makespan = std::max(compute_, channel_);
    return {r_.joules_ + p_.idle_watts * makespan + p_.wake_joules * bursts_, makespan};
  }

 private:
  enum : char { kAway, kLeaves, kStays };

  void stage(int t) {
    const auto& ops = r_.recompute_[at(t)];
    const auto& outs = r_.outs_at_[at(t)];
    const auto& ins = r_.ins_at_[at(t)];
    if (outs.empty() && ins.empty() && channel_ <= compute_) {
      for (int op : ops) compute_ += p_.seconds[at(op)];
      compute_ += p_.seconds[at(t)];
      return;
    }
    for (int v : outs) move(v, p_.out_seconds[at(v)]);
    for (int v : ins) r_.arrival_[at(v)] = move(v, p_.in_seconds[at(v)]);
    for (int v : outs) r_.live_[at(v)] = kStays;
    for (int v : ins) r_.live_[at(v)] = kStays;
    const auto note = [&](int v) {
      if (r_.live_[at(v)] == kAway) r_.live_[at(v)] = status(r_.kept_[at(v)], t).next ? kStays : kLeaves;
    };
    const auto for_each_op = [&](const auto& visit) {
      for (int op : ops) visit(op);
      visit(t);
    };
    for_each_op([&](int op) {
      for (int v : p_.writes[at(op)]) note(v);
      for (int v : p_.reads[at(op)]) {
        note(v);
        ++r_.uses_left_[at(v)];
      }
    });
    const auto release_if_done = [&](int v) {
      if (r_.live_[at(v)] == kLeaves && r_.uses_left_[at(v)] == 0) wait_for(v);
    };
    for_each_op([&](int op) {
      for (int v : p_.reads[at(op)]) wait_until(r_.arrival_[at(v)]);
      for (int v : p_.writes[at(op)]) wait_for(v);
      compute_ += p_.seconds[at(op)];
      for (int v : p_.reads[at(op)]) {
        --r_.uses_left_[at(v)];
        release_if_done(v);
      }
      for (int v : p_.writes[at(op)]) release_if_done(v);
    });
    for (int v : outs)
      if (!status(r_.kept_[at(v)], t).next) wait_for(v);
    const auto forget = [&](int v) { r_.live_[at(v)] = kAway; };
    for_each_op([&](int op) {
      for (int v : p_.reads[at(op)]) forget(v);
      for (int v : p_.writes[at(op)]) forget(v);
    });
    for (int v : outs) forget(v);
    for (int v : ins) forget(v);
  }

  void wait_for(int v) { wait_until(r_.moving_until_[at(v)]); }

  void wait_until(double time) {
    if (time <= compute_) return;
    waited_ += time - compute_;
    compute_ = time;
  }

  double move(int v, double seconds) {
    double start = std::max(channel_, compute_);
    if (start > channel_) {
      ++bursts_;
      start += p_.wake_seconds;
    }
    channel_ = start + seconds;
    if (!p_.concurrent) wait_until(channel_);
    return r_.moving_until_[at(v)] = channel_;
  }

  const IncrementalReplay& r_;
  const Problem& p_;
  double compute_ = 0;
  double channel_ = -1;  // asleep
  double waited_ = 0;    // in this stage
  int bursts_ = 0;
};

IncrementalReplay::Total IncrementalReplay::total() const {
  if (!p_.transfers_take_time()) return {joules_, seconds_};
  return Clock(*this).run();
}

std::vector<double> IncrementalReplay::waits() const {
  std::vector<double> waits;
  Clock(*this).run(&waits);
  return waits;
}

double IncrementalReplay::least_joules() const {
  return p_.transfers_take_time() ? joules_ + p_.idle_watts * seconds_ : joules_;
}

}  // namespace poet
