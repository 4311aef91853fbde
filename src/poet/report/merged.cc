#include "poet/report/merged.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

namespace poet {
namespace {

struct GrainRun {
  long begin, end;  // grains
  long since;       // row of grains
};

struct GrainRows {
  long first = 0;
  std::vector<std::vector<std::pair<long, long>>> runs;  // of each row, as they were added
};

/// From the first to behind the last grain, at least one.
std::pair<long, long> grains(double from, double to, double grain) {
  const long begin = std::lround(std::min(from, to) / grain);
  return {begin, std::max(begin + 1, std::lround(std::max(from, to) / grain))};
}

GrainRows grain_rows(const std::vector<Box>& boxes, Grain grain) {
  GrainRows rows;
  if (boxes.empty()) return rows;
  long last = std::numeric_limits<long>::min();
  rows.first = std::numeric_limits<long>::max();
  for (const Box& box : boxes) {
    const auto [begin, end] = grains(box.y0, box.y1, grain.y);
    rows.first = std::min(rows.first, begin);
    last = std::max(last, end);
  }
  rows.runs.resize(static_cast<std::size_t>(last - rows.first));
  for (const Box& box : boxes) {
    const auto [begin, end] = grains(box.y0, box.y1, grain.y);
    const std::pair<long, long> run = grains(box.x0, box.x1, grain.x);
    for (long y = begin; y < end; ++y) rows.runs[static_cast<std::size_t>(y - rows.first)].push_back(run);
  }
  return rows;
}

/// Joins runs that touch.
std::vector<std::pair<long, long>> joined(std::vector<std::pair<long, long>> runs) {
  std::sort(runs.begin(), runs.end());
  std::vector<std::pair<long, long>> out;
  for (const auto& run : runs) {
    if (!out.empty() && run.first <= out.back().second)
      out.back().second = std::max(out.back().second, run.second);
    else
      out.push_back(run);
  }
  return out;
}

}  // namespace

std::vector<Box> merged(const std::vector<Box>& boxes, Grain grain) {
  GrainRows rows = grain_rows(boxes, grain);
  std::vector<Box> out;
  std::vector<GrainRun> open;  // runs that rows since `since` have in common, increasing
  const auto close = [&](const GrainRun& run, long row) {
    out.push_back({static_cast<double>(run.begin) * grain.x, static_cast<double>(run.end) * grain.x,
                   static_cast<double>(run.since) * grain.y, static_cast<double>(row) * grain.y});
  };
  rows.runs.emplace_back();  // which closes all
  for (std::size_t i = 0; i < rows.runs.size(); ++i) {
    const long row = rows.first + static_cast<long>(i);
    std::vector<GrainRun> next;
    auto before = open.begin();
    for (const auto& [begin, end] : joined(std::move(rows.runs[i]))) {
      while (before != open.end() && std::pair(before->begin, before->end) < std::pair(begin, end))
        close(*before++, row);
      const bool goes_on = before != open.end() && before->begin == begin && before->end == end;
      next.push_back({begin, end, goes_on ? (before++)->since : row});
    }
    while (before != open.end()) close(*before++, row);
    open = std::move(next);
  }
  return out;
}

std::vector<std::pair<double, double>> merged(const std::vector<std::pair<double, double>>& points,
                                              double grain) {
  std::vector<std::pair<double, double>> out;
  for (std::size_t begin = 0; begin < points.size();) {
    const double column = std::floor(points[begin].first / grain);
    std::size_t end = begin, lowest = begin, highest = begin;
    for (; end < points.size() && std::floor(points[end].first / grain) == column; ++end) {
      if (points[end].second < points[lowest].second) lowest = end;
      if (points[end].second > points[highest].second) highest = end;
    }
    std::vector<std::size_t> kept = {begin, lowest, highest, end - 1};
    std::sort(kept.begin(), kept.end());
    kept.erase(std::unique(kept.begin(), kept.end()), kept.end());
    for (const std::size_t i : kept) out.push_back(points[i]);
    begin = end;
  }
  return out;
}

}  // namespace poet
