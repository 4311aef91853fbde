#include "tests/support/linear_search.h"

#include <algorithm>
#include <bit>
#include <queue>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tests/support/linear_machine.h"

namespace poet::test {
namespace {

// A* over states of the machine. Which plans are passed over, and why one of least energy is left:
//
// Frees happen when room is needed. A value that lies in RAM and is not moving can be freed at any moment,
// without time or energy, so holding it longer costs nothing until a step does not fit. Then every set of
// values is tried of which none could have stayed. A page-in of what is still held is left out. What no later
// computation can need is freed at once.
//
// A result is written over an operand where room is needed: else the operand is freed later, at no cost.
//
// Waits that cost no time are no decisions: what has ended is known to have ended.
//
// Late issue (channel beside compute). A transfer that would start only when the next step, a computation or
// a wait, has ended can be issued after that step: it takes its place on the channel at the same time,
// nothing else moves, and RAM is needed no earlier. Hence a wait happens only when one transfer is in flight,
// and a computation only when the last one in flight starts before the computation ends. In staged semantics
// all transfers of a stage are issued just before its first computation, in one order, for the same reason.
//
// Paged persistent values are on storage when the step begins and are changed by their update: from then on
// they stay in RAM until their page-out is issued, and the plan ends when that of each has been. A page-out
// home is never in vain.
//
// Steps in vain (paging out what is on storage, paging in what is in RAM or never read again, computing what
// is in RAM). Where waking up costs nothing, striking them out makes no later event happen later. Where it
// costs energy or time they may pay, since they keep the channel awake or pass time, and are tried. But not a
// transfer that takes no time on a channel that is awake: it changes nothing.
//
// Dominance. Two states with the same ops done and the same transfers in flight for the same time from now on
// have the same future, shifted in time. Supersets in RAM, on storage and sent home, no more energy (idle
// energy up to now included) and, where there are limits on them, no more time and bytes written, are as
// good.
//
// The estimate adds the first computations still to come, with idle power meanwhile, a page-in of each paged
// persistent value that they read and that is not in RAM, and the page-outs of those still to go home.

/// Steps in vain multiply the plans; two searches without them often settle the matter.
enum class Waking {
  exact,            // every plan
  nothing_in_vain,  // only plans without steps in vain: what is found is a plan
  free,             // waking up costs nothing: what is found needs no more than any plan
};

enum class Act { none, compute, out, in, wait, free };

struct Label : MachineState {
  int parent = -1;
  Act act = Act::none;  // how it came from its parent
  int what = -1;
  Mask freed = 0;        // before that
  int overwritten = -1;  // the operand over which a computation writes its first result
};

std::size_t as_index(int i) { return static_cast<std::size_t>(i); }

using Key = std::vector<std::uint64_t>;  // what has to be equal for two labels to be comparable

struct KeyHash {
  std::size_t operator()(const Key& key) const {
    std::uint64_t h = 0x9e3779b97f4a7c15U;
    for (const std::uint64_t word : key) {
      h ^= word + 0x9e3779b97f4a7c15U + (h << 6U) + (h >> 2U);
      h *= 0xff51afd7ed558ccdU;
      h ^= h >> 32U;
    }
    return static_cast<std::size_t>(h);
  }
};

struct Footprint {
  Mask idle, stored, home;
  double joules, now;
  std::int64_t written;
  int label;
};

struct Open {
  double estimate;
  int next;
  int label;
  bool operator<(const Open& other) const {  // on top is the least estimate, then the farthest
    if (estimate != other.estimate) return estimate > other.estimate;
    if (next != other.next) return next < other.next;
    return label > other.label;
  }
};

class Search {
 public:
  Search(const Instance& instance, Semantics semantics, const Limits& limits,
         const LinearSearchOptions& options, Waking waking)
      : limits_(limits),
        options_(options),
        reduced_(options.reductions),
        remat_(options.rematerialization),
        // Without a deadline nothing depends on time but energy.
        machine_(instance, semantics, limits,
                 {options.any_plan, options.any_plan && !limits.deadline, waking == Waking::free}),
        seconds_left_(machine_.ops.size() + 1),
        joules_left_(machine_.ops.size() + 1) {
    for (std::size_t t = machine_.ops.size(); t-- > 0;) {
      seconds_left_[t] = seconds_left_[t + 1] + machine_.ops[t].seconds;
      joules_left_[t] = joules_left_[t + 1] + machine_.ops[t].joules;
      longest_op_ = std::max(longest_op_, machine_.ops[t].seconds);
    }
    movable_ = instance.costs.has_storage ? (options.paging ? ~Mask{0} : machine_.paged) : 0;
    const bool time_matters = machine_.idle_watts > 0 || limits.deadline;
    wakes_ = machine_.wake_joules > 0 || (machine_.wake_seconds > 0 && time_matters);
    in_vain_ = !reduced_ || (waking == Waking::exact && machine_.beside && movable_ != 0 && wakes_);
    find_useful();
  }

