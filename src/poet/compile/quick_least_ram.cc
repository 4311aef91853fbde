#include "poet/compile/quick_least_ram.h"

#include <cstdint>
#include <utility>

#include "poet/compile/portfolio.h"

namespace poet {
namespace {

/// Returns the RAM that the plan of the quick steps with the budget `ram` needs, addresses included.
std::optional<Bytes> quickly_needed(const Instance& instance, const Limits& limits, Bytes ram,
                                    const Stop& stop) {
  CompileRequest request;
  request.instance = instance;
  request.limits = limits;
  request.limits.ram_budget = ram;
  request.options.time_limit_seconds = time_limit_within(stop);
  request.options.interrupted = [&stop] { return stop.cancelled(); };
  Clock clock(request.options);
  Ledger ledger(request, clock);
  Portfolio portfolio(request, clock, ledger);
  portfolio.begin();
  if (!ledger.has_plan()) return std::nullopt;
  return instance.costs.persistent + ledger.best().layout.arena;
}

}  // namespace

std::optional<Bytes> quick_least_ram(const Instance& instance, const Limits& limits, Bytes floor,
                                     const Stop& stop) {
  constexpr int kMostTries = 3;
  for (const double times : {1.02, 1.1, 1.25, 1.5, 2.0}) {
    Bytes ram(static_cast<std::int64_t>(times * static_cast<double>(floor.value())));
    if (stop()) break;
    std::optional<Bytes> needed = quickly_needed(instance, limits, ram, stop);
    if (!needed) continue;
    // With the RAM that this plan needs as the budget, the search may find a smaller one.
    for (int i = 0; i < kMostTries && *needed < ram && !stop(); ++i) {
      const std::optional<Bytes> then = quickly_needed(instance, limits, *needed, stop);
      if (!then) break;
      ram = std::exchange(*needed, *then);
    }
    return ram;
  }
  return std::nullopt;
}

}  // namespace poet
