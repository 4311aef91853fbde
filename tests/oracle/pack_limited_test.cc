// Small packings with alignments, ranges, fixed buffers, gaps and banks against every offset there is.

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <random>

#include "poet/base/error.h"
#include "poet/packing/problem.h"
#include "poet/plan/layout/arena/pack.h"

namespace poet {
namespace {

using Draws = std::mt19937_64;

int draw(Draws& random, int low, int high) {
  return low + static_cast<int>(random() % static_cast<std::uint64_t>(high - low + 1));
}

bool alive_at(const Buffer& buffer, std::int64_t time) {
  return buffer.lower <= time && time < buffer.upper &&
         std::none_of(buffer.gaps.begin(), buffer.gaps.end(),
                      [&](const Lifetime& gap) { return gap.lower <= time && time < gap.upper; });
}

constexpr std::int64_t kTimes = 8;

bool collide(const Buffer& a, std::int64_t at_a, const Buffer& b, std::int64_t at_b) {
  for (std::int64_t time = 0; time < kTimes; ++time)
    if (alive_at(a, time) && alive_at(b, time) && at_a < at_b + b.size && at_b < at_a + a.size) return true;
  return false;
}

/// Whether the buffers from `next` on fit below `height`, above or beside those before, which have offsets.
bool fit_below(const std::vector<Buffer>& buffers, std::int64_t height, std::vector<std::int64_t>& offsets) {
  const std::size_t next = offsets.size();
  if (next == buffers.size()) return true;
  const Buffer& buffer = buffers[next];
  const bool fixed = buffer.to - buffer.from == buffer.size;
  for (std::int64_t at = buffer.from; at + buffer.size <= std::min(height, buffer.to); ++at) {
    if (!fixed && at % buffer.alignment != 0) continue;
    bool free = true;
    for (std::size_t b = 0; b < next && free; ++b) free = !collide(buffers[b], offsets[b], buffer, at);
    if (!free) continue;
    offsets.push_back(at);
    const bool found = fit_below(buffers, height, offsets);
    offsets.resize(next);
    if (found) return true;
  }
  return false;
}

std::optional<std::int64_t> least_limited_height(const std::vector<Buffer>& buffers) {
  constexpr std::int64_t kMost = 40;
  std::vector<std::int64_t> offsets;
  for (std::int64_t height = 0; height <= kMost; ++height)
    if (fit_below(buffers, height, offsets)) return height;
  return std::nullopt;
}

bool is_valid(const std::vector<Buffer>& buffers, const std::vector<std::int64_t>& offsets) {
  if (offsets.size() != buffers.size()) return false;
  for (std::size_t b = 0; b < buffers.size(); ++b) {
    const Buffer& buffer = buffers[b];
    const bool fixed = buffer.to - buffer.from == buffer.size;
    if (offsets[b] < buffer.from || offsets[b] + buffer.size > buffer.to) return false;
    if (!fixed && offsets[b] % buffer.alignment != 0) return false;
    for (std::size_t other = 0; other < b; ++other)
      if (collide(buffers[other], offsets[other], buffer, offsets[b])) return false;
  }
  return true;
}

Buffer random_limited(Draws& random) {
  Buffer buffer;
  buffer.lower = draw(random, 0, kTimes - 1);
  buffer.upper = draw(random, static_cast<int>(buffer.lower) + 1, kTimes);
  buffer.size = draw(random, 1, 4);
  if (draw(random, 0, 2) == 0) buffer.alignment = draw(random, 2, 4);
  if (buffer.upper - buffer.lower > 2 && draw(random, 0, 1) == 0) {
    const int begin = draw(random, static_cast<int>(buffer.lower) + 1, static_cast<int>(buffer.upper) - 2);
    buffer.gaps.push_back({begin, draw(random, begin + 1, static_cast<int>(buffer.upper) - 1)});
  }
  const int kind = draw(random, 0, 5);
  if (kind == 0) buffer.from = draw(random, 0, 5);
  if (kind == 1) buffer.to = buffer.size + draw(random, 0, 6);
  if (kind == 2) {
    buffer.from = draw(random, 0, 6);
    buffer.to = buffer.from + buffer.size;
  }
  return buffer;
}

TEST(PackLimitedOracle, RandomBuffers) {
  int impossible = 0, above_load = 0;
  for (std::uint64_t seed = 1; seed <= 3'000; ++seed) {
    SCOPED_TRACE(seed);
    Draws random(seed);
    std::vector<Buffer> buffers;
    for (int count = draw(random, 1, 5); count > 0; --count) buffers.push_back(random_limited(random));
    const std::optional<std::int64_t> least = least_limited_height(buffers);
    const Packing packing = pack(buffers);
    EXPECT_EQ(packing.height, least.value_or(kAnywhere));
    EXPECT_EQ(packing.lower_bound, packing.height);
    EXPECT_EQ(is_valid(buffers, packing.offsets), least.has_value());
    EXPECT_EQ(is_packing(buffers, packing.offsets), least.has_value());
    PackOptions asked;
    asked.good_enough = asked.capacity = draw(random, 1, 12);
    const Packing within = pack(buffers, asked);
    if (least && *least <= asked.capacity)
      EXPECT_LE(within.height, asked.capacity);
    else
      EXPECT_GT(within.lower_bound, asked.capacity);
    if (!least) ++impossible;
    if (packing.nodes > 0) ++above_load;
    std::vector<std::int64_t> shifted = packing.offsets;
    for (int i = 0; i < 10 && !shifted.empty(); ++i) {
      shifted[static_cast<std::size_t>(draw(random, 0, static_cast<int>(buffers.size()) - 1))] +=
          draw(random, -2, 2);
      EXPECT_EQ(is_packing(buffers, shifted), is_valid(buffers, shifted));
    }
    if (HasFailure()) return;
  }
  EXPECT_GT(impossible, 20);
  EXPECT_GT(above_load, 100);
}

/// Every choice of banks, then every offset.
bool fit_in_banks(const PackProblem& problem, std::size_t next, std::vector<std::size_t>& in) {
  if (next < problem.buffers.size()) {
    for (std::size_t bank = 0; bank < problem.banks.size(); ++bank) {
      const std::string& wanted = problem.buffers[next].bank;
      if (!wanted.empty() && wanted != problem.banks[bank].name) continue;
      in.push_back(bank);
      const bool found = fit_in_banks(problem, next + 1, in);
      in.pop_back();
      if (found) return true;
    }
    return false;
  }
  for (std::size_t bank = 0; bank < problem.banks.size(); ++bank) {
    std::vector<Buffer> buffers;
    for (std::size_t b = 0; b < in.size(); ++b) {
      if (in[b] != bank || problem.buffers[b].bytes == 0) continue;
      const RequestedBuffer& asked = problem.buffers[b];
      Buffer buffer{.lower = asked.lower,
                    .upper = asked.upper,
                    .size = asked.bytes,
                    .alignment = asked.alignment,
                    .gaps = asked.gaps};
      if (asked.offset) {
        buffer.from = *asked.offset;
        buffer.to = buffer.from + buffer.size;
      }
      buffers.push_back(buffer);
    }
    std::vector<std::int64_t> offsets;
    if (!fit_below(buffers, problem.banks[bank].bytes, offsets)) return false;
  }
  return true;
}

PackProblem random_bank_problem(Draws& random) {
  PackProblem problem;
  const int banks = draw(random, 1, 3);
  for (int bank = 0; bank < banks; ++bank)
    problem.banks.push_back({std::string(1, static_cast<char>('p' + bank)), draw(random, 2, 7)});
  for (int count = draw(random, 2, 6); count > 0; --count) {
    RequestedBuffer buffer;
    buffer.lower = draw(random, 0, kTimes - 1);
    buffer.upper = draw(random, static_cast<int>(buffer.lower) + 1, kTimes);
    buffer.bytes = draw(random, 0, 4);
    if (draw(random, 0, 3) == 0) buffer.alignment = draw(random, 2, 3);
    if (draw(random, 0, 3) == 0)
      buffer.bank = problem.banks[static_cast<std::size_t>(draw(random, 0, banks - 1))].name;
    if (!buffer.bank.empty() && draw(random, 0, 2) == 0)
      buffer.offset = buffer.alignment * draw(random, 0, 2);
    problem.buffers.push_back(buffer);
  }
  return problem;
}

TEST(PackLimitedOracle, RandomBanks) {
  int fit = 0, proven = 0, refused = 0;
  for (std::uint64_t seed = 1; seed <= 2'000; ++seed) {
    SCOPED_TRACE(seed);
    Draws random(seed);
    const PackProblem problem = random_bank_problem(random);
    PackSolution solution;
    try {
      solution = solve_packing(problem, 1'000'000'000, {});
    } catch (const InputError&) {
      ++refused;  // fixed buffers that overlap or do not fit
      continue;
    }
    std::vector<std::size_t> in;
    const bool expected = fit_in_banks(problem, 0, in);
    EXPECT_EQ(solution.verdict, expected ? PackVerdict::feasible : PackVerdict::infeasible);
    ++(expected ? fit : proven);
    if (!expected || HasFailure()) {
      if (HasFailure()) return;
      continue;
    }
    for (std::size_t b = 0; b < problem.buffers.size(); ++b) {
      const RequestedBuffer& asked = problem.buffers[b];
      const auto [offset, bank] = solution.buffers[b];
      EXPECT_TRUE(asked.bank.empty() || asked.bank == problem.banks[bank].name);
      EXPECT_EQ(offset, asked.offset.value_or(offset));
      EXPECT_EQ(offset % asked.alignment, 0);
      EXPECT_LE(asked.bytes > 0 ? offset + asked.bytes : 0, problem.banks[bank].bytes);
      for (std::size_t other = 0; other < b; ++other) {
        const RequestedBuffer& with = problem.buffers[other];
        if (solution.buffers[other].bank != bank || asked.lower >= with.upper || with.lower >= asked.upper)
          continue;
        const std::int64_t at = solution.buffers[other].offset;
        EXPECT_TRUE(asked.bytes == 0 || with.bytes == 0 || offset + asked.bytes <= at ||
                    at + with.bytes <= offset);
      }
    }
    if (HasFailure()) return;
  }
  EXPECT_GT(fit, 300);
  EXPECT_GT(proven, 300);
  EXPECT_GT(refused, 50);
}

}  // namespace
}  // namespace poet
