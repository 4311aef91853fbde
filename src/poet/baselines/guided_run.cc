#include "poet/baselines/guided_run.h"

#include <fmt/format.h>

#include <algorithm>

#include "poet/base/amounts.h"
#include "poet/base/error.h"
#include "poet/baselines/gives_up.h"
#include "poet/plan/canonical.h"
#include "poet/plan/machine.h"
#include "poet/plan/overwritable.h"

namespace poet {
namespace {

class Run {
 public:
  Run(const MethodRequest& request, const Dataflow& flow, const AccessLog& log,
      const std::vector<Eviction>& policy)
      : request_(request),
        graph_(request.instance.graph),
        costs_(request.instance.costs),
        flow_(flow),
        log_(log),
        budget_(transient_budget(request)),
        policy_(policy),
        overwritable_(overwritable_operands(request.instance)),
        eviction_of_(graph_.values.size(), nullptr),
        evicted_after_(graph_.ops.size()),
        values_(graph_.values.size()),
        machine_(request.instance, flow, request.semantics) {
    for (const Eviction& eviction : policy_) {
      eviction_of_[eviction.value] = &eviction;
      evicted_after_[eviction.evicted_access].push_back(&eviction);
      if (eviction.swap) prefetches_.push_back(&eviction);
    }
    std::stable_sort(prefetches_.begin(), prefetches_.end(),
                     [](const Eviction* a, const Eviction* b) { return a->back_access < b->back_access; });
    for (const OpCost& op : costs_.ops) patience_ += kThrashing * op.runtime.value();
  }

  GuidedRun run() {
    try {
      for (const OpId op : ids<OpId>(graph_.ops.size())) step(op);
      run_.plan = canonicalize(request_.instance, run_.plan, request_.semantics);
    } catch (GivesUp& end) {
      run_.reason = std::move(end.reason);
      run_.plan.steps.clear();
    }
    return std::move(run_);
  }

 private:
  struct Held {
    bool leaving = false;  // its RAM is to be given back once it has left
    bool stored = false;
    bool ahead = false;  // prefetched and not accessed yet
    int locks = 0;       // by ops that are about to run
    std::int64_t accessed = 0;
  };

  void step(OpId op) {
    if (request_.options.interrupted && op.index % 64 == 0 && request_.options.interrupted())
      throw GivesUp{"interrupted"};
    next_ = op;
    obtain_and_compute(op);
    next_ = OpId(op.index + 1);
    for (const ValueId v : in_ram_now())
      if (dead(v)) give_up(v);
    for (const Eviction* eviction : evicted_after_[op]) evict(*eviction);
    collect_ended();
    prefetch(op);
  }

  // ---- computing

  void obtain_and_compute(OpId op) {
    ensure(op == next_ || (graph_.ops[op].recomputable && next_ <= flow_.last_recompute[op]),
           "the policy drops only what can be recomputed");
    const std::vector<ValueId>& operands = flow_.reads[op];
    std::vector<ValueId> missing;
    for (const ValueId v : operands) {
      if (machine_.in_ram(v))
        lock(v);
      else
        missing.push_back(v);
    }
    for (const ValueId v : missing) {
      if (!machine_.in_ram(v)) {
        if (values_[v].stored)
          page_in(v);
        else
          obtain_and_compute(flow_.producer[v]);
      }
      lock(v);
    }
    for (const ValueId v : operands) {
      if (machine_.arriving(v)) {
        if (values_[v].ahead && now() < machine_.quiet_at(v)) run_.late.push_back(v);
        wait(v);
      }
      values_[v].ahead = false;
    }
    for (const ValueId v : flow_.writes[op])
      if (machine_.moving(v)) wait(v);
    make_room(room_for(op), op);
    compute(op);
    for (const ValueId v : operands) --values_[v].locks;
  }

