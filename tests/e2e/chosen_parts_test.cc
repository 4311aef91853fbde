// The parts that operators are cut into and the parameters that are paged: networks where another choice,
// which fits as well, takes more energy. Each compares several by quick searches.

#include <gtest/gtest.h>

#include "poet/answer/answer.h"
#include "poet/compile.h"
#include "poet/optimize/quick_energy.h"
#include "poet/pipeline/pose.h"
#include "tests/support/effort.h"

namespace poet::test {
namespace {

// In 70% of keep-all RAM linear's 174,360 B of parameters fit and leave some 8 KB: keeping them there takes
// fine parts, which cost nothing, where paging would do with coarse ones, at thirteen times the energy.
TEST(ChosenParts, AreThoseOfTheCheaperResidence) {
  const NetworkSpec network{BuiltInNetwork{"linear", std::nullopt}, {}, {}, {}};
  const auto part = [&](PersistentPolicy persistent, double ram) {
    Policy policy;
    policy.persistent = persistent;
    policy.split = {true, {}, quick_energy};
    policy.ram = RamOfKeepAll{ram};
    const Posed posed = pose(network, {"m4", std::nullopt}, policy);
    EXPECT_NEAR(static_cast<double>(posed.limits.ram_budget.value()), ram * 260'416, 1);
    return posed.workload.part;
  };
  const auto kept = part(PersistentPolicy::resident, 0.7);
  ASSERT_TRUE(kept);
  EXPECT_LT(*kept, Bytes(8'000));
  EXPECT_EQ(part(PersistentPolicy::automatic, 0.7), kept);
  // In 40% they do not fit.
  const auto paged = part(PersistentPolicy::automatic, 0.4);
  ASSERT_TRUE(paged);
  EXPECT_GT(*paged, *kept);
}

// In 62% all parameters of resnet18 fit with fine parts, which leave 1 MB for the rest. With 9 of its 47 MB
// on storage its operators fit as they are, and a plan takes 6% less energy.
TEST(ChosenParts, AreNoneWhereAFewParametersArePaged) {
  const NetworkSpec network{BuiltInNetwork{"resnet18", std::nullopt}, {}, {}, {}};
  Policy policy;
  policy.persistent = PersistentPolicy::automatic;
  policy.split = {true, {}, quick_energy};
  policy.ram = RamOfKeepAll{0.62};
  EXPECT_FALSE(pose(network, {"a72", std::nullopt}, policy).workload.part);
}

// In 198 KB parts of 8 KiB fit easily beside linear's parameters. In finer ones a step takes 3% less energy.
TEST(ChosenParts, AreFinerThanThoseThatFitEasily) {
  const NetworkSpec network{BuiltInNetwork{"linear", std::nullopt}, {}, {}, {}};
  Policy policy;
  policy.persistent = PersistentPolicy::automatic;
  policy.split = {true, {}, quick_energy};
  policy.ram = Bytes(198'000);
  const auto part = pose(network, {"m4", std::nullopt}, policy).workload.part;
  ASSERT_TRUE(part);
  EXPECT_LE(*part, Bytes(4'096));
}

// In 100 KiB parts of 16 KiB, 921 ops, are better than those of 32 KiB, which fit.
TEST(ChosenParts, AreComparedWithNoMoreOpsThanThereIsTimeFor) {
  const NetworkSpec network{BuiltInNetwork{"resnet14_cifar", std::nullopt}, {}, {}, {}};
  Policy policy;
  policy.persistent = PersistentPolicy::automatic;
  policy.split = {true, {}, quick_energy};
  policy.ram = Bytes(100 * 1024);
  const auto part = [&] { return pose(network, {"m4", std::nullopt}, policy).workload.part; };
  EXPECT_EQ(part(), Bytes(16 * 1024));
  policy.split.compared_ops = 900;
  EXPECT_EQ(part(), Bytes(32 * 1024));
  policy.split.compared_ops = 0;
  policy.ram = Bytes(50 * 1024);  // they have to be finer
  EXPECT_EQ(part(), Bytes(16 * 1024));
}

// No parts fit beside parameters that are larger than the budget: those that say so are few.
TEST(ChosenParts, ThatCannotFitAreNoMoreThanThereIsTimeFor) {
  const NetworkSpec network{BuiltInNetwork{"resnet14_cifar", std::nullopt}, {}, {}, {}};
  Policy policy;
  policy.split = {true, {}, quick_energy};
  policy.split.compared_ops = 5'000;
  policy.ram = Bytes(100'000);
  const Posed posed = pose(network, {"m4", std::nullopt}, policy);
  EXPECT_GT(posed.workload.instance.costs.persistent, Bytes(100'000));
  EXPECT_LE(posed.workload.instance.graph.ops.size(), 5'000U);
  EXPECT_TRUE(posed.workload.part);
}

// Of the parameters that could be paged there most would write too much home; few are that do not.
TEST(ChosenParts, APlanWritesNoMoreThanItMay) {
  if (!tries_all()) GTEST_SKIP() << "one case of many seconds, for ./test --all";
  const NetworkSpec network{BuiltInNetwork{"resnet18", std::nullopt}, {}, {}, {}};
  Policy policy;
  policy.persistent = PersistentPolicy::automatic;
  policy.ram = RamOfKeepAll{0.5};
  policy.max_bytes_written = Bytes(27'892'122);
  CompileRequest how;
  how.options.time_limit_seconds = 60;
  how.options.gap = 1e9;  // any plan
  const Answer answer = answered(posed_answer(how, load(network, {"a72", std::nullopt}, policy), policy));
  ASSERT_TRUE(has_plan(answer));
  EXPECT_LE(answer.result.report.bytes_written, Bytes(27'892'122));
}

}  // namespace
}  // namespace poet::test
