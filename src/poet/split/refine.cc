#include "poet/split/refine.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <utility>
#include <vector>

#include "poet/split/blocks.h"

namespace poet::splitting {
namespace {

/// Units of the largest part.
std::int64_t units_per_part(const AxisClass& c, std::int64_t parts) { return (c.units + parts - 1) / parts; }

/// The next number of parts by which the largest part gets smaller.
std::int64_t next_parts(const AxisClass& c) {
  const std::int64_t per_part = units_per_part(c, c.parts);
  return per_part <= 1 ? c.parts : (c.units + per_part - 2) / (per_part - 1);
}

/// Storages first.
std::vector<Block> all_blocks(const Graph& graph, const Partition& p) {
  std::vector<Block> blocks = storages(graph, p);
  std::vector<Block> read = copies(graph, p);
  std::move(read.begin(), read.end(), std::back_inserter(blocks));
  return blocks;
}

class Refinement {
 public:
  Refinement(const Graph& graph, Partition& p) : graph_(graph), p_(p), ops_of_(p.classes.size()) {
    for (const OpId id : ids<OpId>(graph.ops.size())) {
      std::set<int> classes(p.of_label[id].begin(), p.of_label[id].end());
      for (const int c : classes) ops_of_[static_cast<std::size_t>(c)].push_back(id);
    }
  }

  void cut(const Block& block, Bytes limit) {
    while (largest_part(graph_, p_, block) > limit) {
      if (!cut_once(block)) return;
    }
  }

 private:
  AxisClass& at(int c) { return p_.classes[static_cast<std::size_t>(c)]; }

  /// What has to be cut before.
  void cut_into_elements(const std::vector<int>& classes) {
    for (const int c : classes) {
      if (at(c).parts == at(c).units) continue;
      at(c).parts = at(c).units;
      cut_into_elements(at(c).after);
    }
  }

  double ops_with(int c) const {
    double total = 0;
    for (const OpId id : ops_of_[static_cast<std::size_t>(c)]) {
      double parts = 1;
      for (const int other : p_.of_label[id]) parts *= static_cast<double>(p_.parts(other));
      total += parts;
    }
    return total;
  }

  /// Cuts the block more finely along the axis for which that makes the fewest ops. Whether there is one.
  bool cut_once(const Block& block) {
    int best = kNoClass;
    double least = std::numeric_limits<double>::infinity();
    for (const int c : block.classes) {
      if (c == kNoClass) continue;
      AxisClass& axes = at(c);
      const std::int64_t parts = axes.parts;
      const std::int64_t next = next_parts(axes);
      if (next <= parts || next > axes.most) continue;
      const double smaller = std::log(static_cast<double>(units_per_part(axes, parts)) /
                                      static_cast<double>(units_per_part(axes, next)));
      const double before = ops_with(c);
      axes.parts = next;
      const double price = (ops_with(c) - before) / smaller;
      axes.parts = parts;
      if (price < least) {
        least = price;
        best = c;
      }
    }
    if (best == kNoClass) return false;
    cut_into_elements(at(best).after);
    at(best).parts = next_parts(at(best));
    return true;
  }

  const Graph& graph_;
  Partition& p_;
  std::vector<std::vector<OpId>> ops_of_;
};

/// The classes that are cut into single units because others are cut.
std::set<int> bound_by_order(const Partition& p) {
  std::set<int> bound;
  for (const AxisClass& axes : p.classes)
    if (axes.parts > 1) bound.insert(axes.after.begin(), axes.after.end());
  return bound;
}

}  // namespace

void refine(const Graph& graph, Bytes limit, Partition& partition) {
  Refinement refinement(graph, partition);
  std::vector<Block> blocks = all_blocks(graph, partition);
  // Where there is no choice first.
  const auto choices = [&](const Block& block) {
    return std::count_if(block.classes.begin(), block.classes.end(), [&](int c) {
      return c != kNoClass && partition.classes[static_cast<std::size_t>(c)].most > 1;
    });
  };
  std::stable_sort(blocks.begin(), blocks.end(),
                   [&](const Block& a, const Block& b) { return choices(a) < choices(b); });
  for (const Block& block : blocks) refinement.cut(block, limit);
}

void coarsen(const Graph& graph, Bytes limit, Partition& partition) {
  const std::vector<Block> blocks = all_blocks(graph, partition);
  std::vector<std::vector<std::size_t>> with(partition.classes.size());
  for (std::size_t b = 0; b < blocks.size(); ++b)
    for (const int c : blocks[b].classes)
      if (c != kNoClass) with[static_cast<std::size_t>(c)].push_back(b);
  for (std::size_t c = 0; c < with.size(); ++c) {
    AxisClass& axes = partition.classes[c];
    if (bound_by_order(partition).contains(static_cast<int>(c))) continue;
    const auto largest = [&](std::int64_t parts) {
      axes.parts = parts;
      Bytes most;
      for (const std::size_t b : with[c]) most = std::max(most, largest_part(graph, partition, blocks[b]));
      return most;
    };
    std::int64_t parts = axes.parts;
    const Bytes allowed = std::max(limit, largest(parts));
    while (parts > 1 && largest(parts - 1) <= allowed) --parts;
    axes.parts = parts;
  }
}

}  // namespace poet::splitting
