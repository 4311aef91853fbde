#include "poet/optimize/heuristic/streaming.h"

#include <algorithm>

#include "poet/base/numbers.h"
#include "poet/optimize/heuristic/streaming_arena.h"
#include "poet/optimize/heuristic/streaming_prices.h"
#include "poet/optimize/problem/sorted.h"

namespace poet {
namespace {

constexpr int kWorkspace = -1;  // used in place of a value's id

std::int64_t largest_value(const Problem& p) {
  std::int64_t largest = 0;
  for (int v = 0; v < p.values; ++v)
    if (p.active[at(v)]) largest = std::max(largest, p.bytes[at(v)]);
  return largest;
}

/// The number of steps up to the completion of a value, and the value to page out.
using PageOut = std::pair<std::size_t, int>;

/// Inserts each page-out directly after the step that completes its value.
void place_page_outs(std::vector<PageOut> page_outs, std::vector<Step>& steps) {
  std::sort(page_outs.begin(), page_outs.end());
  std::vector<Step> all;
  all.reserve(steps.size() + page_outs.size());
  auto next = page_outs.begin();
  for (std::size_t i = 0; i <= steps.size(); ++i) {
    for (; next != page_outs.end() && next->first == i; ++next)
      all.push_back({StepKind::page_out, OpId(), ValueId(next->second)});
    if (i < steps.size()) all.push_back(steps[i]);
  }
  steps = std::move(all);
}

class StreamingPass {
 public:
  StreamingPass(const Problem& p, const Gaps& gaps, const StreamingGuide& guide,
                std::vector<double> recomputation)
      : p_(p),
        gaps_(gaps),
        guide_(guide),
        recomputation_(std::move(recomputation)),
        slot_(at(p.values), -1),
        pins_(at(p.values), 0),
        cursor_(at(p.values), 0),
        stored_(at(p.values), 0),
        wanted_stored_(at(p.values), 0),
        complete_at_(at(p.values), 0),
        sent_at_(at(p.values), 0),
        recent_(at(p.values)),
        offset_(at(p.values), 0) {
    if (guide.alignment > 0) {
      const std::int64_t largest = largest_value(p);
      const std::int64_t slot = (largest + guide.alignment - 1) / guide.alignment * guide.alignment;
      arena_.emplace(p.budget, guide.alignment, largest / 2, guide.in_slots ? slot : guide.alignment);
    }
    rent_.push_back(0);
    for (const double rent : guide.rent) rent_.push_back(rent_.back() + rent);
    made_.in_ram.resize(at(p.values));
  }

  std::optional<Stream> run(const std::function<bool()>& stop) {
    constexpr int kPoll = 256;
    for (t_ = 0; t_ < p_.ops; ++t_) {
      if (t_ % kPoll == 0 && stop()) return std::nullopt;
      if (!step() && !step_from_empty()) return std::nullopt;
    }
    place_page_outs(std::move(page_outs_), made_.plan.steps);
    return std::move(made_);
  }

 private:
  bool step() {
    const auto& operands = p_.reads[at(t_)];
    for (const int u : operands) pin(u);
    bool done = true;
    for (const int u : operands) done = done && bring(u, 0);
    done = done && compute(t_, dying());
    for (const int u : operands) unpin(u);
    for (const int u : operands) cursor_[at(u)] += done ? 1 : 0;
    return done;
  }

  // Retries with nothing in RAM, in case free RAM was only fragmented.
  bool step_from_empty() {
    if (!arena_) return false;
    while (!present_.empty())
      if (!evict(present_.back())) return false;
    return step();
  }

  [[nodiscard]] bool here(int v) const { return slot_[at(v)] >= 0; }
  void pin(int v) {
    if (pins_[at(v)]++ == 0 && here(v)) pinned_ += p_.bytes[at(v)];
  }
  void unpin(int v) {
    if (--pins_[at(v)] == 0 && here(v)) pinned_ -= p_.bytes[at(v)];
  }
  [[nodiscard]] std::size_t gap_of(int v) const { return gaps_.of(v)[at(cursor_[at(v)])]; }

  void enter(int v) {
    slot_[at(v)] = static_cast<int>(present_.size());
    present_.push_back(v);
    ram_ += p_.bytes[at(v)];
    if (pins_[at(v)] > 0) pinned_ += p_.bytes[at(v)];
    complete_at_[at(v)] = made_.plan.steps.size();
    made_.in_ram[at(v)].push_back({t_, p_.ops});
  }

