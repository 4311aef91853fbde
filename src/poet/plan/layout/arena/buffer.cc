#include "poet/plan/layout/arena/buffer.h"

#include <algorithm>
#include <iterator>
#include <map>

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

std::optional<std::pair<std::size_t, std::size_t>> overlap_in(const std::vector<Buffer>& buffers,
                                                              const std::vector<std::int64_t>& offsets) {
  struct Period {
    Lifetime life;
    std::size_t buffer;
  };
  std::vector<Period> by_start;
  for (std::size_t b = 0; b < buffers.size(); ++b)
    if (buffers[b].size > 0)
      for (const Lifetime& life : periods_of(buffers[b])) by_start.push_back({life, b});
  std::vector<Period> by_end = by_start;
  std::stable_sort(by_start.begin(), by_start.end(),
                   [](const Period& a, const Period& b) { return a.life.lower < b.life.lower; });
  std::stable_sort(by_end.begin(), by_end.end(),
                   [](const Period& a, const Period& b) { return a.life.upper < b.life.upper; });
  std::map<std::int64_t, std::size_t> alive;  // by offset; apart, so that only neighbours can be met
  auto dying = by_end.begin();
  for (const auto& [life, b] : by_start) {
    for (; dying->life.upper <= life.lower; ++dying) alive.erase(offsets[dying->buffer]);
    const auto above = alive.lower_bound(offsets[b]);
    if (above != alive.end() && above->first < offsets[b] + buffers[b].size)
      return std::minmax({above->second, b});
    if (above != alive.begin()) {
      const auto below = std::prev(above);
      if (below->first + buffers[below->second].size > offsets[b]) return std::minmax({below->second, b});
    }
    alive.emplace_hint(above, offsets[b], b);
  }
  return std::nullopt;
}

bool is_packing(const std::vector<Buffer>& buffers, const std::vector<std::int64_t>& offsets) {
  if (offsets.size() != buffers.size()) return false;
  for (std::size_t b = 0; b < buffers.size(); ++b) {
    const Buffer& buffer = buffers[b];
    if (buffer.size == 0 && offsets[b] >= 0) continue;
    if (offsets[b] < buffer.from || offsets[b] > buffer.to - buffer.size) return false;
    if (!is_fixed(buffer) && offsets[b] % buffer.alignment != 0) return false;
  }
  return !overlap_in(buffers, offsets);
}

}  // namespace poet
