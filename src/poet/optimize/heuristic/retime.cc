#include "poet/optimize/heuristic/retime.h"

#include <algorithm>

#include "poet/base/numbers.h"
#include "poet/optimize/heuristic/incremental.h"

namespace poet {
namespace {

constexpr int kReach = 12;  // most stages by which a transfer moves in one step
constexpr long kMostTrials = 20'000;

class Retiming {
 public:
  Retiming(const Problem& problem, const Candidate& candidate, const std::function<bool()>& stop)
      : p_(problem), replay_(problem), stop_(stop) {
    replay_.load(candidate.decisions);
    replay_.commit();
    now_ = replay_.total();
  }

  void run() {
    for (bool improved = true; improved && !over();) improved = move_ins() | move_outs();
  }

  [[nodiscard]] Decisions decisions() const { return replay_.decisions(); }

 private:
  [[nodiscard]] bool over() const { return trials_ >= kMostTrials || stop_(); }

  // Compares by time beyond the deadline, then by energy.
  [[nodiscard]] bool better(const IncrementalReplay::Total& a, const IncrementalReplay::Total& b) const {
    const double late_a = std::max(0.0, a.seconds - p_.deadline);
    const double late_b = std::max(0.0, b.seconds - p_.deadline);
    if (late_a != late_b) return late_a < late_b;
    return a.joules < b.joules * (1 - 1e-12);
  }

  bool keep_if_better() {
    ++trials_;
    replay_.update();
    if (replay_.overflow() == 0 && replay_.bytes_written() <= p_.max_bytes_written) {
      const IncrementalReplay::Total total = replay_.total();
      if (better(total, now_)) {
        now_ = total;
        replay_.commit();
        return true;
      }
    }
    replay_.rollback();
    return false;
  }

  // Computes prefix sums of stages in which compute stalls. Moving a transfer pays if there is a stall within
  // its reach, or if it saves a wake-up.
  void find_waits() {
    waits_.assign(1, 0);
    for (double wait : replay_.waits()) waits_.push_back(waits_.back() + (wait > 0 ? 1 : 0));
  }
  [[nodiscard]] bool matters(int stage) const {
    if (p_.wake_joules > 0) return true;
    const int first = std::max(0, stage - kReach);
    const int last = std::min(p_.ops, stage + 2 * kReach);
    return waits_[at(last)] > waits_[at(first)];
  }

  bool move_ins() {
    bool improved = false;
    find_waits();
    for (int t = 0; t < p_.ops; ++t) {
      const std::vector<int> values = replay_.paged_in_in(t);
      for (int v : values) {
        const int earliest = std::max(p_.producer[at(v)] + 2, t - kReach);
        for (int to = t - 1; to >= earliest && matters(t) && !over(); --to) {
          if (!replay_.add_page_in(v, to)) continue;
          replay_.remove_page_in(v, t);
          if (!keep_if_better()) continue;
          improved = true;
          break;
        }
      }
    }
    return improved;
  }

  bool move_outs() {
    bool improved = false;
    find_waits();
    for (int v = 0; v < p_.values; ++v) {
      const int from = replay_.page_out(v);
      if (from < 0 || !matters(from)) continue;
      const int earliest = p_.producer[at(v)] + 1;
      for (int to = earliest; to <= earliest + kReach && to + 1 < p_.ops && !over(); ++to) {
        if (to == from) continue;
        replay_.pin_page_out(v, to);
        if (!keep_if_better()) continue;
        improved = true;
        break;
      }
    }
    return improved;
  }

  const Problem& p_;
  IncrementalReplay replay_;
  const std::function<bool()>& stop_;
  IncrementalReplay::Total now_{};
  long trials_ = 0;
  std::vector<int> waits_;  // prefix sums
};

}  // namespace

Candidate retime(const Problem& p, Candidate candidate, const std::function<bool()>& stop) {
  const bool fits = candidate.peak <= p.budget && candidate.bytes_written <= p.max_bytes_written;
  if (!p.transfers_take_time() || candidate.bytes_written == 0 || !fits || stop()) return candidate;
  Retiming retiming(p, candidate, stop);
  retiming.run();
  return complete(p, retiming.decisions());
}

}  // namespace poet
