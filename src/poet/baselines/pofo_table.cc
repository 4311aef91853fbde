#include "poet/baselines/pofo_table.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <utility>

#include "poet/base/numbers.h"

namespace poet {
namespace {

double number(Bytes bytes) { return static_cast<double>(bytes.value()); }

// A state and how it was reached. Bytes are whole numbers but for what has been sent or fetched of them.
struct State {
  double seconds = 0;
  Bytes kept;              // A
  double unsent = 0;       // delta F
  double prefetched = 0;   // delta B
  Bytes offloaded;         // so far, to choose between equally fast ways
  bool recorded = false;   // the block before ("bar")
  std::size_t parent = 0;  // among the states of the piece's first block
  PofoPiece piece;         // that led here
};

// A piece's forward or backward part: how long it takes, what it needs on top of A and the data under way.
struct Passage {
  double seconds = 0;
  Bytes peak;
};

class PofoSearch {
 public:
  PofoSearch(const Chain& chain, const std::vector<BlockMemory>& memory, const RotorTable& times,
             Bytes budget, const PofoLink& link, int cells, double at_most)
      : chain_(chain),
        memory_(memory),
        times_(times),
        budget_(budget),
        link_(link),
        at_most_(at_most),
        last_(chain.blocks.size() - 1),
        states_(chain.blocks.size() + 1),
        cells_(chain.blocks.size() + 1) {
    Bytes everything;
    for (const BlockMemory& block : memory) everything += block.input + block.saved;
    cell_ = std::max(1.0, number(std::min(budget, everything)) / cells);
    states_[0].emplace_back();
    forward_left_.assign(chain.blocks.size() + 1, 0);
    backward_left_.assign(chain.blocks.size() + 1, 0);
    for (std::size_t b = chain.blocks.size(); b-- > 0;) {
      forward_left_[b] = forward_left_[b + 1] + memory[b].record_time[1].value();
      backward_left_[b] = backward_left_[b + 1] + memory[b].backward_time.value();
    }
  }

  PofoPlan run(const std::function<bool()>& stop) {
    for (std::size_t b = 0; b <= last_; ++b) {
      // States are only added further on.
      for (std::size_t s = 0; s < states_[b].size(); ++s) {
        if (s % 1024 == 0 && stop && stop()) return {};
        record(b, s);
        if (b < last_) run_through(b, s);
      }
    }
    return best();
  }

 private:
  [[nodiscard]] Bytes saved_before(std::size_t b, const State& state) const {
    return state.recorded ? memory_[b - 1].saved : Bytes();
  }
  [[nodiscard]] bool kept(std::size_t b, const State& state) const {
    return state.recorded && chain_.blocks[b - 1].reads_output;
  }

  // F_all of one block.
  void record(std::size_t b, std::size_t s) {
    const State state = states_[b][s];
    const BlockMemory& block = memory_[b];
    const bool wanted = kept(b, state);
    const bool stays = wanted || chain_.blocks[b].reads_input;
    const Bytes saved = saved_before(b, state);
    const Bytes input = saved + (stays ? block.input : Bytes());
    const bool turns = b == last_;
    for (const bool offload : {false, true}) {
      if (offload && (turns || input == Bytes())) continue;
      const bool gone = offload && link_.blocking;
      const auto& peaks = turns ? block.turn_peak : block.record_peak;
      const Bytes beside = gone ? Bytes() : saved;
      const Bytes forward_peak = memory_[last_].carried + beside + peaks[1][stays && !gone ? 1 : 0];
      const Passage forward = {block.record_time[1].value(), forward_peak};
      const Passage backward = {block.backward_time.value(), beside + block.backward_peak[wanted ? 1 : 0]};
      State next = state;
      next.piece = {b, b + 1, true, offload, wanted, Bytes()};
      if (!send(state, forward.seconds, overflow(state, forward), forward.peak, next)) continue;
      const double missing = std::max(0.0, number(state.kept + backward.peak - budget_) + state.prefetched);
      if (missing > state.prefetched) continue;
      fetch(state, backward.seconds, missing, next);
      next.recorded = true;
      add(s, input, next);
    }
  }

