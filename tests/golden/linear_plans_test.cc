// Plans that disproved what compile() once said of their instances. Each file in golden/linear_plans is a
// plan within its limits, made by an exhaustive search over linear plans written by others, and named after
// what was claimed at version 479e439: `infeasible`, or `beaten`: optimal with more energy.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "poet/compile.h"
#include "poet/plan/file/plan_file.h"
#include "tests/support/linear_search.h"
#include "tests/support/paths.h"

namespace poet {
namespace {

std::vector<std::filesystem::path> files() {
  std::vector<std::filesystem::path> found;
  for (const auto& entry :
       std::filesystem::directory_iterator(test::repository() / "tests/golden/linear_plans"))
    found.push_back(entry.path());
  std::sort(found.begin(), found.end());
  return found;
}

bool pages(const Plan& plan) {
  return std::any_of(plan.steps.begin(), plan.steps.end(),
                     [](const Step& step) { return step.kind == StepKind::page_out; });
}

class LinearPlan : public testing::TestWithParam<std::filesystem::path> {};

TEST_P(LinearPlan, DisprovesNoClaim) {
  const PlanFile file = read_plan(GetParam());
  const Report report = replay(file.instance, file.plan, file.semantics, file.limits);
  ASSERT_TRUE(report.valid) << report.violation;
  const double energy = report.energy.value();
  // Every set of mechanisms that the plan does with.
  for (const bool paging : {true, false})
    for (const bool rematerialization : {true, false}) {
      if ((!paging && pages(file.plan)) || (!rematerialization && report.recomputations > 0)) continue;
      SCOPED_TRACE(fmt::format("paging {}, recomputation {}", paging, rematerialization));
      CompileRequest request{file.instance, file.limits, file.semantics, {}};
      request.options.gap = 1e-6;
      request.options.time_limit_seconds = 5;
      request.options.paging = paging;
      request.options.rematerialization = rematerialization;
      const CompileResult answer = compile(request);
      EXPECT_NE(answer.certificate.status, Status::infeasible);
      const double baseline = answer.keep_all.energy.value();
      EXPECT_LE(answer.certificate.bounds.every_plan.value(), energy + 1e-7 * baseline);
      if (answer.certificate.status == Status::optimal) {
        EXPECT_LE(answer.report.energy.value(), energy + 1e-6 * baseline);
      }
    }
}

TEST_P(LinearPlan, IsOneThatTheSearchKnows) {
  const PlanFile file = read_plan(GetParam());
  const Report report = replay(file.instance, file.plan, file.semantics, file.limits);
  test::LinearSearchOptions options;
  options.at_most_joules = report.energy.value() * (1 + 1e-12);
  const test::LinearSearchResult found =
      test::search_linear_plans(file.instance, file.semantics, file.limits, options);
  ASSERT_TRUE(found.finished);
  ASSERT_TRUE(found.best.has_value());
  const Report best = replay(file.instance, found.best->plan, file.semantics, file.limits);
  EXPECT_TRUE(best.valid) << best.violation;
  EXPECT_NEAR(best.energy.value(), found.best->joules, 1e-9);
}

INSTANTIATE_TEST_SUITE_P(Golden, LinearPlan, testing::ValuesIn(files()), [](const auto& file) {
  std::string name = file.param.stem().string();
  std::replace(name.begin(), name.end(), '.', '_');
  return name;
});

}  // namespace
}  // namespace poet
