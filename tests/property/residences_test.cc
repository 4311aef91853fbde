// The choices of persistent values on storage that are tried, and RAM in which there is a plan.

#include "poet/compile/variants/residences.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "poet/compile/compile.h"
#include "poet/compile/quick_least_ram.h"
#include "poet/optimize/problem/loads.h"
#include "poet/optimize/problem/residence.h"
#include "poet/pipeline/pose.h"
#include "poet/plan/allowance.h"
#include "tests/support/effort.h"
#include "tests/support/linear_cases.h"

namespace poet {
namespace {

std::shared_ptr<const Form> form_of(const CompileRequest& request) {
  auto form = std::make_shared<Form>();
  form->instance = request.instance;
  form->keep_all = replay_keep_all(request.instance, Semantics::device);
  form->all = pageable(request.instance);
  return form;
}

CompileRequest request_of(const Instance& instance, Bytes ram_budget) {
  CompileRequest request;
  request.instance = instance;
  request.limits.ram_budget = ram_budget;
  request.choose_paged = true;
  return request;
}

TEST(Residences, FirstChoicesAndThoseBesideAreWithinTheLimits) {
  int several = 0;
  int hopeless = 0;
  int added = 0;
  for (int seed = 1; seed <= test::effort(200); ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    const test::PagedCase c = test::paged_case(static_cast<std::uint64_t>(seed), 5, 12);
    const Instance& instance = c.problem.instance;
    CompileRequest request = request_of(instance, c.problem.limits.ram_budget);
    const std::shared_ptr<const Form> form = form_of(request);
    const auto floor_of = [&](const PagedSet& paged) {
      return ram_floor(with_paged(instance, paged), Semantics::device).bytes();
    };
    const std::vector<PagedSet> first = first_choices(request, *form);
    EXPECT_EQ(first, paged_sets(instance, request.limits, regime_of(0)));
    if (first.empty()) continue;
    several += first.size() > 1 ? 1 : 0;
    for (const PagedSet& best : first) {
      if (best.empty()) continue;
      const std::vector<PagedSet> beside = choices_beside(request, *form, first, best, 4);
      EXPECT_LE(beside.size(), 6U);
      added += static_cast<int>(beside.size());
      for (const PagedSet& paged : beside) {
        EXPECT_EQ(std::ranges::count(first, paged), 0);
        EXPECT_TRUE(is_possible(request, *form, paged));
        EXPECT_LE(floor_of(paged), request.limits.ram_budget);
      }
    }

    // Only those that write no more than they may, unless none does.
    const auto written = [&](const PagedSet& paged) {
      return with_loads(with_paged(instance, paged)).written_home;
    };
    const Bytes least = written(*std::ranges::min_element(first, {}, written));
    request.limits.max_bytes_written = least;
    const std::vector<PagedSet> left = first_choices(request, *form);
    EXPECT_FALSE(left.empty());
    EXPECT_TRUE(std::ranges::all_of(left, [&](const PagedSet& paged) { return written(paged) <= least; }));
    hopeless += left.size() < paged_sets(instance, request.limits, regime_of(0)).size() ? 1 : 0;
    request.limits.max_bytes_written = Bytes(-1);
    EXPECT_EQ(first_choices(request, *form), paged_sets(instance, request.limits, regime_of(0)));
  }
  EXPECT_GT(several, test::enough(50));
  EXPECT_GT(hopeless, test::enough(20));
  EXPECT_GT(added, test::enough(20));
}

// A little below the RAM that keeping all of linear's parameters takes, a few parts of them have to be paged:
// 7.74 mJ if they leave just enough of the other RAM free; 7.94 mJ if they leave a 32nd, 13.6 mJ a quarter.
TEST(Residences, PageNoMoreThanIsNeeded) {
  Policy policy;
  policy.persistent = PersistentPolicy::automatic;
  policy.split.part = Bytes(4'096);
  policy.ram = Bytes(158'000);
  const Posed posed =
      pose({BuiltInNetwork{"linear", std::nullopt}, {}, {}, {}}, {"m4", std::nullopt}, policy);
  CompileRequest request = request_of(posed.workload.instance, posed.limits.ram_budget);
  request.options.time_limit_seconds = 5;
  EXPECT_LT(compile(request).report.energy.value(), 7.8e-3);
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
    CompileRequest request;
    request.instance = instance;
    request.limits.ram_budget = *least;
    request.options.gap = 1e9;  // any plan
    EXPECT_TRUE(compile(request).has_plan());
  }
  EXPECT_GT(found, test::enough(150));
}

}  // namespace
}  // namespace poet