  void leave(int v) {
    const int last = present_.back();
    present_[at(slot_[at(v)])] = last;
    slot_[at(last)] = slot_[at(v)];
    slot_[at(v)] = -1;
    present_.pop_back();
    ram_ -= p_.bytes[at(v)];
    if (pins_[at(v)] > 0) pinned_ -= p_.bytes[at(v)];
    made_.in_ram[at(v)].back().to = t_;
    made_.plan.steps.push_back({StepKind::free, OpId(), ValueId(v)});
    if (arena_) arena_->remove(v);
  }

  // Makes room for the value or workspace (kWorkspace) by evictions, and assigns an address if there is an
  // arena. Returns false if it does not fit.
  bool take(int v, std::int64_t bytes) {
    if (!arena_) return make_room(bytes);
    if (bytes == 0) return true;
    std::optional<std::int64_t> offset = arena_->put(v, bytes);
    while (!offset) {
      const auto leaving =
          arena_->in_the_way(bytes, [&](int u) { return u < 0 || pins_[at(u)] > 0 ? kInfinity : loss(u); });
      if (!leaving) return false;
      for (const int u : *leaving)
        if (!evict(u)) return false;
      offset = arena_->put(v, bytes);
    }
    made_.addresses.push_back({takings_, v, *offset});
    return true;
  }

  double loss(int v) { return std::max(0.0, recent_rank(v)) * static_cast<double>(p_.bytes[at(v)]); }

  // Returns the operand that the op overwrites with its first result, as nothing needs it afterwards, or -1.
  [[nodiscard]] int dying() const {
    if (p_.overwritable[at(t_)].empty() || here(p_.first_result[at(t_)])) return -1;
    for (const int u : p_.overwritable[at(t_)]) {
      const auto next = static_cast<std::size_t>(cursor_[at(u)]) + 1;
      if (gaps_.all()[gaps_.of(u)[next]].to >= p_.ops && (p_.paging || !wanted_stored_[at(u)])) return u;
    }
    return -1;
  }

  // Runs the op, whose operands are in RAM and pinned. `overwritten`: one of them, or -1.
  bool compute(int op, int overwritten) {
    const auto& results = p_.writes[at(op)];
    for (const int v : results) pin(v);
    const bool fits = arena_ ? take_each(op, overwritten) : make_room(missing(op, overwritten));
    for (const int v : results) unpin(v);
    if (!fits) return false;
    if (overwritten >= 0) finish_sending(overwritten);
    made_.plan.steps.push_back({StepKind::compute, OpId(op), ValueId()});
    ++takings_;
    made_.joules += price_of(p_, op);
    made_.seconds += p_.seconds[at(op)];
    for (const int v : results)
      if (!here(v)) enter(v);
    if (overwritten >= 0) leave(overwritten);
    return true;
  }

  [[nodiscard]] std::int64_t missing(int op, int overwritten) const {
    std::int64_t bytes = p_.workspace[at(op)];
    for (const int v : p_.writes[at(op)])
      if (!here(v)) bytes += p_.bytes[at(v)];
    return overwritten < 0 ? bytes : bytes - p_.bytes[at(overwritten)];
  }

  // Completes the page-out of a dead value before it is overwritten.
  void finish_sending(int v) {
    if (wanted_stored_[at(v)] && !stored_[at(v)]) store(v);
    if (p_.concurrent && sent_at_[at(v)] == complete_at_[at(v)])
      made_.plan.steps.push_back({StepKind::wait, OpId(), ValueId(v)});
  }

  // Assigns addresses to results and workspace. Results in RAM keep their address.
  bool take_each(int op, int overwritten) {
    bool fits = take(kWorkspace, p_.workspace[at(op)]);
    std::vector<int> taken;
    for (const int v : p_.writes[at(op)]) {
      if (!fits) break;
      if (here(v)) {
        made_.addresses.push_back({takings_, v, offset_[at(v)]});
        continue;
      }
      if (overwritten >= 0 && v == p_.first_result[at(op)]) continue;
      fits = take(v, p_.bytes[at(v)]);
      if (!fits) break;
      offset_[at(v)] = made_.addresses.back().offset;
      taken.push_back(v);
    }
    arena_->remove(kWorkspace);
    if (!fits)
      for (const int v : taken) arena_->remove(v);
    if (fits && overwritten >= 0) {
      const int v = p_.first_result[at(op)];
      arena_->replace(overwritten, v);
      offset_[at(v)] = offset_[at(overwritten)];
      made_.addresses.push_back({takings_, v, offset_[at(v)]});
    }
    return fits;
  }

