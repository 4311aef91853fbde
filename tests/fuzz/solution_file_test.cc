// Whatever is in a solution file: finite values for each column, or an InputError.

#include <gtest/gtest.h>

#include <cmath>
#include <sstream>
#include <string>

#include "poet/base/error.h"
#include "poet/optimize/solvers/mps.h"
#include "tests/support/random_instance.h"

namespace poet {
namespace {

TEST(SolutionFileFuzz, IsReadOrRefused) {
  const ColumnNames names = {"R_1_0", "S_2_3", "x2", "7"};
  const std::string pieces[] = {"R_1_0",
                                "S_2_3",
                                "x2",
                                "7",
                                "obj",
                                " ",
                                " ",
                                "\n",
                                "\n",
                                "\t",
                                "1",
                                "-0.5",
                                "1e308",
                                "1e309",
                                "nan",
                                "inf",
                                "#",
                                "# Rows",
                                "# Columns 4",
                                "**",
                                "c",
                                "j",
                                "s mip 1 4 o 5",
                                "Model status",
                                "Infeasible",
                                "None",
                                "Objective 5",
                                "solution status: optimal",
                                "objective value: 3",
                                "Optimal - objective value 3",
                                "no solution available",
                                "e o f",
                                std::string(1, '\0'),
                                "\xff",
                                "\r\n",
                                "0x10",
                                "+",
                                "-",
                                "."};
  test::Rng rng(5);
  int read = 0;
  int refused = 0;
  for (int round = 0; round < 20000; ++round) {
    std::string text;
    for (int i = test::pick(rng, 0, 24); i > 0; --i) {
      text += pieces[static_cast<std::size_t>(test::pick(rng, 0, static_cast<int>(std::size(pieces)) - 1))];
      if (test::chance(rng, 0.4)) text += test::chance(rng, 0.6) ? " " : "\n";
    }
    if (!text.empty() && test::chance(rng, 0.2))
      text[static_cast<std::size_t>(test::pick(rng, 0, static_cast<int>(text.size()) - 1))] =
          static_cast<char>(test::pick(rng, -128, 127));
    std::istringstream in(text);
    try {
      const SolutionFile file = read_solution(in, names, "fuzz");
      ASSERT_EQ(file.x.size(), names.size());
      for (const double value : file.x) ASSERT_TRUE(std::isfinite(value)) << text;
      ++read;
    } catch (const InputError& error) {
      ASSERT_EQ(std::string(error.what()).rfind("fuzz:", 0), 0U) << error.what();
      ++refused;
    }
  }
  EXPECT_GT(read, 100);
  EXPECT_GT(refused, 1000);
}

}  // namespace
}  // namespace poet
