#include "poet/baselines/dtr.h"

#include <fmt/format.h>

#include <algorithm>

#include "poet/base/amounts.h"
#include "poet/base/error.h"
#include "poet/baselines/compute_order.h"
#include "poet/baselines/gives_up.h"
#include "poet/plan/overwritable.h"

namespace poet {
namespace {

class Simulation {
 public:
  Simulation(const MethodRequest& request, DtrHeuristic heuristic)
      : request_(request),
        graph_(request.instance.graph),
        costs_(request.instance.costs),
        flow_(dataflow(graph_)),
        overwritable_(overwritable_operands(request.instance)),
        budget_(transient_budget(request)),
        values_(request.instance, flow_),
        score_(heuristic, values_),
        locks_(graph_.values.size(), 0),
        released_(graph_.values.size(), 0),
        frozen_(graph_.ops.size(), 0),
        freezing_(graph_.ops.size(), 0),
        frozen_by_(graph_.ops.size()) {
    for (const OpId op : ids<OpId>(graph_.ops.size())) {
      patience_ += kThrashing * costs_.ops[op].runtime.value();
      const OpId last = flow_.last_recompute[op];
      const bool to_the_end = last.index + 1 == static_cast<std::int32_t>(graph_.ops.size());
      if (graph_.ops[op].recomputable && !to_the_end) frozen_by_[last].push_back(op);
    }
  }

  DtrRun run() {
    try {
      for (const OpId op : ids<OpId>(graph_.ops.size())) step(op);
    } catch (GivesUp& end) {
      run_.reason = std::move(end.reason);
    }
    return std::move(run_);
  }

 private:
  void step(OpId op) {
    next_ = op;
    rescue_from(op);
    obtain_and_compute(op);
    next_ = OpId(op.index + 1);
    for (const ValueId v : flow_.writes[op]) values_.accessed[v] = clock_;
    if (!graph_.ops[op].recomputable) freeze(op);
    for (const OpId older : frozen_by_[op]) freeze(older);
    if (!frozen_by_[op].empty()) freezing_ = IdVector<OpId, char>(graph_.ops.size(), 0);
    for (const ValueId v : flow_.reads[op])
      if (flow_.users[v].back() == op) release(v);
    for (const ValueId v : flow_.writes[op])
      if (flow_.users[v].empty()) release(v);
    banish_released();
  }

  void obtain_and_compute(OpId op) {
    ensure(op == next_ || !frozen_[op], "DTR lost a value that it still needs");
    const std::vector<ValueId>& operands = flow_.reads[op];
    for (const ValueId v : operands) values_.accessed[v] = clock_;
    std::vector<ValueId> missing;
    for (const ValueId v : operands) {
      if (values_.resident[v])
        lock(v);
      else
        missing.push_back(v);
    }
    for (const ValueId v : missing) {
      if (!values_.resident[v]) obtain_and_compute(flow_.producer[v]);
      lock(v);
    }
    make_room(op);
    compute(op);
    for (const ValueId v : operands) unlock(v);
  }

  void compute(OpId op) {
    run_.order.push_back(op);
    clock_ += costs_.ops[op].runtime.value();
    if (clock_ > patience_ || run_.order.size() > 1000 * graph_.ops.size())
      throw GivesUp{fmt::format("thrashes: more than {} times the computing time of the step", kThrashing)};
    if (run_.order.size() % 64 == 0) poll();
    for (const ValueId v : flow_.writes[op]) {
      if (values_.resident[v]) continue;
      if (values_.evicted(v)) score_.is_no_longer_evicted(v);
      values_.computed[v] = 1;
      values_.resident[v] = 1;
      ram_ += costs_.values[v].bytes;
      became_evictable(v);
    }
  }