  // F_ck of block b and F_null of those after it, which are recomputed later, as rotor's table says.
  void run_through(std::size_t b, std::size_t s) {
    const State state = states_[b][s];
    const bool wanted = kept(b, state);
    const Bytes saved = saved_before(b, state);
    const Bytes input = saved + memory_[b].input;
    for (const bool offload : {false, true}) {
      if (offload && input == Bytes()) continue;
      const bool gone = offload && link_.blocking;
      const Bytes beside = memory_[last_].carried + (gone ? Bytes() : saved);
      const Bytes held = state.kept + (gone ? Bytes() : saved);
      double excess = -kInfinity;
      Bytes peak;
      double forward = 0;
      double backward = 0;
      for (std::size_t next_block = b + 1; next_block <= last_; ++next_block) {
        const BlockMemory& block = memory_[next_block - 1];
        const bool first = next_block == b + 1;
        const Bytes now = beside + (first ? block.advance_peak[1][gone ? 0 : 1]
                                          : block.advance_peak[1][0] + (gone ? Bytes() : memory_[b].input));
        peak = std::max(peak, now);
        excess = std::max(excess, overflow(state, {0, now}) - link_.out_bytes_per_second * forward);
        forward += block.advance_time[1].value();
        backward += block.backward_time.value();
        State next = state;
        next.recorded = false;
        next.piece = {b, next_block, false, offload, wanted, Bytes()};
        if (!send(state, forward, excess, peak, next)) break;
        reverse(state, s, input, held, backward, false, next);
        if (state.prefetched > 0) reverse(state, s, input, held, backward, true, next);
      }
    }
  }

  // The backward part of a piece that was run through, beside the prefetch or before it.
  void reverse(const State& state, std::size_t s, Bytes input, Bytes held, double backward, bool before,
               State next) {
    // What is under way comes in while the piece is recomputed, into bytes that nobody else may use.
    const auto reserved = static_cast<std::int64_t>(before ? 0.0 : state.prefetched + 0.999);
    next.piece.held = held + Bytes(reserved);
    const PofoPiece& piece = next.piece;
    const double recomputed = times_.cost(piece.held, piece.first, piece.next - 1, piece.kept);
    if (recomputed == kInfinity) return;
    fetch(state, recomputed + backward, before ? state.prefetched : 0, next);
    add(s, input, next);
  }

  // Bytes that do not fit beside what has not been sent yet; negative: there is room.
  [[nodiscard]] double overflow(const State& state, const Passage& forward) const {
    return number(state.kept + forward.peak - budget_) + state.unsent;
  }

  // Time passes in the forward pass; false when it does not fit even with everything sent.
  bool send(const State& state, double seconds, double excess, Bytes peak, State& next) const {
    if (state.kept + peak > budget_) return false;
    const double waiting = std::max(0.0, excess);
    next.seconds += seconds + waiting / link_.out_bytes_per_second;
    next.unsent -= seconds * link_.out_bytes_per_second + waiting;
    return true;
  }

  void fetch(const State& state, double seconds, double waiting, State& next) const {
    next.seconds += seconds + waiting / link_.in_bytes_per_second;
    next.prefetched = std::max(0.0, state.prefetched - seconds * link_.in_bytes_per_second - waiting);
  }

