#include "poet/split/loops.h"

#include <algorithm>
#include <limits>

namespace poet::splitting {
namespace {

bool has(const Traffic& operand, const Loop& loop) {
  return std::find(operand.with.begin(), operand.with.end(), loop.label) != operand.with.end();
}

/// Bytes that are moved. What an operand has inside of a loop on which it does not depend stays from turn to
/// turn if all that is touched in one turn fits into RAM. A sum that is left before it is complete is written
/// and read again.
double moved(const std::vector<Loop>& loops, const std::vector<Traffic>& operands, double ram) {
  struct Touched {
    double part;       // bytes of one
    double parts = 1;  // different ones, from the loop under way inwards
    double loads = 1;
  };
  std::vector<Touched> all;
  for (const Traffic& operand : operands) {
    double parts = 1;
    for (const Loop& loop : loops) parts *= has(operand, loop) ? static_cast<double>(loop.parts) : 1.0;
    all.push_back({operand.bytes / parts});
  }
  for (std::size_t l = loops.size(); l-- > 0;) {
    double inside = 0;
    for (const Touched& touched : all) inside += touched.part * touched.parts;
    const bool stays = inside <= ram || l + 1 == loops.size();
    for (std::size_t i = 0; i < operands.size(); ++i) {
      const auto parts = static_cast<double>(loops[l].parts);
      const bool depends = has(operands[i], loops[l]);
      if (depends) all[i].parts *= parts;
      // A single part is there anyway.
      if (depends || !(stays || all[i].parts == 1)) all[i].loads *= parts;
    }
  }
  double total = 0;
  for (std::size_t i = 0; i < operands.size(); ++i)
    total += all[i].part * (operands[i].written ? 2 * all[i].loads - all[i].parts : all[i].loads);
  return total;
}

}  // namespace

std::vector<Loop> best_order(std::vector<Loop> loops, const std::vector<Traffic>& operands, double ram) {
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
    const double total = moved(candidate, operands, ram);
    if (total < least) {
      least = total;
      best = std::move(candidate);
    }
  } while (std::next_permutation(order.begin(), order.end()));
  return best;
}

}  // namespace poet::splitting
