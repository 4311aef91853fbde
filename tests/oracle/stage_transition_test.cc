// Orders of recomputations within a stage, and obstacles to them, against every sequence of computations and
// frees.

#include "poet/optimize/clauses/stage_transition.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "poet/base/numbers.h"
#include "tests/support/effort.h"

namespace poet {
namespace {

using Ram = std::vector<char>;  // per value: whether it is there

// A graph of one value per op, about to compute its last op, some of whose operands may be overwritten.
Problem random_problem(std::mt19937& engine) {
  const auto below = [&](int n) { return static_cast<int>(engine() % static_cast<unsigned>(n)); };
  Problem p;
  p.ops = p.values = 4 + below(4);
  p.reads.resize(at(p.ops));
  p.overwritable.resize(at(p.ops));
  p.users.resize(at(p.ops));
  for (int op = 0; op < p.ops; ++op) {
    for (int u = 0; u < op; ++u)
      if (below(op + 1) < 2) p.reads[at(op)].push_back(u);
    for (const int u : p.reads[at(op)]) {
      p.users[at(u)].push_back(op);
      if (below(4) == 0) p.overwritable[at(op)].insert(p.overwritable[at(op)].begin(), u);
    }
    p.writes.push_back({op});
    p.bytes.push_back(1 + below(5));
    p.workspace.push_back(below(3));
    p.producer.push_back(op);
    p.active.push_back(1);
  }
  p.budget = 5 + below(10);
  return p;
}

std::vector<int> some_of(const std::vector<int>& all, std::mt19937& engine) {
  std::vector<int> some;
  for (const int one : all)
    if (engine() % 2 == 0) some.push_back(one);
  return some;
}

bool has(const std::vector<int>& values, int v) { return std::ranges::find(values, v) != values.end(); }

// Whether what is needed can get into RAM. `often`: ops that may be computed any number of times, `once`:
// others.
class EverySequence {
 public:
  EverySequence(const Problem& p, std::vector<int> once, std::vector<int> often, std::vector<int> needed)
      : p_(p), once_(std::move(once)), often_(std::move(often)), needed_(std::move(needed)) {}

  bool reaches(Ram ram) { return reaches(std::move(ram), std::vector<char>(at(p_.ops), 0)); }

 private:
  bool reaches(Ram ram, std::vector<char> done) {
    if (bytes(ram) > p_.budget || !seen_.insert({ram, done}).second) return false;
    if (std::ranges::all_of(needed_, [&](int v) { return ram[at(v)] != 0; })) return true;
    for (int v = 0; v < p_.values; ++v)
      if (ram[at(v)] != 0) {
        Ram less = ram;
        less[at(v)] = 0;
        if (reaches(less, done)) return true;
      }
    for (int op = 0; op < p_.ops; ++op) {
      if (!has(often_, op) && (!has(once_, op) || done[at(op)] != 0)) continue;
      if (ram[at(op)] != 0) continue;
      if (!std::ranges::all_of(p_.reads[at(op)], [&](int u) { return ram[at(u)] != 0; })) continue;
      Ram more = ram;
      more[at(op)] = 1;
      std::vector<char> now = done;
      now[at(op)] = 1;
      if (bytes(more) + p_.workspace[at(op)] <= p_.budget && reaches(more, now)) return true;
      for (const int u : p_.overwritable[at(op)]) {
        Ram over = more;
        over[at(u)] = 0;
        if (bytes(over) + p_.workspace[at(op)] <= p_.budget && reaches(over, now)) return true;
      }
    }
    return false;
  }

  [[nodiscard]] std::int64_t bytes(const Ram& ram) const {
    std::int64_t sum = 0;
    for (int v = 0; v < p_.values; ++v) sum += ram[at(v)] != 0 ? p_.bytes[at(v)] : 0;
    return sum;
  }

