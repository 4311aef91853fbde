// Random clauses and sums against all assignments.

#include "poet/optimize/clauses/clause_solver.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace poet {
namespace {

constexpr std::int64_t kSolverEffort = 100'000'000;

struct Sum {
  std::vector<WeightedLiteral> terms;
  std::int64_t bound = 0;
  Literal unless;
};

struct Formula {
  int variables = 0;
  std::vector<Clause> clauses;
  std::vector<Clause> hidden;  // which only the check knows
  std::vector<Sum> sums;
};

class Dice {
 public:
  explicit Dice(unsigned seed) : engine_(seed) {}
  int below(int n) { return static_cast<int>(engine_() % static_cast<unsigned>(n)); }
  Literal literal(int variables) { return {below(2 * variables)}; }

 private:
  std::mt19937 engine_;
};

Formula random_formula(unsigned seed) {
  Dice dice(seed);
  Formula f;
  f.variables = 4 + dice.below(9);
  const auto clause = [&] {
    Clause made;
    for (int i = 0; i < 3; ++i) made.push_back(dice.literal(f.variables));
    return made;
  };
  for (int i = 3 * f.variables; i > 0; --i) f.clauses.push_back(clause());
  for (int i = dice.below(6); i > 0; --i) f.hidden.push_back(clause());
  for (int i = dice.below(4); i > 0; --i) {
    Sum sum;
    std::int64_t all = 0;
    for (int v = 0; v < f.variables; ++v) {
      const std::int64_t weight = dice.below(10);
      sum.terms.push_back({weight, {2 * v + dice.below(2)}});
      all += weight;
    }
    sum.bound = all / 3;
    if (dice.below(2) == 0) sum.unless = dice.literal(f.variables);
    std::erase_if(sum.terms, [&](const WeightedLiteral& term) {
      return sum.unless.exists() && term.literal.variable() == sum.unless.variable();
    });
    f.sums.push_back(sum);
  }
  return f;
}

template <class IsTrue>
bool satisfies(const Formula& f, const IsTrue& is_true) {
  const auto holds = [&](const Clause& clause) { return std::ranges::any_of(clause, is_true); };
  for (const auto* clauses : {&f.clauses, &f.hidden})
    if (!std::ranges::all_of(*clauses, holds)) return false;
  return std::ranges::all_of(f.sums, [&](const Sum& sum) {
    if (sum.unless.exists() && is_true(sum.unless)) return true;
    std::int64_t total = 0;
    for (const auto& [weight, literal] : sum.terms) total += is_true(literal) ? weight : 0;
    return total <= sum.bound;
  });
}

bool has_assignment(const Formula& f, Literal assumption) {
  for (int bits = 0; bits < 1 << f.variables; ++bits) {
    const auto is_true = [bits](Literal literal) {
      return ((bits >> literal.variable() & 1) != 0) != literal.is_negated();
    };
    if (is_true(assumption) && satisfies(f, is_true)) return true;
  }
  return false;
}

TEST(ClauseSolver, AgreesWithAllAssignments) {
  int satisfiable = 0, not_satisfiable = 0;
  for (unsigned seed = 1; seed <= 2'000; ++seed) {
    SCOPED_TRACE(seed);
    const Formula f = random_formula(seed);
    ClauseSolver solver;
    for (int v = 0; v < f.variables; ++v) solver.add_variable(v % 2 == 0, 0);
    for (const Clause& clause : f.clauses) solver.add_clause(clause);
    for (const Sum& sum : f.sums) solver.add_at_most(sum.terms, sum.bound, sum.unless);
    const auto is_true = [&](Literal literal) { return solver.is_true(literal); };
    const auto broken = [&] {
      std::vector<Clause> clauses;
      for (const Clause& clause : f.hidden)
        if (std::ranges::none_of(clause, is_true)) clauses.push_back(clause);
      return clauses;
    };
    for (const Literal assumption : {Literal{0}, Literal{1}, Literal{4}}) {
      const Satisfiable answer = solver.solve(assumption, kSolverEffort, {}, broken);
      ASSERT_EQ(answer == Satisfiable::yes, has_assignment(f, assumption));
      ASSERT_NE(answer, Satisfiable::gave_up);
      (answer == Satisfiable::yes ? satisfiable : not_satisfiable)++;
      if (answer == Satisfiable::yes) {
        EXPECT_TRUE(is_true(assumption));
        EXPECT_TRUE(satisfies(f, is_true));
      }
    }
  }
  EXPECT_GT(satisfiable, 500);
  EXPECT_GT(not_satisfiable, 500);
}

// More pigeons than holes: nothing short proves it, so that clauses are forgotten on the way.
TEST(ClauseSolver, ProvesWithLimitedMemory) {
  constexpr int kHoles = 8;
  ClauseSolver solver;
  const auto in = [](int pigeon, int hole) { return Literal::of(pigeon * kHoles + hole); };
  for (int i = 0; i < (kHoles + 1) * kHoles; ++i) solver.add_variable(true, 0);
  for (int pigeon = 0; pigeon <= kHoles; ++pigeon) {
    Clause somewhere;
    for (int hole = 0; hole < kHoles; ++hole) somewhere.push_back(in(pigeon, hole));
    solver.add_clause(somewhere);
  }
  for (int hole = 0; hole < kHoles; ++hole) {
    std::vector<WeightedLiteral> terms;
    for (int pigeon = 0; pigeon <= kHoles; ++pigeon) terms.push_back({1, in(pigeon, hole)});
    solver.add_at_most(terms, 1);
  }
  const Literal free = Literal::of(solver.add_variable(true, 0));
  EXPECT_EQ(solver.solve(free, 50 * kSolverEffort, {}, [] { return std::vector<Clause>{}; }),
            Satisfiable::no);
  EXPECT_GT(solver.conflicts(), 4'000);
}

TEST(ClauseSolver, GivesUpAfterItsEffort) {
  ClauseSolver solver;
  Literal last{};
  for (int i = 0; i < 1'000; ++i) last = Literal::of(solver.add_variable(true, 0));
  for (int i = 1; i < 1'000; ++i) solver.add_clause({Literal::of(i), ~Literal::of(i - 1)});
  EXPECT_EQ(solver.solve(last, 0, {}, [] { return std::vector<Clause>{}; }), Satisfiable::gave_up);
  EXPECT_EQ(solver.solve(last, kSolverEffort, {}, [] { return std::vector<Clause>{}; }), Satisfiable::yes);
}

}  // namespace
}  // namespace poet
