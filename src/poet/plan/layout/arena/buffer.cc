#include "poet/plan/layout/arena/buffer.h"

#include <algorithm>

#include "poet/base/error.h"

namespace poet {

std::vector<Lifetime> periods_of(const Buffer& buffer) {
  std::vector<Lifetime> periods;
  std::int64_t begin = buffer.lower;
  for (const Lifetime& gap : buffer.gaps) {
    if (gap.lower > begin) periods.push_back({begin, gap.lower});
    begin = gap.upper;
  }
  if (buffer.upper > begin) periods.push_back({begin, buffer.upper});
  return periods;
}

void ensure_valid(const std::vector<Buffer>& buffers) {
  constexpr std::int64_t kMost = std::int64_t{1} << 62;
  std::int64_t highest = 0;  // limit
  for (const Buffer& buffer : buffers) {
    ensure(buffer.upper > buffer.lower && buffer.size >= 0, "a buffer has a lifetime and a size");
    ensure(buffer.alignment > 0 && buffer.from >= 0 && buffer.to >= buffer.from &&
               buffer.to - buffer.from >= buffer.size,
           "a buffer has an alignment and fits into its range");
    const std::int64_t limit = buffer.to == kAnywhere ? buffer.from : buffer.to;
    highest = std::max(highest, limit);
    std::int64_t begin = buffer.lower;
    for (const Lifetime& gap : buffer.gaps) {
      ensure(gap.lower >= begin && gap.upper > gap.lower, "gaps are in order and within the lifetime");
      begin = gap.upper;
    }
    ensure(begin <= buffer.upper && (buffer.gaps.empty() || !periods_of(buffer).empty()),
           "a buffer is alive outside its gaps");
  }
  std::int64_t sum = highest;
  for (const Buffer& buffer : buffers) {
    ensure(sum <= kMost && buffer.size <= kMost - sum && buffer.alignment - 1 <= kMost - sum - buffer.size,
           "the buffers' sizes add up to at most 2^62");
    sum += buffer.size + (buffer.alignment - 1);
  }
}

bool is_packing(const std::vector<Buffer>& buffers, const std::vector<std::int64_t>& offsets) {
  if (offsets.size() != buffers.size()) return false;
  struct Period {
    Lifetime life;
    std::size_t buffer;
  };
  std::vector<Period> by_start;
  for (std::size_t b = 0; b < buffers.size(); ++b) {
    const Buffer& buffer = buffers[b];
    if (buffer.size == 0 && offsets[b] >= 0) continue;
    if (offsets[b] < buffer.from || offsets[b] > buffer.to - buffer.size) return false;
    if (!is_fixed(buffer) && offsets[b] % buffer.alignment != 0) return false;
    for (const Lifetime& life : periods_of(buffer)) by_start.push_back({life, b});
  }
  std::sort(by_start.begin(), by_start.end(),
            [](const Period& a, const Period& b) { return a.life.lower < b.life.lower; });
  std::vector<Period> alive;
  for (const Period& period : by_start) {
    const std::size_t b = period.buffer;
    const auto dead = [&](const Period& one) { return one.life.upper <= period.life.lower; };
    alive.erase(std::remove_if(alive.begin(), alive.end(), dead), alive.end());
    for (const Period& one : alive)
      if (offsets[one.buffer] < offsets[b] + buffers[b].size &&
          offsets[b] < offsets[one.buffer] + buffers[one.buffer].size)
        return false;
    alive.push_back(period);
  }
  return true;
}

}  // namespace poet