  bool bring(int v, int depth) {
    if (here(v)) return true;
    const int op = p_.producer[at(v)];
    const double paging = stored_[at(v)] ? p_.in_joules[at(v)] : kInfinity;
    const double recomputing = price_of_recomputing(v, depth, p_.bytes[at(v)]);
    if (paging == kInfinity && recomputing == kInfinity) return false;
    if (paging <= recomputing) return page_in(v);
    for (const int u : p_.reads[at(op)]) pin(u);
    bool done = true;
    for (const int u : p_.reads[at(op)]) done = done && bring(u, depth + 1);
    done = done && compute(op, -1);
    for (const int u : p_.reads[at(op)]) unpin(u);
    if (done || paging == kInfinity) return done;
    return page_in(v);
  }

  bool page_in(int v) {
    if (!take(v, p_.bytes[at(v)])) return false;
    if (arena_) offset_[at(v)] = made_.addresses.back().offset;
    made_.plan.steps.push_back({StepKind::page_in, OpId(), ValueId(v)});
    ++takings_;
    made_.joules += p_.in_joules[at(v)];
    enter(v);
    return true;
  }

  // Returns the price of recomputing `v`, or infinity if that is impossible. `beside`: bytes needed at the
  // same time that are not in RAM or not pinned yet, `v` included.
  [[nodiscard]] double price_of_recomputing(int v, int depth, std::int64_t beside) const {
    const int op = p_.producer[at(v)];
    if ((depth >= kStreamDepth && !p_.reads[at(op)].empty()) || t_ > p_.recompute_until[at(op)])
      return kInfinity;
    double price = price_of(p_, op);
    for (const int u : p_.reads[at(op)])
      if (!here(u) || pins_[at(u)] == 0) beside += p_.bytes[at(u)];
    for (const int w : p_.writes[at(op)])
      if (w != v && !here(w)) beside += p_.bytes[at(w)];
    if (pinned_ + beside + p_.workspace[at(op)] > p_.budget) return kInfinity;
    for (const int u : p_.reads[at(op)]) {
      if (here(u)) continue;
      const double paging = stored_[at(u)] ? p_.in_joules[at(u)] : kInfinity;
      price += std::min(paging, price_of_recomputing(u, depth + 1, beside));
      if (price == kInfinity) break;
    }
    return price;
  }

  struct Ranked {
    double rank;
    int value;
    bool operator<(const Ranked& other) const {
      return rank != other.rank ? rank < other.rank : value < other.value;
    }
  };

  [[nodiscard]] double rank(int v) const {
    const std::size_t g = gap_of(v);
    const Gap& gap = gaps_.all()[g];
    if (gap.to >= p_.ops) return wanted_stored_[at(v)] && !stored_[at(v)] ? 0 : -1;
    if (guide_.by_distance) return 1.0 / (gap.to - t_ + 1);
    const double away = gap.to <= t_ ? 0 : rent_[at(gap.to)] - rent_[at(t_)];
    const auto bytes = static_cast<double>(p_.bytes[at(v)]);
    const double kept = guide_.kept.empty() ? 0 : guide_.kept[g];
    return 1e6 * kept + price_of_return(v, g) / (bytes * (away + 1e-9 * rent_.back() + 1e-300));
  }

  [[nodiscard]] double price_of_return(int v, std::size_t g) const {
    const double paging =
        p_.paging ? p_.in_joules[at(v)] + (stored_[at(v)] ? 0 : p_.out_joules[at(v)]) : kInfinity;
    return std::min(paging, recomputation_[g]);
  }

  // Returns the rank, cached for some evictions if there are many values, since it changes slowly.
  double recent_rank(int v) {
    constexpr std::size_t kMany = 64;
    Recent& recent = recent_[at(v)];
    const auto fresh = static_cast<long>(present_.size() / kMany);
    if (recent.looked_up < 0 || recent.cursor != cursor_[at(v)] || recent.looked_up + fresh < evictions_)
      recent = {rank(v), cursor_[at(v)], evictions_};
    return recent.rank;
  }

  // Selects the values of lowest rank, then evicts those of them that are necessary.
  bool make_room(std::int64_t more) {
    if (ram_ + more <= p_.budget) return true;
    ++evictions_;
    ranked_.clear();
    for (const int v : present_)
      if (pins_[at(v)] == 0) ranked_.push_back({recent_rank(v), v});
    const auto later = [](const Ranked& a, const Ranked& b) { return b < a; };
    std::make_heap(ranked_.begin(), ranked_.end(), later);
    std::int64_t excess = ram_ + more - p_.budget;
    taken_.clear();
    while (!ranked_.empty() && excess > 0) {
      std::pop_heap(ranked_.begin(), ranked_.end(), later);
      taken_.push_back(ranked_.back());
      ranked_.pop_back();
      excess -= p_.bytes[at(taken_.back().value)];
    }
    if (excess > 0) return false;
    for (std::size_t i = taken_.size(); i-- > 0;) {
      const std::int64_t bytes = p_.bytes[at(taken_[i].value)];
      if (excess + bytes <= 0 && taken_[i].rank >= 0) {
        excess += bytes;
        continue;
      }
      if (!evict(taken_[i].value)) return false;
    }
    return true;
  }

