// Decides stage by stage. A value is dropped only if it can be had again whenever it may still be needed:
// from storage, or from an op that may be recomputed for long enough.

#include <algorithm>
#include <vector>

#include "poet/base/error.h"
#include "poet/graph/dataflow.h"
#include "tests/support/random_instance.h"

namespace poet::test {
namespace {

class Improviser {
 public:
  Improviser(Rng& rng, const Instance& instance)
      : rng_(rng),
        paging_(instance.costs.has_storage),
        flow_(dataflow(instance.graph)),
        needed_until_(instance.graph.values.size(), -1),
        stored_from_(instance.graph.values.size(), kNever),
        within_reach_(instance.graph.values.size(), 0),
        retained_(instance.graph.values.size(), 0),
        computed_(instance.graph.ops.size(), 0) {
    schedule_.stages.resize(instance.graph.ops.size());
    for (const ValueId v : flow_.transients) {
      for (const OpId user : flow_.users[v]) {
        needed_until_[v] = std::max(needed_until_[v], flow_.last_recompute[user].index);
      }
    }
    keep_ = pick(rng, 0, 100) / 100.0;
    recompute_ = pick(rng, 0, 30) / 100.0;
    page_ = paging_ ? pick(rng, 0, 40) / 100.0 : 0;
    prefer_paging_ = pick(rng, 0, 100) / 100.0;
  }

  Schedule run() {
    for (int t = 0; t < static_cast<int>(schedule_.stages.size()); ++t) decide(t);
    return std::move(schedule_);
  }

 private:
  static constexpr int kNever = 1 << 30;

  void decide(int t) {
    Stage& stage = at(t);
    if (t > 0) choose_retained(t);
    compute_with_needs(OpId(t), t);
    if (t > 0 && chance(rng_, recompute_)) {
      const OpId again(pick(rng_, 0, t - 1));
      if (t <= flow_.last_recompute[again].index && computed_[again] == 0) compute_with_needs(again, t);
    }
    for (const OpId op : ids<OpId>(static_cast<std::size_t>(t) + 1)) {
      if (computed_[op] != 0) stage.compute.push_back(op);
      computed_[op] = 0;
    }
    for (const ValueId v : flow_.transients) {
      if (retained_[v] != 0) stage.retain.push_back(v);
    }
    for (const ValueId v : stage.retain) {
      if (t > needed_until_[v] || !chance(rng_, stored_from_[v] == kNever ? page_ : page_ / 10)) continue;
      stage.page_out.push_back(v);
      stored_from_[v] = std::min(stored_from_[v], t + 1);
    }
    if (t > 0) std::sort(at(t - 1).page_in.begin(), at(t - 1).page_in.end());
    std::swap(within_reach_, retained_);  // what is in RAM when this stage ends
    for (const OpId op : stage.compute) {
      for (const ValueId v : flow_.writes[op]) within_reach_[v] = 1;
    }
  }

  // From what the stage before leaves in RAM or may page in.
  void choose_retained(int t) {
    for (const ValueId v : flow_.transients) {
      const bool dead = t > needed_until_[v];
      if (within_reach_[v] != 0) {
        const bool may_drop =
            dead || stored_from_[v] <= t || flow_.last_recompute[flow_.producer[v]].index >= needed_until_[v];
        retained_[v] = may_drop && !chance(rng_, dead ? 0.05 : keep_) ? 0 : 1;
      } else {
        retained_[v] = 0;
        if (!dead && can_page_in(v, t) && chance(rng_, 0.1)) page_in(v, t);
      }
    }
  }

  [[nodiscard]] bool can_page_in(ValueId v, int t) const {
    return within_reach_[v] == 0 && stored_from_[v] <= t - 1;
  }
  void page_in(ValueId v, int t) {
    at(t - 1).page_in.push_back(v);
    retained_[v] = 1;
  }

  void compute_with_needs(OpId op, int t) {
    computed_[op] = 1;
    for (const ValueId v : flow_.reads[op]) {
      const OpId producer = flow_.producer[v];
      if (retained_[v] != 0 || computed_[producer] != 0) continue;
      const bool may_recompute = t <= flow_.last_recompute[producer].index;
      if (within_reach_[v] != 0 && (!may_recompute || chance(rng_, 0.5))) {
        retained_[v] = 1;
      } else if (can_page_in(v, t) && (!may_recompute || chance(rng_, prefer_paging_))) {
        page_in(v, t);
      } else {
        ensure(may_recompute, "what may still be needed can be had again");
        compute_with_needs(producer, t);
      }
    }
  }

  Stage& at(int t) { return schedule_.stages[static_cast<std::size_t>(t)]; }

  Rng& rng_;
  const bool paging_;
  const Dataflow flow_;
  IdVector<ValueId, int> needed_until_;   // last stage that may read it
  IdVector<ValueId, int> stored_from_;    // first stage that finds it on storage
  IdVector<ValueId, char> within_reach_;  // 1: the stage decided about may retain it
  IdVector<ValueId, char> retained_;      // 1: it does
  IdVector<OpId, char> computed_;         // 1: in this stage
  double keep_ = 0, recompute_ = 0, page_ = 0, prefer_paging_ = 0;
  Schedule schedule_;
};

}  // namespace

Schedule random_schedule(Rng& rng, const Instance& instance) { return Improviser(rng, instance).run(); }

}  // namespace poet::test