  [[nodiscard]] bool in_vain() const { return in_vain_; }

  LinearSearchResult run() {
    LinearSearchResult result;
    if (machine_.persistent <= limits_.ram_budget.value()) push(Label{machine_.start()});
    while (!open_.empty() && labels_.size() <= options_.most_states) {
      const int top = open_.top().label;
      open_.pop();
      if (dead_[as_index(top)]) continue;
      if (machine_.complete(labels_[as_index(top)])) {
        result.best = plan_to(top);
        break;
      }
      expand(top);
    }
    result.finished = result.best || open_.empty();
    result.states = labels_.size();
    return result;
  }

 private:
  [[nodiscard]] int ops() const { return static_cast<int>(machine_.ops.size()); }
  [[nodiscard]] bool may_recompute(int op, int next) const {
    return remat_ && machine_.may_recompute(op, next);
  }

  // What may still be read when `next` is to be computed first, by a first computation or on the way to one.
  void find_useful() {
    for (int next = 0; next <= ops(); ++next) {
      Mask useful = 0;
      for (int j = next; j < ops(); ++j) useful |= machine_.ops[as_index(j)].reads;
      for (int j = next - 1; j >= 0; --j)  // readers of what j writes come after j
        if (may_recompute(j, next) && (machine_.ops[as_index(j)].writes & useful))
          useful |= machine_.ops[as_index(j)].reads;
      Mask read = 0;
      for (int j = next; j < ops(); ++j) read |= machine_.ops[as_index(j)].reads;
      to_be_read_.push_back(read & machine_.paged);
      useful_.push_back(in_vain_ ? ~Mask{0} : useful);
    }
  }

  void expand(int parent) {
    const Label from = labels_[as_index(parent)];  // labels_ grows
    const bool stage_closed = reduced_ && machine_.staged && !from.queue.empty();
    if (from.next < ops()) compute(parent, from, from.next);
    for (int op = 0; op < from.next && !stage_closed; ++op)
      if (may_recompute(op, from.next)) compute(parent, from, op);
    for (int v = 0; v < static_cast<int>(machine_.values.size()); ++v) {
      if ((movable_ & bit(v)) == 0) continue;
      page_out(parent, from, v);
      page_in(parent, from, v);
    }
    if (!reduced_ || from.queue.size() == 1) take(parent, from, Act::wait, 0, 0);
    if (!reduced_) for_each_bit(from.idle, [&](int v) { take(parent, from, Act::free, v, bit(v)); });
  }

  void compute(int parent, const Label& from, int i) {
    const auto& op = machine_.ops[as_index(i)];
    if (i < from.next && !in_vain_ && !(op.writes & ~from.idle & useful_[as_index(from.next)])) return;
    if (reduced_ && machine_.beside && from.queue.size() > 1 &&
        from.queue[from.queue.size() - 2].end >= from.now + op.seconds)
      return;  // late issue
    const Mask droppable = from.idle & ~machine_.dirty(from);
    for_each_sufficient(droppable & ~op.reads & ~op.writes, machine_.missing_for_compute(from, i),
                        [&](Mask freed) { take(parent, from, Act::compute, i, freed); });
    if (reduced_ && machine_.missing_for_compute(from, i) <= 0) return;
    for_each_bit(op.overwritable & from.idle, [&](int v) {
      const Mask copy = from.idle & bit(op.result);  // what another computation has left of it
      for_each_sufficient(droppable & ~op.reads & ~op.writes, machine_.missing_for_compute(from, i, v),
                          [&](Mask freed) { take(parent, from, Act::compute, i, freed | copy, v); });
    });
  }

  void page_out(int parent, const Label& from, int v) {
    const bool anew = (from.stored & ~machine_.dirty(from) & bit(v)) != 0;
    // In staged semantics writing anew would take the stored copy away until the stage ends.
    if (anew && (!in_vain_ || machine_.staged)) return;
    if (allowed(from, true, v, anew)) take(parent, from, Act::out, v, 0);
  }

