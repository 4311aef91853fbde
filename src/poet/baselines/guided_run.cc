#include "poet/baselines/guided_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>

#include "poet/base/amounts.h"
#include "poet/base/error.h"
#include "poet/plan/channel.h"
#include "poet/plan/settle.h"

namespace poet {
namespace {

constexpr double kThrashing = 50;  // times the step without recomputation

struct GivesUp {
  std::string reason;
};

class Run {
 public:
  Run(const MethodRequest& request, const Dataflow& flow, const AccessLog& log,
      const std::vector<Eviction>& policy)
      : request_(request),
        graph_(request.instance.graph),
        costs_(request.instance.costs),
        flow_(flow),
        log_(log),
        beside_(has_waits(request.instance, request.semantics)),
        budget_(transient_budget(request)),
        policy_(policy),
        eviction_of_(graph_.values.size(), nullptr),
        evicted_after_(graph_.ops.size()),
        values_(graph_.values.size()) {
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
      run_.plan = settle(request_.instance, run_.plan, request_.semantics);
    } catch (GivesUp& end) {
      run_.reason = std::move(end.reason);
      run_.plan.steps.clear();
    }
    return std::move(run_);
  }

 private:
  struct Held {
    bool in_ram = false;
    bool leaving = false;   // its RAM is to be given back once it has left
    bool arriving = false;  // not known to be complete
    bool stored = false;
    bool ahead = false;  // prefetched and not accessed yet
    int locks = 0;       // by ops that are about to run
    int moves = 0;       // transfers not known to have ended
    double moved = 0;    // when the last of them ends
    std::int64_t accessed = 0;
  };
  struct Move {
    ValueId value;
    bool in;
    double end;
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
      if (values_[v].in_ram)
        lock(v);
      else
        missing.push_back(v);
    }
    for (const ValueId v : missing) {
      if (!values_[v].in_ram) {
        if (values_[v].stored)
          page_in(v);
        else
          obtain_and_compute(flow_.producer[v]);
      }
      lock(v);
    }
    for (const ValueId v : operands) {
      Held& value = values_[v];
      if (value.arriving) {
        if (value.ahead && now_ < value.moved) run_.late.push_back(v);
        wait(v);
      }
      value.ahead = false;
    }
    for (const ValueId v : flow_.writes[op])
      if (values_[v].moves > 0) wait(v);
    make_room(room_for(op), op);
    compute(op);
    for (const ValueId v : operands) --values_[v].locks;
  }

