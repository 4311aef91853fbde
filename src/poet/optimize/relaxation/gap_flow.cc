#include "poet/optimize/relaxation/gap_flow.h"

#include <lemon/network_simplex.h>
#include <lemon/smart_graph.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>

#include "poet/base/error.h"
#include "poet/base/numbers.h"
#include "poet/base/process/child.h"

namespace poet {
namespace {

using Network = lemon::SmartDigraph;
using Simplex = lemon::NetworkSimplex<Network, std::int64_t, std::int64_t>;

// Costs per byte are integers up to this limit, so that sums along any path cannot overflow.
constexpr double kLargestCost = 1e9;

// Returns the upper bound on savings that the prices prove (Lagrangian dual): each interval is kept if it is
// worth more than the rent of its capacity.
double saved_at_most(const std::vector<std::int64_t>& capacity, const std::vector<PackedInterval>& intervals,
                     const std::vector<double>& price) {
  std::vector<double> sum(price.size() + 1, 0.0);
  double saved = 0;
  for (std::size_t t = 0; t < price.size(); ++t) {
    sum[t + 1] = sum[t] + price[t];
    saved += price[t] * static_cast<double>(capacity[t]);
  }
  for (const PackedInterval& interval : intervals) {
    const double rent = sum[at(interval.last) + 1] - sum[at(interval.first)];
    saved += std::max(0.0, interval.joules - rent * static_cast<double>(interval.bytes));
  }
  return saved;
}

// Numbers of arcs, read by LEMON as a map. Its own maps wait for ever in their destructors if memory ran out
// while another map of the same graph was made (AlterationNotifier::attach() does not unlock).
struct ArcNumbers {
  using Key = Network::Arc;
  using Value = std::int64_t;
  std::vector<Value> of;

  Value operator[](Key arc) const { return of[at(Network::id(arc))]; }
};

// Returns the price per op, then the kept fraction of each interval. The network: the largest capacity flows
// from the first op past the last one. Flow along an op's arc is unused capacity, at least the shortfall of
// the op's own capacity; flow along an interval's arc is the capacity that it takes.
std::vector<double> solve_flow(const std::vector<std::int64_t>& capacity,
                               const std::vector<PackedInterval>& intervals) {
  const int ops = static_cast<int>(capacity.size());
  std::int64_t most = 0;
  for (const std::int64_t bytes : capacity) most = std::max(most, bytes);
  double dearest = 0;
  for (const PackedInterval& i : intervals)
    if (i.bytes > 0) dearest = std::max(dearest, i.joules / static_cast<double>(i.bytes));
  const double unit = dearest > 0 ? kLargestCost / dearest : 1;

  Network network;
  network.reserveNode(ops + 1);
  const std::size_t arcs = capacity.size() + intervals.size();
  network.reserveArc(static_cast<int>(arcs));
  for (int t = 0; t <= ops; ++t) network.addNode();
  ArcNumbers lower{std::vector<std::int64_t>(arcs)};
  ArcNumbers upper{std::vector<std::int64_t>(arcs)};
  ArcNumbers cost{std::vector<std::int64_t>(arcs)};
  for (int t = 0; t < ops; ++t) {
    network.addArc(Network::nodeFromId(t), Network::nodeFromId(t + 1));
    lower.of[at(t)] = most - capacity[at(t)];
    upper.of[at(t)] = most;
  }
  for (std::size_t arc = capacity.size(); const PackedInterval& i : intervals) {
    network.addArc(Network::nodeFromId(i.first), Network::nodeFromId(i.last + 1));
    upper.of[arc] = i.bytes;
    if (i.bytes > 0)
      cost.of[arc] = -std::llround(std::max(0.0, i.joules) / static_cast<double>(i.bytes) * unit);
    ++arc;
  }
  Simplex simplex(network);
  simplex.lowerMap(lower).upperMap(upper).costMap(cost);
  simplex.stSupply(Network::nodeFromId(0), Network::nodeFromId(ops), most);
  ensure(simplex.run() == Simplex::OPTIMAL, "an interval packing has no optimum");

  std::vector<double> solution;
  for (int t = 0; t < ops; ++t) {
    const std::int64_t fall =
        simplex.potential(Network::nodeFromId(t)) - simplex.potential(Network::nodeFromId(t + 1));
    solution.push_back(std::max(0.0, static_cast<double>(fall) / unit));
  }
  for (std::size_t i = 0; i < intervals.size(); ++i) {
    const auto arc = Network::arcFromId(ops + static_cast<int>(i));
    const std::int64_t bytes = intervals[i].bytes;
    solution.push_back(bytes > 0 ? static_cast<double>(simplex.flow(arc)) / static_cast<double>(bytes) : 1);
  }
  return solution;
}

std::vector<double> solve_in_child(const std::vector<std::int64_t>& capacity,
                                   const std::vector<PackedInterval>& intervals,
                                   const std::function<bool()>& stop) {
  std::vector<double> solution;
  ChildWatch watch;
  watch.receive = [&](std::string&& message) {
    solution.resize(message.size() / sizeof(double));
    std::memcpy(solution.data(), message.data(), message.size());
    return true;
  };
  watch.keep_going = [&] { return !stop(); };
  const ChildEnd end = run_child(
      [&](Parent& parent) {
        const std::vector<double> found = solve_flow(capacity, intervals);
        std::string message(found.size() * sizeof(double), '\0');
        std::memcpy(message.data(), found.data(), message.size());
        parent.send(message);
        return 0;
      },
      watch);
  if (end.how != ChildEnd::How::finished || solution.size() != capacity.size() + intervals.size()) return {};
  return solution;
}

}  // namespace

std::optional<GapPacking> pack_intervals(const std::vector<std::int64_t>& capacity,
                                         const std::vector<PackedInterval>& intervals,
                                         const std::function<bool()>& stop) {
  constexpr std::size_t kMostAtOnce = 3'000;  // arcs: 10 ms
  const bool long_run = stop && capacity.size() + intervals.size() > kMostAtOnce;
  const std::vector<double> solution =
      long_run ? solve_in_child(capacity, intervals, stop) : solve_flow(capacity, intervals);
  if (solution.empty() && !capacity.empty()) return std::nullopt;
  const auto middle = solution.begin() + static_cast<std::ptrdiff_t>(capacity.size());
  GapPacking packing{{solution.begin(), middle}, {middle, solution.end()}, 0};
  packing.saved = saved_at_most(capacity, intervals, packing.price);
  return packing;
}

}  // namespace poet