  void make_room(OpId op) {
    Bytes wanted = request_.semantics == Semantics::device ? costs_.ops[op].workspace : Bytes();
    for (const ValueId v : flow_.writes[op])
      if (!values_.resident[v]) wanted += costs_.values[v].bytes;
    wanted -= written_over(op);
    while (ram_ + wanted > budget_) {
      const ValueId victim = lowest(op);
      if (!victim.valid()) throw GivesUp{too_little(op, wanted)};
      run_.evictions.push_back(victim);
      evict(victim);
    }
  }

  /// On a device: bytes of an operand that is released with the op, over which it writes its first result.
  [[nodiscard]] Bytes written_over(OpId op) const {
    if (request_.semantics != Semantics::device || op != next_ || overwritable_[op].empty()) return {};
    if (values_.resident[graph_.ops[op].outputs.front()]) return {};
    for (const ValueId v : overwritable_[op])
      if (flow_.users[v].back() == op && (!pinned(v) || (frozen_[flow_.producer[v]] && expendable(v))))
        return costs_.values[v].bytes;
    return {};
  }

  /// Of all evictable values but what `op` is about to write again; the last of equal ones, but the first
  /// that is free.
  ValueId lowest(OpId op) {
    ValueId best;
    double least = 0;
    for (const ValueId v : evictable_) {
      if (costs_.values[v].bytes == Bytes() || pinned(v) || flow_.producer[v] == op) continue;
      const double score = score_.score(v, clock_);
      if (best.valid() && score > least) continue;
      best = v;
      least = score;
      if (score == 0) break;
    }
    return best;
  }

  std::string too_little(OpId op, Bytes wanted) const {
    Bytes alone = request_.semantics == Semantics::device ? costs_.ops[op].workspace : Bytes();
    for (const ValueId v : flow_.reads[op]) alone += costs_.values[v].bytes;
    for (const ValueId v : flow_.writes[op]) alone += costs_.values[v].bytes;
    if (alone > budget_)
      return fmt::format("{} alone needs {}", graph_.ops[op].name, format_bytes(alone + costs_.persistent));
    return fmt::format("{} needs {} beside {} that cannot be evicted while it runs", graph_.ops[op].name,
                       format_bytes(wanted), format_bytes(ram_ + costs_.persistent));
  }

  // ---- allocation

  void evict(ValueId v) {
    values_.resident[v] = 0;
    ram_ -= costs_.values[v].bytes;
    evictable_.erase(std::find(evictable_.begin(), evictable_.end(), v));
    score_.was_evicted(v);
  }

  void lock(ValueId v) {
    if (locks_[v]++ == 0) evictable_.erase(std::find(evictable_.begin(), evictable_.end(), v));
  }

  void unlock(ValueId v) {
    if (--locks_[v] == 0) became_evictable(v);
  }

  void became_evictable(ValueId v) { evictable_.push_back(v); }

  [[nodiscard]] bool pinned(ValueId v) const {
    const OpId op = flow_.producer[v];
    return frozen_[op] || freezing_[op];
  }

  void release(ValueId v) {
    released_[v] = 1;
    if (values_.resident[v] && !pinned(v)) evict(v);
  }

  // ---- values that cannot be recomputed

  void freeze(OpId op) {
    frozen_[op] = 1;
    for (const ValueId v : flow_.writes[op]) settle_frozen(v);
  }

  /// `v` of a frozen op: kept, or lost with all that would have to be computed from it.
  void settle_frozen(ValueId v) {
    if (values_.resident[v] || !values_.computed[v] || values_.lost[v]) return;
    score_.is_no_longer_evicted(v);
    lose(v);
  }

  void lose(ValueId v) {
    values_.lost[v] = 1;
    for (const OpId reader : flow_.users[v])
      if (reader < next_ && !frozen_[reader]) freeze(reader);
  }

  /// Released values that can never come back go as soon as nobody evicted needs them.
  void banish_released() {
    for (bool again = true; again;) {
      again = false;
      for (const ValueId v : std::vector<ValueId>(evictable_)) {
        if (!released_[v] || !frozen_[flow_.producer[v]] || !expendable(v)) continue;
        values_.resident[v] = 0;
        ram_ -= costs_.values[v].bytes;
        evictable_.erase(std::find(evictable_.begin(), evictable_.end(), v));
        lose(v);
        again = true;
      }
    }
  }