  void compute(OpId op) {
    const double seconds = costs_.ops[op].runtime.value();
    run_.plan.steps.push_back({StepKind::compute, op, ValueId()});
    now_ += seconds;
    computed_ += seconds;
    if (computed_ > patience_ || run_.plan.steps.size() > 1000 * graph_.ops.size())
      throw GivesUp{fmt::format("thrashes: more than {} times the computing time of the step", kThrashing)};
    for (const ValueId v : flow_.writes[op]) {
      Held& value = values_[v];
      if (!value.in_ram) occupy(v);
      value.leaving = false;
      value.accessed = ++accesses_;
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
      if (!values_[v].in_ram) wanted += costs_.values[v].bytes;
    return wanted;
  }

  // ---- RAM

  void make_room(Bytes wanted, OpId op = OpId()) {
    while (ram_ + wanted > budget_) {
      if (drop_dead(op) || finish_page_out() || put_out_again(op) || swap_out_oldest(op)) continue;
      throw GivesUp{too_little(wanted, op)};
    }
  }

  /// Operands of recomputations, and results that came along, once nobody will read them.
  bool drop_dead(OpId op) {
    for (const ValueId v : in_ram_now())
      if (idle(v, op) && dead(v) && values_[v].moves == 0) {
        give_up(v);
        return true;
      }
    return false;
  }

  bool finish_page_out() {
    for (const Move& move : moves_)
      if (values_[move.value].leaving) {
        wait(move.value);
        return true;
      }
    return false;
  }

  bool put_out_again(OpId op) {
    for (const ValueId v : in_ram_now()) {
      const Eviction* eviction = eviction_of_[v];
      if (eviction == nullptr || !idle(v, op) || values_[v].moves > 0 || values_[v].ahead) continue;
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
    if (value.moves > 0) wait(oldest);
    value.ahead = false;
    value.leaving = true;
    if (value.stored)
      give_up(oldest);
    else
      page_out(oldest);
    if (value.in_ram) wait(oldest);
    return true;
  }

  [[nodiscard]] bool idle(ValueId v, OpId op) const {
    return values_[v].locks == 0 && costs_.values[v].bytes > Bytes() && flow_.producer[v] != op;
  }

  [[nodiscard]] bool dead(ValueId v) const { return flow_.users[v].empty() || flow_.users[v].back() < next_; }

  std::string too_little(Bytes wanted, OpId op) const {
    const std::string who = op.valid() ? graph_.ops[op].name : "a page-in for " + graph_.ops[next_].name;
    return fmt::format("{} needs {} beside {} that cannot leave at that time", who, format_bytes(wanted),
                       format_bytes(ram_ + costs_.persistent));
  }

  void occupy(ValueId v) {
    values_[v].in_ram = true;
    ram_ += costs_.values[v].bytes;
    const auto place = std::lower_bound(in_ram_.begin(), in_ram_.end(), v);
    in_ram_.insert(place, v);
  }

  /// At once, or when the channel has let go of it.
  void give_up(ValueId v) {
    Held& value = values_[v];
    value.leaving = true;
    if (value.moves > 0) return;
    value.leaving = false;
    value.in_ram = false;
    value.ahead = false;
    ram_ -= costs_.values[v].bytes;
    in_ram_.erase(std::lower_bound(in_ram_.begin(), in_ram_.end(), v));
  }

  [[nodiscard]] std::vector<ValueId> in_ram_now() const { return in_ram_; }

  // ---- the policy's moments

  void evict(const Eviction& eviction) {
    const Held& value = values_[eviction.value];
    if (!value.in_ram || dead(eviction.value)) return;
    if (!eviction.swap || value.stored)
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
      const Held& value = values_[swap->value];
      const bool due = swap->evicted_access <= op && swap->fetch_start < log_.end[next_];
      if (due && !value.in_ram && value.stored && ram_ + costs_.values[swap->value].bytes <= budget_) {
        page_in(swap->value);
        values_[swap->value].ahead = true;
        continue;
      }
      open.push_back(swap);
    }
    prefetches_ = std::move(open);
  }

  // ---- the channel

  void page_in(ValueId v) {
    make_room(costs_.values[v].bytes);
    occupy(v);
    values_[v].arriving = true;
    move(v, StepKind::page_in, costs_.values[v].page_in.seconds.value());
  }

  void page_out(ValueId v) {
    values_[v].leaving = true;
    values_[v].stored = true;
    move(v, StepKind::page_out, costs_.values[v].page_out.seconds.value());
  }

  void move(ValueId v, StepKind kind, double seconds) {
    run_.plan.steps.push_back({kind, OpId(), v});
    double end = now_;
    if (request_.semantics == Semantics::device) {
      const bool rested = !moved_anything_ || channel_ < now_;
      end = (rested ? now_ + costs_.timing.wake_time.value() : channel_) + seconds;
    }
    moved_anything_ = true;
    channel_ = end;
    ++values_[v].moves;
    values_[v].moved = end;
    moves_.push_back({v, kind == StepKind::page_in, end});
    if (beside_) return;
    now_ = std::max(now_, end);
    end_oldest_move();
  }

  void wait(ValueId v) {
    run_.plan.steps.push_back({StepKind::wait, OpId(), v});
    now_ = std::max(now_, values_[v].moved);
    while (values_[v].moves > 0) end_oldest_move();
  }

  void end_oldest_move() {
    const Move oldest = moves_.front();
    moves_.pop_front();
    Held& value = values_[oldest.value];
    --value.moves;
    if (oldest.in) value.arriving = false;
    if (value.moves == 0 && value.leaving) give_up(oldest.value);
  }

  /// Gives back the RAM of page-outs that have ended by now.
  void collect_ended() {
    std::size_t last = moves_.size();
    for (std::size_t i = 0; i < moves_.size() && moves_[i].end <= now_; ++i)
      if (values_[moves_[i].value].leaving) last = i;
    if (last < moves_.size()) wait(moves_[last].value);
  }

  const MethodRequest& request_;
  const Graph& graph_;
  const CostTable& costs_;
  const Dataflow& flow_;
  const AccessLog& log_;
  const bool beside_;  // transfers run beside compute, until waited for
  const Bytes budget_;
  const std::vector<Eviction>& policy_;
  IdVector<ValueId, const Eviction*> eviction_of_;
  IdVector<OpId, std::vector<const Eviction*>> evicted_after_;
  std::vector<const Eviction*> prefetches_;  // not started yet, by back access

  IdVector<ValueId, Held> values_;
  std::vector<ValueId> in_ram_;  // sorted
  std::deque<Move> moves_;       // not known to have ended
  Bytes ram_{};
  double now_ = 0;
  double channel_ = 0;  // free from then on
  bool moved_anything_ = false;
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