  const Problem& p_;
  const std::vector<int> once_, often_, needed_;
  std::set<std::pair<Ram, std::vector<char>>> seen_;
};

Ram ram_with(const Problem& p, const std::vector<int>& values) {
  Ram ram(at(p.values), 0);
  for (const int v : values) ram[at(v)] = 1;
  return ram;
}

// What no plan can do, whatever else is kept or recomputed.
bool is_obstacle(const Problem& p, const StageTransition& transition, const Obstacle& obstacle) {
  std::vector<int> once, often, before;
  for (int op = 0; op < transition.stage; ++op) {
    if (!has(obstacle.absent, op)) before.push_back(op);
    if (has(obstacle.not_done, op)) continue;
    const bool is_limited = has(transition.recomputed, op) && !has(transition.repeated, op);
    (is_limited ? once : often).push_back(op);
  }
  // What is there before may be dropped at once: RAM then was within the budget.
  for (std::size_t part = 0; part < std::size_t{1} << before.size(); ++part) {
    std::vector<int> some;
    for (std::size_t i = 0; i < before.size(); ++i)
      if ((part >> i & 1) != 0) some.push_back(before[i]);
    if (EverySequence(p, once, often, obstacle.needed).reaches(ram_with(p, some))) return false;
  }
  return true;
}

TEST(StageTransition, AgreesWithEverySequence) {
  std::mt19937 engine(1);
  int possible = 0, impossible = 0, unknown = 0;
  for (long i = test::cases(2'000, 20'000); i > 0; --i) {
    const Problem p = random_problem(engine);
    StageTransition transition;
    transition.stage = p.ops - 1;
    std::vector<int> earlier;
    for (int op = 0; op < transition.stage; ++op) earlier.push_back(op);
    transition.before = some_of(earlier, engine);
    transition.recomputed = some_of(earlier, engine);
    transition.repeated = some_of(transition.recomputed, engine);
    for (const int v : earlier)
      if (has(p.reads[at(transition.stage)], v) || engine() % 3 == 0) transition.after.push_back(v);
    std::int64_t bytes = 0;
    for (const int v : transition.before) bytes += p.bytes[at(v)];
    if (bytes > p.budget) continue;
    SCOPED_TRACE(fmt::format("case {}", i));
    const bool truth = EverySequence(p, transition.recomputed, transition.repeated, transition.after)
                           .reaches(ram_with(p, transition.before));
    const TransitionAnswer answer = find_order(p, transition);
    ASSERT_FALSE(answer.order && answer.obstacle);
    if (answer.obstacle) {
      EXPECT_FALSE(truth);
      EXPECT_TRUE(is_obstacle(p, transition, *answer.obstacle));
    }
    possible += answer.order ? 1 : 0;
    impossible += answer.obstacle ? 1 : 0;
    unknown += !answer.order && !answer.obstacle ? 1 : 0;
  }
  EXPECT_GT(possible, 100);
  EXPECT_GT(impossible, 100);
  EXPECT_EQ(unknown, 0);
}

// Each op reads the three before it: the ways through the graph are countless.
Problem ladder(int ops) {
  Problem p;
  p.ops = p.values = ops;
  p.users.resize(at(ops));
  p.overwritable.resize(at(ops));
  for (int op = 0; op < ops; ++op) {
    p.reads.emplace_back();
    for (int u = std::max(0, op - 3); u < op; ++u) {
      p.reads.back().push_back(u);
      p.users[at(u)].push_back(op);
    }
    p.writes.push_back({op});
    p.bytes.push_back(1);
    p.workspace.push_back(0);
    p.producer.push_back(op);
    p.active.push_back(1);
  }
  p.budget = 4;
  return p;
}

TEST(StageTransition, LooksAtEachOpOnce) {
  constexpr int kOps = 200;
  const Problem p = ladder(kOps);
  StageTransition transition;
  transition.stage = kOps - 1;
  for (int op = 0; op < kOps - 1; ++op) transition.recomputed.push_back(op);
  transition.after = p.reads.back();
  TransitionAnswer answer = find_order(p, transition);  // too many to put in order
  EXPECT_FALSE(answer.order || answer.obstacle);
  transition.before = {kOps - 4, kOps - 3, kOps - 2};
  transition.after.push_back(0);
  std::ranges::sort(transition.after);
  answer = find_order(p, transition);
  EXPECT_FALSE(answer.obstacle);
}

}  // namespace
}  // namespace poet
