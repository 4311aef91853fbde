// Every epoch goes through the samples once, in an order of its own.

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "poet/runtime/data/dataset.h"

namespace poet::runtime {
namespace {

std::vector<std::int64_t> batch(std::int64_t step, std::int64_t samples, std::uint64_t seed,
                                std::size_t size) {
  std::vector<std::int64_t> out(size);
  batch_of_step(step, samples, seed, out);
  return out;
}

/// The samples of an epoch (from 0) in their order.
std::vector<std::int64_t> epoch(std::int64_t number, std::int64_t samples, std::uint64_t seed,
                                std::size_t size) {
  std::vector<std::int64_t> all;
  const std::int64_t steps = samples / static_cast<std::int64_t>(size);
  for (std::int64_t step = 1; step <= steps; ++step) {
    const std::vector<std::int64_t> part = batch(number * steps + step, samples, seed, size);
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

RC_GTEST_PROP(BatchOfStep, AnEpochHasEverySampleAtMostOnce, ()) {
  const auto samples = *rc::gen::inRange<std::int64_t>(1, 700);
  const auto size = *rc::gen::inRange<std::size_t>(1, static_cast<std::size_t>(samples) + 1);
  const auto seed = *rc::gen::arbitrary<std::uint64_t>();
  const auto number = *rc::gen::inRange<std::int64_t>(0, 1000);
  const std::vector<std::int64_t> all = epoch(number, samples, seed, size);
  const std::set<std::int64_t> distinct(all.begin(), all.end());
  // All but what fills no batch.
  RC_ASSERT(all.size() == static_cast<std::size_t>(samples) / size * size);
  RC_ASSERT(distinct.size() == all.size());
  RC_ASSERT(*distinct.begin() >= 0);
  RC_ASSERT(*distinct.rbegin() < samples);
}

RC_GTEST_PROP(BatchOfStep, IsAFunctionOfStepAndSeed, ()) {
  const auto samples = *rc::gen::inRange<std::int64_t>(50, 100'000);
  const auto step = *rc::gen::inRange<std::int64_t>(1, 1'000'000);
  const auto seed = *rc::gen::arbitrary<std::uint64_t>();
  RC_ASSERT(batch(step, samples, seed, 50) == batch(step, samples, seed, 50));
  // 50 numbers would have to agree by chance: at 50 samples, once in 50! times.
  RC_ASSERT(batch(step, samples, seed, 50) != batch(step, samples, seed + 1, 50));
}

TEST(BatchOfStep, WithoutASeedEveryEpochHasTheOrderOfTheData) {
  std::vector<std::int64_t> found(3);
  for (const auto& [step, first] : {std::pair(1, 0), std::pair(3, 6), std::pair(4, 0), std::pair(5, 3)}) {
    batch_of_step(step, 11, std::nullopt, found);  // 3 steps; the last two samples fill no batch
    EXPECT_EQ(found, (std::vector<std::int64_t>{first, first + 1, first + 2})) << step;
  }
}

TEST(BatchOfStep, EpochsAndSeedsDiffer) {
  std::set<std::vector<std::int64_t>> orders;
  for (std::int64_t number = 0; number < 20; ++number) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) orders.insert(epoch(number, 50, seed, 10));
  }
  EXPECT_EQ(orders.size(), 400U);
}

// A sample is first in an epoch as often as any other: 4096 epochs of 8 are 512 each, give or take
// sqrt(4096 · 1/8 · 7/8) = 21; five times that is 106.
TEST(BatchOfStep, PlacesAreEvenlyDistributed) {
  for (const std::int64_t place : {0, 3, 7}) {
    std::vector<int> count(8);
    for (std::int64_t number = 0; number < 4096; ++number) {
      ++count[static_cast<std::size_t>(epoch(number, 8, 11, 1)[static_cast<std::size_t>(place)])];
    }
    for (const int c : count) EXPECT_NEAR(c, 512, 106) << place;
  }
}

}  // namespace
}  // namespace poet::runtime
