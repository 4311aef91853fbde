#include "poet/optimize/clauses/stage_transition.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "poet/base/numbers.h"
#include "poet/optimize/clauses/least_order.h"
#include "poet/optimize/problem/sorted.h"

namespace poet {
namespace {

// Of `after`, what is in RAM before and no recomputation touches stays in RAM throughout: ballast.
class Transition {
 public:
  Transition(const Problem& problem, const StageTransition& transition) : p_(problem), t_(transition) {
    for (const int op : t_.recomputed) {
      for (const int v : p_.reads[at(op)]) insert_sorted(moving_, v);
      for (const int v : p_.writes[at(op)]) insert_sorted(moving_, v);
    }
    for (const int v : t_.after) {
      if (!contains(moving_, v) && contains(t_.before, v))
        ballast_.push_back(v);
      else
        needed_.push_back(v);
    }
  }

  TransitionAnswer answer() {
    const std::int64_t room = p_.budget - bytes_of(ballast_);
    LeastOrder order = order_for(needed_);
    TransitionAnswer made;
    if (order.is_known && order.ram <= room) made.order = std::move(order.ops);
    if (order.is_known && order.ram > room) made.obstacle = obstacle(room, order.ram);
    made.states = states_;
    return made;
  }

 private:
  // Leaves out what is needed as long as there is too little room all the same, small values first. `least`:
  // RAM of the best order for all that is needed.
  [[nodiscard]] Obstacle obstacle(std::int64_t room, std::int64_t least) {
    std::ranges::stable_sort(needed_, {}, [this](int v) { return p_.bytes[at(v)]; });
    for (std::size_t i = 0; i < needed_.size();) {
      std::vector<int> fewer = needed_;
      fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
      const LeastOrder order = order_for(fewer);
      if (!order.is_known || order.ram <= room) {
        ++i;
        continue;
      }
      needed_ = std::move(fewer);
      least = order.ram;
    }
    std::ranges::stable_sort(ballast_, std::ranges::greater{}, [this](int v) { return p_.bytes[at(v)]; });
    std::int64_t excess = least == LeastOrder::kNever ? 1 : least - p_.budget;
    for (const int v : ballast_) {
      if (excess > 0) break;
      excess += p_.bytes[at(v)];
      needed_.push_back(v);
    }
    std::ranges::sort(needed_);
    return obstacle_of(needed_);
  }

  [[nodiscard]] std::int64_t bytes_of(const std::vector<int>& values) const {
    std::int64_t sum = 0;
    for (const int v : values) sum += p_.bytes[at(v)];
    return sum;
  }

  // Adds the ops that have to be recomputed for v to be there. Returns whether they are among those that may
  // be.
  bool require(int v, std::vector<int>& ops) const {
    if (contains(t_.before, v)) return true;
    const int op = p_.producer[at(v)];
    if (!contains(t_.recomputed, op)) return false;
    if (contains(ops, op)) return true;
    insert_sorted(ops, op);
    return std::ranges::all_of(p_.reads[at(op)], [&](int u) { return require(u, ops); });
  }

  // Recomputing what is there already makes room in between.
  [[nodiscard]] LeastOrder order_for(std::vector<int> needed) {
    std::ranges::sort(needed);
    std::vector<int> required;
    for (const int v : needed)
      if (!require(v, required)) return {};
    const std::vector<int> useful = useful_besides(required);
    OpsToOrder set{{}, {}, {}, t_.before, std::move(needed)};
    for (const int op : t_.recomputed) {
      const bool is_required = contains(required, op);
      if (!is_required && !contains(useful, op)) continue;
      auto& kind = contains(t_.repeated, op) ? set.any_times : is_required ? set.once : set.optional;
      kind.push_back(op);
    }
    LeastOrder order = least_order(p_, set);
    states_ += order.states;
    return order;
  }

  // Returns the ops that need not be recomputed, but may as well: their results are in RAM before, and would
  // leave it in between, or others of these ops read them.
  [[nodiscard]] std::vector<int> useful_besides(const std::vector<int>& required) const {
    std::vector<int> useful;
    const auto helps = [&](int v) {
      return contains(t_.before, v) ||
             std::ranges::any_of(p_.users[at(v)], [&](int user) { return contains(useful, user); });
    };
    for (auto op = t_.recomputed.rbegin(); op != t_.recomputed.rend(); ++op)
      if (!contains(required, *op) && std::ranges::any_of(p_.writes[at(*op)], helps))
        insert_sorted(useful, *op);
    return useful;
  }

  // Only values that recomputations read or make, or that are needed, matter here. With one more of them in
  // RAM before, or one more of their producers recomputed, there may be an order. Any other op makes none of
  // them, so that leaving it out of a sequence leaves all that is read or needed where it is.
  [[nodiscard]] Obstacle obstacle_of(std::vector<int> needed) const {
    Obstacle found;
    std::vector<int> useful = moving_;
    for (const int v : needed) insert_sorted(useful, v);
    for (const int v : useful) {
      if (p_.producer[at(v)] >= t_.stage) continue;
      if (!contains(t_.before, v)) found.absent.push_back(v);
      if (!contains(t_.recomputed, p_.producer[at(v)])) insert_sorted(found.not_done, p_.producer[at(v)]);
    }
    found.needed = std::move(needed);
    return found;
  }

  const Problem& p_;
  const StageTransition& t_;
  std::vector<int> moving_;            // values
  std::vector<int> ballast_, needed_;  // of `after`: what stays in RAM, and the others
  std::int64_t states_ = 0;
};

}  // namespace

TransitionAnswer find_order(const Problem& problem, const StageTransition& transition) {
  return Transition(problem, transition).answer();
}

}  // namespace poet
