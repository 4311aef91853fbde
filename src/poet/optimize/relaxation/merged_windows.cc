#include "poet/optimize/relaxation/merged_windows.h"

#include <algorithm>

#include "poet/base/numbers.h"

namespace poet {
namespace {

constexpr double kLeastViolation = 0.02;
constexpr std::size_t kMostCuts = 300;

struct Cut {
  double sum;  // the row's value at x
  Linear row;
};

class Separation {
 public:
  Separation(const Problem& problem, const StageWindows& windows, const WindowModel& model,
             const std::vector<double>& x)
      : p_(problem), w_(windows), m_(model), x_(x), least_(at(problem.values)), next_(at(problem.values)) {}

  std::vector<Cut> run() {
    for (int k = 0; k + 1 < w_.count(); ++k) {
      find_next_reads(k);
      int farthest = -1;
      for (const int window : next_read_) farthest = std::max(farthest, window);
      for (int e = k + 2; e <= farthest; ++e) {  // the model's own rows cover a single window
        find_chains(k, e);
        for (int v = 0; v < p_.values; ++v)
          if (next_read_[at(v)] == e && least_[at(v)] < 1 - kLeastViolation)
            cuts_.push_back({least_[at(v)], row(k, e, v)});
      }
    }
    return std::move(cuts_);
  }

 private:
  [[nodiscard]] double value_of(int column) const { return column >= 0 ? x_[at(column)] : 0; }

  // Finds, per value, the window of its first read after the breakpoint; -1: none, or not computed yet.
  void find_next_reads(int k) {
    const int t = w_.breakpoints()[at(k)];
    next_read_.assign(at(p_.values), -1);
    for (int v = 0; v < p_.values; ++v) {
      if (!p_.active[at(v)] || p_.producer[at(v)] > t) continue;
      const auto& users = p_.users[at(v)];
      const auto read = std::upper_bound(users.begin(), users.end(), t);
      if (read != users.end()) next_read_[at(v)] = w_.of(*read);
    }
  }

  // Finds, per value computed by breakpoint k, the least sum of a chain that begins with it, and the chain's
  // second value, an operand. Operands precede their readers.
  void find_chains(int k, int e) {
    for (int op = 0; op <= w_.breakpoints()[at(k)]; ++op) {
      double rest = 0;
      for (int j = k + 1; j <= e; ++j) rest += value_of(m_.recompute[at(j)][at(op)]);
      int second = -1;
      for (int u : p_.reads[at(op)])
        if (least_[at(u)] < rest) {
          rest = least_[at(u)];
          second = u;
        }
      for (int v : p_.writes[at(op)]) {
        least_[at(v)] = rest + value_of(m_.kept[at(k)][at(v)]);
        for (int j = k + 1; j <= e; ++j) least_[at(v)] += value_of(m_.page_in[at(j)][at(v)]);
        next_[at(v)] = second;
      }
    }
  }

  [[nodiscard]] Linear row(int k, int e, int v) const {
    Linear sum;
    for (;; v = next_[at(v)]) {
      sum.add(1, Term::of(m_.kept[at(k)][at(v)]));
      for (int j = k + 1; j <= e; ++j) sum.add(1, Term::of(m_.page_in[at(j)][at(v)]));
      if (next_[at(v)] < 0) break;
    }
    for (int j = k + 1; j <= e; ++j) sum.add(1, Term::of(m_.recompute[at(j)][at(p_.producer[at(v)])]));
    return sum;
  }

  const Problem& p_;
  const StageWindows& w_;
  const WindowModel& m_;
  const std::vector<double>& x_;
  std::vector<int> next_read_;
  std::vector<double> least_;
  std::vector<int> next_;
  std::vector<Cut> cuts_;
};

}  // namespace

std::vector<Linear> merged_window_cuts(const Problem& problem, const StageWindows& windows,
                                       const WindowModel& model, const std::vector<double>& x) {
  std::vector<Cut> cuts = Separation(problem, windows, model, x).run();
  std::stable_sort(cuts.begin(), cuts.end(), [](const Cut& a, const Cut& b) { return a.sum < b.sum; });
  if (cuts.size() > kMostCuts) cuts.resize(kMostCuts);
  std::vector<Linear> rows;
  for (Cut& cut : cuts) rows.push_back(std::move(cut.row));
  return rows;
}

}  // namespace poet
