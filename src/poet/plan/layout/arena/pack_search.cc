// Buffers are placed from the ground up: each on top of what it overlaps, in order of their offsets. A
// packing whose offsets have the least sum has such an order, for no buffer of it can be moved down; whatever
// is cut off below is never such a packing, so nothing is lost. Placing b at offset o says that all that is
// left lies at o or higher; a branch ends where that cannot fit. Fixed buffers are no part of this: they are
// obstacles, over which what is moved up jumps.

#include "poet/plan/layout/arena/pack_search.h"

#include <algorithm>
#include <limits>

#include "poet/base/numbers.h"
#include "poet/plan/layout/arena/pack_constraints.h"

namespace poet {
namespace {

// Limited: there are constraints or gaps, for which the others are not to pay.
template <bool kLimited>
class PackSearch {
 public:
  PackSearch(const std::vector<Buffer>& buffers, const Sections& sections, const PackConstraints& constraints,
             const std::vector<int>& order, const PackLimits& limits, const Stop& stop)
      : buffers_(buffers),
        sections_(sections),
        limits_(limits),
        stop_(stop),
        constraints_(constraints),
        left_(sections.load.size(), 0),
        crossing_(sections.load.size(), 0) {
    for (const int b : order) {
      const Buffer& buffer = buffers[at(b)];
      if (is_fixed(buffer)) continue;
      const int i = static_cast<int>(items_.size());
      items_.push_back({buffer.from, buffer.size, sections.spans[at(b)]});
      buffer_of_.push_back(b);
      raise(i, buffer.from);
      add_to_sections(i, 1);
    }
  }

  PackAnswer run() {
    std::vector<int> all(items_.size());
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<int>(i);
    sort_from_highest(all);
    const bool found = place_parts(all, {0, static_cast<int>(left_.size()) - 1}, {0, -1});
    PackAnswer answer;
    answer.nodes = nodes_;
    answer.effort = effort_;
    if (found) {
      answer.status = PackStatus::found;
      for (const Buffer& buffer : buffers_) answer.offsets.push_back(buffer.from);  // if fixed
      for (std::size_t i = 0; i < items_.size(); ++i) answer.offsets[at(buffer_of_[i])] = items_[i].lowest;
    } else if (!gave_up_) {
      answer.status = PackStatus::impossible;
    }
    return answer;
  }

 private:
  // A buffer, known by its place in the order.
  struct Item {
    std::int64_t lowest;  // unplaced: the top of what it overlaps; placed: its offset
    std::int64_t size;
    Span span;
  };
  // What was placed last: whatever comes next in its part is not before it.
  struct Last {
    std::int64_t offset;
    int item;
  };
  struct Undo {
    int item;
    std::int64_t lowest;  // before; negative: the buffer was placed
  };

  Item& item(int i) { return items_[at(i)]; }
  [[nodiscard]] std::int64_t top(int i) const { return items_[at(i)].lowest + items_[at(i)].size; }

  // What is unlimited has its place at `least` and ends anywhere below the ceiling.
  void raise(int i, std::int64_t least) {
    item(i).lowest = kLimited ? constraints_.lowest(buffer_of_[at(i)], least) : least;
  }
  [[nodiscard]] bool may_end(int i, std::int64_t end) const {
    return end <= limits_.capacity && (!kLimited || end <= buffers_[at(buffer_of_[at(i)])].to);
  }

  [[nodiscard]] bool live_together(int a, int b) const {
    if (!meet(items_[at(a)].span, items_[at(b)].span)) return false;
    return !kLimited || meet(sections_, at(buffer_of_[at(a)]), at(buffer_of_[at(b)]));
  }

  [[nodiscard]] bool is_alive_in(int i, int section) const {
    return !kLimited || is_alive(sections_, at(buffer_of_[at(i)]), section);
  }

  // As what is left (1), or no longer (-1).
  void add_to_sections(int i, int sign) {
    const Item& it = item(i);
    for (int s = it.span.first; s <= it.span.last; ++s)
      if (is_alive_in(i, s)) left_[at(s)] += sign * it.size;
    for (int s = it.span.first; s < it.span.last; ++s) crossing_[at(s)] += sign;
  }

  void sort_from_highest(std::vector<int>& unplaced) {
    if (!kLimited) return;  // it is
    std::stable_sort(unplaced.begin(), unplaced.end(),
                     [&](int a, int b) { return item(a).lowest > item(b).lowest; });
  }

  // Where no unplaced buffer crosses from one section to the next, the two sides have nothing to do with each
  // other any more. Lists of unplaced buffers go from the highest lowest place to the lowest one.
  bool place_parts(const std::vector<int>& unplaced, Span range, Last last) {
    const std::size_t mark = trail_.size();
    effort_ += range.last - range.first + 1;
    int first = range.first;
    for (int s = range.first; s <= range.last; ++s) {
      if (s < range.last && crossing_[at(s)] > 0) continue;
      if (left_[at(s)] > 0) {
        std::vector<int> part;
        for (const int i : unplaced)
          if (item(i).span.first >= first && item(i).span.last <= s) part.push_back(i);
        effort_ += static_cast<std::int64_t>(unplaced.size());
        if (!place(part, {first, s}, last)) {
          undo(mark);
          return false;
        }
      }
      first = s + 1;
    }
    return true;
  }

