// Small packings against every packing there is.

#include "poet/plan/layout/arena/pack.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "poet/plan/layout/arena/pack_search.h"

namespace poet {
namespace {

using Rng = std::mt19937_64;

int pick(Rng& rng, int low, int high) {
  return low + static_cast<int>(rng() % static_cast<std::uint64_t>(high - low + 1));
}

bool together(const Buffer& a, const Buffer& b) { return a.lower < b.upper && b.lower < a.upper; }

// Any packing, once everything has been moved down as far as it goes, comes from placing the buffers in some
// order, each on top of all before it that it lives with.
std::int64_t least_height(const std::vector<Buffer>& buffers) {
  std::vector<std::size_t> order(buffers.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::vector<std::int64_t> tops(buffers.size());
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  do {
    std::int64_t height = 0;
    for (std::size_t i = 0; i < order.size(); ++i) {
      std::int64_t offset = 0;
      for (std::size_t j = 0; j < i; ++j)
        if (together(buffers[order[i]], buffers[order[j]])) offset = std::max(offset, tops[order[j]]);
      tops[order[i]] = offset + buffers[order[i]].size;
      height = std::max(height, tops[order[i]]);
    }
    least = std::min(least, height);
  } while (std::next_permutation(order.begin(), order.end()));
  return least;
}

// Unit by unit and moment by moment.
bool occupied_once(const std::vector<Buffer>& buffers, const std::vector<std::int64_t>& offsets) {
  std::vector<std::pair<std::int64_t, std::int64_t>> cells;
  for (std::size_t b = 0; b < buffers.size(); ++b) {
    for (std::int64_t time = buffers[b].lower; time < buffers[b].upper; ++time)
      for (std::int64_t unit = 0; unit < buffers[b].size; ++unit) cells.emplace_back(time, offsets[b] + unit);
    if (offsets[b] < 0) return false;
  }
  std::sort(cells.begin(), cells.end());
  return std::adjacent_find(cells.begin(), cells.end()) == cells.end();
}

std::vector<Buffer> random_buffers(Rng& rng) {
  const int count = pick(rng, 1, 7), end = pick(rng, 2, 8), most = pick(rng, 1, 5);
  std::vector<Buffer> buffers;
  for (int b = 0; b < count; ++b) {
    const int lower = pick(rng, 0, end - 1);
    buffers.push_back({lower, pick(rng, lower + 1, end), pick(rng, b == 0 ? 1 : 0, most)});
  }
  return buffers;
}

// Needs 9 though never more than 8 are alive, and so do many that differ a little from it.
std::vector<Buffer> nearly_hard(Rng& rng) {
  std::vector<Buffer> buffers{{0, 2, 4}, {1, 4, 4}, {2, 5, 2}, {2, 6, 2}, {4, 6, 2}, {5, 7, 3}, {6, 7, 4}};
  const std::int64_t scale = pick(rng, 1, 3);
  for (Buffer& buffer : buffers) buffer.size *= scale;
  for (int change = pick(rng, 0, 2); change > 0; --change) {
    Buffer& buffer = buffers[static_cast<std::size_t>(pick(rng, 0, 6))];
    if (pick(rng, 0, 1) == 0)
      buffer.size = std::max<std::int64_t>(1, buffer.size + pick(rng, -1, 1));
    else
      buffer.upper += pick(rng, 0, 1);
  }
  if (pick(rng, 0, 1) == 1)  // backwards in time
    for (Buffer& buffer : buffers) buffer = {9 - buffer.upper, 9 - buffer.lower, buffer.size};
  std::shuffle(buffers.begin(), buffers.end(), rng);
  return buffers;
}

class PackOracle : public testing::Test {
 protected:
  void check(const std::vector<Buffer>& buffers, Rng& rng) {
    const std::int64_t least = least_height(buffers);
    const Packing packing = pack(buffers);
    EXPECT_EQ(packing.height, least);
    EXPECT_EQ(packing.lower_bound, least);  // the search finishes on so few
    EXPECT_TRUE(occupied_once(buffers, packing.offsets));
    EXPECT_TRUE(is_packing(buffers, packing.offsets));

    PackOptions weak;
    weak.effort = pick(rng, 0, 300);
    const Packing rough = pack(buffers, weak);
    EXPECT_GE(rough.height, least);
    EXPECT_LE(rough.lower_bound, least);
    EXPECT_TRUE(occupied_once(buffers, rough.offsets));

    check_search(buffers, least, rng);
    for (int i = 0; i < 20; ++i) {
      std::vector<std::int64_t> shifted = packing.offsets;
      shifted[static_cast<std::size_t>(pick(rng, 0, static_cast<int>(buffers.size()) - 1))] +=
          pick(rng, -3, 3);
      const bool valid = occupied_once(buffers, shifted);
      EXPECT_EQ(is_packing(buffers, shifted), valid);
      ++(valid ? valid_ : invalid_);
    }
    std::int64_t load = 0;
    for (const Buffer& at : buffers) {
      std::int64_t alive = 0;
      for (const Buffer& buffer : buffers)
        if (buffer.lower <= at.lower && at.lower < buffer.upper) alive += buffer.size;
      load = std::max(load, alive);
    }
    if (least > load) ++above_load_;
  }

  // Whatever the order of ties.
  void check_search(const std::vector<Buffer>& buffers, std::int64_t least, Rng& rng) {
    std::vector<Buffer> solid;
    for (const Buffer& buffer : buffers)
      if (buffer.size > 0) solid.push_back(buffer);
    const Sections sections = sections_of(solid);
    std::vector<int> order(solid.size());
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), rng);
    PackLimits limits{least, 1'000'000, 1'000'000'000};
    const PackAnswer answer = search_packing(solid, sections, order, limits, {});
    ASSERT_EQ(answer.status, PackStatus::found);
    EXPECT_TRUE(occupied_once(solid, answer.offsets));
    for (std::size_t b = 0; b < solid.size(); ++b) EXPECT_LE(answer.offsets[b] + solid[b].size, least);
    limits.capacity = least - 1;
    EXPECT_EQ(search_packing(solid, sections, order, limits, {}).status, PackStatus::impossible);
  }

  int valid_ = 0, invalid_ = 0, above_load_ = 0;
};

TEST_F(PackOracle, RandomBuffers) {
  for (std::uint64_t seed = 1; seed <= 600; ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    check(random_buffers(rng), rng);
    if (HasFailure()) return;
  }
  EXPECT_GT(valid_, 500);
  EXPECT_GT(invalid_, 500);
}

TEST_F(PackOracle, BuffersThatNeedMoreThanTheirLoad) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    check(nearly_hard(rng), rng);
    if (HasFailure()) return;
  }
  EXPECT_GT(above_load_, 50);
  EXPECT_LT(above_load_, 300);
}

}  // namespace
}  // namespace poet
