// Packings worked out by hand.

#include "poet/plan/layout/arena/pack.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "poet/base/error.h"
#include "poet/plan/layout/arena/first_fit.h"
#include "poet/plan/layout/arena/pack_search.h"

namespace poet {
namespace {

Packing checked(const std::vector<Buffer>& buffers, const PackOptions& options = {}) {
  Packing packing = pack(buffers, options);
  EXPECT_TRUE(is_packing(buffers, packing.offsets));
  std::int64_t height = 0;
  for (std::size_t b = 0; b < packing.offsets.size(); ++b)
    height = std::max(height, packing.offsets[b] + buffers[b].size);
  EXPECT_EQ(packing.height, height);
  EXPECT_LE(packing.lower_bound, packing.height);
  return packing;
}

// Never more than 8 alive, and no packing in 8. The first two fill it during [1, 2), so that the second has
// the lower or the upper half, say the lower one. Then the third and fourth fill the upper half until 5, so
// that the fifth, alive from 4, is in the lower one. During [5, 6) the fourth, fifth and sixth meet. With the
// fourth at 4, the sixth, of 3, fits neither above it nor beside the fifth. With the fourth at 6, the sixth
// begins at 2 or 3, below which 4 do not fit, nor above: there is no room for the seventh.
const std::vector<Buffer> kMoreThanLoad{{0, 2, 4}, {1, 4, 4}, {2, 5, 2}, {2, 6, 2},
                                        {4, 6, 2}, {5, 7, 3}, {6, 7, 4}};

std::vector<Buffer> repeated(const std::vector<Buffer>& buffers, int times) {
  std::vector<Buffer> all;
  for (int i = 0; i < times; ++i)
    for (const Buffer& buffer : buffers)
      all.push_back({buffer.lower + 7 * i, buffer.upper + 7 * i, buffer.size});
  return all;
}

TEST(Pack, TakesNothing) {
  const Packing packing = checked({});
  EXPECT_TRUE(packing.offsets.empty());
  EXPECT_EQ(packing.height, 0);
  EXPECT_EQ(packing.lower_bound, 0);
}

TEST(Pack, SharesWhatIsNotNeededTogether) {
  // Lifetimes are half open: the second begins when the first has ended.
  const Packing packing = checked({{0, 2, 5}, {2, 4, 7}, {4, 5, 6}});
  EXPECT_EQ(packing.offsets, (std::vector<std::int64_t>{0, 0, 0}));
  EXPECT_EQ(packing.height, 7);
  EXPECT_EQ(packing.lower_bound, 7);
}

TEST(Pack, StacksWhatLivesTogether) {
  EXPECT_EQ(checked({{3, 4, 1}, {3, 4, 2}, {3, 4, 4}, {3, 4, 8}}).height, 15);
}

TEST(Pack, StacksNestedLifetimes) {
  // Activations of a training step: first in, last out. All meet in the middle.
  EXPECT_EQ(checked({{0, 8, 3}, {1, 7, 1}, {2, 6, 4}, {3, 5, 1}}).height, 9);
}

TEST(Pack, FillsTheHoleBetween) {
  // After the middle of three has gone, two of its size fit where it was, one after the other.
  EXPECT_EQ(checked({{0, 9, 2}, {0, 3, 5}, {0, 9, 3}, {3, 6, 5}, {6, 9, 5}}).height, 10);
}

TEST(Pack, PlacesBuffersOfSizeZeroAnywhere) {
  const Packing packing = checked({{0, 5, 0}, {1, 3, 4}, {0, 9, 0}, {2, 4, 2}});
  EXPECT_EQ(packing.offsets[0], 0);
  EXPECT_EQ(packing.offsets[2], 0);
  EXPECT_EQ(packing.height, 6);
  EXPECT_EQ(checked({{0, 5, 0}, {1, 3, 0}}).height, 0);
}

TEST(Pack, ProvesThatTheLoadIsNotEnough) {
  const Packing packing = checked(kMoreThanLoad);
  EXPECT_EQ(packing.height, 9);
  EXPECT_EQ(packing.lower_bound, 9);
  EXPECT_GT(packing.nodes, 0);
}

TEST(Pack, StopsWhereItIsGoodEnough) {
  PackOptions options;
  options.good_enough = 9;
  const Packing packing = checked(kMoreThanLoad, options);
  EXPECT_EQ(packing.height, 9);
  EXPECT_EQ(packing.lower_bound, 8);  // nobody asked
}

TEST(Pack, KeepsToItsEffort) {
  PackOptions options;
  options.effort = 0;  // one first-fit is free
  const Packing packing = checked(kMoreThanLoad, options);
  EXPECT_EQ(packing.nodes, 0);
  EXPECT_EQ(packing.lower_bound, 8);
}

TEST(Pack, ObeysStop) {
  int polls = 0;
  PackOptions options;
  options.stop = Stop(1e9, [&] { return ++polls > 20; });
  // Too long to prove in few steps: the parts are joined by a buffer that lives throughout.
  std::vector<Buffer> buffers = repeated(kMoreThanLoad, 12);
  buffers.push_back({0, 7 * 12, 1});
  const Packing packing = checked(buffers, options);
  EXPECT_GT(polls, 20);
  EXPECT_LE(polls, 25);
  EXPECT_EQ(packing.lower_bound, 9);

  options.stop = Stop(0);
  EXPECT_EQ(checked(buffers, options).nodes, 0);
}

TEST(Pack, GivesTheSameTwice) {
  std::vector<Buffer> buffers = repeated(kMoreThanLoad, 5);
  buffers.push_back({0, 35, 3});
  PackOptions options;
  options.effort = 10'000'000;
  const Packing first = checked(buffers, options);
  const Packing second = checked(buffers, options);
  EXPECT_GT(first.nodes, 0);
  EXPECT_EQ(first.offsets, second.offsets);
  EXPECT_EQ(first.nodes, second.nodes);
}

TEST(Pack, TakesTimesAndSizesOfAnyMagnitude) {
  const std::int64_t huge = (std::int64_t{1} << 61) - 1;
  EXPECT_EQ(checked({{-5, 3, huge}, {-huge, huge, huge}, {3, 4, 1}}).height, 2 * huge);
}

TEST(Pack, RefusesBrokenBuffers) {
  EXPECT_THROW(static_cast<void>(pack({{3, 3, 1}})), InternalError);
  EXPECT_THROW(static_cast<void>(pack({{4, 3, 1}})), InternalError);
  EXPECT_THROW(static_cast<void>(pack({{0, 3, 1}, {0, 3, -1}})), InternalError);
  EXPECT_THROW(static_cast<void>(pack({{0, 3, std::int64_t{1} << 62}, {4, 5, 1}})), InternalError);
}

TEST(IsPacking, KnowsWhatOverlaps) {
  const std::vector<Buffer> buffers{{0, 4, 3}, {3, 6, 2}, {4, 9, 3}, {0, 9, 0}};
  EXPECT_TRUE(is_packing(buffers, {0, 3, 0, 1}));
  EXPECT_TRUE(is_packing(buffers, {2, 0, 2, 1}));
  EXPECT_FALSE(is_packing(buffers, {0, 2, 0, 1}));           // first and second share a unit
  EXPECT_FALSE(is_packing(buffers, {0, 3, 1, 1}));           // second and third do
  EXPECT_FALSE(is_packing(buffers, {-1, 3, 0, 1}));          // below the ground
  EXPECT_FALSE(is_packing(buffers, {0, 3, 0}));              // one is missing
  EXPECT_FALSE(is_packing({{0, 2, 5}, {0, 2, 1}}, {0, 2}));  // one within the other
  EXPECT_EQ(overlap_in(buffers, {0, 3, 1, 1}), std::pair(std::size_t{1}, std::size_t{2}));
}

TEST(Sections, KeepOnlyTheTimesThatMatter) {
  // Alive: 0 | 0 1 | 0 1 2 | 0 2 | 3. The third and the last contain the others.
  const Sections sections = sections_of({{0, 4, 1}, {1, 3, 2}, {2, 4, 4}, {4, 5, 8}});
  EXPECT_EQ(sections.load, (std::vector<std::int64_t>{7, 8}));
  EXPECT_EQ(sections.spans[0].first, 0);
  EXPECT_EQ(sections.spans[2].last, 0);
  EXPECT_EQ(sections.spans[3].first, 1);
  EXPECT_TRUE(meet(sections.spans[1], sections.spans[2]));
  EXPECT_FALSE(meet(sections.spans[2], sections.spans[3]));
  EXPECT_EQ(greatest_load(sections), 8);
}

TEST(SearchPacking, SaysWhyItEnds) {
  using Status = PackStatus;
  const Sections sections = sections_of(kMoreThanLoad);
  const std::vector<int> order{6, 5, 4, 3, 2, 1, 0};
  const auto status = [&](std::int64_t capacity, std::int64_t nodes, std::int64_t effort) {
    return search_packing(kMoreThanLoad, sections, order, {capacity, nodes, effort}, {}).status;
  };
  EXPECT_EQ(status(8, 1000, 100'000), Status::impossible);
  EXPECT_EQ(status(8, 3, 100'000), Status::gave_up);
  EXPECT_EQ(status(8, 1000, 20), Status::gave_up);
  EXPECT_EQ(status(9, 1000, 100'000), Status::found);
  EXPECT_EQ(status(7, 1000, 100'000), Status::impossible);
}

TEST(SearchPacking, CountsWhatIsFixed) {
  // Of 10 units, 4 are taken: 6 are left for 7, which the first look says.
  const std::vector<Buffer> buffers{
      {.lower = 0, .upper = 9, .size = 4, .from = 2, .to = 6}, {0, 4, 2}, {1, 5, 2}, {2, 6, 3}};
  const PackAnswer answer =
      search_packing(buffers, sections_of(buffers), {3, 2, 1, 0}, {10, 1000, 100'000}, {});
  EXPECT_EQ(answer.status, PackStatus::impossible);
  EXPECT_EQ(answer.nodes, 1);
  EXPECT_EQ(search_packing(buffers, sections_of(buffers), {3, 2, 1, 0}, {11, 1000, 100'000}, {}).offsets[0],
            2);
}

TEST(Pack, SaysThatRangesLeaveNoPlace) {
  // Both have to be in [0, 4) at the same time.
  const std::vector<Buffer> buffers{{.lower = 0, .upper = 2, .size = 3, .to = 4},
                                    {.lower = 1, .upper = 3, .size = 2, .to = 4}};
  const Packing packing = pack(buffers);
  EXPECT_TRUE(packing.offsets.empty());
  EXPECT_EQ(packing.height, kAnywhere);
  EXPECT_EQ(packing.lower_bound, kAnywhere);
}

TEST(IsPacking, KnowsAlignmentsRangesAndGaps) {
  const std::vector<Buffer> buffers{{.lower = 0, .upper = 9, .size = 4, .gaps = {{3, 5}}},
                                    {.lower = 3, .upper = 5, .size = 4, .alignment = 2},
                                    {.lower = 5, .upper = 9, .size = 2, .from = 5, .to = 8}};
  EXPECT_TRUE(is_packing(buffers, {0, 0, 5}));
  EXPECT_TRUE(is_packing(buffers, {1, 2, 6}));
  EXPECT_FALSE(is_packing(buffers, {0, 1, 5}));  // no multiple of 2
  EXPECT_FALSE(is_packing(buffers, {0, 0, 7}));  // ends beyond 8
  EXPECT_FALSE(is_packing(buffers, {0, 0, 4}));  // begins before 5
  EXPECT_FALSE(is_packing(buffers, {2, 0, 5}));  // the first and third share a unit
}

/// By the definition: of 0 and the ends of what is met, the lowest place where nothing else is met.
std::int64_t lowest_place(const std::vector<Buffer>& buffers, const std::vector<std::int64_t>& offsets,
                          const std::vector<int>& earlier, const Buffer& buffer) {
  std::vector<const Buffer*> met;
  std::vector<std::int64_t> at, places = {0};
  for (const int i : earlier) {
    const Buffer& other = buffers[static_cast<std::size_t>(i)];
    if (other.lower >= buffer.upper || buffer.lower >= other.upper) continue;
    met.push_back(&other);
    at.push_back(offsets[static_cast<std::size_t>(i)]);
    places.push_back(at.back() + other.size);
  }
  std::sort(places.begin(), places.end());
  for (const std::int64_t place : places) {
    bool free = true;
    for (std::size_t i = 0; i < met.size(); ++i)
      free = free && (at[i] + met[i]->size <= place || place + buffer.size <= at[i]);
    if (free) return place;
  }
  return -1;
}

TEST(FirstFit, TakesTheLowestFreePlaceWhetherLivesAreShortOrLong) {
  std::mt19937 random(5);
  const auto pick = [&random](int below) {
    return static_cast<int>(random() % static_cast<unsigned>(below));
  };
  for (const int longest : {3, 40, 2'000}) {
    constexpr int kTimes = 2'000;
    std::vector<Buffer> buffers;
    for (int i = 0; i < 1'200; ++i) {
      const int life = 1 + pick(i % 50 == 0 ? kTimes : longest), begin = pick(kTimes);
      buffers.push_back({begin, begin + life, 1 + pick(9)});
    }
    std::vector<int> order(buffers.size());
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), random);
    const FirstFit fit = first_fit(buffers, sections_of(buffers), order);
    std::vector<int> earlier;
    for (const int i : order) {
      const auto b = static_cast<std::size_t>(i);
      ASSERT_EQ(fit.offsets[b], lowest_place(buffers, fit.offsets, earlier, buffers[b])) << longest;
      earlier.push_back(i);
    }
  }
}

}  // namespace
}  // namespace poet
