#include "poet/optimize/heuristic/streaming_arena.h"

#include <algorithm>

#include "poet/base/numbers.h"

namespace poet {

std::optional<std::int64_t> StreamingArena::put(int id, std::int64_t bytes) {
  const std::int64_t size = rounded(bytes);
  const bool from_top = bytes < small_;
  std::size_t best = 0;
  std::int64_t least = bytes_ + 1;
  std::int64_t offset = 0;
  std::int64_t begin = 0;
  for (std::size_t i = 0; i <= blocks_.size(); ++i) {
    const std::int64_t end = i < blocks_.size() ? blocks_[i].begin : bytes_ / alignment_ * alignment_;
    const std::int64_t hole = end - begin;
    const std::int64_t start = begin_in_hole(begin, bytes);
    if (end - start >= size && (hole < least || (from_top && hole == least))) {
      best = i;
      least = hole;
      offset = from_top ? end - size : start;
    }
    if (i < blocks_.size()) begin = blocks_[i].end;
  }
  if (least > bytes_) return std::nullopt;
  blocks_.insert(blocks_.begin() + static_cast<std::ptrdiff_t>(best), {offset, offset + size, id});
  return offset;
}

void StreamingArena::remove(int id) {
  std::erase_if(blocks_, [&](const Block& block) { return block.id == id; });
}

void StreamingArena::replace(int from, int to) {
  for (Block& block : blocks_)
    if (block.id == from) block.id = to;
}

std::optional<std::vector<int>> StreamingArena::in_the_way(std::int64_t bytes,
                                                           const std::function<double(int)>& loss) const {
  const std::int64_t size = rounded(bytes);
  std::vector<double> losses;
  losses.reserve(blocks_.size());
  for (const Block& block : blocks_) losses.push_back(loss(block.id));
  double least = kInfinity;
  std::size_t best_first = 0;
  std::size_t best_last = 0;
  for (std::size_t first = 0; first < blocks_.size(); ++first) {
    const std::int64_t begin = first == 0 ? 0 : blocks_[first - 1].end;
    double sum = 0;
    for (std::size_t i = first; i < blocks_.size() && sum < least; ++i) {
      sum += losses[i];
      const std::int64_t end =
          i + 1 < blocks_.size() ? blocks_[i + 1].begin : bytes_ / alignment_ * alignment_;
      if (sum >= least || end - begin_in_hole(begin, bytes) < size) continue;
      least = sum;
      best_first = first;
      best_last = i + 1;
    }
  }
  if (least == kInfinity) return std::nullopt;
  std::vector<int> leaving;
  for (std::size_t i = best_first; i < best_last; ++i) leaving.push_back(blocks_[i].id);
  return leaving;
}

}  // namespace poet
