#include "poet/study/pareto.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <string>
#include <tuple>

namespace poet {
namespace {

using Members = std::vector<std::size_t>;

/// Sets `flag` of those of `members` that no other member beats.
template <class Figure>
void mark(std::span<const SweepResult> results, const Members& members, const Figure& figure,
          bool ParetoFlags::*flag, std::vector<ParetoFlags>& flags) {
  std::vector<TradeOff> points;
  points.reserve(members.size());
  for (const std::size_t member : members)
    points.push_back({figure(results[member]), results[member].energy_joules.value_or(0)});
  const std::vector<bool> best = non_dominated(points);
  for (std::size_t i = 0; i < members.size(); ++i) flags[members[i]].*flag = best[i];
}

double ram_of(const SweepResult& result) { return static_cast<double>(result.peak_ram_bytes.value_or(0)); }
double time_of(const SweepResult& result) { return result.runtime_seconds.value_or(0); }

}  // namespace

std::vector<bool> non_dominated(std::span<const TradeOff> points) {
  std::vector<std::size_t> order(points.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&points](std::size_t a, std::size_t b) {
    return std::tie(points[a].x, points[a].y) < std::tie(points[b].x, points[b].y);
  });
  std::vector<bool> best(points.size(), false);
  double least = std::numeric_limits<double>::infinity();  // y of all points with smaller x
  for (std::size_t first = 0; first < order.size();) {
    const TradeOff& front = points[order[first]];  // the least y of its x
    std::size_t next = first;
    for (; next < order.size() && points[order[next]].x == front.x; ++next)
      best[order[next]] = front.y < least && points[order[next]].y == front.y;
    least = std::min(least, front.y);
    first = next;
  }
  return best;
}

std::vector<ParetoFlags> pareto_flags(std::span<const SweepResult> results) {
  std::map<std::string, Members> instances;
  std::map<std::pair<std::string, std::string>, Members> methods;
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (results[i].verdict != to_string(Verdict::holds)) continue;
    instances[results[i].instance].push_back(i);
    methods[{results[i].instance, results[i].method}].push_back(i);
  }
  std::vector<ParetoFlags> flags(results.size());
  for (const auto& [instance, members] : instances) {
    mark(results, members, ram_of, &ParetoFlags::energy_ram, flags);
    mark(results, members, time_of, &ParetoFlags::energy_time, flags);
  }
  for (const auto& [method, members] : methods) {
    mark(results, members, ram_of, &ParetoFlags::energy_ram_of_method, flags);
    mark(results, members, time_of, &ParetoFlags::energy_time_of_method, flags);
  }
  return flags;
}

}  // namespace poet
