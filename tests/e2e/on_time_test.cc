// Times that vary, as a user meets them: a profile that says so, what the answer then expects, and a share of
// steps that is to meet the deadline.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "poet/cost/device.h"
#include "tests/support/program.h"
#include "tests/support/scratch_folder.h"

namespace poet::test {
namespace {

using ::testing::HasSubstr;

const std::string kResnet =
    "solve --quiet --model resnet14_cifar --persistent resident --split off --ram-budget 1.3MB --time-limit "
    "5s ";

/// The Raspberry Pi 4, its card at times half as fast.
std::string varying_device(const TemporaryFolder& folder) {
  DeviceProfile device = find_device("a72");
  device.variation = TimeVariation{1.05, 1.02, 1.5, 2};
  std::string file = folder.file("vary.json");
  std::ofstream(file) << to_json(device).dump();
  return file;
}

TEST(OnTime, AnswersSayWhatToExpectAndKeepTheShare) {
  const TemporaryFolder folder;
  const std::string solve = kResnet + "--platform " + varying_device(folder) + " --deadline 90ms ";
  const ProgramRun median = poet(solve + "--json");
  ASSERT_EQ(median.exit_code, 0) << median.err;
  const nlohmann::json expected = median.json()["expected"];
  EXPECT_EQ(median.json()["on_time"], nullptr);
  EXPECT_LT(expected["on_time"].get<double>(), 0.99);
  EXPECT_GT(expected["runtime_seconds"]["p95"].get<double>(), median.json()["runtime_seconds"].get<double>());
  const ProgramRun on_time = poet(solve + "--json --on-time 99%");
  ASSERT_EQ(on_time.exit_code, 0) << on_time.err;
  EXPECT_GE(on_time.json()["expected"]["on_time"].get<double>(), 0.99);
  EXPECT_GE(on_time.json()["energy_joules"].get<double>(), median.json()["energy_joules"].get<double>());
  EXPECT_THAT(poet(solve).out, HasSubstr("of steps by the deadline"));
}

TEST(OnTime, AShareThatIsNotKeptHasASuggestion) {
  const TemporaryFolder folder;
  const std::string solve =
      kResnet + "--platform " + varying_device(folder) + " --deadline 83ms --on-time 99% ";
  const ProgramRun run = poet(solve);
  EXPECT_EQ(run.exit_code, 1) << run.err;
  EXPECT_THAT(run.out, HasSubstr("of simulated steps do"));
  EXPECT_THAT(run.out, HasSubstr("Suggestion"));
}

TEST(OnTime, WhatCannotBeMeantIsRefused) {
  const TemporaryFolder folder;
  const std::string device = varying_device(folder);
  const auto refused = [&](const std::string& options) {
    const ProgramRun run = poet(kResnet + options);
    EXPECT_EQ(run.exit_code, 2);
    EXPECT_EQ(run.out, "");
    return run.err;
  };
  EXPECT_THAT(refused("--platform a72 --deadline 1s --on-time 99%"), HasSubstr("p95_over_median"));
  EXPECT_THAT(refused("--platform " + device + " --on-time 99%"), HasSubstr("--deadline"));
  EXPECT_THAT(refused("--platform " + device + " --deadline 1s --on-time 100%"), HasSubstr("--on-time"));
  EXPECT_THAT(refused("--platform " + device + " --deadline 1s --on-time 0"), HasSubstr("--on-time"));
}

}  // namespace
}  // namespace poet::test
