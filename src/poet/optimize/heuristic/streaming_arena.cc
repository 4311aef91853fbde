#include "poet/optimize/heuristic/streaming_arena.h"

#include <algorithm>

#include "poet/base/numbers.h"

namespace poet {
namespace {

// A sliding window of adjacent blocks and the sum of their losses. Losses may be infinite, so sums are never
// subtracted: suffix sums cover the blocks of the last rebuild, a running sum the later ones.
struct Neighbours {
  std::vector<double> losses;  // of all blocks
  std::size_t last = 0;        // one past the neighbours

  void drop_before(std::size_t block) {
    first_ = block;
    if (first_ < summed_) return;
    summed_ = last;
    added_ = 0;
    from_.resize(losses.size() + 1);
    from_[summed_] = 0;
    for (std::size_t i = summed_; i-- > first_;) from_[i] = from_[i + 1] + losses[i];
  }
  void add() { added_ += losses[last++]; }
  [[nodiscard]] double loss() const { return from_[first_] + added_; }

 private:
  std::size_t first_ = 0;
  std::size_t summed_ = 0;    // end of the blocks that from_ covers
  std::vector<double> from_;  // sum of losses from each block to summed_
  double added_ = 0;
};

}  // namespace

std::optional<std::int64_t> StreamingArena::put(int id, std::int64_t bytes) {
  const std::int64_t size = rounded(bytes);
  const bool from_top = bytes < small_;
  std::size_t best = 0;
  std::int64_t least = bytes_ + 1;
  std::int64_t offset = 0;
  std::int64_t begin = 0;
  for (std::size_t i = 0; i <= blocks_.size(); ++i) {
    const std::int64_t end = hole_end(i);
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
  constexpr double kRounding = 1e-9;  // smaller differences are rounding errors
  const std::int64_t size = rounded(bytes);
  Neighbours neighbours;
  neighbours.losses.reserve(blocks_.size());
  for (const Block& block : blocks_) neighbours.losses.push_back(loss(block.id));
  double least = kInfinity;
  std::size_t best_first = 0;
  std::size_t best_last = 0;
  for (std::size_t first = 0; first < blocks_.size(); ++first) {
    const std::int64_t begin = first == 0 ? 0 : blocks_[first - 1].end;
    // Two pointers: the last block never moves backwards as the first moves forwards.
    neighbours.drop_before(first);
    while (neighbours.last < blocks_.size() &&
           (neighbours.last == first || hole_end(neighbours.last) - begin_in_hole(begin, bytes) < size))
      neighbours.add();
    const std::size_t last = neighbours.last;
    if (hole_end(last) - begin_in_hole(begin, bytes) < size) break;
    if (neighbours.loss() >= least * (1 - kRounding)) continue;
    least = neighbours.loss();
    best_first = first;
    best_last = last;
  }
  if (least == kInfinity) return std::nullopt;
  std::vector<int> leaving;
  for (std::size_t i = best_first; i < best_last; ++i) leaving.push_back(blocks_[i].id);
  return leaving;
}

}  // namespace poet
