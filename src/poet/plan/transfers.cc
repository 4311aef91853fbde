#include "poet/plan/transfers.h"

#include <algorithm>
#include <limits>

#include "poet/graph/dataflow.h"
#include "poet/plan/settle.h"
#include "poet/plan/timeline.h"

namespace poet {
namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

// Slot s lies right before computation s; the last one after all of them.
struct Move {
  Step step;
  int slot = 0;
  int earliest = 0;
  int latest = 0;    // page-in: before the first computation that reads it; page-out: where its RAM is freed
  double begin = 0;  // on the channel, as planned
  int after = -1;    // page-out: the page-in that brings what it moves
};

struct Release {
  Step step;
  int slot = 0;
  int earliest = 0;   // after the last use
  int page_out = -1;  // the move that it waits for
};

struct Program {
  std::vector<Step> computations;
  std::vector<Move> moves;
  std::vector<Release> releases;
  bool exact = true;  // false: a slot holds two stays of one value, which have no order here
};

// What the plan does in which slot, and how far it could be shifted.
Program program_of(const Instance& instance, const Plan& plan) {
  const Dataflow flow = dataflow(instance.graph);
  struct Stay {
    int begin = 0;      // slot
    int freed = 0;      // slot of the last free
    int last_use = 0;   // slot after it
    int page_out = -1;  // moves
    int page_in = -1;   // that nobody has used yet
    bool in_ram = false;
    bool paged_in = false;
    bool freed_late = false;  // the last free is for a page-out of its own slot
  };
  IdVector<ValueId, Stay> stays(instance.graph.values.size());
  Program program;
  for (const Step& step : plan.steps) {
    const int slot = static_cast<int>(program.computations.size());
    switch (step.kind) {
      case StepKind::page_out: {
        Stay& stay = stays[step.value];
        stay.page_out = static_cast<int>(program.moves.size());
        program.moves.push_back({step, slot, stay.paged_in ? slot : stay.begin, slot, 0, stay.page_in});
        if (stay.page_in >= 0) program.moves[at(stay.page_in)].latest = slot;
        stay.page_in = -1;
        break;
      }
      case StepKind::page_in: {
        Stay& stay = stays[step.value];
        const int freed = stay.freed;
        if (freed == slot && stay.freed_late) program.exact = false;
        stay = {slot, freed, slot, -1, static_cast<int>(program.moves.size()), true, true, false};
        // After the free, which may wait for a transfer in its slot.
        program.moves.push_back({step, slot, std::min(freed + 1, slot), slot});
        break;
      }
      case StepKind::wait:
        break;
      case StepKind::free: {
        Stay& stay = stays[step.value];
        if (stay.page_out >= 0) program.moves[at(stay.page_out)].latest = slot;
        if (stay.page_in >= 0) program.exact = false;  // in vain
        program.releases.push_back({step, slot, stay.last_use, stay.page_out});
        const bool late = stay.page_out >= 0 && program.moves[at(stay.page_out)].slot == slot;
        stay = {};
        stay.freed = slot;
        stay.freed_late = late;
        break;
      }
      case StepKind::compute:
        for (const ValueId v : flow.reads[step.op]) {
          Stay& stay = stays[v];
          stay.last_use = slot + 1;
          if (stay.page_in >= 0) program.moves[at(stay.page_in)].latest = slot;
          stay.page_in = -1;
        }
        for (const ValueId v : flow.writes[step.op]) {
          Stay& stay = stays[v];
          if (!stay.in_ram) stay = {slot + 1, stay.freed, slot + 1, -1, -1, true, false, false};
          stay.last_use = slot + 1;
        }
        program.computations.push_back(step);
        break;
    }
  }
  return program;
}

// Without waits, which follow. In a slot: what can be freed, the transfers as they are planned, what their
// end frees, the computation.
Plan plan_of(const Program& program) {
  const std::size_t slots = program.computations.size() + 1;
  std::vector<std::vector<const Move*>> moves(slots);
  std::vector<std::vector<const Release*>> before(slots), after(slots);
  for (const Move& move : program.moves) moves[at(move.slot)].push_back(&move);
  for (const Release& release : program.releases) {
    const bool waits = release.page_out >= 0 && program.moves[at(release.page_out)].slot == release.slot;
    (waits ? after : before)[at(release.slot)].push_back(&release);
  }
  Plan plan;
  for (std::size_t s = 0; s < slots; ++s) {
    for (const Release* release : before[s]) plan.steps.push_back(release->step);
    std::stable_sort(moves[s].begin(), moves[s].end(),
                     [](const Move* a, const Move* b) { return a->begin < b->begin; });
    for (const Move* move : moves[s]) plan.steps.push_back(move->step);
    for (const Release* release : after[s]) plan.steps.push_back(release->step);
    if (s + 1 < slots) plan.steps.push_back(program.computations[s]);
  }
  return plan;
}

// When slots begin and computations run, and how much RAM is taken in between.
struct Slots {
  std::vector<double> opens;    // the computation before has ended
  std::vector<double> compute;  // the computation after begins
  std::vector<std::int64_t> ram;
};

Slots slots_of(const Plan& plan, const Timeline& line) {
  Slots slots;
  slots.opens.push_back(0);
  std::int64_t most = 0;
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    most = std::max(most, line.ram[i].value());
    if (plan.steps[i].kind != StepKind::compute) continue;
    slots.compute.push_back(line.begin[i]);
    slots.opens.push_back(line.end[i]);
    slots.ram.push_back(most);
    most = 0;
  }
  slots.compute.push_back(line.makespan);
  slots.ram.push_back(most);
  return slots;
}

