#include "poet/plan/layout/arena/pack_constraints.h"

#include <algorithm>

#include "poet/base/numbers.h"

namespace poet {
namespace {

bool is_limited(const Buffer& buffer) {
  return buffer.alignment != 1 || buffer.from != 0 || buffer.to != kAnywhere;
}

}  // namespace

PackConstraints::PackConstraints(const std::vector<Buffer>& buffers, const Sections& sections)
    : buffers_(buffers), none_(std::none_of(buffers.begin(), buffers.end(), is_limited)) {
  if (none_) return;
  std::vector<std::size_t> fixed;
  for (std::size_t b = 0; b < buffers.size(); ++b)
    if (is_fixed(buffers[b])) fixed.push_back(b);
  std::sort(fixed.begin(), fixed.end(),
            [&](std::size_t a, std::size_t b) { return buffers[a].from < buffers[b].from; });
  met_.resize(buffers.size());
  present_.resize(sections.load.size());
  for (const std::size_t f : fixed) {
    const std::pair ends(buffers[f].from, buffers[f].to);
    for (std::size_t b = 0; b < buffers.size(); ++b)
      if (meet(sections, f, b)) met_[b].push_back(ends);
    for (int s = sections.spans[f].first; s <= sections.spans[f].last; ++s)
      if (is_alive(sections, f, s)) present_[at(s)].push_back(ends);
  }
}

std::int64_t PackConstraints::lowest(int buffer, std::int64_t least) const {
  if (none_) return least;
  const Buffer& placed = buffers_[at(buffer)];
  std::int64_t offset = aligned(least, placed.alignment);
  for (const auto& [lower, upper] : met_[at(buffer)]) {
    if (lower - offset >= placed.size) break;
    if (upper > offset) offset = aligned(upper, placed.alignment);
  }
  return offset;
}

std::int64_t PackConstraints::taken(int section, std::int64_t from, std::int64_t to) const {
  if (none_) return 0;
  std::int64_t sum = 0;
  for (const auto& [lower, upper] : present_[at(section)])
    sum += std::max<std::int64_t>(0, std::min(upper, to) - std::max(lower, from));
  return sum;
}

}  // namespace poet
