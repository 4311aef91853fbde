// Linear expressions and rows: what is summed, what is left out, what is a contradiction.

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "poet/optimize/milp/model.h"

namespace poet {
namespace {

using Entries = std::vector<std::pair<int, double>>;

TEST(Term, IsAColumnOrAConstant) {
  EXPECT_TRUE(Term::of(0).is_column());
  EXPECT_FALSE(Term::of(0).is_zero());  // a column, whatever its value
  EXPECT_FALSE(Term::fixed(1).is_column());
  EXPECT_FALSE(Term::fixed(1).is_zero());
  EXPECT_TRUE(Term::fixed(0).is_zero());
}

TEST(LinearExpression, ListsColumnsAndSumsConstants) {
  Linear sum;
  sum.add(2, Term::of(3)).add(5, Term::fixed(2)).add(-1, Term::fixed(4));
  EXPECT_EQ(sum.terms(), (Entries{{3, 2}}));
  EXPECT_EQ(sum.constant(), 6);  // 5 * 2 - 4
  Linear more;
  more.add(1, Term::of(0)).add(sum, -2);
  EXPECT_EQ(more.terms(), (Entries{{0, 1}, {3, -4}}));
  EXPECT_EQ(more.constant(), -12);
}

// Two binaries and a number of at least -3.
class ModelRows : public testing::Test {
 protected:
  [[nodiscard]] Entries row(int r) const {
    Entries entries;
    const auto i = static_cast<std::size_t>(r);
    for (std::size_t k = model.row_start[i]; k < model.row_start[i + 1]; ++k)
      entries.emplace_back(model.entry_column[k], model.entry_value[k]);
    return entries;
  }

  Model model;
  Term x = Term::of(model.add_binary(1));
  Term y = Term::of(model.add_binary(-2));
  Term z = Term::of(model.add_column(-3, kInfinity, 0.5, false));
};

TEST_F(ModelRows, ColumnsAreAsAdded) {
  EXPECT_EQ(model.columns(), 3);
  EXPECT_EQ(model.rows(), 0);
  EXPECT_EQ(model.lower, (std::vector<double>{0, 0, -3}));
  EXPECT_EQ(model.upper, (std::vector<double>{1, 1, kInfinity}));
  EXPECT_EQ(model.cost, (std::vector<double>{1, -2, 0.5}));
  EXPECT_EQ(model.integer, (std::vector<char>{1, 1, 0}));
}

TEST_F(ModelRows, RepeatedColumnsAreSummed) {
  model.add_row(Linear().add(2, x).add(1, z).add(3, x), 1, 4);
  ASSERT_EQ(model.rows(), 1);
  EXPECT_EQ(row(0), (Entries{{0, 5}, {2, 1}}));
  EXPECT_EQ(model.row_lower, (std::vector<double>{1}));
  EXPECT_EQ(model.row_upper, (std::vector<double>{4}));
}

TEST_F(ModelRows, CancelledTermsAreGone) {
  model.at_most(Linear().add(1, x).add(1, y).add(-1, x), 0.5);
  model.at_most(Linear().add(1, x).add(-1, x).add(2, x), 1);  // cancelled, then there again
  ASSERT_EQ(model.rows(), 2);
  EXPECT_EQ(row(0), (Entries{{1, 1}}));
  EXPECT_EQ(row(1), (Entries{{0, 2}}));
}

// Scratch space of one row does not leak into the next, nor do columns that come later trouble it.
TEST_F(ModelRows, RowsAreIndependent) {
  model.at_least(Linear().add(1, x).add(1, y), 1);
  model.at_most(Linear().add(1, x).add(1, y), 2);  // always true
  const Term late = Term::of(model.add_binary(0));
  model.at_least(Linear().add(4, late).add(1, x), 1);
  ASSERT_EQ(model.rows(), 2);
  EXPECT_EQ(row(0), (Entries{{0, 1}, {1, 1}}));
  EXPECT_EQ(row(1), (Entries{{3, 4}, {0, 1}}));
}

TEST_F(ModelRows, ConstantsMoveToTheBounds) {
  model.add_row(Linear().add(1, z).add(2, Term::fixed(5)), -1, 12);  // -1 <= z + 10 <= 12
  ASSERT_EQ(model.rows(), 1);
  EXPECT_EQ(row(0), (Entries{{2, 1}}));
  EXPECT_EQ(model.row_lower.front(), -11);
  EXPECT_EQ(model.row_upper.front(), 2);
}

TEST_F(ModelRows, RowsThatNoPointBreaksAreLeftOut) {
  model.at_most(Linear().add(1, x).add(1, y), 2);
  model.at_least(Linear().add(1, x).add(-1, y), -1);
  model.at_least(Linear().add(2, z), -6);                    // z >= -3
  model.at_most(Linear().add(-1, z), 3);                     // the same
  model.add_row(Linear().add(1, x).add(-1, x), 0, 0);        // 0 = 0
  model.at_most(Linear().add(1, Term::fixed(7)), 7);         // 7 <= 7
  model.add_row(Linear().add(5, z), -kInfinity, kInfinity);  // no bound at all
  EXPECT_EQ(model.rows(), 0);
  EXPECT_TRUE(model.entry_column.empty());
  EXPECT_FALSE(model.contradiction());
}

TEST_F(ModelRows, RowsThatSomePointBreaksStay) {
  model.at_most(Linear().add(1, x).add(1, y), 1.999);
  model.at_least(Linear().add(1, x).add(-1, y), -0.999);
  model.at_least(Linear().add(1, z), -2.999);
  model.at_most(Linear().add(1, z), 1e9);      // z has no upper bound
  model.add_row(Linear().add(1, x), -1, 0.5);  // only one side can be violated
  EXPECT_EQ(model.rows(), 5);
}

TEST_F(ModelRows, ConstantsThatCannotHoldAreAContradiction) {
  model.at_most(Linear().add(1, Term::fixed(3)), 2);
  EXPECT_TRUE(model.contradiction());
  EXPECT_EQ(model.rows(), 0);
}

TEST_F(ModelRows, CancelledColumnsThatCannotHoldAreAContradiction) {
  model.at_least(Linear().add(1, x).add(-1, x), 1);
  EXPECT_TRUE(model.contradiction());
}

TEST_F(ModelRows, ImpossibleRowsWithColumnsAreLeftToTheSolver) {
  model.at_least(Linear().add(1, x).add(1, y), 3);
  EXPECT_EQ(model.rows(), 1);
  EXPECT_FALSE(model.contradiction());
}

}  // namespace
}  // namespace poet
