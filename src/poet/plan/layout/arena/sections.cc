#include "poet/plan/layout/arena/sections.h"

#include <algorithm>
#include <numeric>

namespace poet {
namespace {

Sections sections_without_gaps(const std::vector<Buffer>& buffers) {
  std::vector<std::size_t> by_start(buffers.size());
  std::iota(by_start.begin(), by_start.end(), std::size_t{0});
  std::vector<std::size_t> by_end = by_start;
  std::stable_sort(by_start.begin(), by_start.end(),
                   [&](std::size_t a, std::size_t b) { return buffers[a].lower < buffers[b].lower; });
  std::stable_sort(by_end.begin(), by_end.end(),
                   [&](std::size_t a, std::size_t b) { return buffers[a].upper < buffers[b].upper; });

  Sections sections;
  sections.spans.resize(buffers.size());
  std::int64_t alive = 0;
  std::size_t born = 0;
  bool grown = false;  // since the last section
  for (const std::size_t dying : by_end) {
    for (; born < by_start.size() && buffers[by_start[born]].lower < buffers[dying].upper; ++born) {
      sections.spans[by_start[born]].first = static_cast<int>(sections.load.size());
      alive += buffers[by_start[born]].size;
      grown = true;
    }
    if (grown) sections.load.push_back(alive);
    grown = false;
    sections.spans[dying].last = static_cast<int>(sections.load.size()) - 1;
    alive -= buffers[dying].size;
  }
  return sections;
}

}  // namespace

Sections sections_of(const std::vector<Buffer>& buffers) {
  if (std::all_of(buffers.begin(), buffers.end(), [](const Buffer& buffer) { return buffer.gaps.empty(); }))
    return sections_without_gaps(buffers);
  std::vector<Buffer> pieces;
  for (const Buffer& buffer : buffers)
    for (const Lifetime& period : periods_of(buffer))
      pieces.push_back({period.lower, period.upper, buffer.size});
  Sections sections = sections_without_gaps(pieces);
  const std::vector<Span> spans = std::move(sections.spans);
  sections.spans.clear();
  sections.alive.resize(buffers.size());
  auto piece = spans.begin();
  for (std::size_t b = 0; b < buffers.size(); ++b) {
    const auto end = piece + static_cast<std::ptrdiff_t>(periods_of(buffers[b]).size());
    sections.spans.push_back({piece->first, (end - 1)->last});
    if (end - piece > 1) sections.alive[b].assign(piece, end);
    piece = end;
  }
  return sections;
}

std::int64_t greatest_load(const Sections& sections) {
  return sections.load.empty() ? 0 : *std::max_element(sections.load.begin(), sections.load.end());
}

}  // namespace poet
