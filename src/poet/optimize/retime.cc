#include "poet/optimize/retime.h"

#include <algorithm>

namespace poet {
namespace {

constexpr int kReach = 12;  // stages that a transfer may move in one step

// Late beyond the deadline is worse than any energy; then energy.
bool better(const Problem& p, const Candidate& a, const Candidate& b) {
  const double late_a = std::max(0.0, a.seconds - p.deadline);
  const double late_b = std::max(0.0, b.seconds - p.deadline);
  if (late_a != late_b) return late_a < late_b;
  return a.joules < b.joules * (1 - 1e-12);
}

bool fits(const Problem& p, const Candidate& c) {
  return c.peak <= p.budget && c.bytes_written <= p.max_bytes_written;
}

void move_value(std::vector<std::vector<int>>& sets, int v, int from, int to) {
  auto& source = sets[static_cast<std::size_t>(from)];
  source.erase(std::find(source.begin(), source.end(), v));
  auto& target = sets[static_cast<std::size_t>(to)];
  target.insert(std::lower_bound(target.begin(), target.end(), v), v);
}

struct Move {
  int value;
  int stage;
};

std::vector<Move> transfers(const std::vector<std::vector<int>>& sets) {
  std::vector<Move> all;
  for (std::size_t t = 0; t < sets.size(); ++t)
    for (int v : sets[t]) all.push_back({v, static_cast<int>(t)});
  return all;
}

bool holds(const std::vector<std::vector<int>>& sets, int stage, int v) {
  const auto& set = sets[static_cast<std::size_t>(stage)];
  return std::binary_search(set.begin(), set.end(), v);
}

}  // namespace

Candidate retime(const Problem& p, Candidate best, const std::function<bool()>& stop) {
  if (!p.transfers_take_time() || !fits(p, best)) return best;
  for (bool improved = true; improved && !stop();) {
    improved = false;
    const auto try_move = [&](auto member, const Move& transfer, int stage) {
      const auto& sets = best.decisions.*member;
      if (!holds(sets, transfer.stage, transfer.value) || holds(sets, stage, transfer.value)) return false;
      Decisions moved = best.decisions;
      move_value(moved.*member, transfer.value, transfer.stage, stage);
      Candidate candidate = complete(p, moved);
      if (!fits(p, candidate) || !better(p, candidate, best)) return false;
      best = std::move(candidate);
      return true;
    };
    for (const Move& in : transfers(best.decisions.page_in)) {
      const int earliest = std::max(p.producer[static_cast<std::size_t>(in.value)] + 2, in.stage - kReach);
      for (int t = in.stage - 1; t >= earliest && !stop(); --t)
        if (try_move(&Decisions::page_in, in, t)) {
          improved = true;
          break;
        }
    }
    for (const Move& out : transfers(best.decisions.page_out)) {
      const int earliest = p.producer[static_cast<std::size_t>(out.value)] + 1;
      for (int t = earliest; t <= earliest + kReach && t + 1 < p.ops && !stop(); ++t)
        if (t != out.stage && try_move(&Decisions::page_out, out, t)) {
          improved = true;
          break;
        }
    }
  }
  return best;
}

}  // namespace poet
