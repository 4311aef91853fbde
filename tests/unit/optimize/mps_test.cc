// MPS files: their text, and what another program reads from them. Clp's reader stands for all.

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <ClpSimplex.hpp>
#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "poet/base/error.h"
#include "poet/optimize/solvers/mps.h"
#include "tests/support/program.h"
#include "tests/support/random_instance.h"

namespace poet {
namespace {

std::string text_of(const Model& model, const ColumnNames& names,
                    const std::vector<std::string>& comments = {}) {
  std::ostringstream out;
  write_mps(out, model, names, comments);
  return out.str();
}

TEST(Mps, TextOfASmallModel) {
  Model model;
  const Term a = Term::of(model.add_binary(2.5));
  const Term b = Term::of(model.add_column(-1, kInfinity, 0, false));
  const Term c = Term::of(model.add_column(0, 7, -1, true));
  model.cost_constant = 10;
  model.at_most(Linear().add(1, a).add(3, b), 4);
  model.add_row(Linear().add(1, b).add(-1, c), 1, 1);
  model.add_row(Linear().add(1, a).add(1, b).add(1, c), -2, 5);
  EXPECT_EQ(text_of(model, {"R_1_0", "b", "c"}, {"first"}),
            "* first\n"
            "NAME poet FREE\n"
            "ROWS\n"
            " N obj\n"
            " L r0\n"
            " E r1\n"
            " L r2\n"
            "COLUMNS\n"
            " marker0 'MARKER' 'INTORG'\n"
            " R_1_0 obj 2.5\n"
            " R_1_0 r0 1\n"
            " R_1_0 r2 1\n"
            " marker1 'MARKER' 'INTEND'\n"
            " b r0 3\n"
            " b r1 1\n"
            " b r2 1\n"
            " marker2 'MARKER' 'INTORG'\n"
            " c obj -1\n"
            " c r1 -1\n"
            " c r2 1\n"
            " marker3 'MARKER' 'INTEND'\n"
            "RHS\n"
            " rhs obj -10\n"
            " rhs r0 4\n"
            " rhs r1 1\n"
            " rhs r2 5\n"
            "RANGES\n"
            " rng r2 7\n"
            "BOUNDS\n"
            " LO bnd R_1_0 0\n"
            " UP bnd R_1_0 1\n"
            " LO bnd b -1\n"
            " LO bnd c 0\n"
            " UP bnd c 7\n"
            "ENDATA\n");
}

TEST(Mps, ARangeThatWouldLoseBitsIsTwoRows) {
  Model model;
  const Term x = Term::of(model.add_column(-kInfinity, kInfinity, 1, false));
  model.add_row(Linear().add(1, x), 1e-17, 1);
  const std::string text = text_of(model, plain_names(model));
  EXPECT_NE(text.find(" L r0\n G r0b\n"), std::string::npos) << text;
  EXPECT_NE(text.find(" rhs r0 1\n rhs r0b 1e-17\n"), std::string::npos) << text;
  EXPECT_EQ(text.find("RANGES"), std::string::npos) << text;
}

TEST(Mps, UnwritableFilesAreBadInput) {
  const Model model;
  EXPECT_THROW(write_mps_file("/nowhere/model.mps", model, {}), InputError);
}

// What Clp reads is what was written, but for the last bits, which its reader is careless with.
TEST(Mps, ClpReadsTheSameModel) {
  const test::TemporaryFolder folder;
  test::Rng rng(12);
  std::uniform_real_distribution<double> real(-10, 10);
  for (int round = 0; round < 60; ++round) {
    SCOPED_TRACE(fmt::format("round {}", round));
    Model model;
    const int columns = test::pick(rng, 1, 12);
    const auto limit = [&](bool integer) { return integer ? test::pick(rng, -9, 9) : real(rng); };
    for (int c = 0; c < columns; ++c) {
      const bool integer = test::chance(rng, 0.5);
      double low = limit(integer);
      double high = limit(integer);
      if (low > high) std::swap(low, high);
      if (test::chance(rng, 0.2)) low = high;
      if (test::chance(rng, 0.3)) low = test::chance(rng, 0.5) ? 0 : -kInfinity;
      if (test::chance(rng, 0.3)) high = kInfinity;
      if (low > high) high = low;
      model.add_column(low, high, test::chance(rng, 0.3) ? 0 : real(rng), integer);
    }
    if (test::chance(rng, 0.5)) model.cost_constant = real(rng);
    for (int r = 0; r < test::pick(rng, 0, 8); ++r) {
      Linear sum;
      for (int c = 0; c < columns; ++c)
        if (test::chance(rng, 0.6)) sum.add(real(rng) / 3, Term::of(c));
      double low = real(rng);
      double high = real(rng);
      if (low > high) std::swap(low, high);
      if (test::chance(rng, 0.2)) low = high;
      if (test::chance(rng, 0.3)) low = -kInfinity;
      if (test::chance(rng, 0.3)) high = kInfinity;
      model.add_row(sum, low, high);
    }
    if (model.contradiction()) continue;
    const std::string file = folder.file("model.mps");
    const ColumnNames names = plain_names(model);
    write_mps_file(file, model, names);
    ClpSimplex clp;
    clp.setLogLevel(0);
    ASSERT_EQ(clp.readMps(file.c_str(), true), 0);
    const auto coin = [](double value) { return std::clamp(value, -COIN_DBL_MAX, COIN_DBL_MAX); };
    ASSERT_EQ(clp.numberColumns(), columns);
    EXPECT_DOUBLE_EQ(clp.objectiveOffset(), -model.cost_constant);
    for (int c = 0; c < columns; ++c) {
      const auto i = static_cast<std::size_t>(c);
      EXPECT_EQ(clp.columnName(c), names[i]);
      EXPECT_DOUBLE_EQ(clp.columnLower()[c], coin(model.lower[i]));
      EXPECT_DOUBLE_EQ(clp.columnUpper()[c], coin(model.upper[i]));
      EXPECT_DOUBLE_EQ(clp.objective()[c], model.cost[i]);
      EXPECT_EQ(clp.isInteger(c), model.integer[i] != 0);
    }
    // Rows in order; a row that lost no bits as a range is one, else two.
    int at = 0;
    for (std::size_t r = 0; r < model.row_lower.size(); ++r) {
      const std::string name = fmt::format("r{}", r);
      ASSERT_LT(at, clp.numberRows());
      ASSERT_EQ(clp.rowName(at), name);
      double low = clp.rowLower()[at];
      const double high = clp.rowUpper()[at];
      for (std::size_t k = model.row_start[r]; k < model.row_start[r + 1]; ++k)
        EXPECT_DOUBLE_EQ(clp.matrix()->getCoefficient(at, model.entry_column[k]), model.entry_value[k]);
      ++at;
      if (at < clp.numberRows() && clp.rowName(at) == name + "b") low = clp.rowLower()[at++];
      EXPECT_DOUBLE_EQ(low, coin(model.row_lower[r]));
      EXPECT_DOUBLE_EQ(high, coin(model.row_upper[r]));
    }
    EXPECT_EQ(at, clp.numberRows());
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace poet
