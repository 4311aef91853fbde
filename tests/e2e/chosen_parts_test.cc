// The parts that operators are cut into and the parameters that are paged: networks where another choice,
// which fits as well, takes more energy.

#include <gtest/gtest.h>

#include <cstdlib>
#include <limits>
#include <string>
#include <vector>

#include "poet/answer/answer.h"
#include "poet/compile.h"
#include "poet/pipeline/pose.h"
#include "tests/support/effort.h"

namespace poet::test {
namespace {

constexpr double kSeconds = 6;

Answer answer_of(const std::string& model, const std::string& device, RamBudget ram,
                 PersistentPolicy persistent, const Splitting& split, double seconds = kSeconds) {
  const NetworkSpec network{BuiltInNetwork{model, std::nullopt}, {}, {}, {}};
  Policy policy;
  policy.persistent = persistent;
  policy.split = split;
  policy.ram = ram;
  CompileRequest how;
  how.options.time_limit_seconds = seconds;
  return answered(posed_answer(how, load(network, {device, std::nullopt}, policy), policy));
}

double joules_of(const Answer& answer) {
  return has_plan(answer) ? answer.result.report.energy.value() : std::numeric_limits<double>::infinity();
}

// In 70% of keep-all RAM linear's 174,360 B of parameters fit and leave some 8 KB: keeping them there takes
// fine parts, which cost nothing, where paging would do with coarse ones, at thirteen times the energy.
TEST(ChosenParts, AreThoseOfTheCheaperResidence) {
  const auto part = [&](PersistentPolicy persistent, double ram) {
    return answer_of("linear", "m4", RamOfKeepAll{ram}, persistent, {.automatic = true}).workload.cut.part;
  };
  const auto kept = part(PersistentPolicy::resident, 0.7);
  ASSERT_TRUE(kept);
  EXPECT_LT(*kept, Bytes(8'000));
  const auto either = part(PersistentPolicy::automatic, 0.7);
  ASSERT_TRUE(either);
  EXPECT_LT(*either, Bytes(8'000));
}

// Whatever size is asked for, the choice among all is no worse, to the gap.
TEST(ChosenParts, AreNoWorseThanAnySizeAskedFor) {
  setenv("POET_CLOCK", "processor", 0);  // others may use the same cores
  struct Case {
    std::string model, device;
    RamBudget ram;
    std::vector<int> parts;  // KiB; 0: whole
  };
  for (const Case& one : {Case{"linear", "m4", Bytes(198'000), {0, 16, 4, 1}},
                          Case{"resnet18_cifar", "a72", Bytes(44'200'000), {0, 4096, 2048}}}) {
    const Answer chosen =
        answer_of(one.model, one.device, one.ram, PersistentPolicy::automatic, {.automatic = true});
    for (const int part : one.parts) {
      SCOPED_TRACE(one.model + " in parts of " + std::to_string(part) + " KiB");
      Splitting split;
      if (part > 0) split.part = Bytes(1024L * part);
      const Answer asked = answer_of(one.model, one.device, one.ram, PersistentPolicy::automatic, split,
                                     kSeconds / static_cast<double>(one.parts.size()));
      const double overhead = joules_of(asked) - asked.result.keep_all.energy.value();
      EXPECT_LE(joules_of(chosen), joules_of(asked) + chosen.request.options.gap * overhead);
    }
  }
}

// No parts fit beside parameters that are larger than the budget: whole operators say so.
TEST(ChosenParts, AreNoneWhereNoneCanFit) {
  const Answer answer =
      answer_of("resnet14_cifar", "m4", Bytes(100'000), PersistentPolicy::resident, {.automatic = true}, 1);
  EXPECT_FALSE(has_plan(answer));
  EXPECT_EQ(answer.result.certificate.status, Status::infeasible);
  EXPECT_FALSE(answer.workload.cut.part);
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