  /// Without `v`, every value that is still to be read is resident or can be recomputed.
  [[nodiscard]] bool expendable(ValueId v) const {
    IdVector<OpId, char> beyond = frozen_;
    for (std::int32_t i = flow_.producer[v].index + 1; i < next_.index; ++i) {
      const OpId op(i);
      if (!depends_on_lost(op, beyond, v)) continue;
      beyond[op] = 1;
      for (const ValueId w : flow_.writes[op])
        if (!values_.resident[w] && !released_[w]) return false;
    }
    return true;
  }

  [[nodiscard]] bool depends_on_lost(OpId op, const IdVector<OpId, char>& beyond,
                                     ValueId gone = ValueId()) const {
    if (beyond[op]) return false;  // known already
    for (const ValueId v : flow_.reads[op])
      if ((!values_.resident[v] || v == gone) && beyond[flow_.producer[v]]) return true;
    return false;
  }

  /// `update` changes a parameter: brings back what could not be recomputed after it and is still to be read.
  void rescue_from(OpId update) {
    if (frozen_by_[update].empty()) return;
    for (const OpId op : frozen_by_[update]) freezing_[op] = 1;
    for (bool again = true; again;) {
      again = false;
      for (std::int32_t i = 0; i < update.index; ++i) {
        const OpId op(i);
        if (frozen_[op]) continue;
        if (!freezing_[op]) freezing_[op] = depends_on_lost(op, freezing_);
        if (!freezing_[op]) continue;
        for (const ValueId v : flow_.writes[op]) {
          if (values_.resident[v] || released_[v]) continue;
          obtain_and_compute(op);
          again = true;  // this may have evicted others
          break;
        }
      }
    }
  }

  void poll() {
    if (stop_.cancelled()) throw GivesUp{"interrupted"};
    if (stop_.expired()) throw GivesUp{"not finished in the time allowed"};
  }

  const MethodRequest& request_;
  const Graph& graph_;
  const CostTable& costs_;
  const Dataflow flow_;
  const IdVector<OpId, std::vector<ValueId>> overwritable_;
  const Bytes budget_;
  const Stop stop_ = stop_of(request_.options);

  DtrValues values_;
  DtrScore score_;
  std::vector<ValueId> evictable_;  // resident and not locked, in the order in which they became so
  IdVector<ValueId, int> locks_;
  IdVector<ValueId, char> released_;  // no first computation will read it any more
  IdVector<OpId, char> frozen_;       // cannot be recomputed any more
  IdVector<OpId, char> freezing_;     // will not be once the next update has run
  IdVector<OpId, std::vector<OpId>> frozen_by_;
  Bytes ram_{};
  double clock_ = 0;
  double patience_ = 0;  // seconds
  OpId next_{0};         // the op to be computed first next
  DtrRun run_;
};

MethodAnswer one_plan(const MethodRequest& request, DtrHeuristic heuristic) {
  DtrRun run = run_dtr(request, heuristic);
  MethodAnswer answer;
  answer.reason = std::move(run.reason);
  if (answer.reason.empty()) answer.plans.push_back(plan_of_order(request, run.order));
  return answer;
}

}  // namespace

DtrRun run_dtr(const MethodRequest& request, DtrHeuristic heuristic) {
  return Simulation(request, heuristic).run();
}

MethodAnswer dtr(const MethodRequest& request) { return one_plan(request, DtrHeuristic::full); }
MethodAnswer dtr_components(const MethodRequest& request) {
  return one_plan(request, DtrHeuristic::components);
}
MethodAnswer dtr_local(const MethodRequest& request) { return one_plan(request, DtrHeuristic::local); }

}  // namespace poet
