#include "poet/optimize/relaxation/window_limits.h"

#include <algorithm>
#include <map>
#include <utility>

#include "poet/base/numbers.h"
#include "poet/optimize/problem/sorted.h"

namespace poet {
namespace {

constexpr int kMostBetween = 8;     // most windows over which transfers are summed
constexpr int kArrivalWindows = 2;  // arrivals in a window include page-ins of this many windows

// All times are in multiples of the baseline's time. Times of the step and of breakpoints are relative to the
// baseline, in which nothing is recomputed and nothing stalls.
class LimitRows {
 public:
  LimitRows(const Problem& problem, const StageWindows& windows, WindowModel& model)
      : p_(problem), w_(windows), m_(model), unit_(problem.baseline_seconds) {}

  void add() {
    add_wear();
    if (unit_ <= 0) return;
    longer_ =
        Term::of(m_.model.add_column(0, p_.latest() / unit_ - 1, m_.scale * p_.idle_watts * unit_, false));
    if (!p_.transfers_take_time()) {
      m_.model.at_most(recomputing(0, w_.count() - 1).add(-1, longer_), 0);
    } else if (!p_.concurrent) {
      m_.model.at_most(recomputing(0, w_.count() - 1)
                           .add(all_transfers(-1), 1)
                           .add(p_.wake_seconds / unit_, Term::of(m_.wakes))
                           .add(-1, longer_),
                       0);
    } else {
      add_timeline();
    }
  }

 private:
  void add_wear() {
    if (p_.max_bytes_written == std::numeric_limits<std::int64_t>::max()) return;
    const double most = std::max(1.0, static_cast<double>(p_.max_bytes_written));
    Linear written;
    for (int v = 0; v < p_.values; ++v)
      written.add(static_cast<double>(p_.bytes[at(v)]) / most, Term::of(m_.stored[at(v)]));
    m_.model.at_most(written, static_cast<double>(p_.max_bytes_written) / most);
  }

  Linear recomputing(int first, int last) const {
    Linear sum;
    for (int k = first; k <= last; ++k)
      for (int op = 0; op < p_.ops; ++op)
        sum.add(p_.seconds[at(op)] / unit_, Term::of(m_.recompute[at(k)][at(op)]));
    return sum;
  }

  // Returns the time of page-outs of values computed at or after the breakpoint, and of page-ins in later
  // windows; breakpoint -1 is the start of the step.
  Linear all_transfers(int breakpoint) const {
    const int from = breakpoint < 0 ? 0 : w_.last_stage(breakpoint);
    Linear sum;
    for (int v = 0; v < p_.values; ++v) {
      if (p_.producer[at(v)] >= from) sum.add(p_.out_seconds[at(v)] / unit_, Term::of(m_.stored[at(v)]));
      for (int k = breakpoint + 1; k < w_.count(); ++k)
        sum.add(p_.in_seconds[at(v)] / unit_, Term::of(m_.page_in[at(k)][at(v)]));
    }
    return sum;
  }

  // Returns the delay of breakpoint op k's start relative to the baseline; -1 is the start of the step.
  [[nodiscard]] Term late(int breakpoint) const {
    return breakpoint < 0 ? Term::fixed(0) : late_[at(breakpoint)];
  }

  // Returns the baseline's time from the end of one breakpoint op to the start of another (count() - 1: to
  // the end of the step).
  [[nodiscard]] double between(int from, int to) const {
    const int first = from < 0 ? 0 : w_.last_stage(from) + 1;
    const int end = to + 1 < w_.count() ? w_.last_stage(to) : p_.ops;
    double seconds = 0;
    for (int t = first; t < end; ++t) seconds += p_.seconds[at(t)];
    return seconds / unit_;
  }

  void add_timeline() {
    const int breakpoints = w_.count() - 1;
    Model& model = m_.model;
    for (int k = 0; k < breakpoints; ++k) {
      late_.push_back(Term::of(model.add_column(0, kInfinity, 0, false)));
      model.at_most(recomputing(k, k).add(1, late(k - 1)).add(-1, late(k)), 0);
    }
    model.at_most(recomputing(breakpoints, breakpoints).add(1, late(breakpoints - 1)).add(-1, longer_), 0);
    for (int from = -1; from < breakpoints; ++from)
      model.at_most(all_transfers(from).add(1, late(from)).add(-1, longer_), between(from, breakpoints));
    add_written_before();
    for (int to = 0; to < breakpoints; ++to)
      for (int from = std::max(-1, to - kMostBetween); from < to; ++from)
        model.at_most(must_lie_between(from, to).add(1, late(from)).add(-1, late(to)), between(from, to));
    for (int k = 1; k <= breakpoints; ++k)
      for (int from = std::max(0, k - kArrivalWindows); from < k; ++from)
        add_arrivals(from, k, k < breakpoints ? late(k) : longer_);
    for (int k = 0; k < breakpoints; ++k) add_departures(k);
  }

  // A value paged in after breakpoint `from` has arrived when the first op of window k that reads it starts;
  // the rest of the window follows. A value paged in during window k may have been read from RAM before and
  // evicted in between; then nothing waits for it.
  void add_arrivals(int from, int k, Term end) {
    std::vector<char> seen(at(p_.values), 0);
    Linear arriving;
    double most = 0;
    double before = between(from, k - 1);
    if (k - 1 > from) before += p_.seconds[at(w_.last_stage(k - 1))] / unit_;
    for (int t = w_.first_stage(k); t <= w_.last_stage(k); ++t) {
      bool more = false;
      for (int v : p_.reads[at(t)]) {
        if (std::exchange(seen[at(v)], 1) != 0) continue;
        const double seconds = p_.in_seconds[at(v)] / unit_;
        for (int j = from + 1; j <= k; ++j) {
          const int in = m_.page_in[at(j)][at(v)];
          if (in < 0 || seconds == 0) continue;
          arriving.add(seconds, j < k ? Term::of(in)
                                      : excess(in, {m_.kept[at(k) - 1][at(v)],
                                                    m_.recompute[at(k)][at(p_.producer[at(v)])]}));
          most += seconds;
          more = true;
        }
      }
      if (more && most > before) m_.model.at_most(Linear(arriving).add(1, late(from)).add(-1, end), before);
      before += p_.seconds[at(t)] / unit_;
    }
  }