  void add(std::size_t parent, Bytes input, State next) {
    next.parent = parent;
    if (next.piece.offloaded) next.offloaded += input;
    if (!next.piece.offloaded) {
      next.kept += input;
    } else if (link_.blocking) {
      next.seconds += number(input) / link_.out_bytes_per_second + number(input) / link_.in_bytes_per_second;
    } else {
      next.unsent += number(input);
      next.prefetched += number(input);
    }
    next.unsent = std::max(0.0, next.unsent);
    if (next.piece.next > last_) {
      next.seconds += outstanding(next);
      next.unsent = 0;
      next.prefetched = 0;
    } else if (next.kept > budget_ || number(next.kept - budget_) + next.prefetched > 0) {
      return;
    }
    if (least_seconds(next) > at_most_) return;
    std::vector<State>& states = states_[next.piece.next];
    const auto [found, fresh] = cells_[next.piece.next].try_emplace(key(next), states.size());
    if (fresh) {
      states.push_back(next);
    } else if (faster(next, states[found->second])) {
      states[found->second] = next;
    }
  }

  [[nodiscard]] double outstanding(const State& state) const {
    return state.unsent / link_.out_bytes_per_second + state.prefetched / link_.in_bytes_per_second;
  }

  // Of the whole step from here: what is under way can hide behind what is still to be computed.
  [[nodiscard]] double least_seconds(const State& state) const {
    const std::size_t b = state.piece.next;
    return state.seconds + std::max(forward_left_[b], state.unsent / link_.out_bytes_per_second) +
           std::max(backward_left_[b], state.prefetched / link_.in_bytes_per_second);
  }

  [[nodiscard]] bool faster(const State& a, const State& b) const {
    constexpr double kTolerance = 1e-12;  // relative: sums of seconds
    const double first = a.seconds + outstanding(a);
    const double second = b.seconds + outstanding(b);
    if (std::abs(first - second) > kTolerance * second) return first < second;
    return a.offloaded < b.offloaded;
  }

  [[nodiscard]] std::uint64_t key(const State& state) const {
    if (state.piece.next > last_) return 0;
    const auto cell = [&](double bytes) {
      return static_cast<std::uint64_t>(std::ceil(bytes / cell_)) & 0xfffffU;  // nothing is a cell of its own
    };
    return (((cell(number(state.kept)) << 20U | cell(state.unsent)) << 20U | cell(state.prefetched)) << 1U) |
           (state.recorded ? 1U : 0U);
  }

  [[nodiscard]] PofoPlan best() const {
    PofoPlan plan;
    if (states_[last_ + 1].empty()) return plan;
    const State* state = &states_[last_ + 1].front();
    plan.seconds = state->seconds;
    while (true) {
      plan.pieces.push_back(state->piece);
      if (state->piece.first == 0) break;
      state = &states_[state->piece.first][state->parent];
    }
    std::reverse(plan.pieces.begin(), plan.pieces.end());
    return plan;
  }

  const Chain& chain_;
  const std::vector<BlockMemory>& memory_;
  const RotorTable& times_;
  const Bytes budget_;
  const PofoLink link_;
  const double at_most_;  // seconds of the step
  const std::size_t last_;
  double cell_ = 1;
  std::vector<double> forward_left_;  // per block: seconds from there to the loss
  std::vector<double> backward_left_;
  std::vector<std::vector<State>> states_;                             // per block, and after the last
  std::vector<std::unordered_map<std::uint64_t, std::size_t>> cells_;  // index into states_
};

}  // namespace

PofoPlan pofo_plan(const Chain& chain, const std::vector<BlockMemory>& memory, const RotorTable& times,
                   Bytes budget, const PofoLink& link, const std::function<bool()>& stop, int cells) {
  constexpr int kCoarse = 10;
  // Without offloads: rotor.
  double known = times.cost(Bytes(), 0, chain.blocks.size() - 1, false);
  for (const BlockMemory& block : memory) known += block.backward_time.value();
  PofoPlan best = PofoSearch(chain, memory, times, budget, link, kCoarse, latest_end(known)).run(stop);
  if (!best.pieces.empty()) known = std::min(known, best.seconds);
  PofoPlan fine = PofoSearch(chain, memory, times, budget, link, cells, latest_end(known)).run(stop);
  if (!fine.pieces.empty() && (best.pieces.empty() || fine.seconds <= best.seconds)) best = std::move(fine);
  return best;
}

}  // namespace poet
