// The order of ops as a decision, as a user asks for it: less energy, the same training.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/support/program.h"
#include "tests/support/scratch_folder.h"

namespace poet::test {
namespace {

using ::testing::HasSubstr;

std::string content(const std::string& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

const std::string kTight =
    "solve --quiet --model transformer --sequence-length 64 --platform a72 --persistent resident --split off "
    "--ram-budget 40MB ";

TEST(Order, BestNeedsNoRecomputationWhereTheNetworksDoes) {
  const ProgramRun given = poet(kTight + "--json");
  const ProgramRun best = poet(kTight + "--json --order best");
  ASSERT_EQ(best.exit_code, 0) << best.err;
  EXPECT_EQ(given.json()["order"], "given");
  EXPECT_EQ(best.json()["order"], "other");
  EXPECT_GT(given.json()["energy_joules"].get<double>(), given.json()["baseline_joules"].get<double>());
  EXPECT_NEAR(best.json()["energy_joules"].get<double>(), best.json()["baseline_joules"].get<double>(), 1e-9);
  EXPECT_EQ(best.json()["status"], "optimal");
  EXPECT_THAT(poet(kTight + "--order best").out,
              HasSubstr("ops are computed in another order than the network's"));
}

TEST(Order, BestSaysWhatIsProvenOfTheOrderShown) {
  const std::string fuller =
      "solve --quiet --model transformer --platform a72 --persistent resident --split off --ram-budget 65MB "
      "--time-limit 4s ";
  const ProgramRun given = poet(fuller + "--json");
  const ProgramRun best = poet(fuller + "--json --order best");
  ASSERT_EQ(best.exit_code, 0) << best.err;
  EXPECT_EQ(given.json()["order_gap"], given.json()["gap"]);
  EXPECT_LE(best.json()["energy_joules"].get<double>(), given.json()["energy_joules"].get<double>());
  EXPECT_EQ(best.json()["gap"].get<double>(), 1);
  EXPECT_LE(best.json()["order_gap"].get<double>(), 0.01);
  EXPECT_THAT(poet(fuller + "--order best").out, HasSubstr("order of ops "));
}

TEST(Order, TrainsToTheSameBits) {
  const TemporaryFolder folder;
  for (const std::string order : {"given", "best"}) {
    const std::string plan = folder.file(order);
    ASSERT_EQ(poet(kTight + "--order " + order + " --plan-out " + plan).exit_code, 0);
    EXPECT_EQ(poet("verify " + plan).exit_code, 0);
    const ProgramRun run =
        poet("run " + plan + " --kernels reference --steps 3 --quiet --json --checkpoint " +
             folder.file(order + ".safetensors"));
    ASSERT_EQ(run.exit_code, 0) << run.err;
  }
  const std::string given = content(folder.file("given.safetensors"));
  EXPECT_FALSE(given.empty());
  EXPECT_EQ(given, content(folder.file("best.safetensors")));
}

TEST(Order, RefusesWhatItCannotDo) {
  const auto refused = [](const std::string& arguments) {
    const ProgramRun run = poet("solve --quiet --model linear --platform m0 " + arguments);
    EXPECT_EQ(run.exit_code, 2) << run.out;
    return run.err;
  };
  EXPECT_EQ(refused("--ram-budget 1MB --order worst"),
            "poet: --order: \"worst\" is not one of given, best\n");
  EXPECT_EQ(refused("--ram-budget 1MB,2MB --order best"),
            "poet: --order: best is for one RAM budget: plans of one file compute in one order\n");
  EXPECT_EQ(refused("--ram-budget 1MB --order best --solver file --mps m.mps"),
            "poet: --order: best solves two problems; --solver file solves one\n");
}

}  // namespace
}  // namespace poet::test
