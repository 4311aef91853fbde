#include "poet/plan/layout/arena/first_fit.h"

#include <algorithm>

namespace poet {
namespace {

struct Placed {
  std::int64_t lower;
  std::int64_t upper;
  Span span;
};

}  // namespace

FirstFit first_fit(const std::vector<Buffer>& buffers, const Sections& sections,
                   const std::vector<int>& order) {
  FirstFit fit;
  fit.offsets.resize(buffers.size());
  std::vector<Placed> placed;  // by offset
  placed.reserve(buffers.size());
  for (const int i : order) {
    const auto b = static_cast<std::size_t>(i);
    const Span span = sections.spans[b];
    std::int64_t offset = 0;
    for (const Placed& other : placed) {
      if (other.lower - offset >= buffers[b].size) break;
      if (other.upper > offset && meet(other.span, span)) offset = other.upper;
    }
    const Placed mine{offset, offset + buffers[b].size, span};
    placed.insert(std::upper_bound(placed.begin(), placed.end(), mine,
                                   [](const Placed& a, const Placed& c) { return a.lower < c.lower; }),
                  mine);
    fit.offsets[b] = offset;
    fit.height = std::max(fit.height, mine.upper);
  }
  return fit;
}

}  // namespace poet