  // A value computed in window k, stored and not in RAM at its breakpoint has been paged out in between.
  void add_departures(int k) {
    const int op = w_.last_stage(k);
    Linear leaving;
    double most = 0;
    double after = 0;  // baseline time from the op to the breakpoint op
    for (int t = op - 1; t >= w_.first_stage(k); --t) {
      bool more = false;
      for (int v : p_.writes[at(t)]) {
        if (m_.stored[at(v)] < 0 || contains(p_.reads[at(op)], v)) continue;
        const double seconds = p_.out_seconds[at(v)] / unit_;
        leaving.add(seconds, excess(written_[at(k)][at(v)], {m_.kept[at(k)][at(v)]}));
        most += seconds;
        more = true;
      }
      if (more && most > after) m_.model.at_most(Linear(leaving).add(1, late(k - 1)).add(-1, late(k)), after);
      after += p_.seconds[at(t)] / unit_;
    }
  }

  // written_[k][v]: v is paged out before the stage of breakpoint k. It was in RAM at the previous breakpoint
  // or has been computed since. A value that is paged in has been paged out before.
  void add_written_before() {
    Model& model = m_.model;
    const int breakpoints = w_.count() - 1;
    written_.assign(at(breakpoints), std::vector<int>(at(p_.values), -1));
    for (int v = 0; v < p_.values; ++v) {
      if (m_.stored[at(v)] < 0) continue;
      for (int k = w_.of(p_.producer[at(v)]); k < breakpoints; ++k) {
        const int now = written_[at(k)][at(v)] = model.add_column(0, 1, 0, false);
        model.at_most(Linear().add(1, Term::of(now)).add(-1, Term::of(m_.stored[at(v)])), 0);
        if (const int in = m_.page_in[at(k)][at(v)]; in >= 0)
          model.at_most(Linear().add(1, Term::of(in)).add(-1, Term::of(now)), 0);
        if (k == w_.of(p_.producer[at(v)])) continue;
        const Term before = Term::of(written_[at(k) - 1][at(v)]);
        model.at_most(Linear().add(1, before).add(-1, Term::of(now)), 0);
        model.at_most(Linear()
                          .add(1, Term::of(now))
                          .add(-1, before)
                          .add(-1, Term::of(m_.kept[at(k) - 1][at(v)]))
                          .add(-1, Term::of(m_.recompute[at(k)][at(p_.producer[at(v)])])),
                      0);
      }
      // The last window: page-ins of values written before the last breakpoint or since.
      const int last = breakpoints;
      if (const int in = m_.page_in[at(last)][at(v)]; in >= 0)
        model.at_most(Linear()
                          .add(1, Term::of(in))
                          .add(-1, Term::of(written_[at(last) - 1][at(v)]))
                          .add(-1, Term::of(m_.kept[at(last) - 1][at(v)]))
                          .add(-1, Term::of(m_.recompute[at(last)][at(p_.producer[at(v)])])),
                      0);
    }
  }

  // Returns the time of transfers that must begin after breakpoint op `from` has run and end before `to`
  // starts: page-outs of values computed at or after `from` and not in RAM at `to`, and page-ins of values
  // not in RAM at `to`.
  Linear must_lie_between(int from, int to) {
    const int first = from < 0 ? 0 : w_.last_stage(from);
    const int op = w_.last_stage(to);
    Linear sum;
    for (int v = 0; v < p_.values; ++v) {
      if (m_.stored[at(v)] < 0) continue;
      const bool used = contains(p_.reads[at(op)], v) || contains(p_.writes[at(op)], v);
      if (p_.producer[at(v)] >= first && written_[at(to)][at(v)] >= 0 && !used)
        sum.add(p_.out_seconds[at(v)] / unit_, excess(written_[at(to)][at(v)], {m_.kept[at(to)][at(v)]}));
      for (int k = from + 1; k <= to; ++k)
        if (m_.page_in[at(k)][at(v)] >= 0)
          sum.add(p_.in_seconds[at(v)] / unit_, excess(m_.page_in[at(k)][at(v)], {m_.kept[at(k)][at(v)]}));
    }
    return sum;
  }

  // Returns a term that is at least the column less the others, and at least 0.
  Term excess(int column, const std::vector<int>& others) {
    const auto [it, is_new] = excess_.try_emplace({column, others}, -1);
    if (!is_new) return Term::of(it->second);
    it->second = m_.model.add_column(0, 1, 0, false);
    Linear least = Linear().add(1, Term::of(column)).add(-1, Term::of(it->second));
    for (int other : others) least.add(-1, Term::of(other));
    m_.model.at_most(least, 0);
    return Term::of(it->second);
  }

  const Problem& p_;
  const StageWindows& w_;
  WindowModel& m_;
  double unit_;
  Term longer_ = Term::fixed(0);
  std::vector<Term> late_;
  std::vector<std::vector<int>> written_;
  std::map<std::pair<int, std::vector<int>>, int> excess_;
};

}  // namespace

void add_limits(const Problem& problem, const StageWindows& windows, WindowModel& model) {
  LimitRows(problem, windows, model).add();
}

}  // namespace poet