  void compute(OpId op) {
    for (const ValueId v : flow_.writes[op])
      if (!machine_.in_ram(v)) in_ram_.insert(std::lower_bound(in_ram_.begin(), in_ram_.end(), v), v);
    take({StepKind::compute, op, ValueId()});
    computed_ += costs_.ops[op].runtime.value();
    if (computed_ > patience_ || run_.plan.steps.size() > 1000 * graph_.ops.size())
      throw GivesUp{fmt::format("thrashes: more than {} times the computing time of the step", kThrashing)};
    for (const ValueId v : flow_.writes[op]) {
      values_[v].leaving = false;
      values_[v].accessed = ++accesses_;
    }
  }

  void lock(ValueId v) {
    Held& value = values_[v];
    ++value.locks;
    value.leaving = false;
    value.accessed = ++accesses_;
  }

  [[nodiscard]] Bytes room_for(OpId op) const {
    Bytes wanted = request_.semantics == Semantics::device ? costs_.ops[op].workspace : Bytes();
    for (const ValueId v : flow_.writes[op])
      if (!machine_.in_ram(v)) wanted += costs_.values[v].bytes;
    return wanted - written_over(op);
  }

  /// On a device: bytes of an operand that dies with the op, over which it writes its first result.
  [[nodiscard]] Bytes written_over(OpId op) const {
    if (request_.semantics != Semantics::device || op != next_ || overwritable_[op].empty()) return {};
    if (machine_.in_ram(graph_.ops[op].outputs.front())) return {};
    for (const ValueId v : overwritable_[op])
      if (flow_.users[v].back() == op && !machine_.moving(v)) return costs_.values[v].bytes;
    return {};
  }

  // ---- RAM

  void make_room(Bytes wanted, OpId op = OpId()) {
    while (machine_.ram() + wanted > budget_) {
      if (drop_dead(op) || finish_page_out() || put_out_again(op) || swap_out_oldest(op)) continue;
      throw GivesUp{too_little(wanted, op)};
    }
  }

  /// Operands of recomputations, and results that came along, once nobody will read them.
  bool drop_dead(OpId op) {
    for (const ValueId v : in_ram_now())
      if (idle(v, op) && dead(v) && !machine_.moving(v)) {
        give_up(v);
        return true;
      }
    return false;
  }

  bool finish_page_out() {
    for (const Machine::UnderWay& transfer : machine_.under_way())
      if (values_[transfer.value].leaving) {
        wait(transfer.value);
        return true;
      }
    return false;
  }

  bool put_out_again(OpId op) {
    for (const ValueId v : in_ram_now()) {
      const Eviction* eviction = eviction_of_[v];
      if (eviction == nullptr || !idle(v, op) || machine_.moving(v) || values_[v].ahead) continue;
      if (next_ <= eviction->evicted_access || eviction->back_access <= next_) continue;
      if (eviction->swap && !values_[v].stored) continue;
      give_up(v);
      return true;
    }
    return false;
  }

  bool swap_out_oldest(OpId op) {
    ValueId oldest;
    const auto rank = [&](ValueId v) { return std::pair(values_[v].ahead, values_[v].accessed); };
    for (const ValueId v : in_ram_now())
      if (idle(v, op) && (!oldest.valid() || rank(v) < rank(oldest))) oldest = v;
    if (!oldest.valid()) return false;
    Held& value = values_[oldest];
    if (machine_.moving(oldest)) wait(oldest);
    value.ahead = false;
    value.leaving = true;
    if (value.stored)
      give_up(oldest);
    else
      page_out(oldest);
    if (machine_.in_ram(oldest)) wait(oldest);
    return true;
  }

  [[nodiscard]] bool idle(ValueId v, OpId op) const {
    return values_[v].locks == 0 && costs_.values[v].bytes > Bytes() && flow_.producer[v] != op;
  }

  [[nodiscard]] bool dead(ValueId v) const { return flow_.users[v].empty() || flow_.users[v].back() < next_; }