  void page_in(int parent, const Label& from, int v) {
    const bool held = (from.idle & bit(v)) != 0;
    if (held && !(in_vain_ && reduced_)) return;
    if (!(from.stored & bit(v)) || !allowed(from, false, v, held)) return;
    if (held) return take(parent, from, Act::in, v, bit(v));
    for_each_sufficient(from.idle & ~machine_.dirty(from), machine_.missing_for_page_in(from, v),
                        [&](Mask freed) { take(parent, from, Act::in, v, freed); });
  }

  // Late issue, one order where order does not matter, nothing in vain.
  [[nodiscard]] bool allowed(const Label& from, bool out, int v, bool redundant) const {
    const auto& queue = from.queue;
    if (!reduced_) return queue.size() < 3;
    if (!((useful_[as_index(from.next)] | machine_.dirty(from)) & bit(v))) return false;
    if (machine_.staged)
      return queue.empty() || std::pair(!queue.back().out, queue.back().value) < std::pair(!out, v);
    if (!machine_.beside) return true;
    if (!queue.empty() && from.channel_end >= from.now + longest_op_) return false;
    const auto& value = machine_.values[as_index(v)];
    return !redundant || !machine_.awake(from) || (out ? value.out_seconds : value.in_seconds) > 0;
  }

  // Every set of `candidates` whose bytes are enough and none of which is superfluous.
  template <class F>
  void for_each_sufficient(Mask candidates, std::int64_t need, F f) const {
    if (need <= 0) return f(Mask{0});
    if (!reduced_) return;  // frees are steps of their own
    if (machine_.bytes_of(candidates) < need) return;
    for (Mask set = candidates; set != 0; set = (set - 1) & candidates) {
      const std::int64_t freed = machine_.bytes_of(set);
      bool superfluous = freed < need;
      for_each_bit(set, [&](int v) { superfluous |= freed - machine_.values[as_index(v)].bytes >= need; });
      if (!superfluous) f(set);
    }
  }

  void take(int parent, const Label& from, Act act, int what, Mask freed, int overwritten = -1) {
    Label to = from;
    to.parent = parent;
    to.act = act;
    to.what = what;
    to.freed = freed;
    to.overwritten = overwritten;
    bool done = machine_.free(to, freed);
    if (act == Act::compute) done = done && machine_.compute(to, what, overwritten);
    if (act == Act::out) done = done && machine_.page_out(to, what);
    if (act == Act::in) done = done && machine_.page_in(to, what);
    if (act == Act::wait) done = done && machine_.wait(to);
    if (done) push(std::move(to));
  }

  void push(Label to) {
    const Mask useful = useful_[as_index(to.next)];
    to.idle &= useful | machine_.dirty(to);
    const double end = std::max(to.now + seconds_left_[as_index(to.next)], machine_.makespan(to));
    if (limits_.deadline && end > limits_.deadline->value() * (1 + 1e-9)) return;
    const double estimate =
        to.joules + joules_left_[as_index(to.next)] + homing_joules(to) + machine_.idle_watts * end;
    if (estimate > options_.at_most_joules) return;
    const Footprint foot{to.idle,
                         to.stored & useful,
                         to.home,
                         to.joules + machine_.idle_watts * to.now,
                         to.now,
                         to.written,
                         static_cast<int>(labels_.size())};
    auto& front = fronts_[key_of(to)];
    for (const Footprint& other : front)
      if (dominates(other, foot)) return;
    std::erase_if(front, [&](const Footprint& other) {
      if (!dominates(foot, other)) return false;
      dead_[as_index(other.label)] = true;
      return true;
    });
    front.push_back(foot);
    open_.push({estimate, to.next, foot.label});
    labels_.push_back(std::move(to));
    dead_.push_back(false);
  }

  [[nodiscard]] bool dominates(const Footprint& a, const Footprint& b) const {
    constexpr double kSame = 1 + 1e-13;  // the same steps in another order
    const bool as_much = reduced_ ? (a.idle & b.idle) == b.idle && (a.stored & b.stored) == b.stored &&
                                        (a.home & b.home) == b.home
                                  : a.idle == b.idle && a.stored == b.stored && a.home == b.home;
    return as_much && a.joules <= b.joules * kSame && (!limits_.deadline || a.now <= b.now * kSame) &&
           (!limits_.max_bytes_written || a.written <= b.written);
  }

