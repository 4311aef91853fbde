#include "poet/baselines/capuchin_policy.h"

#include <algorithm>
#include <optional>

#include "poet/base/numbers.h"

namespace poet {
namespace {

struct PeakPeriod {
  OpId first;
  OpId last;
};

PeakPeriod peak_period(const AccessLog& log, Bytes budget) {
  PeakPeriod period;
  for (const OpId op : ids<OpId>(log.ram.size())) {
    if (log.ram[op] <= budget) continue;
    if (!period.first.valid()) period.first = op;
    period.last = op;
  }
  return period;
}

/// How a value comes back by computing: how long it takes and which values in RAM it starts from.
struct Recomputation {
  double seconds = 0;
  std::vector<ValueId> sources;
};

class PolicyChooser {
 public:
  PolicyChooser(const MethodRequest& request, const Dataflow& flow, const AccessLog& log)
      : request_(request),
        flow_(flow),
        log_(log),
        budget_(transient_budget(request)),
        period_(peak_period(log, budget_)),
        evicted_(flow.users.size()),
        seen_(flow.users.size(), 0),
        computing_(flow.reads.size(), 0) {}

  CapuchinPolicy choose(const std::function<bool()>& interrupted) {
    find_candidates();
    Bytes missing = log_.peak - budget_;
    while (missing > Bytes() && !candidates_.empty()) {
      if (interrupted && interrupted()) break;
      const std::size_t next = candidates_.front().free_time >= 0 ? 0 : hybrid();
      const Eviction chosen = candidates_[next];
      candidates_.erase(candidates_.begin() + static_cast<std::ptrdiff_t>(next));
      take(chosen);
      missing -= request_.instance.costs.values[chosen.value].bytes;
    }
    place_page_ins();
    return {std::move(chosen_), std::max(missing, Bytes())};
  }

  void take(const Eviction& eviction) {
    evicted_[eviction.value] = eviction;
    chosen_.push_back(eviction);
    // What starts from a value that is now recomputed starts further back.
    sources_.resize(chosen_.size());
    for (std::size_t i = 0; i < chosen_.size(); ++i)
      if (!chosen_[i].swap) sources_[i] = recomputation(chosen_[i].value, chosen_[i].back_access).sources;
  }

  /// At that op's time, which comes after the value's first computation.
  Recomputation recomputation(ValueId value, OpId at) {
    ++walk_;
    Recomputation way;
    std::vector<OpId> open = {flow_.producer[value]};
    computing_[open.front()] = walk_;
    while (!open.empty()) {
      const OpId op = open.back();
      open.pop_back();
      if (!request_.instance.graph.ops[op].recomputable || flow_.last_recompute[op] < at)
        return {kInfinity, {}};
      way.seconds += request_.instance.costs.ops[op].runtime.value();
      for (const ValueId v : flow_.reads[op]) {
        if (seen_[v] == walk_) continue;
        seen_[v] = walk_;
        if (const std::optional<double> fetch = available(v, at)) {
          way.seconds += *fetch;
          way.sources.push_back(v);
          continue;
        }
        const OpId producer = flow_.producer[v];
        if (computing_[producer] == walk_) continue;
        computing_[producer] = walk_;
        open.push_back(producer);
      }
    }
    return way;
  }

 private:
  void find_candidates() {
    const CostTable& costs = request_.instance.costs;
    const bool overlaps = request_.semantics != Semantics::device || costs.timing.concurrent;
    for (const ValueId v : flow_.transients) {
      if (costs.values[v].bytes == Bytes()) continue;
      const double in = costs.values[v].page_in.seconds.value();
      const double out = costs.values[v].page_out.seconds.value();
      const std::vector<OpId>& accesses = log_.accesses[v];
      std::optional<Eviction> best;
      for (std::size_t i = 0; i + 1 < accesses.size(); ++i) {
        const OpId evicted = accesses[i];
        const OpId back = accesses[i + 1];
        if (back <= period_.first || period_.last <= evicted || back.index == evicted.index + 1) continue;
        const double free_time = overlaps ? (log_.begin[back] - in) - (log_.end[evicted] + out) : -(in + out);
        if (!best || best->free_time < free_time) best = Eviction{v, evicted, back, free_time, true, 0};
      }
      if (best) candidates_.push_back(*best);
    }
    std::stable_sort(candidates_.begin(), candidates_.end(),
                     [](const Eviction& a, const Eviction& b) { return a.free_time > b.free_time; });
  }

