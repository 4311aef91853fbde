// The RAM cap is a promise about the process: what it has beyond the plan's budget is small, and the same
// whatever the network and the budget. (Not where every access is checked: that takes memory of its own.)

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/support/effort.h"
#include "tests/support/program.h"
#include "tests/support/training.h"

namespace poet::test {
namespace {

using Json = nlohmann::ordered_json;

// The program, its libraries, the page buffer, thread stacks. Measured: 28 to 36 MB, most of it libraries.
constexpr std::int64_t kProgram = 64'000'000;

struct MemoryCase {
  std::string network;
  std::vector<std::string> budgets;
};

TEST(RunMemory, TheProcessStaysWithinTheBudgetAndAConstant) {
  const std::vector<MemoryCase> cases = {
      {"resnet14_cifar --batch-size 1", {"2MB", "1.7MB", "3MB"}},
      {"resnet14_cifar --batch-size 16", {"22MB", "12MB"}},
      {"resnet18_cifar --batch-size 4", {"75MB", "66MB"}},
  };
  const auto budgets = [](const MemoryCase& c) { return test::cases(1, static_cast<int>(c.budgets.size())); };
  std::int64_t least = kProgram;
  std::int64_t most = 0;
  for (const MemoryCase& c : cases) {
    for (int i = 0; i < budgets(c); ++i) {
      const std::string& budget = c.budgets[static_cast<std::size_t>(i)];
      SCOPED_TRACE(c.network + " within " + budget);
      const Json json =
          trained("--model " + c.network + " --platform a72 --steps 3 --ram-budget " + budget + kFastSearch);
      ASSERT_FALSE(json.is_null());
      const auto bytes = [&](const char* field) { return json["measured"][field].get<std::int64_t>(); };
      const auto allowed = json["ram_budget_bytes"].get<std::int64_t>();
      EXPECT_LE(bytes("process_peak_bytes"), allowed + kProgram);
      // What the plan counts lies within the budget to the byte.
      EXPECT_LE(json["arena_bytes"].get<std::int64_t>() + bytes("persistent_bytes"), allowed);
      EXPECT_EQ(bytes("workspace_outside_plan_bytes"), 0);
      EXPECT_EQ(bytes("excluded_bytes"), 0);
      EXPECT_EQ(
          bytes("process_outside_plan_bytes"),
          bytes("process_peak_bytes") - json["arena_bytes"].get<std::int64_t>() - bytes("persistent_bytes"));
      least = std::min(least, bytes("process_outside_plan_bytes"));
      most = std::max(most, bytes("process_outside_plan_bytes"));
    }
  }
  // Between 2 MB and 75 MB of plan: page tables, and a graph of 240 ops next to one of 183.
  EXPECT_LT(most - least, 12'000'000) << least << " to " << most;
}

// A run that goes over to a smaller plan gives the memory back, and never holds two plans' at a time.
TEST(RunMemory, OfAPlanIsReleasedBeforeAnothersIsTaken) {
  const TemporaryFolder folder;
  std::ofstream(folder.file("control")) << "30MB from step 3\nall from step 5\n55MB from step 7\n";
  const Json json = trained(
      "--model resnet18_cifar --batch-size 4 --platform a72 --steps 8 --ram-budget "
      "75MB,55MB,30MB --pressure off --cgroup off --gap 0.5 --time-limit 2s --quiet --control " +
      folder.file("control"));
  ASSERT_FALSE(json.is_null());
  ASSERT_EQ(json["stretches"].size(), 4U);
  for (const Json& stretch : json["stretches"]) {
    const auto allowed = stretch["ram_budget_bytes"].get<std::int64_t>();
    EXPECT_LE(stretch["ram_bytes"].get<std::int64_t>(), allowed);
    // With that of the plan before it would be more.
    EXPECT_LE(stretch["process_peak_bytes"].get<std::int64_t>(), allowed + kProgram - 20'000'000) << allowed;
  }
}

TEST(RunMemory, StepsTakeNoMemory) {
  const TemporaryFolder folder;
  const std::string plan = plan_of_small_cnn(folder, kScarce);
  const auto peak = [&](int steps) {
    const Json json = trained(fmt::format("{} --steps {}", plan, steps));
    return json["measured"]["process_peak_bytes"].get<std::int64_t>();
  };
  // Some bytes per step for its loss and its time; and a file system's and a kernel's whims.
  EXPECT_LT(peak(400), peak(4) + 1'000'000);
}

/// `poet run` with no more than so many bytes of writable memory of its own (RLIMIT_DATA).
ProgramRun run_within(std::int64_t bytes, const std::string& arguments) {
  rlimit before{};
  getrlimit(RLIMIT_DATA, &before);
  rlimit limit = before;
  limit.rlim_cur = static_cast<rlim_t>(bytes);
  // OpenBLAS, which the solver's library brings along and nothing here uses, would start a thread per core,
  // each of which asks for 128 MiB again and again until it gets them.
  setenv("OPENBLAS_NUM_THREADS", "1", 1);
  setrlimit(RLIMIT_DATA, &limit);
  ProgramRun run = poet(arguments);
  setrlimit(RLIMIT_DATA, &before);
  unsetenv("OPENBLAS_NUM_THREADS");
  return run;
}

TEST(RunMemory, TheSystemMayHoldItToThat) {
  const TemporaryFolder folder;
  const std::string plan = plan_of_small_cnn(folder, kScarce);
  const std::string run = "run --quiet --json --steps 3 " + plan;
  const ProgramRun limited = run_within(2'200'000 + kProgram, run);
  ASSERT_EQ(limited.exit_code, 0) << limited.err;
  EXPECT_EQ(limited.json()["losses"], poet(run).json()["losses"]);
  EXPECT_GT(limited.json()["page_ins"], 0);
}

TEST(RunMemory, TooLittleIsSaidInOneLine) {
  const TemporaryFolder folder;
  // With 512 images 640 MB keep everything: what is asked for at once, and refused.
  const std::string plan = folder.file("big.plan");
  const ProgramRun solved =
      poet("solve --model resnet14_cifar --platform a72 --batch-size 512 --ram-budget 2GB " +
           ("--plan-out " + plan) + kFastSearch);
  ASSERT_EQ(solved.exit_code, 0) << solved.err;
  const ProgramRun run = run_within(200'000'000, "run --quiet --steps 1 --samples 512 " + plan);
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_EQ(run.out, "");
  EXPECT_EQ(run.err.find("poet: memory: "), 0U) << run.err;
  EXPECT_NE(run.err.find(" bytes cannot be allocated: Cannot allocate memory\n"), std::string::npos)
      << run.err;
}

}  // namespace
}  // namespace poet::test

#endif
