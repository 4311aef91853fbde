#include "poet/optimize/clauses/least_order.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <queue>
#include <unordered_map>
#include <utility>

#include "poet/base/numbers.h"
#include "poet/optimize/problem/sorted.h"

namespace poet {
namespace {

constexpr int kMostBits = 32;  // of State::done, and of State::present
constexpr std::size_t kMostReached = 50'000;

using Mask = std::uint64_t;

constexpr Mask bit(std::size_t i) { return Mask{1} << i; }

// A value that the ops read or make, or that is needed.
struct MovingValue {
  int value = -1;
  int maker = -1;    // of the ops; -1: none
  Mask readers = 0;  // among those done at most once
  bool before = false, needed = false;
  int own_bit = -1;  // in State::present; -1: it is there from its making to the last of its readers
};

// The order of a set of ops, each done once or as often as it helps, that takes the least RAM. Dijkstra's
// algorithm over which are done and which copies are there; the greatest RAM on the way takes the place of
// the sum.
class OrderSearch {
 public:
  OrderSearch(const Problem& problem, const OpsToOrder& set)
      : p_(problem), ops_(set.once), sure_(set.once.size()), once_(sure_ + set.optional.size()) {
    ops_.insert(ops_.end(), set.optional.begin(), set.optional.end());
    ops_.insert(ops_.end(), set.any_times.begin(), set.any_times.end());
    std::vector<int> moving = set.needed;
    for (const int op : ops_)
      for (const auto* values : {&p_.reads[at(op)], &p_.writes[at(op)]})
        for (const int v : *values) insert_sorted(moving, v);
    for (const int v : moving) {
      MovingValue one{v, -1, 0, contains(set.before, v), contains(set.needed, v), -1};
      bool is_open = false;  // whether it is made, or when it goes, does not follow from what is done
      for (std::size_t i = 0; i < ops_.size(); ++i) {
        const bool reads = contains(p_.reads[at(ops_[i])], v);
        const bool makes = ops_[i] == p_.producer[at(v)];
        if (reads && is_once(i)) one.readers |= bit(i);
        if (makes) one.maker = static_cast<int>(i);
        is_open |= (!is_once(i) && (reads || makes)) || (i >= sure_ && makes);
      }
      if (is_open || (one.before && one.maker >= 0)) one.own_bit = bits_++;
      values_.push_back(one);
    }
  }

  LeastOrder run() {
    if (bits_ > kMostBits) return {.is_known = false};
    State start;
    for (const MovingValue& one : values_)
      if (one.before && one.own_bit >= 0) start.present |= bit(at(one.own_bit));
    reach(start, {0, start, -1});
    while (!queue_.empty()) {
      const auto [ram, key] = queue_.top();
      queue_.pop();
      const State state{key & 0xffffffff, key >> 32};
      if (reached_.at(key).ram < ram) continue;
      if (is_end(state)) return {true, ram, way_to(state, start), states()};
      if (reached_.size() > kMostReached) return {false, LeastOrder::kNever, {}, states()};
      for (Mask rest = state.present; rest != 0; rest &= rest - 1)
        reach({state.done, state.present & ~bit(at(std::countr_zero(rest)))}, {ram, state, -1});
      for (std::size_t i = 0; i < ops_.size(); ++i)
        if ((state.done & bit(i)) == 0) {
          compute(state, ram, i);
          if (i >= sure_ && is_once(i)) reach({state.done | bit(i), state.present}, {ram, state, -1});
        }
    }
    return {.states = states()};
  }

 private:
  struct State {
    Mask done = 0;     // ops that are done once, or left out
    Mask present = 0;  // values with a bit of their own
    [[nodiscard]] Mask key() const { return present << 32 | done; }
  };
  struct Reached {
    std::int64_t ram = 0;
    State from;
    int op = -1;  // done last; -1: a copy was dropped, or an op left out
  };

  [[nodiscard]] bool is_once(std::size_t i) const { return i < once_; }
  [[nodiscard]] std::int64_t states() const { return static_cast<std::int64_t>(reached_.size()); }
  [[nodiscard]] static bool is_there(const MovingValue& one, const State& state) {
    if (one.own_bit >= 0) return (state.present & bit(at(one.own_bit))) != 0;
    const bool there = one.before || (one.maker >= 0 && (state.done & bit(at(one.maker))) != 0);
    return there && is_wanted(one, state.done);
  }
  [[nodiscard]] static bool is_wanted(const MovingValue& one, Mask done) {
    return one.needed || (one.readers & ~done) != 0;
  }
  [[nodiscard]] bool may_overwrite(int op, int v) const {
    return std::ranges::find(p_.overwritable[at(op)], v) != p_.overwritable[at(op)].end();
  }
  [[nodiscard]] bool is_end(const State& state) const {
    return state.done == bit(once_) - 1 && std::ranges::all_of(values_, [&](const MovingValue& one) {
             return !one.needed || is_there(one, state);
           });
  }

  void compute(const State& state, std::int64_t ram, std::size_t i) {
    const int op = ops_[i];
    std::int64_t now = p_.workspace[at(op)], saved = 0;
    State next{is_once(i) ? state.done | bit(i) : state.done, state.present};
    for (const MovingValue& one : values_) {
      const bool reads = contains(p_.reads[at(op)], one.value);
      const bool makes = one.maker == static_cast<int>(i);
      const bool there = is_there(one, state);
      if ((reads && !there) || (makes && there)) return;
      if (there || makes) now += p_.bytes[at(one.value)];
      if (makes && one.own_bit >= 0) next.present |= bit(at(one.own_bit));
      if (reads && may_overwrite(op, one.value) && one.own_bit < 0 && !is_wanted(one, next.done))
        saved = std::max(saved, p_.bytes[at(one.value)]);
    }
    reach(next, {std::max(ram, now - saved), state, op});
    for (const MovingValue& one : values_)
      if (one.own_bit >= 0 && may_overwrite(op, one.value))
        reach({next.done, next.present & ~bit(at(one.own_bit))},
              {std::max(ram, now - p_.bytes[at(one.value)]), state, op});
  }

  void reach(const State& state, const Reached& by) {
    const auto [known, is_new] = reached_.try_emplace(state.key(), by);
    if (!is_new && known->second.ram <= by.ram) return;
    known->second = by;
    queue_.emplace(by.ram, state.key());
  }

  [[nodiscard]] std::vector<int> way_to(State state, const State& start) const {
    std::vector<int> ops;
    for (; state.key() != start.key(); state = reached_.at(state.key()).from)
      if (const int op = reached_.at(state.key()).op; op >= 0) ops.push_back(op);
    std::ranges::reverse(ops);
    return ops;
  }

  const Problem& p_;
  std::vector<int> ops_;     // those that are done once, or never, or any number of times
  std::size_t sure_, once_;  // so many of the first kind; of the first two
  std::vector<MovingValue> values_;
  int bits_ = 0;
  std::unordered_map<Mask, Reached> reached_;
  std::priority_queue<std::pair<std::int64_t, Mask>, std::vector<std::pair<std::int64_t, Mask>>,
                      std::greater<>>
      queue_;
};

}  // namespace

LeastOrder least_order(const Problem& problem, const OpsToOrder& set) {
  if (set.once.size() + set.optional.size() + set.any_times.size() > at(kMostBits))
    return {.is_known = false};
  return OrderSearch(problem, set).run();
}

}  // namespace poet
