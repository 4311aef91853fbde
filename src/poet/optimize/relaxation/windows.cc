#include "poet/optimize/relaxation/windows.h"

#include <algorithm>
#include <utility>

#include "poet/base/numbers.h"
#include "poet/optimize/problem/sorted.h"
#include "poet/optimize/relaxation/window_limits.h"

namespace poet {
namespace {

class Builder {
 public:
  Builder(const Problem& problem, const StageWindows& windows, bool rounding, WindowObjective objective)
      : p_(problem), w_(windows), rounding_(rounding) {
    m_.stored.assign(at(p_.values), -1);
    m_.ram_unit = static_cast<double>(std::max<std::int64_t>(p_.budget, 1));
    if (objective == WindowObjective::energy) {
      m_.scale = p_.objective_scale;
    } else {
      m_.scale = 0;
      budget_ = Term::of(m_.model.add_column(0, kInfinity, 1, false));
      rounding_ = false;  // needs a fixed budget
    }
    for (auto* columns : {&m_.kept, &m_.page_in, &from_storage_})
      columns->assign(at(w_.count()), std::vector<int>(at(p_.values), -1));
    m_.recompute.assign(at(w_.count()), std::vector<int>(at(p_.ops), -1));
  }

  WindowModel build() {
    add_columns();
    for (int k = 1; k < w_.count(); ++k) add_window(k);
    for (int k = 0; k + 1 < w_.count(); ++k) add_ram(k);
    add_limits(p_, w_, m_);
    return std::move(m_);
  }

 private:
  void add_columns() {
    Model& model = m_.model;
    for (int v = 0; v < p_.values; ++v) {
      if (!p_.active[at(v)] || p_.users[at(v)].empty()) continue;
      const int made = w_.of(p_.producer[at(v)]);
      if (p_.paging && made + 1 < w_.count())
        m_.stored[at(v)] = model.add_binary(m_.scale * p_.out_joules[at(v)]);
      for (int k = made; k < w_.count() && w_.first_stage(k) <= p_.horizon[at(v)]; ++k) {
        if (w_.last_stage(k) < p_.horizon[at(v)]) m_.kept[at(k)][at(v)] = model.add_binary(0);
        if (k == made || m_.stored[at(v)] < 0) continue;
        m_.page_in[at(k)][at(v)] = model.add_binary(m_.scale * p_.in_joules[at(v)]);
        if (m_.kept[at(k)][at(v)] >= 0) from_storage_[at(k)][at(v)] = model.add_column(0, 1, 0, false);
      }
    }
    for (int op = 0; op < p_.ops; ++op)
      for (int k = w_.of(op) + 1; k < w_.count() && w_.first_stage(k) <= p_.recompute_until[at(op)]; ++k)
        m_.recompute[at(k)][at(op)] = model.add_binary(m_.scale * p_.joules[at(op)]);
    if (p_.transfers_take_time() && (p_.wake_joules > 0 || p_.wake_seconds > 0)) add_waking();
    for (const Resident& resident : p_.residents)
      m_.resident.push_back(model.add_binary(-m_.scale * resident.joules));
  }

  // Charges one wake-up of the channel if anything is paged out.
  void add_waking() {
    m_.wakes = m_.model.add_column(0, 1, m_.scale * p_.wake_joules, false);
    for (const int stored : m_.stored)
      if (stored >= 0) m_.model.at_most(Linear().add(1, Term::of(stored)).add(-1, Term::of(m_.wakes)), 0);
  }

  // Returns the sum of the ways in which v, computed earlier, is available in window k.
  Linear available(int k, int v) const {
    return Linear()
        .add(1, Term::of(m_.kept[at(k - 1)][at(v)]))
        .add(1, Term::of(m_.recompute[at(k)][at(p_.producer[at(v)])]))
        .add(1, Term::of(m_.page_in[at(k)][at(v)]));
  }

  bool made_before(int k, int v) const { return w_.of(p_.producer[at(v)]) < k; }

  void add_window(int k) {
    Model& model = m_.model;
    std::vector<char> is_read(at(p_.values), 0);
    for (int t = w_.first_stage(k); t <= w_.last_stage(k); ++t)
      for (int v : p_.reads[at(t)]) is_read[at(v)] = 1;
    for (int v = 0; v < p_.values; ++v) {
      if (!p_.active[at(v)] || !made_before(k, v)) continue;
      if (is_read[at(v)]) model.at_least(available(k, v), 1);
      if (m_.kept[at(k)][at(v)] >= 0) add_retention(k, v);
      if (m_.page_in[at(k)][at(v)] >= 0)
        model.at_most(Linear().add(1, Term::of(m_.page_in[at(k)][at(v)])).add(-1, Term::of(m_.stored[at(v)])),
                      0);
    }
    for (int op = 0; op < p_.ops; ++op) {
      if (m_.recompute[at(k)][at(op)] < 0) continue;
      for (int u : p_.reads[at(op)])
        if (made_before(k, u))
          model.at_most(Linear().add(1, Term::of(m_.recompute[at(k)][at(op)])).add(available(k, u), -1), 0);
    }
  }

  // Adds separate retention rows for copies kept since a computation and for copies read from storage.
  void add_retention(int k, int v) {
    Model& model = m_.model;
    const Term kept = Term::of(m_.kept[at(k)][at(v)]);
    const Term before = Term::of(m_.kept[at(k - 1)][at(v)]);
    const Term paged = Term::of(from_storage_[at(k)][at(v)]);
    const Term paged_before = Term::of(from_storage_[at(k - 1)][at(v)]);
    const Term recomputed = Term::of(m_.recompute[at(k)][at(p_.producer[at(v)])]);
    model.at_most(
        Linear().add(1, kept).add(-1, paged).add(-1, before).add(1, paged_before).add(-1, recomputed), 0);
    if (!paged.is_column()) return;
    model.at_most(Linear().add(1, paged).add(-1, paged_before).add(-1, Term::of(m_.page_in[at(k)][at(v)])),
                  0);
    model.at_most(Linear().add(1, paged).add(-1, Term::of(m_.stored[at(v)])), 0);
    model.at_most(Linear().add(1, paged).add(-1, kept), 0);
  }