  // Transfers of paged persistent values that no plan from here on can do without.
  [[nodiscard]] double homing_joules(const Label& label) const {
    double joules = 0;
    const Mask absent = to_be_read_[as_index(label.next)] & ~(label.idle | label.moving());
    for_each_bit(absent, [&](int v) { joules += machine_.values[as_index(v)].in_joules; });
    const Mask at_last = machine_.updated_before.back() & ~label.home;
    for_each_bit(at_last, [&](int v) { joules += machine_.values[as_index(v)].out_joules; });
    return joules;
  }

  [[nodiscard]] Key key_of(const Label& label) const {
    const bool awake = wakes_ && machine_.awake(label);
    Key key = {static_cast<std::uint64_t>(2 * label.next + (awake ? 1 : 0))};
    for (const InFlight& transit : label.queue) {
      key.push_back(static_cast<std::uint64_t>(2 * transit.value + (transit.out ? 1 : 0)));
      key.push_back(std::bit_cast<std::uint64_t>(transit.end - label.now));
    }
    return key;
  }

  [[nodiscard]] LinearPlan plan_to(int last) const {
    LinearPlan found;
    found.seconds = machine_.makespan(labels_[as_index(last)]);
    found.joules = labels_[as_index(last)].joules + machine_.idle_watts * found.seconds;
    std::vector<int> path;
    for (int i = last; i > 0; i = labels_[as_index(i)].parent) path.push_back(i);
    for (; !path.empty(); path.pop_back()) {
      const Label& to = labels_[as_index(path.back())];
      add_steps(labels_[as_index(to.parent)], to, found.plan);
    }
    return found;
  }

  // With the waits and frees that the search leaves out.
  void add_steps(const Label& from, const Label& to, Plan& plan) const {
    const auto add = [&](StepKind kind, int v) {
      plan.steps.push_back({kind, OpId(), ValueId(static_cast<std::int32_t>(v))});
    };
    for_each_bit(to.freed, [&](int v) { add(StepKind::free, v); });
    if (to.act == Act::free) return;
    Mask held = (from.idle & ~to.freed) | from.moving();
    if (to.act == Act::compute) {
      plan.steps.push_back({StepKind::compute, OpId(static_cast<std::int32_t>(to.what)), ValueId()});
      held |= machine_.ops[as_index(to.what)].writes;
      if (to.overwritten >= 0) {
        add(StepKind::free, to.overwritten);
        held &= ~bit(to.overwritten);
      }
    }
    Mask in_flight = from.moving();
    if (to.act == Act::out || to.act == Act::in) {
      add(to.act == Act::out ? StepKind::page_out : StepKind::page_in, to.what);
      in_flight |= bit(to.what);
      held |= bit(to.what);
    }
    if (machine_.beside) for_each_bit(in_flight & ~to.moving(), [&](int v) { add(StepKind::wait, v); });
    for_each_bit(held & ~to.idle & ~to.moving(), [&](int v) { add(StepKind::free, v); });
  }

  const Limits limits_;
  const LinearSearchOptions options_;
  const bool reduced_, remat_;
  const LinearMachine machine_;
  std::vector<double> seconds_left_, joules_left_;  // of the first computations still to come
  Mask movable_ = 0;                                // to storage and back
  double longest_op_ = 0;
  bool wakes_ = false;            // waking up the channel costs what matters
  bool in_vain_ = false;          // steps in vain are tried, too
  std::vector<Mask> useful_;      // by the op to be computed first next
  std::vector<Mask> to_be_read_;  // likewise: paged persistent values that first computations read

  std::vector<Label> labels_;
  std::vector<bool> dead_;  // dominated since
  std::priority_queue<Open> open_;
  std::unordered_map<Key, std::vector<Footprint>, KeyHash> fronts_;
};

}  // namespace

LinearSearchResult search_linear_plans(const Instance& instance, Semantics semantics, const Limits& limits,
                                       const LinearSearchOptions& options) {
  Search exact(instance, semantics, limits, options, Waking::exact);
  if (!options.reductions || !exact.in_vain()) return exact.run();
  LinearSearchResult good = Search(instance, semantics, limits, options, Waking::nothing_in_vain).run();
  if (good.best && options.any_plan) return good;
  LinearSearchResult least = Search(instance, semantics, limits, options, Waking::free).run();
  if (least.finished && !least.best) return least;
  constexpr double kSame = 1 - 1e-12;
  if (good.best && least.finished && least.best->joules >= good.best->joules * kSame) return good;
  LinearSearchOptions better = options;
  if (good.best) better.at_most_joules = good.best->joules;
  LinearSearchResult best = Search(instance, semantics, limits, better, Waking::exact).run();
  if (best.finished && !best.best) best.best = std::move(good.best);
  return best;
}

}  // namespace poet::test
