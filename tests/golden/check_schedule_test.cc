// The verifier against shared/tools/check_schedule.py, which replays the published semantics and the staged
// ones and shares no code with this project.

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "poet/base/data_dir.h"
#include "poet/cost/instance_json.h"
#include "poet/plan/file/schedule_json.h"
#include "poet/plan/schedule/keep_all.h"
#include "poet/verify/replay.h"
#include "tests/support/paths.h"
#include "tests/support/random_instance.h"

namespace poet {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

class CheckSchedule : public testing::Test {
 protected:
  void SetUp() override {
    if (!fs::exists(tool())) GTEST_SKIP() << tool() << " is absent: nothing to compare with";
    folder_ = fs::temp_directory_path() / fmt::format("poet_check_schedule_{}", getpid());
    fs::create_directories(folder_);
  }
  void TearDown() override {
    if (!folder_.empty()) fs::remove_all(folder_);
  }

  static fs::path tool() { return test::shared() / "tools" / "check_schedule.py"; }

  /// What the checker prints for the schedule file that poet writes.
  Json checked(const ScheduleFile& file) {
    const fs::path instance = folder_ / "instance.json";
    const fs::path schedule = folder_ / "schedule.json";
    std::ofstream(instance) << to_json(file.instance);
    write_schedule(file, schedule);
    const std::string command =
        fmt::format("python3 '{}' '{}' '{}' --transfers {}", tool().string(), instance.string(),
                    schedule.string(), file.semantics == Semantics::published ? "instant" : "staged");
    std::FILE* pipe = popen(command.c_str(), "r");
    if (pipe == nullptr) throw std::runtime_error("cannot run " + command);
    std::string text;
    char buffer[4096];
    while (std::fgets(buffer, sizeof buffer, pipe) != nullptr) text += buffer;
    pclose(pipe);
    return Json::parse(text);
  }

  /// Both say the same; true if they accept.
  bool compare(const Instance& instance, const Schedule& schedule, Semantics semantics,
               const Limits& limits) {
    const Report report = replay(instance, schedule, semantics, limits);
    const Json json = checked({instance, semantics, limits, schedule});
    EXPECT_EQ(report.valid, json["valid"].get<bool>()) << report.violation << " | " << json.dump();
    if (report.valid && json["valid"].get<bool>()) {
      EXPECT_EQ(report.peak_ram.value(), json["peak_ram_bytes"].get<std::int64_t>());
      EXPECT_EQ(report.recomputations, json["recomputations"].get<int>());
      EXPECT_EQ(report.page_ins, json["page_ins"].get<int>());
      EXPECT_EQ(report.page_outs, json["page_outs"].get<int>());
      expect_close(report.energy.value(), json["energy_joules"].get<double>());
      expect_close(report.compute_energy.value(), json["compute_joules"].get<double>());
      expect_close((report.page_in_energy + report.page_out_energy).value(),
                   json["paging_joules"].get<double>());
      expect_close(report.runtime.value(), json["runtime_seconds"].get<double>());
    }
    return report.valid;
  }

 private:
  static void expect_close(double a, double b) {
    EXPECT_NEAR(a, b, 1e-9 * std::max(std::abs(a), std::abs(b)));
  }

  fs::path folder_;
};

constexpr Semantics kBoth[] = {Semantics::published, Semantics::staged};

TEST_F(CheckSchedule, AgreesOnPublishedInstances) {
  test::Rng rng(1);
  for (const char* name :
       {"linear.m4", "transformer.a72", "vgg16_cifar.a72", "resnet18_cifar.m4", "bert.a72"}) {
    SCOPED_TRACE(name);
    const Instance instance = read_instance(data_dir() / "published" / (std::string(name) + ".json"));
    const Schedule schedule = test::random_schedule(rng, instance);
    for (const Semantics semantics : kBoth) {
      EXPECT_TRUE(compare(instance, schedule, semantics, no_limits()));
      EXPECT_TRUE(compare(instance, keep_all_schedule(instance.graph), semantics, no_limits()));
    }
  }
}

TEST_F(CheckSchedule, AgreesOnTheLastByteOfTheBudgetAndOnTheDeadline) {
  test::Rng rng(2);
  const Instance instance = read_instance(data_dir() / "published" / "transformer.a72.json");
  const Schedule schedule = test::random_schedule(rng, instance);
  for (const Semantics semantics : kBoth) {
    const Report report = replay(instance, schedule, semantics, no_limits());
    Limits limits{report.peak_ram, report.runtime, std::nullopt};
    EXPECT_TRUE(compare(instance, schedule, semantics, limits));
    limits.deadline = 0.999999 * report.runtime;
    EXPECT_FALSE(compare(instance, schedule, semantics, limits));
    limits = {report.peak_ram - Bytes(1), report.runtime, std::nullopt};
    EXPECT_FALSE(compare(instance, schedule, semantics, limits));
  }
}

void toggle(std::vector<ValueId>& list, ValueId v) {
  const auto at = std::lower_bound(list.begin(), list.end(), v);
  if (at != list.end() && *at == v) {
    list.erase(at);
  } else {
    list.insert(at, v);
  }
}

/// Moves one value in or out of one list, or one recomputation.
void damage(test::Rng& rng, Schedule& schedule) {
  const int t = test::pick(rng, 1, static_cast<int>(schedule.stages.size()) - 1);
  Stage& stage = schedule.stages[static_cast<std::size_t>(t)];
  const int index = test::pick(rng, 0, t);
  switch (test::pick(rng, 0, 3)) {
    case 0:
      return toggle(stage.retain, ValueId(index));
    case 1:
      return toggle(stage.page_in, ValueId(index));
    case 2:
      return toggle(stage.page_out, ValueId(index));
    default: {
      const auto at = std::lower_bound(stage.compute.begin(), stage.compute.end(), OpId(index));
      if (*at == OpId(index)) {
        stage.compute.erase(at);
      } else {
        stage.compute.insert(at, OpId(index));
      }
    }
  }
}

TEST_F(CheckSchedule, AgreesOnDamagedSchedulesOfRandomInstances) {
  test::Rng rng(3);
  int accepted = 0;
  constexpr int kRounds = 80;
  for (int round = 0; round < kRounds; ++round) {
    SCOPED_TRACE(round);
    test::RandomInstanceOptions options;
    options.ops = test::pick(rng, 4, 14);
    const Instance instance = test::random_instance(rng, options);
    Schedule schedule = test::random_schedule(rng, instance);
    damage(rng, schedule);
    accepted += compare(instance, schedule, kBoth[round % 2], no_limits()) ? 1 : 0;
  }
  EXPECT_GT(accepted, 5);  // both verdicts occur
  EXPECT_LT(accepted, kRounds - 5);
}

}  // namespace
}  // namespace poet
