#include "poet/study/pareto.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "poet/study/csv.h"

namespace poet::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(NonDominated, ByHand) {
  //  y
  //  4 a . . .
  //  3 . b c .      c loses to b
  //  2 . . . .
  //  1 . . . d, e   equal: both stay; f at (4, 1) loses to them, g at (1, 5) to a
  const std::vector<TradeOff> points = {{1, 4}, {2, 3}, {3, 3}, {3.5, 1}, {3.5, 1}, {4, 1}, {1, 5}};
  EXPECT_THAT(non_dominated(points), ElementsAre(true, true, false, true, true, false, false));
  EXPECT_TRUE(non_dominated({}).empty());
}

SweepResult result(const std::string& instance, const std::string& method, std::int64_t ram, double seconds,
                   double joules) {
  SweepResult out;
  out.instance = instance;
  out.method = method;
  out.verdict = "holds";
  out.peak_ram_bytes = ram;
  out.runtime_seconds = seconds;
  out.energy_joules = joules;
  return out;
}

TEST(ParetoFlags, CompareWithinInstanceAndMethod) {
  std::vector<SweepResult> results = {
      result("i", "poet", 100, 2, 10),   // best in both figures with the next two
      result("i", "poet", 50, 2, 11),    // less RAM, more energy; time the same: beaten
      result("i", "rotor", 100, 1, 12),  // beaten in RAM by the first; fastest
      result("j", "rotor", 900, 9, 90),  // alone on its instance
      result("i", "rotor", 1, 0.1, 1),   // would beat all, but holds nothing
  };
  results[4].verdict = "over limits";
  const std::vector<ParetoFlags> flags = pareto_flags(results);
  ASSERT_EQ(flags.size(), 5U);
  const auto text = [&flags](std::size_t i) {
    return std::to_string(flags[i].energy_ram) + std::to_string(flags[i].energy_time) +
           std::to_string(flags[i].energy_ram_of_method) + std::to_string(flags[i].energy_time_of_method);
  };
  EXPECT_EQ(text(0), "1111");
  EXPECT_EQ(text(1), "1010");
  EXPECT_EQ(text(2), "0111");
  EXPECT_EQ(text(3), "1111");
  EXPECT_EQ(text(4), "0000");
}

TEST(Csv, QuotesAndLeavesOutWhatIsAbsent) {
  SweepResult one = result("{\"a\":1}", "poet", 100, 0.1, 1.0 / 3);
  one.key = "k";
  one.reason = "a, b";
  const std::vector<SweepResult> results = {one};
  const std::string text = csv_text(results, pareto_flags(results));
  EXPECT_EQ(text.substr(0, 21), "key,instance,network,");
  EXPECT_THAT(text, HasSubstr("\nk,\"{\"\"a\"\":1}\",,"));
  EXPECT_THAT(text, HasSubstr(",holds,\"a, b\",,"));
  EXPECT_THAT(text, HasSubstr(",0.3333333333333333,"));
  EXPECT_EQ(text.substr(text.size() - 9), ",1,1,1,1\n");
  // As many columns in every line, those in quotes aside.
  const std::string heading = text.substr(0, text.find('\n'));
  EXPECT_EQ(std::count(heading.begin(), heading.end(), ',') + 1,
            std::count(text.begin() + static_cast<std::ptrdiff_t>(heading.size()), text.end(), ','));
}

}  // namespace
}  // namespace poet::test