  bool evict(int v) {
    const std::size_t g = gap_of(v);
    const bool used = gaps_.all()[g].to < p_.ops;
    if (!stored_[at(v)] && (used || wanted_stored_[at(v)])) {
      const double paging = p_.paging ? p_.in_joules[at(v)] + p_.out_joules[at(v)] : kInfinity;
      const bool drops = used && !wanted_stored_[at(v)] && recomputation_[g] < paging &&
                         secure(v, gaps_.all()[g].to, room_for(gaps_.all()[g].to), 0);
      if (!drops) {
        if (!p_.paging) return false;
        store(v);
      }
    }
    leave(v);
    return true;
  }

  // Ensures that the operands for recomputing `v` before op `stage` are not lost. Returns false if that is
  // impossible or the recomputation does not fit into `room`, the RAM beside the op's operands.
  bool secure(int v, int stage, std::int64_t room, int depth) {
    const int op = p_.producer[at(v)];
    if ((depth >= kStreamDepth && !p_.reads[at(op)].empty()) || stage > p_.recompute_until[at(op)])
      return false;
    const auto& read = p_.reads[at(stage)];
    for (const auto* values : {&p_.reads[at(op)], &p_.writes[at(op)]})
      for (const int u : *values)
        if (!contains(read, u)) room -= p_.bytes[at(u)];
    if (room < p_.workspace[at(op)]) return false;
    for (const int u : p_.reads[at(op)]) {
      if (stored_[at(u)] || secure(u, stage, room, depth + 1)) continue;
      if (!here(u) || !p_.paging) return false;
      wanted_stored_[at(u)] = 1;
    }
    return true;
  }

  [[nodiscard]] std::int64_t room_for(int stage) const {
    std::int64_t room = p_.budget;
    for (const int u : p_.reads[at(stage)]) room -= p_.bytes[at(u)];
    return room;
  }

  void store(int v) {
    stored_[at(v)] = 1;
    sent_at_[at(v)] = complete_at_[at(v)];
    made_.joules += p_.out_joules[at(v)];
    made_.bytes_written += p_.bytes[at(v)];
    page_outs_.emplace_back(complete_at_[at(v)], v);
  }

  const Problem& p_;
  const Gaps& gaps_;
  const StreamingGuide& guide_;
  const std::vector<double> recomputation_;  // per gap
  std::vector<double> rent_;                 // prefix sums
  int t_ = 0;
  std::int64_t ram_ = 0;
  std::int64_t pinned_ = 0;  // bytes of values in RAM that are pinned
  std::vector<int> present_;
  std::vector<int> slot_;    // index in present_; -1: not in RAM
  std::vector<int> pins_;    // number of active computations with the value as operand or result
  std::vector<int> cursor_;  // uses so far
  std::vector<char> stored_;
  std::vector<char> wanted_stored_;       // needed for a later recomputation
  std::vector<std::size_t> complete_at_;  // number of steps when the value entered RAM
  std::vector<std::size_t> sent_at_;      // position of its page-out
  std::vector<PageOut> page_outs_;
  std::vector<Ranked> ranked_, taken_;
  struct Recent {
    double rank = 0;
    int cursor = 0;
    long looked_up = -1;
  };
  std::vector<Recent> recent_;
  long evictions_ = 0;
  std::optional<StreamingArena> arena_;
  std::vector<std::int64_t> offset_;
  int takings_ = 0;  // page-ins and computations so far
  Stream made_;
};

}  // namespace

Streaming::Streaming(const Problem& problem, const Gaps& gaps) : p_(problem), gaps_(gaps) {}

std::optional<Stream> Streaming::run(const StreamingGuide& guide, const Stream* before,
                                     const std::function<bool()>& stop) const {
  std::vector<double> prices = recomputation(before);
  for (std::size_t g = 0; g < prices.size(); ++g)
    if (!p_.reads[at(p_.producer[at(gaps_.all()[g].value)])].empty()) prices[g] *= guide.caution;
  return StreamingPass(p_, gaps_, guide, std::move(prices)).run(stop);
}

}  // namespace poet
