// Sets of persistent values on storage in the order of what quick searches make of them, and RAM in which
// there is a plan.

#include "poet/ranked_sets.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "poet/base/numbers.h"
#include "poet/optimize/problem/loads.h"
#include "poet/optimize/problem/residence.h"
#include "poet/optimize/quick_energy.h"
#include "poet/pipeline/pose.h"
#include "poet/plan/allowance.h"
#include "poet/quick_least_ram.h"
#include "tests/support/effort.h"
#include "tests/support/linear_cases.h"

namespace poet {
namespace {

using PagedSet = std::vector<ValueId>;

double quick_joules(const Instance& instance, const Limits& limits) {
  const auto answer = quick_answer([] { return false; }, instance, limits);
  return answer ? answer->energy.value() : kInfinity;
}

TEST(RankedSets, BestFirst) {
  int several = 0;
  int hopeless = 0;
  int reordered = 0;
  int added = 0;
  for (int seed = 1; seed <= test::effort(200); ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    const test::PagedCase c = test::paged_case(static_cast<std::uint64_t>(seed), 5, 12);
    const Instance& instance = c.problem.instance;
    const Limits limits{c.problem.limits.ram_budget, {}, {}};
    const std::vector<PagedSet> sets = paged_sets(instance, limits);
    const RankedSets ranked = ranked_sets(instance, limits, sets, {});
    // All of the given ones, and others that fit.
    for (const PagedSet& paged : sets) EXPECT_EQ(std::ranges::count(ranked.sets, paged), 1);
    added += static_cast<int>(ranked.sets.size() - sets.size());
    EXPECT_EQ(ranked_sets(instance, limits, sets, Stop(0)).sets, sets);  // as given where none is searched
    std::vector<double> joules;
    std::vector<Bytes> floors;
    for (const PagedSet& paged : ranked.sets) {
      joules.push_back(quick_joules(with_paged(instance, paged), limits));
      floors.push_back(ram_floor(with_paged(instance, paged), Semantics::device).bytes());
    }
    EXPECT_TRUE(std::ranges::all_of(floors, [&](Bytes floor) { return floor <= limits.ram_budget; }));
    const double least = joules.empty() ? 0 : std::ranges::min(joules);
    // Those within 2% of the least energy by the RAM that they need, the others by energy.
    const auto similar = static_cast<std::ptrdiff_t>(
        std::ranges::count_if(joules, [&](double one) { return one <= 1.02 * least; }));
    EXPECT_TRUE(std::all_of(joules.begin(), joules.begin() + similar,
                            [&](double one) { return one <= 1.02 * least; }));
    EXPECT_TRUE(std::is_sorted(floors.begin(), floors.begin() + similar));
    EXPECT_TRUE(std::is_sorted(joules.begin() + similar, joules.end()));
    reordered += std::ranges::is_sorted(joules) ? 0 : 1;
    if (joules.size() == 1) {
      EXPECT_EQ(ranked.promising, 1U);
    }
    for (std::size_t i = 0; i < joules.size() && joules.size() > 1; ++i)
      EXPECT_EQ(joules[i] <= 1.1 * least, i < ranked.promising) << i;
    several += joules.size() > 1 ? 1 : 0;

    // What the set that writes least can do, and no other.
    const auto written = [&](const PagedSet& paged) {
      return with_loads(with_paged(instance, paged)).written_home;
    };
    if (sets.empty()) continue;
    Limits few = limits;
    few.max_bytes_written = written(*std::ranges::min_element(sets, {}, written));
    const RankedSets left = ranked_sets(instance, few, sets, {});
    EXPECT_TRUE(std::ranges::all_of(
        left.sets, [&](const PagedSet& paged) { return written(paged) == *few.max_bytes_written; }));
    hopeless += left.sets.size() < sets.size() ? 1 : 0;
    EXPECT_GE(left.promising, 1U);
    few.max_bytes_written = *few.max_bytes_written - Bytes(1);
    EXPECT_EQ(ranked_sets(instance, few, sets, {}).sets.size(), sets.size());
  }
  EXPECT_GT(several, test::enough(50));
  EXPECT_GT(hopeless, test::enough(20));
  EXPECT_GT(reordered, test::enough(1));
  EXPECT_GT(added, test::enough(20));
}

// A little below the RAM that keeping all of linear's parameters takes, a few parts of them have to be paged:
// 7.74 mJ if they leave just enough of the other RAM free; 7.94 mJ if they leave a 32nd, 13.6 mJ a quarter.
TEST(RankedSets, PageNoMoreThanIsNeeded) {
  Policy policy;
  policy.persistent = PersistentPolicy::automatic;
  policy.split.part = Bytes(4'096);
  policy.ram = Bytes(158'000);
  const Posed posed =
      pose({BuiltInNetwork{"linear", std::nullopt}, {}, {}, {}}, {"m4", std::nullopt}, policy);
  const Instance& instance = posed.workload.instance;
  const RankedSets ranked = ranked_sets(instance, posed.limits, paged_sets(instance, posed.limits), {});
  ASSERT_FALSE(ranked.sets.empty());
  EXPECT_LT(quick_joules(with_paged(instance, ranked.sets.front()), posed.limits), 7.8e-3);
}

TEST(QuickLeastRam, HoldsAPlanAndIsNotMuch) {
  int found = 0;
  for (int seed = 1; seed <= test::effort(200); ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    const test::PagedCase c = test::paged_case(static_cast<std::uint64_t>(seed), 5, 12);
    const Instance instance = with_paged(c.problem.instance, pageable(c.problem.instance));
    const Bytes floor = ram_floor(instance, Semantics::device).bytes();
    const auto least = quick_least_ram(instance, {}, floor, {});
    if (!least) continue;
    ++found;
    EXPECT_GE(*least, floor);
    EXPECT_LE(*least, Bytes(2 * floor.value()));
    EXPECT_LT(quick_joules(instance, {*least, {}, {}}), kInfinity);
  }
  EXPECT_GT(found, test::enough(150));
}

}  // namespace
}  // namespace poet
