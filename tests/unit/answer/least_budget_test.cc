// "least" as a RAM budget, by answers that are made up.

#include "poet/answer/least_budget.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace poet {
namespace {

/// Of a network whose largest op needs 64 KiB, on a device of 256 KiB. A plan needs a quarter more than the
/// schedule that an explanation knows, which is four times as large as the parts.
struct MadeUp {
  Bytes keep_all{1 << 20};
  std::int64_t least_part = 1024;  // finer ones need no less
  std::int64_t known_of_whole = 64 << 10;
  std::vector<std::int64_t> asked = {};  // budgets

  Answer operator()(const SettledRam& budget, double) {
    const std::int64_t part = budget.part ? std::max(budget.part->value(), least_part) : known_of_whole / 4;
    const std::int64_t known = 4 * part, enough = known + known / 4;
    asked.push_back(std::get<Bytes>(budget.ram).value());
    Answer answer;
    answer.workload.device.emplace();
    answer.workload.device->ram = Bytes(256 << 10);
    answer.workload.whole_keep_all = keep_all;
    answer.workload.cut.part = budget.part;
    answer.request.limits.ram_budget = std::get<Bytes>(budget.ram);
    const bool has = std::get<Bytes>(budget.ram).value() >= enough;
    answer.result.certificate.status = has ? Status::feasible : Status::infeasible;
    Explanation& explanation = answer.result.outcome.explanation;
    explanation.floor_ram = Bytes(known);
    if (!has && std::get<Bytes>(budget.ram) == Bytes(1)) explanation.least_ram = Bytes(known);
    return answer;
  }
};

Policy splitting() {
  Policy policy;
  policy.split.automatic = true;
  policy.within_device = true;
  return policy;
}

SettledRam least_of(MadeUp& network, const Policy& policy) {
  return least_budget(policy, 60,
                      [&](const SettledRam& budget, double left) { return network(budget, left); });
}

TEST(LeastBudget, IsThatOfTheFinestPartsThatNeedLess) {
  MadeUp network;
  const SettledRam least = least_of(network, splitting());
  EXPECT_TRUE(least.has_plan);
  EXPECT_EQ(least.part, Bytes(1024));
}

// On a device that keeping everything exceeds as well.
TEST(LeastBudget, HasAPlan) {
  MadeUp network;
  const SettledRam least = least_of(network, splitting());
  EXPECT_GE(std::get<Bytes>(least.ram), Bytes(5 * 1024));
  EXPECT_LE(std::get<Bytes>(least.ram), Bytes(5 * 1024 + 1));
  EXPECT_EQ(network.asked.back(), std::get<Bytes>(least.ram).value());
}

TEST(LeastBudget, LeavesPartsAsTheyAreWithoutSplitting) {
  MadeUp network;
  Policy policy = splitting();
  policy.split.automatic = false;
  const SettledRam least = least_of(network, policy);
  EXPECT_TRUE(least.has_plan);
  EXPECT_FALSE(least.part.has_value());
  EXPECT_GE(std::get<Bytes>(least.ram), Bytes(80 << 10));
}

TEST(LeastBudget, StaysWithinTheDevice) {
  MadeUp network;
  network.known_of_whole = 300 << 10;
  Policy policy = splitting();
  policy.split.automatic = false;
  SettledRam least = least_of(network, policy);
  EXPECT_FALSE(least.has_plan);
  EXPECT_EQ(least.ram, RamBudget(DeviceRam{}));
  policy.within_device = false;
  least = least_of(network, policy);
  EXPECT_TRUE(least.has_plan);
  EXPECT_GE(std::get<Bytes>(least.ram), Bytes(375 << 10));
  // More than there is of the whole network, but not of its parts.
  EXPECT_EQ(least_of(network, splitting()).part, Bytes(1024));
}

// Of parts of 1 KiB and less 3% less is known than of parts of 4 KiB.
TEST(LeastBudget, TakesNoFinerPartsForHardlyAnyLess) {
  MadeUp network;
  const SettledRam least = least_budget(splitting(), 60, [&](const SettledRam& budget, double left) {
    Answer answer = network(budget, left);
    std::optional<Bytes>& known = answer.result.outcome.explanation.least_ram;
    if (known && budget.part && *budget.part <= Bytes(1024)) known = Bytes(16 * 1024 * 97 / 100);
    return answer;
  });
  EXPECT_TRUE(least.has_plan);
  EXPECT_EQ(least.part, Bytes(4096));
}

// A search in many ops may end before it has the plan that another one has in fewer.
TEST(LeastBudget, GoesBackToCoarserPartsThatHaveAPlan) {
  MadeUp network;
  const SettledRam least = least_budget(splitting(), 60, [&](const SettledRam& budget, double left) {
    Answer answer = network(budget, left);
    if (budget.part == Bytes(1024)) answer.result.certificate.status = Status::unknown;
    return answer;
  });
  EXPECT_TRUE(least.has_plan);
  EXPECT_EQ(least.part, Bytes(4096));
  EXPECT_LE(std::get<Bytes>(least.ram), Bytes(4 * 4096 * 5 / 4 + 1));
}

// What an explanation knows under a deadline keeps nearly everything; plans exist in 100 KiB of the whole
// graph, and in 40 KiB of parts of 4 KiB.
TEST(LeastBudget, BisectsUnderADeadline) {
  std::vector<std::int64_t> asked;
  const AnswerTo late = [&asked](const SettledRam& budget, double) {
    MadeUp network;
    Answer answer = network(budget, 0);
    answer.figures.floor.largest.values = Bytes(budget.part ? 5 << 10 : 80 << 10);
    const Bytes enough(budget.part == Bytes(4096) ? 40 << 10 : budget.part ? 250 << 10 : 100 << 10);
    const bool has = std::get<Bytes>(budget.ram) >= enough;
    answer.result.certificate.status = has ? Status::feasible : Status::unknown;
    if (!has) answer.result.outcome.explanation.least_ram = Bytes(250 << 10);
    asked.push_back(std::get<Bytes>(budget.ram).value());
    return answer;
  };
  Policy policy = splitting();
  policy.deadline.factor = 1.1;
  const SettledRam least = least_budget(policy, 60, late);
  EXPECT_TRUE(least.has_plan);
  EXPECT_EQ(least.part, Bytes(4096));
  EXPECT_GE(std::get<Bytes>(least.ram), Bytes(40 << 10));
  EXPECT_LE(std::get<Bytes>(least.ram), Bytes((40 << 10) * 102 / 100));
  EXPECT_LE(asked.size(), 40U);
  // Without other limits what is known is near the floor, and nothing is bisected.
  asked.clear();
  EXPECT_EQ(std::get<Bytes>(least_budget(splitting(), 60, late).ram), Bytes(250 << 10));
  EXPECT_LE(asked.size(), 4U);
}

// More time is of use only where time was short.
TEST(LeastBudget, AsksForMoreTimeOnlyIfItRanOut) {
  for (const bool timed_out : {false, true}) {
    const SettledRam none = least_budget(splitting(), 60, [&](const SettledRam& budget, double) {
      MadeUp network;
      Answer answer = network(budget, 0);
      answer.result.certificate.status = Status::unknown;
      answer.result.outcome.explanation.least_ram.reset();
      answer.result.outcome.timed_out = timed_out;
      return answer;
    });
    EXPECT_FALSE(none.has_plan);
    EXPECT_EQ(none.note.find("with a longer") != std::string::npos, timed_out);
  }
}

TEST(LeastBudget, EndsWhenItIsInterrupted) {
  MadeUp network;
  const SettledRam least = least_budget(splitting(), 60, [&](const SettledRam& budget, double left) {
    Answer answer = network(budget, left);
    answer.interrupted = true;
    return answer;
  });
  EXPECT_TRUE(least.interrupted);
  EXPECT_EQ(network.asked.size(), 1U);
}

}  // namespace
}  // namespace poet