  bool place(const std::vector<int>& part, Span range, Last last) {
    if (!may_go_on()) return false;
    if (part.size() == 1 && may_end(part[0], top(part[0]))) {
      std::vector<int> none;
      put(part[0], part, none);  // nothing is left that it could be in the way of
      return true;
    }
    if (!fits(part, range, last)) return false;
    // A buffer that fits below an offset would be moved down there.
    std::int64_t limit = std::numeric_limits<std::int64_t>::max();
    for (const int i : part) limit = std::min(limit, top(i));
    std::vector<int> candidates;
    for (const int i : part) {
      const std::int64_t offset = item(i).lowest;
      if (offset < limit && (offset > last.offset || (offset == last.offset && i > last.item)))
        candidates.push_back(i);
    }
    std::sort(candidates.begin(), candidates.end(),
              [&](int a, int b) { return std::pair(item(a).lowest, a) < std::pair(item(b).lowest, b); });
    std::vector<int> rest;
    for (const int i : candidates) {
      const std::size_t mark = trail_.size();
      put(i, part, rest);
      if (place_parts(rest, range, {item(i).lowest, i})) return true;
      undo(mark);
      if (gave_up_) return false;
    }
    return false;
  }

  bool may_go_on() {
    ++nodes_;
    if (nodes_ > limits_.nodes || effort_ > limits_.effort || (nodes_ % 64 == 0 && stop_())) gave_up_ = true;
    return !gave_up_;
  }

  // In every section, what is left and lies at r or higher has to fit between r and the ceiling, for every r:
  // one machine with release times.
  bool fits(const std::vector<int>& part, Span range, Last last) {
    above_.assign(at(range.last - range.first + 1), 0);
    effort_ += static_cast<std::int64_t>(above_.size() + part.size());
    for (const int i : part) {
      const Item& it = item(i);
      const std::int64_t lowest = std::max(it.lowest, last.offset);
      const std::int64_t room = limits_.capacity - lowest;
      effort_ += it.span.last - it.span.first + 1;
      if (kLimited && !may_end(i, lowest + it.size)) return false;
      for (int s = it.span.first; s <= it.span.last; ++s) {
        if (!is_alive_in(i, s)) continue;
        const std::int64_t taken = kLimited ? constraints_.taken(s, lowest, limits_.capacity) : 0;
        if ((above_[at(s - range.first)] += it.size) > room - taken) return false;
      }
    }
    return true;
  }

  // `rest`: what is left of its part, in order again.
  void put(int i, const std::vector<int>& part, std::vector<int>& rest) {
    trail_.push_back({i, -1});
    add_to_sections(i, -1);
    effort_ += 2 * static_cast<std::int64_t>(part.size());
    rest.clear();
    raised_.clear();
    for (const int p : part) {
      Item& other = item(p);
      if (p == i) continue;
      if (other.lowest >= top(i) || !live_together(i, p)) {
        rest.push_back(p);
        continue;
      }
      trail_.push_back({p, other.lowest});
      raise(p, top(i));
      raised_.push_back(p);
    }
    const auto higher = [&](int p) { return item(p).lowest >= top(i); };
    rest.insert(std::partition_point(rest.begin(), rest.end(), higher), raised_.begin(), raised_.end());
    sort_from_highest(rest);
  }

  void undo(std::size_t mark) {
    while (trail_.size() > mark) {
      const auto [i, lowest] = trail_.back();
      trail_.pop_back();
      if (lowest >= 0)
        item(i).lowest = lowest;
      else
        add_to_sections(i, 1);
    }
  }

  const std::vector<Buffer>& buffers_;
  const Sections& sections_;
  const PackLimits limits_;
  const Stop& stop_;
  const PackConstraints& constraints_;
  std::int64_t nodes_ = 0;
  std::int64_t effort_ = 0;
  bool gave_up_ = false;

  std::vector<Item> items_;         // in order; without what is fixed
  std::vector<int> buffer_of_;      // per item
  std::vector<std::int64_t> left_;  // per section: sizes of what is alive there and unplaced
  std::vector<int> crossing_;       // per section: unplaced buffers alive there and in the next one
  std::vector<Undo> trail_;
  std::vector<std::int64_t> above_;  // scratch of fits()
  std::vector<int> raised_;          // scratch of put()
};

}  // namespace

PackAnswer search_packing(const std::vector<Buffer>& buffers, const Sections& sections,
                          const std::vector<int>& order, const PackLimits& limits, const Stop& stop) {
  const PackConstraints constraints(buffers, sections);
  if (constraints.none() && sections.alive.empty())
    return PackSearch<false>(buffers, sections, constraints, order, limits, stop).run();
  return PackSearch<true>(buffers, sections, constraints, order, limits, stop).run();
}

}  // namespace poet
