#include "poet/optimize/clauses/stage_transition.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "poet/base/numbers.h"
#include "poet/optimize/clauses/least_order.h"
#include "poet/optimize/problem/sorted.h"

namespace poet {
namespace {

constexpr std::size_t kMostOptional = 6;

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
    LeastOrder order = order_for(needed_, room);
    TransitionAnswer made;
    if (order.is_known && order.ram <= room) made.order = std::move(order.ops);
    if (order.is_known && order.ram > room) made.obstacle = obstacle(room);
    made.states = states_;
    return made;
  }

 private:
  // Leaves out what is needed as long as there is too little room all the same, small values first.
  [[nodiscard]] Obstacle obstacle(std::int64_t room) {
    std::ranges::stable_sort(needed_, {}, [this](int v) { return p_.bytes[at(v)]; });
    for (std::size_t i = 0; i < needed_.size();) {
      std::vector<int> fewer = needed_;
      fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
      const LeastOrder order = order_for(fewer, room);
      if (order.is_known && order.ram > room)
        needed_ = std::move(fewer);
      else
        ++i;
    }
    const std::int64_t least = order_for(needed_, -1).ram;
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

  // Recomputing what is there already makes room in between, so that every part of these ops is tried.
  // Returns an order within `enough`, or the best.
  [[nodiscard]] LeastOrder order_for(std::vector<int> needed, std::int64_t enough) {
    std::ranges::sort(needed);
    OpsToOrder set{{}, {}, t_.before, needed};
    std::vector<int> required;
    for (const int v : needed)
      if (!require(v, required)) return {};
    std::vector<int> optional;
    for (const int op : t_.recomputed)
      if (contains(t_.repeated, op) && (contains(required, op) || matters(op, required)))
        set.any_times.push_back(op);
      else if (!contains(required, op) && matters(op, required))
        optional.push_back(op);
    if (optional.size() > kMostOptional) return {.is_known = false};
    LeastOrder best;
    for (std::uint32_t part = 0; part < 1U << optional.size() && best.ram > enough; ++part) {
      set.once.clear();
      for (const int op : required)
        if (!contains(t_.repeated, op)) set.once.push_back(op);
      for (std::size_t i = 0; i < optional.size(); ++i)
        if ((part >> i & 1) != 0) insert_sorted(set.once, optional[i]);
      LeastOrder order = least_order(p_, set);
      states_ += order.states;
      if (!order.is_known) return order;
      if (order.ram < best.ram) best = std::move(order);
    }
    return best;
  }

  // Whether it can help to recompute an op that is not required: its results are there before, or one that
  // matters reads them.
  [[nodiscard]] bool matters(int op, const std::vector<int>& required) const {
    return std::ranges::any_of(p_.writes[at(op)], [&](int v) {
      if (contains(t_.before, v)) return true;
      return std::ranges::any_of(p_.users[at(v)], [&](int user) {
        return contains(t_.recomputed, user) && !contains(required, user) && matters(user, required);
      });
    });
  }

  // Also the values and ops of which one more could help: others lead to none of these.
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

TransitionAnswer look_at(const Problem& problem, const StageTransition& transition) {
  return Transition(problem, transition).answer();
}

}  // namespace poet