// What leaves again before anybody has used it leaves after it has come.
void keep_order(Program& program) {
  for (Move& move : program.moves)
    if (move.after >= 0) move.begin = std::max(move.begin, program.moves[at(move.after)].begin);
}

class Planner {
 public:
  Planner(const Instance& instance, std::int64_t capacity) : instance_(instance), capacity_(capacity) {}

  // Latest need first: each page-in ends when it is needed or when the channel is needed for the one after
  // it.
  void page_in_just_in_time(Program& program, Slots& slots) const {
    std::vector<Move*> moves = of_kind(program, StepKind::page_in);
    std::stable_sort(moves.begin(), moves.end(),
                     [](const Move* a, const Move* b) { return a->latest > b->latest; });
    double channel = std::numeric_limits<double>::infinity();
    for (Move* move : moves) {
      const double end = std::min(slots.compute[at(move->latest)], channel);
      move->begin = std::max(end - seconds(*move), slots.opens[at(move->earliest)]);
      shift(slots, *move, slot_at(slots, move->begin, move->earliest, move->latest));
      move->begin = std::max(move->begin, slots.opens[at(move->slot)]);
      channel = move->begin;
    }
  }

  // First complete first: each page-out in the first gap that the page-ins leave to the channel. Their RAM is
  // given back at the first slot after the transfer's end.
  void page_out_at_once(Program& program, const Slots& slots) const {
    std::vector<Move*> moves = of_kind(program, StepKind::page_out);
    std::stable_sort(moves.begin(), moves.end(),
                     [](const Move* a, const Move* b) { return a->earliest < b->earliest; });
    std::vector<std::pair<double, double>> taken;  // of the channel
    for (const Move* move : of_kind(program, StepKind::page_in))
      taken.emplace_back(move->begin, move->begin + seconds(*move));
    std::sort(taken.begin(), taken.end());
    for (Move* move : moves) {
      double begin = slots.opens[at(move->earliest)];
      for (const auto& [from, to] : taken) {
        if (to <= begin) continue;
        if (from >= begin + seconds(*move)) break;
        begin = to;
      }
      move->slot = slot_at(slots, begin, move->earliest, move->slot);
      move->begin = begin;
      taken.insert(std::upper_bound(taken.begin(), taken.end(), std::make_pair(begin, begin)),
                   {begin, begin + seconds(*move)});
    }
    for (Release& release : program.releases) {
      if (release.page_out < 0) continue;
      const Move& move = program.moves[at(release.page_out)];
      const int earliest = std::max(release.earliest, move.slot);
      const double end = move.begin + seconds(move);
      while (release.slot > earliest && slots.opens[at(release.slot - 1)] >= end) --release.slot;
    }
  }

 private:
  [[nodiscard]] double seconds(const Move& move) const {
    const ValueCost& cost = instance_.costs.values[move.step.value];
    const Transfer& transfer = move.step.kind == StepKind::page_in ? cost.page_in : cost.page_out;
    return transfer.seconds.value() + instance_.costs.timing.wake_time.value();
  }

  static std::vector<Move*> of_kind(Program& program, StepKind kind) {
    std::vector<Move*> moves;
    for (Move& move : program.moves)
      if (move.step.kind == kind) moves.push_back(&move);
    return moves;
  }

  // The last slot that opens by then.
  static int slot_at(const Slots& slots, double time, int earliest, int latest) {
    const auto after = std::upper_bound(slots.opens.begin(), slots.opens.end(), time);
    return std::clamp(static_cast<int>(after - slots.opens.begin()) - 1, earliest,
                      std::max(earliest, latest));
  }

  // Earlier takes RAM, as far as there is some.
  void shift(Slots& slots, Move& move, int slot) const {
    const std::int64_t bytes = instance_.costs.values[move.step.value].bytes.value();
    while (move.slot < slot) slots.ram[at(move.slot++)] -= bytes;
    while (move.slot > slot && slots.ram[at(move.slot - 1)] + bytes <= capacity_)
      slots.ram[at(--move.slot)] += bytes;
  }

  const Instance& instance_;
  const std::int64_t capacity_;  // for transient bytes
};

double energy(const Instance& instance, const Timeline& line) {
  const DeviceTiming& timing = instance.costs.timing;
  return timing.idle.value() * line.makespan + timing.wake_energy.value() * line.wakes;
}

}  // namespace

Plan plan_transfers(const Instance& instance, const Plan& plan, Semantics semantics, const Limits& limits) {
  if (semantics != Semantics::device) return plan;
  constexpr int kRounds = 4;
  constexpr double kTolerance = 1e-12;  // relative: sums of seconds
  Plan best = plan;
  Timeline line = timeline_of(instance, plan);
  const std::int64_t capacity = std::max(limits.ram_budget - instance.costs.persistent, line.peak).value();
  const Planner planner(instance, capacity);
  for (int round = 0; round < kRounds; ++round) {
    bool shifted = false;
    for (const bool page_outs : {true, false}) {
      Program program = program_of(instance, best);
      if (!program.exact) return settle(instance, best, Semantics::device);
      Slots slots = slots_of(best, line);
      planner.page_in_just_in_time(program, slots);
      if (page_outs) planner.page_out_at_once(program, slots);
      keep_order(program);
      Plan proposed = plan_of(program);
      Timeline timed = timeline_of(instance, proposed);
      const bool fits = timed.peak.value() <= capacity;
      const bool no_dearer = energy(instance, timed) <= energy(instance, line) * (1 + kTolerance) &&
                             timed.makespan <= line.makespan * (1 + kTolerance);
      if (!fits || !no_dearer || proposed.steps == best.steps) continue;
      best = std::move(proposed);
      line = std::move(timed);
      shifted = true;
      break;
    }
    if (!shifted) break;
  }
  return settle(instance, best, Semantics::device);
}

}  // namespace poet
