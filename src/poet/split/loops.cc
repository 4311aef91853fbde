#include "poet/split/loops.h"

#include <algorithm>
#include <limits>

namespace poet::splitting {
namespace {

/// A part stays while the loops inside of the last one that changes it run. A sum that is left before it is
/// complete is written and read again.
double moved(const std::vector<Loop>& loops, const Traffic& operand) {
  double visits = 1;
  double parts = 1;
  double until = 1;
  for (const Loop& loop : loops) {
    visits *= static_cast<double>(loop.parts);
    const bool has = std::find(operand.with.begin(), operand.with.end(), loop.label) != operand.with.end();
    if (!has) continue;
    parts *= static_cast<double>(loop.parts);
    until = visits;
  }
  const double each = operand.bytes / parts;
  return operand.written ? each * (2 * until - parts) : each * until;
}

}  // namespace

std::vector<Loop> best_order(std::vector<Loop> loops, const std::vector<Traffic>& operands) {
  // What is summed innermost is the order to begin with.
  std::stable_sort(loops.begin(), loops.end(),
                   [](const Loop& a, const Loop& b) { return a.summed < b.summed; });
  std::vector<std::size_t> order(loops.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::vector<Loop> best = loops;
  double least = std::numeric_limits<double>::infinity();
  constexpr std::size_t kMostLoops = 5;
  if (loops.size() > kMostLoops) return best;
  do {
    std::vector<Loop> candidate;
    std::size_t last_sum = 0;
    bool in_order = true;
    for (const std::size_t i : order) {
      if (loops[i].summed) {
        in_order = in_order && i >= last_sum;
        last_sum = i;
      }
      candidate.push_back(loops[i]);
    }
    if (!in_order) continue;
    double total = 0;
    for (const Traffic& operand : operands) total += moved(candidate, operand);
    if (total < least) {
      least = total;
      best = std::move(candidate);
    }
  } while (std::next_permutation(order.begin(), order.end()));
  return best;
}

}  // namespace poet::splitting
