// One stage of the incremental replay.

#include <algorithm>

#include "poet/optimize/incremental.h"

namespace poet {

// Steps 1 to 4 of the RAM rules (docs/formulation.md, section 1) for all but what stays throughout.
std::int64_t IncrementalReplay::local_peak(int t) const {
  enum : char { kAway, kHere, kHeld, kThroughout };
  const bool transfers_take_ram = p_.transfers_take_ram();
  std::int64_t ram = 0;
  const auto& ops = recompute_[at(t)];
  // What is in RAM at the start; live_ is kAway between calls.
  const auto prepare = [&](int v) {
    if (live_[at(v)] != kAway) return;
    const Status s = status(kept_[at(v)], t);
    if (s.now && s.next) {
      live_[at(v)] = kThroughout;
    } else if (s.now) {
      live_[at(v)] = kHere;
      ram += p_.bytes[at(v)];
    }
  };
  const auto for_each_op = [&](const auto& visit) {
    for (int op : ops) visit(op);
    visit(t);
  };
  const auto next_keeps = [&](int v) { return status(kept_[at(v)], t).next; };
  for (int v : outs_at_[at(t)]) {
    prepare(v);
    if (transfers_take_ram && live_[at(v)] == kHere) live_[at(v)] = kHeld;
  }
  if (transfers_take_ram)
    for (int v : ins_at_[at(t)]) {
      live_[at(v)] = kHeld;
      ram += p_.bytes[at(v)];
    }
  for_each_op([&](int op) {
    for (int v : p_.reads[at(op)]) {
      prepare(v);
      ++uses_left_[at(v)];
    }
  });
  for_each_op([&](int op) {
    for (int v : p_.writes[at(op)]) prepare(v);
  });
  std::int64_t peak = ram;
  const auto release_if_done = [&](int v) {
    if (live_[at(v)] != kHere || uses_left_[at(v)] > 0) return;
    live_[at(v)] = kAway;
    ram -= p_.bytes[at(v)];
  };
  for (int v : outs_at_[at(t)]) release_if_done(v);
  for_each_op([&](int op) {
    for (int v : p_.writes[at(op)])
      if (live_[at(v)] == kAway) {
        live_[at(v)] = next_keeps(v) ? kHeld : kHere;
        ram += p_.bytes[at(v)];
      }
    peak = std::max(peak, ram + p_.workspace[at(op)]);
    for (int v : p_.reads[at(op)]) {
      --uses_left_[at(v)];
      release_if_done(v);
    }
    for (int v : p_.writes[at(op)]) release_if_done(v);
  });
  const auto forget = [&](int v) { live_[at(v)] = kAway; };
  for_each_op([&](int op) {
    for (int v : p_.reads[at(op)]) forget(v);
    for (int v : p_.writes[at(op)]) forget(v);
  });
  for (int v : outs_at_[at(t)]) forget(v);
  for (int v : ins_at_[at(t)]) forget(v);
  return peak;
}

}  // namespace poet