  /// The position of the candidate to choose next, marked with the way it is to come back.
  std::size_t hybrid() {
    std::size_t swap = candidates_.size();
    std::size_t recompute = candidates_.size();
    double least_stall = kInfinity;
    double most_msps = -1;
    double least_cost = kInfinity;
    for (std::size_t i = 0; i < candidates_.size(); ++i) {
      Eviction& candidate = candidates_[i];
      const double stall = -candidate.free_time;
      const double cost = overhead(candidate);
      candidate.swap = stall <= cost || !can_be_recomputed(candidate);
      if (candidate.swap) {
        if (stall < least_stall) {
          least_stall = stall;
          swap = i;
        }
        continue;
      }
      const double bytes = static_cast<double>(request_.instance.costs.values[candidate.value].bytes.value());
      const double msps = cost > 0 ? bytes / cost : kInfinity;
      if (msps > most_msps) {
        most_msps = msps;
        least_cost = cost;
        recompute = i;
      }
    }
    if (recompute == candidates_.size()) return swap;
    if (swap == candidates_.size()) return recompute;
    return least_stall < least_cost ? swap : recompute;
  }

  double overhead(const Eviction& candidate) {
    const double seconds = recomputation(candidate.value, candidate.back_access).seconds;
    double times = 1;
    for (const std::vector<ValueId>& sources : sources_)
      times += static_cast<double>(std::count(sources.begin(), sources.end(), candidate.value));
    return times * seconds;
  }

  /// It can, and without it so can everything that was chosen to be recomputed.
  bool can_be_recomputed(const Eviction& candidate) {
    std::optional<Eviction>& slot = evicted_[candidate.value];
    slot = candidate;
    slot->swap = false;
    bool possible = recomputation(candidate.value, candidate.back_access).seconds < kInfinity;
    for (std::size_t i = 0; possible && i < sources_.size(); ++i) {
      const std::vector<ValueId>& sources = sources_[i];
      if (std::find(sources.begin(), sources.end(), candidate.value) == sources.end()) continue;
      possible = recomputation(chosen_[i].value, chosen_[i].back_access).seconds < kInfinity;
    }
    slot.reset();
    return possible;
  }

  /// Seconds until the value is there at that op's time; absent when it has to be computed.
  [[nodiscard]] std::optional<double> available(ValueId v, OpId at) const {
    if (flow_.users[v].back() < at) return std::nullopt;  // dead by then
    const std::optional<Eviction>& eviction = evicted_[v];
    const bool away = eviction && eviction->evicted_access < at && at < eviction->back_access;
    if (!away) return 0;
    if (!eviction->swap) return std::nullopt;
    return request_.instance.costs.values[v].page_in.seconds.value();
  }

  void place_page_ins() {
    std::vector<Eviction*> swaps;
    for (Eviction& eviction : chosen_)
      if (eviction.swap) swaps.push_back(&eviction);
    std::stable_sort(swaps.begin(), swaps.end(),
                     [](const Eviction* a, const Eviction* b) { return a->back_access > b->back_access; });
    double channel = kInfinity;  // taken from then on
    for (Eviction* swap : swaps) {
      const double in = request_.instance.costs.values[swap->value].page_in.seconds.value();
      channel = std::min(channel, log_.begin[swap->back_access]) - in;
      const bool after = period_.last < swap->back_access;
      swap->fetch_start = after ? std::max(channel, log_.end[period_.last]) : channel;
    }
  }

  const MethodRequest& request_;
  const Dataflow& flow_;
  const AccessLog& log_;
  const Bytes budget_;
  const PeakPeriod period_;
  std::vector<Eviction> candidates_;  // not chosen yet, by falling FT
  std::vector<Eviction> chosen_;
  std::vector<std::vector<ValueId>> sources_;  // of the chosen that are recomputed
  IdVector<ValueId, std::optional<Eviction>> evicted_;
  IdVector<ValueId, int> seen_;    // stamps of walks
  IdVector<OpId, int> computing_;  // likewise
  int walk_ = 0;
};

}  // namespace

CapuchinPolicy capuchin_policy(const MethodRequest& request, const Dataflow& flow, const AccessLog& log,
                               const std::function<bool()>& interrupted) {
  return PolicyChooser(request, flow, log).choose(interrupted);
}

double recomputation_seconds(const MethodRequest& request, const Dataflow& flow,
                             const std::vector<Eviction>& evictions, ValueId value, OpId back_access) {
  const AccessLog none = access_log(request, flow);
  PolicyChooser policy(request, flow, none);
  for (const Eviction& eviction : evictions) policy.take(eviction);
  return policy.recomputation(value, back_access).seconds;
}

}  // namespace poet
