#include "poet/split/loops.h"

#include <algorithm>
#include <limits>

namespace poet::splitting {
namespace {

bool has(const Traffic& operand, int label) {
  return std::find(operand.with.begin(), operand.with.end(), label) != operand.with.end();
}

/// Bytes that are moved. What an operand has inside of a loop on which it does not depend stays from turn to
/// turn if all that is touched in one turn fits into RAM. A sum that is left before it is complete is written
/// and read again.
double moved(const std::vector<Loop>& loops, const Nest& nest, const std::vector<Traffic>& operands,
             double ram) {
  struct Touched {
    double part;       // bytes of one
    double parts = 1;  // different ones, from the loop under way inwards
    double loads = 1;
  };
  std::vector<Touched> all;
  for (const Traffic& operand : operands) {
    double parts = 1;
    for (const Loop& loop : loops) parts *= has(operand, loop.label) ? static_cast<double>(loop.parts) : 1.0;
    all.push_back({operand.bytes / parts});
  }
  for (std::size_t l = nest.size(); l-- > 0;) {
    double inside = 0;
    for (const Touched& touched : all) inside += touched.part * touched.parts;
    const bool stays = inside <= ram || l + 1 == nest.size();
    for (std::size_t i = 0; i < operands.size(); ++i) {
      const auto times = static_cast<double>(nest[l].times);
      const bool depends = has(operands[i], nest[l].label);
      // A single part is there anyway.
      if (depends || !(stays || all[i].parts == 1)) all[i].loads *= times;
      if (depends) all[i].parts *= times;
    }
  }
  double total = 0;
  for (std::size_t i = 0; i < operands.size(); ++i)
    total += all[i].part * (operands[i].written ? 2 * all[i].loads - all[i].parts : all[i].loads);
  return total;
}

/// Loop `tiled`, `tile` parts at a time; the parts of a tile are innermost.
Nest nest_of(const std::vector<Loop>& loops, std::size_t tiled, std::int64_t tile) {
  Nest nest;
  for (std::size_t i = 0; i < loops.size(); ++i) {
    const bool cut = i == tiled && tile > 1;
    nest.push_back(
        {loops[i].label, cut ? (loops[i].parts + tile - 1) / tile : loops[i].parts, cut ? tile : 1});
  }
  if (tile > 1) nest.push_back({loops[tiled].label, tile, 1});
  return nest;
}

bool sums_in_order(const std::vector<std::size_t>& order, const std::vector<Loop>& loops) {
  std::size_t last = 0;
  for (const std::size_t i : order) {
    if (!loops[i].summed) continue;
    if (i < last) return false;
    last = i;
  }
  return true;
}

}  // namespace

Nest best_nest(const std::vector<Loop>& loops, const std::vector<Traffic>& operands, double ram) {
  constexpr std::size_t kMostLoops = 5;
  constexpr std::int64_t kLargestTile = 32;
  // What is summed innermost is the order to begin with.
  std::vector<Loop> first = loops;
  std::stable_sort(first.begin(), first.end(),
                   [](const Loop& a, const Loop& b) { return a.summed < b.summed; });
  Nest best = nest_of(first, 0, 1);
  if (loops.size() < 2 || loops.size() > kMostLoops) return best;
  double least = moved(loops, best, operands, ram);
  std::vector<std::size_t> order(first.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  do {
    if (!sums_in_order(order, first)) continue;
    std::vector<Loop> candidate;
    for (const std::size_t i : order) candidate.push_back(first[i]);
    for (std::size_t tiled = 0; tiled < candidate.size(); ++tiled) {
      const std::int64_t most =
          candidate[tiled].summed ? 1 : std::min(candidate[tiled].parts - 1, kLargestTile);
      for (std::int64_t tile = 1; tile <= most; ++tile) {
        Nest nest = nest_of(candidate, tiled, tile);
        const double total = moved(loops, nest, operands, ram);
        if (total >= least) continue;
        least = total;
        best = std::move(nest);
      }
    }
  } while (std::next_permutation(order.begin(), order.end()));
  return best;
}

}  // namespace poet::splitting