  void add_ram(int k) {
    const int op = w_.breakpoints()[at(k)];
    const std::int64_t room = p_.budget - working_set(p_, op);
    const double unit = m_.ram_unit;
    Linear sum;
    std::vector<std::int64_t> beside;  // bytes of kept values
    std::vector<int> loads;            // their columns
    for (int v = 0; v < p_.values; ++v) {
      if (m_.kept[at(k)][at(v)] < 0) continue;
      if (contains(p_.reads[at(op)], v) || contains(p_.writes[at(op)], v)) continue;
      sum.add(static_cast<double>(p_.bytes[at(v)]) / unit, Term::of(m_.kept[at(k)][at(v)]));
      beside.push_back(p_.bytes[at(v)]);
      loads.push_back(m_.kept[at(k)][at(v)]);
    }
    if (const int all = all_kept(k); all >= 0) {
      sum.add(static_cast<double>(p_.bytes[at(p_.first_result[at(op)])]) / unit, Term::of(all));
      beside.push_back(p_.bytes[at(p_.first_result[at(op)])]);
      loads.push_back(all);
    }
    add_residents(k, sum);
    if (budget_.is_column()) {
      m_.model.at_most(sum.add(-1, budget_), -static_cast<double>(working_set(p_, op)) / unit);
      return;
    }
    m_.model.at_most(sum, static_cast<double>(room) / unit);
    std::int64_t not_aligned = 0;  // padding saved if all are resident
    for (const Resident& one : p_.residents) not_aligned += p_.bytes[at(one.value)] - one.bytes;
    if (rounding_) add_rounded(room + not_aligned, beside, loads);
  }

  // Before its load and after its last use, a resident value takes additional RAM; in between it counts as
  // kept, without the padding of paged values.
  void add_residents(int k, Linear& sum) {
    const int op = w_.breakpoints()[at(k)];
    for (std::size_t i = 0; i < p_.residents.size(); ++i) {
      const auto& [v, joules, bytes] = p_.residents[i];
      const Term resident = Term::of(m_.resident[i]);
      const Term kept = Term::of(m_.kept[at(k)][at(v)]);
      const bool works = contains(p_.reads[at(op)], v) || contains(p_.writes[at(op)], v);
      const bool counts = works || kept.is_column();
      sum.add(static_cast<double>(counts ? bytes - p_.bytes[at(v)] : bytes) / m_.ram_unit, resident);
      if (kept.is_column()) m_.model.at_most(Linear().add(1, resident).add(-1, kept), 0);
    }
  }

  // Returns a column that is 1 if all operands are kept that the breakpoint op may overwrite with its first
  // result; -1 if there are none, or they are never all kept.
  int all_kept(int k) {
    const std::vector<int>& operands = p_.overwritable[at(w_.breakpoints()[at(k)])];
    Linear sum;
    for (int v : operands) {
      if (m_.kept[at(k)][at(v)] < 0) return -1;
      sum.add(1, Term::of(m_.kept[at(k)][at(v)]));
    }
    if (operands.size() < 2) return operands.empty() ? -1 : m_.kept[at(k)][at(operands.front())];
    const int all = m_.model.add_column(0, 1, 0, false);
    m_.model.at_most(sum.add(-1, Term::of(all)), static_cast<double>(operands.size() - 1));
    return all;
  }

  // Adds the row rounded to multiples of each size. Most graphs have few sizes.
  void add_rounded(std::int64_t room, const std::vector<std::int64_t>& bytes, const std::vector<int>& loads) {
    constexpr std::size_t kMostSizes = 60;
    std::vector<std::int64_t> sizes = bytes;
    std::sort(sizes.rbegin(), sizes.rend());
    sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
    if (sizes.size() > kMostSizes) sizes.resize(kMostSizes);
    for (std::int64_t size : sizes) {
      const auto whole = [size](std::int64_t amount) {
        const std::int64_t times = amount / size;
        return static_cast<double>(times);
      };
      Linear sum;
      for (std::size_t i = 0; i < loads.size(); ++i)
        if (bytes[i] >= size) sum.add(whole(bytes[i]), Term::of(loads[i]));
      m_.model.at_most(sum, whole(room));
    }
  }

  const Problem& p_;
  const StageWindows& w_;
  bool rounding_;
  Term budget_ = Term::fixed(0);  // a column if RAM is minimized
  WindowModel m_;
  std::vector<std::vector<int>> from_storage_;
};

}  // namespace

StageWindows::StageWindows(const Problem& problem, std::vector<int> breakpoints)
    : breakpoints_(std::move(breakpoints)), stages_(problem.ops) {
  std::sort(breakpoints_.begin(), breakpoints_.end());
  for (int t = 0; t < problem.ops; ++t) {
    const auto next = std::lower_bound(breakpoints_.begin(), breakpoints_.end(), t);
    of_.push_back(static_cast<int>(next - breakpoints_.begin()));
  }
}

WindowModel build_windows(const Problem& problem, const StageWindows& windows, bool rounding,
                          WindowObjective objective) {
  return Builder(problem, windows, rounding, objective).build();
}

}  // namespace poet
