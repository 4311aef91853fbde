#include "poet/plan/layout/arena/first_fit.h"

#include <algorithm>
#include <limits>

namespace poet {
namespace {

struct Placed {
  std::int64_t lower;
  std::int64_t upper;
  Span span;  // in which it is alive; a buffer with gaps is several of these
};

bool is_lower(const Placed& a, const Placed& b) { return a.lower < b.lower; }

/// Where there is room for it below, between or above what lies there, which comes from the lowest up.
/// `meets`: whether it is alive in some section of a span.
template <typename Meets>
std::int64_t lowest_gap(const std::vector<Placed>& from_lowest, const Buffer& buffer, const Meets& meets) {
  std::int64_t offset = aligned(buffer.from, buffer.alignment);
  for (const Placed& other : from_lowest) {
    if (other.lower - offset >= buffer.size) break;
    if (other.upper > offset && meets(other.span)) offset = aligned(other.upper, buffer.alignment);
  }
  return offset;
}

/// Comparisons if every so many sections are a block, roughly.
double comparisons(const Sections& sections, int width) {
  const auto blocks = static_cast<std::size_t>(sections.load.size() / static_cast<std::size_t>(width) + 1);
  std::vector<double> alive(blocks + 1);  // in a block at some time; first by how much more than in the last
  for (const Span& span : sections.spans) {
    alive[static_cast<std::size_t>(span.first / width)] += 1;
    alive[static_cast<std::size_t>(span.last / width) + 1] -= 1;
  }
  for (std::size_t b = 1; b <= blocks; ++b) alive[b] += alive[b - 1];
  std::vector<double> before(blocks + 1);
  for (std::size_t b = 0; b < blocks; ++b) before[b + 1] = before[b] + alive[b];
  constexpr double kSorted = 8;  // what is of several blocks
  double sum = 0;
  for (const Span& span : sections.spans) {
    const auto first = static_cast<std::size_t>(span.first / width);
    const auto last = static_cast<std::size_t>(span.last / width);
    sum += (before[last + 1] - before[first]) * (first == last ? 1 : kSorted);
  }
  return sum;
}

/// Placed buffers by blocks of time, so that one of a short life is compared with those of its time alone.
/// Where most live long there is one block.
class PlacedBuffers {
 public:
  PlacedBuffers(const std::vector<Buffer>& buffers, const Sections& sections)
      : buffers_(buffers), sections_(sections) {
    const auto all = static_cast<int>(sections.load.size());
    double least = std::numeric_limits<double>::infinity();
    constexpr int kNarrowest = 8;
    for (int width = std::max(all, 1); width >= kNarrowest || width == all; width /= 4) {
      const double work = comparisons(sections, width);
      if (work >= least) break;
      least = work;
      width_ = width;
    }
    blocks_.resize(static_cast<std::size_t>(all / width_ + 1));
  }

  [[nodiscard]] std::int64_t lowest_free(std::size_t b) {
    const Span& span = sections_.spans[b];
    const auto first = block_of(span.first), last = block_of(span.last);
    if (first == last) return lowest_in(blocks_[first], b);
    met_.clear();  // some twice, which is no harm
    for (std::size_t block = first; block <= last; ++block)
      for (const Placed& other : blocks_[block])
        if (meet(other.span, span)) met_.push_back(other);
    std::sort(met_.begin(), met_.end(), is_lower);
    return lowest_in(met_, b);
  }

  void add(std::size_t b, std::int64_t offset) {
    const std::int64_t end = offset + buffers_[b].size;
    for (const Span& span : alive_of(sections_, b)) add({offset, end, span});
  }

 private:
  [[nodiscard]] std::int64_t lowest_in(const std::vector<Placed>& from_lowest, std::size_t b) const {
    const std::span<const Span> alive = alive_of(sections_, b);
    if (alive.size() == 1)
      return lowest_gap(from_lowest, buffers_[b],
                        [span = alive.front()](const Span& other) { return meet(span, other); });
    return lowest_gap(from_lowest, buffers_[b], [&](const Span& other) { return any_meets(alive, other); });
  }

  void add(const Placed& placed) {
    for (std::size_t b = block_of(placed.span.first); b <= block_of(placed.span.last); ++b)
      blocks_[b].insert(std::upper_bound(blocks_[b].begin(), blocks_[b].end(), placed, is_lower), placed);
  }

  [[nodiscard]] std::size_t block_of(int section) const { return static_cast<std::size_t>(section / width_); }

  const std::vector<Buffer>& buffers_;
  const Sections& sections_;
  int width_ = 1;                            // sections
  std::vector<std::vector<Placed>> blocks_;  // each from the lowest up
  std::vector<Placed> met_;
};

}  // namespace

FirstFit first_fit(const std::vector<Buffer>& buffers, const Sections& sections,
                   const std::vector<int>& order) {
  FirstFit fit;
  fit.offsets.resize(buffers.size());
  PlacedBuffers placed(buffers, sections);
  for (const int i : order) {
    const auto b = static_cast<std::size_t>(i);
    const std::int64_t offset = placed.lowest_free(b);
    placed.add(b, offset);
    fit.offsets[b] = offset;
    const std::int64_t end = offset + buffers[b].size;
    fit.height = std::max(fit.height, end > buffers[b].to ? kAnywhere : end);
  }
  return fit;
}

}  // namespace poet