  std::string too_little(Bytes wanted, OpId op) const {
    const std::string who = op.valid() ? graph_.ops[op].name : "a page-in for " + graph_.ops[next_].name;
    return fmt::format("{} needs {} beside {} that cannot leave at that time", who, format_bytes(wanted),
                       format_bytes(machine_.ram() + costs_.persistent));
  }

  /// At once, or when the channel has let go of it.
  void give_up(ValueId v) {
    values_[v].leaving = true;
    if (machine_.moving(v)) return;
    values_[v].leaving = false;
    values_[v].ahead = false;
    machine_.take({StepKind::free, OpId(), v});  // canonicalize() puts it into the plan
    in_ram_.erase(std::lower_bound(in_ram_.begin(), in_ram_.end(), v));
  }

  [[nodiscard]] std::vector<ValueId> in_ram_now() const { return in_ram_; }

  // ---- the policy's moments

  void evict(const Eviction& eviction) {
    if (!machine_.in_ram(eviction.value) || dead(eviction.value)) return;
    if (!eviction.swap || values_[eviction.value].stored)
      give_up(eviction.value);
    else
      page_out(eviction.value);
  }

  // At the last boundary that is not after fetch_start in the log, or a later one.
  void prefetch(OpId op) {
    if (!graph_.ops.contains(next_)) return;
    std::vector<const Eviction*> open;
    for (const Eviction* swap : prefetches_) {
      if (swap->back_access <= op) continue;  // came back, on demand at the latest
      const ValueId v = swap->value;
      const bool due = swap->evicted_access <= op && swap->fetch_start < log_.end[next_];
      const bool fits = machine_.ram() + costs_.values[v].bytes <= budget_;
      if (due && !machine_.in_ram(v) && values_[v].stored && fits) {
        page_in(v);
        values_[v].ahead = true;
        continue;
      }
      open.push_back(swap);
    }
    prefetches_ = std::move(open);
  }

  // ---- the channel

  void page_in(ValueId v) {
    make_room(costs_.values[v].bytes);
    in_ram_.insert(std::lower_bound(in_ram_.begin(), in_ram_.end(), v), v);
    take({StepKind::page_in, OpId(), v});
  }

  void page_out(ValueId v) {
    values_[v].leaving = true;
    values_[v].stored = true;
    take({StepKind::page_out, OpId(), v});
  }

  void wait(ValueId v) { take({StepKind::wait, OpId(), v}); }

  void take(const Step& step) {
    run_.plan.steps.push_back(step);
    const std::vector<ValueId> quiet = machine_.take(step);
    for (const ValueId v : quiet)
      if (values_[v].leaving) give_up(v);
  }

  /// Gives back the RAM of page-outs that have ended by now.
  void collect_ended() {
    ValueId last;
    for (const Machine::UnderWay& transfer : machine_.under_way()) {
      if (transfer.end > now()) break;
      if (values_[transfer.value].leaving) last = transfer.value;
    }
    if (last.valid()) wait(last);
  }

  [[nodiscard]] double now() const { return machine_.clock().now; }

  const MethodRequest& request_;
  const Graph& graph_;
  const CostTable& costs_;
  const Dataflow& flow_;
  const AccessLog& log_;
  const Bytes budget_;
  const std::vector<Eviction>& policy_;
  const IdVector<OpId, std::vector<ValueId>> overwritable_;
  IdVector<ValueId, const Eviction*> eviction_of_;
  IdVector<OpId, std::vector<const Eviction*>> evicted_after_;
  std::vector<const Eviction*> prefetches_;  // not started yet, by back access

  IdVector<ValueId, Held> values_;
  Machine machine_;
  std::vector<ValueId> in_ram_;  // sorted
  double computed_ = 0;
  double patience_ = 0;
  std::int64_t accesses_ = 0;
  OpId next_{0};  // the op to be computed first next
  GuidedRun run_;
};

}  // namespace

GuidedRun guided_run(const MethodRequest& request, const Dataflow& flow, const AccessLog& log,
                     const std::vector<Eviction>& policy) {
  return Run(request, flow, log, policy).run();
}

}  // namespace poet
