// What leaves a streaming pass's arena makes the room that is asked for, and no other neighbours whose
// leaving makes it lose less: all of them are tried.

#include "poet/optimize/heuristic/streaming_arena.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <vector>

#include "poet/base/numbers.h"
#include "tests/support/effort.h"
#include "tests/support/random_instance.h"

namespace poet {
namespace {

using test::chance;
using test::pick;
using test::Rng;

struct ArenaShape {
  std::int64_t bytes, alignment, small, slot;
};

struct Taken {
  std::int64_t end;
  int id;
};

// Where each block begins.
using Blocks = std::map<std::int64_t, Taken>;

std::int64_t up_to(std::int64_t bytes, std::int64_t multiple) {
  return (bytes + multiple - 1) / multiple * multiple;
}

Blocks filled(StreamingArena& arena, const ArenaShape& shape, Rng& rng) {
  Blocks blocks;
  for (int id = 0; id < 40; ++id) {
    const int bytes = pick(rng, 1, chance(rng, 0.3) ? 80 : 12);
    if (const auto offset = arena.put(id, bytes))
      blocks[*offset] = {*offset + up_to(bytes, shape.alignment), id};
    if (blocks.empty() || !chance(rng, 0.2)) continue;
    const auto leaving = std::next(blocks.begin(), pick(rng, 0, static_cast<int>(blocks.size()) - 1));
    arena.remove(leaving->second.id);
    blocks.erase(leaving);
  }
  return blocks;
}

// With which neighbours gone, of all that lie together, there is room; infinite: with none.
double least_loss(const Blocks& blocks, const ArenaShape& shape, std::int64_t bytes,
                  const std::vector<double>& losses) {
  double least = kInfinity;
  std::int64_t before = 0;
  for (auto first = blocks.begin(); first != blocks.end(); before = first->second.end, ++first) {
    const std::int64_t begin = bytes < shape.small ? before : up_to(before, shape.slot);
    double sum = 0;
    for (auto last = first; last != blocks.end(); ++last) {
      sum += losses[static_cast<std::size_t>(last->second.id)];
      const auto next = std::next(last);
      const std::int64_t end =
          next == blocks.end() ? shape.bytes / shape.alignment * shape.alignment : next->first;
      if (end - begin >= up_to(bytes, shape.alignment)) least = std::min(least, sum);
    }
  }
  return least;
}

TEST(StreamingArena, WhatLeavesMakesRoomAndLosesLeast) {
  int ways = 0, none = 0;
  for (int seed = 1; seed <= test::effort(4'000); ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    Rng rng(static_cast<std::uint64_t>(seed));
    const std::int64_t alignment = pick(rng, 1, 8);
    const ArenaShape shape{pick(rng, 20, 300), alignment, pick(rng, 0, 20),
                           chance(rng, 0.5) ? alignment : alignment * pick(rng, 1, 6)};
    StreamingArena arena(shape.bytes, shape.alignment, shape.small, shape.slot);
    const Blocks blocks = filled(arena, shape, rng);
    std::vector<double> losses;
    for (int id = 0; id < 40; ++id)
      losses.push_back(chance(rng, 0.1) ? kInfinity : chance(rng, 0.1) ? 0 : pick(rng, 1, 1'000) / 7.0);
    const std::int64_t bytes = pick(rng, 1, 200);
    const auto loss = [&](int id) { return losses[static_cast<std::size_t>(id)]; };
    const auto leaving = arena.in_the_way(bytes, loss);
    const double least = least_loss(blocks, shape, bytes, losses);
    ASSERT_EQ(leaving.has_value(), least < kInfinity);
    if (!leaving) {
      ++none;
      continue;
    }
    ++ways;
    double lost = 0;
    for (const int id : *leaving) lost += loss(id);
    EXPECT_NEAR(lost, least, 1e-6);
    for (const int id : *leaving) arena.remove(id);
    EXPECT_TRUE(arena.put(40, bytes).has_value());
  }
  EXPECT_GT(ways, test::enough(1'000));
  EXPECT_GT(none, test::enough(500));
}

}  // namespace
}  // namespace poet
