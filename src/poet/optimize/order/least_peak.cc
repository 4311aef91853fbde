#include "poet/optimize/order/least_peak.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <random>

#include "poet/base/numbers.h"
#include "poet/optimize/order/list_orders.h"
#include "poet/optimize/order/moving_order.h"

namespace poet {
namespace {

// The price per op of a byte beyond the share, relative to a byte of the peak. Many moves leave the peak
// unchanged; this rewards those that lower the plateaus around it.
constexpr double kPriceBeyond = 3;
// Initial and final temperatures of the coolings, relative to the initial RAM. Later coolings leave the local
// minimum of the first one.
constexpr std::array kHottestOfRam = {0.003, 0.01, 0.001, 0.03};
constexpr double kColdestOfRam = 0.00003;
constexpr long kPerCooling = 250;   // moves per op in one cooling
constexpr int kLongestMove = 4;     // ops that move together
constexpr int kNearPositions = 16;  // the limit for half of the moves
constexpr int kFarPositions = 1'000;
constexpr double kForDescent = 0.1;  // share of the moves that accept no worsening

class LeastPeakSearch {
 public:
  LeastPeakSearch(const OrderCosts& costs, std::int64_t share, std::vector<int> start, std::uint64_t seed,
                  const std::function<bool()>& stop)
      : c_(costs),
        share_(share),
        best_order_(std::move(start)),
        best_(ram_of(costs, best_order_, share)),
        scale_(static_cast<double>(best_.peak)),
        random_(seed),
        stop_(stop) {}

  void run(long moves) {
    const auto descent = static_cast<long>(kForDescent * static_cast<double>(moves));
    const long coolings =
        std::clamp<long>(moves / (kPerCooling * c_.ops), 1, static_cast<long>(kHottestOfRam.size()));
    for (long i = 0; i < coolings; ++i)
      cool((moves - descent) / coolings, kHottestOfRam[static_cast<std::size_t>(i)]);
    descend(moves - tried_);
  }

  [[nodiscard]] const std::vector<int>& best() const { return best_order_; }
  [[nodiscard]] OrderRam ram() const { return best_; }
  [[nodiscard]] long tried() const { return tried_; }

 private:
  struct Move {
    int first;
    int count;
    int to;
  };

  double uniform() { return static_cast<double>(random_() >> 11) * 0x1p-53; }
  int below(int end) { return static_cast<int>(random_() % static_cast<std::uint64_t>(end)); }
  [[nodiscard]] double price(const OrderRam& ram) const {
    return static_cast<double>(ram.peak) + kPriceBeyond * ram.beyond / c_.ops;
  }

  bool ended() {
    constexpr long kPoll = 64;
    if (tried_ % kPoll == 0 && stop_()) stopped_ = true;
    return stopped_;
  }

  void cool(long moves, double hottest) {
    MovingOrder order(c_, best_order_, share_);
    double now = price(best_);
    for (long i = 0; i < moves && !ended(); ++i) {
      const double progress = static_cast<double>(i) / static_cast<double>(moves);
      const double temperature = scale_ * hottest * std::pow(kColdestOfRam / hottest, progress);
      const Move m = pick(order);
      order.move(m.first, m.count, m.to);
      const OrderRam ram = order.ram();
      const double reached = price(ram);
      if (reached > now - temperature * std::log(1 - uniform())) {
        order.move(m.to, m.count, m.first);
        continue;
      }
      now = reached;
      consider(order, ram);
    }
  }

  void descend(long moves) {
    MovingOrder order(c_, best_order_, share_);
    OrderRam now = best_;
    for (long i = 0; i < moves && !ended(); ++i) {
      const Move m = pick(order);
      order.move(m.first, m.count, m.to);
      const OrderRam ram = order.ram();
      if (ram > now) {
        order.move(m.to, m.count, m.first);
        continue;
      }
      now = ram;
      consider(order, ram);
    }
  }

  // Returns a random move within precedence constraints; often `to` is `first`, the only possible place.
  Move pick(const MovingOrder& order) {
    ++tried_;
    const int count = uniform() < 0.6 ? 1 : std::min(c_.ops, 1 + below(kLongestMove));
    const int first = below(c_.ops - count + 1);
    const auto [earliest, latest] = order.window(first, count);
    const int reach = uniform() < 0.5 ? 1 + below(kNearPositions) : kFarPositions;
    const int from = std::max(earliest, first - reach);
    const int to = std::min(latest, first + reach);
    return {first, count, from + below(to - from + 1)};
  }

  void consider(const MovingOrder& order, const OrderRam& ram) {
    if (ram >= best_) return;
    best_ = ram;
    best_order_ = order.order();
  }

  const OrderCosts& c_;
  std::int64_t share_;
  std::vector<int> best_order_;
  OrderRam best_;
  double scale_;
  std::mt19937_64 random_;
  const std::function<bool()>& stop_;
  bool stopped_ = false;
  long tried_ = 0;
};

std::int64_t mean_ram(const OrderCosts& c, const std::vector<int>& order) {
  const std::vector<std::int64_t> ram = MovingOrder(c, order, 0).per_position();
  double sum = 0;  // a 64-bit sum of bytes could overflow
  for (const std::int64_t bytes : ram) sum += static_cast<double>(bytes);
  return static_cast<std::int64_t>(sum / c.ops);
}

}  // namespace

long usual_evaluations(std::size_t ops) {
  constexpr long kPerOp = 1'000;
  constexpr long kFewest = 100'000;
  constexpr long kMost = 1'200'000;
  return std::clamp(kPerOp * static_cast<long>(ops), kFewest, kMost);
}

LeastPeak least_peak_order(const Instance& instance, Semantics semantics, const LeastPeakOptions& options,
                           const std::function<bool()>& stop) {
  const OrderCosts costs = order_costs(instance, semantics);
  LeastPeak found;
  found.given = found.peak = Bytes(costs.persistent);
  if (costs.ops == 0) return found;

  std::vector<int> order(instance.graph.ops.size());
  std::iota(order.begin(), order.end(), 0);
  const std::int64_t share = mean_ram(costs, order);
  OrderRam best = ram_of(costs, order, share);
  found.given += Bytes(best.peak);
  for (const ListRule rule : kListRules) {
    const std::vector<int> listed = list_order(costs, rule);
    const OrderRam ram = ram_of(costs, listed, share);
    if (ram >= best) continue;
    best = ram;
    order = listed;
  }
  LeastPeakSearch search(costs, share, std::move(order), options.seed, stop);
  search.run(options.evaluations.value_or(usual_evaluations(instance.graph.ops.size())));
  for (const int op : search.best()) found.order.emplace_back(op);
  found.peak += Bytes(search.ram().peak);
  found.evaluations = search.tried();
  return found;
}

}  // namespace poet
