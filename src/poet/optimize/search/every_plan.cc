#include "poet/optimize/search/every_plan.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <queue>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "poet/base/numbers.h"

namespace poet {
namespace {

constexpr std::size_t kFewOps = 15;
constexpr int kFewValues = 20;
constexpr std::size_t kMostStates = 500'000;

using ValueMask = std::uint32_t;

struct State {
  int computed = 0;  // for the first time: ops 0 to computed - 1
  ValueMask in_ram = 0;

  [[nodiscard]] std::uint64_t key() const {
    return static_cast<std::uint64_t>(computed) << kFewValues | in_ram;
  }
};

/// How a state was reached.
struct Reached {
  double joules = 0;  // of recomputations
  std::uint64_t from = 0;
  int op = -1;  // computed last; -1: a value was dropped
  bool is_final = false;
};

class Walk {
 public:
  Walk(const Problem& problem, const Stop& stop) : p_(problem), stop_(stop), bit_(at(problem.values), -1) {
    int bits = 0;
    for (int v = 0; v < p_.values; ++v)
      if (p_.active[at(v)] != 0) {
        bit_[at(v)] = bits++;
        values_.push_back(v);
      }
    for (int op = 0; op < p_.ops; ++op) {
      reads_.push_back(mask_of(p_.reads[at(op)]));
      writes_.push_back(mask_of(p_.writes[at(op)]));
    }
  }

  EveryPlan run() {
    EveryPlan found;
    reach({}, {});
    while (!queue_.empty()) {
      const auto [joules, state] = pop();
      Reached& reached = reached_.at(state.key());
      if (reached.is_final) continue;
      reached.is_final = true;
      found.bound = p_.baseline_joules + joules;
      if (state.computed == p_.ops) {
        found.computations = way_to(state);
        return found;
      }
      if (reached_.size() > kMostStates || stop_()) return found;
      leave(state, joules);
    }
    found.bound = std::numeric_limits<double>::infinity();
    return found;
  }

 private:
  struct Entry {
    double joules;
    State state;
    // The cheapest first, then the farthest.
    bool operator<(const Entry& other) const {
      return std::tuple(-joules, state.computed, state.in_ram) <
             std::tuple(-other.joules, other.state.computed, other.state.in_ram);
    }
  };

  [[nodiscard]] ValueMask mask_of(const std::vector<int>& values) const {
    ValueMask mask = 0;
    for (const int v : values) mask |= ValueMask{1} << bit_[at(v)];
    return mask;
  }

  [[nodiscard]] std::int64_t bytes_of(ValueMask mask) const {
    std::int64_t sum = 0;
    for (std::size_t bit = 0; bit < values_.size(); ++bit)
      if ((mask >> bit & 1) != 0) sum += p_.bytes[at(values_[bit])];
    return sum;
  }

  Entry pop() {
    const Entry entry = queue_.top();
    queue_.pop();
    return entry;
  }

  // Values that nothing can read any more leave at once.
  void reach(State state, Reached by) {
    for (std::size_t bit = 0; bit < values_.size(); ++bit)
      if (p_.horizon[at(values_[bit])] < state.computed) state.in_ram &= ~(ValueMask{1} << bit);
    const auto [known, is_new] = reached_.try_emplace(state.key(), by);
    if (!is_new) {
      if (known->second.is_final || by.joules >= known->second.joules) return;
      known->second = by;
    }
    queue_.push({by.joules, state});
  }

  void leave(const State& state, double joules) {
    for (std::size_t bit = 0; bit < values_.size(); ++bit)
      if (const ValueMask value = ValueMask{1} << bit; (state.in_ram & value) != 0)
        reach({state.computed, state.in_ram & ~value}, {joules, state.key(), -1});
    for (int op = 0; op <= state.computed; ++op) {
      if (op < state.computed && p_.recompute_until[at(op)] < state.computed) continue;
      compute(state, op, joules);
    }
  }

  // The results have left RAM before: keeping an old one would only take room.
  void compute(const State& state, int op, double joules) {
    const ValueMask reads = reads_[at(op)], writes = writes_[at(op)];
    if ((state.in_ram & reads) != reads || (state.in_ram & writes) != 0) return;
    const bool first = op == state.computed;
    const Reached by{first ? joules : joules + p_.joules[at(op)] + p_.idle_watts * p_.seconds[at(op)],
                     state.key(), op};
    const int computed = state.computed + (first ? 1 : 0);
    const std::int64_t ram = bytes_of(state.in_ram | writes) + p_.workspace[at(op)];
    if (ram <= p_.budget) reach({computed, state.in_ram | writes}, by);
    for (const int over : p_.overwritable[at(op)]) {
      const ValueMask operand = mask_of({over});
      if (ram - p_.bytes[at(over)] <= p_.budget) reach({computed, (state.in_ram & ~operand) | writes}, by);
    }
  }

  [[nodiscard]] std::vector<int> way_to(const State& end) const {
    std::vector<int> ops;
    double seconds = 0;
    const std::uint64_t start = State{}.key();
    for (std::uint64_t key = end.key(); key != start;) {
      const Reached& reached = reached_.at(key);
      if (reached.op >= 0) {
        ops.push_back(reached.op);
        seconds += p_.seconds[at(reached.op)];
      }
      key = reached.from;
    }
    std::ranges::reverse(ops);
    return p_.in_time(seconds) ? ops : std::vector<int>{};
  }

  const Problem& p_;
  const Stop& stop_;
  std::vector<int> bit_;     // of each value, or -1
  std::vector<int> values_;  // of each bit
  std::vector<ValueMask> reads_, writes_;
  std::unordered_map<std::uint64_t, Reached> reached_;
  std::priority_queue<Entry> queue_;
};

}  // namespace

bool has_few_ops(const Instance& instance) { return instance.graph.ops.size() <= kFewOps; }

bool has_few_plans(const Problem& problem) {
  return !problem.paging && problem.residents.empty() && at(problem.ops) <= kFewOps &&
         std::ranges::count_if(problem.active, [](char active) { return active != 0; }) <= kFewValues;
}

EveryPlan search_every_plan(const Problem& problem, const Stop& stop) { return Walk(problem, stop).run(); }

}  // namespace poet
