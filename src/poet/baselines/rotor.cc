#include "poet/baselines/rotor.h"

#include <algorithm>

#include "poet/base/error.h"
#include "poet/base/numbers.h"
#include "poet/baselines/chain_answer.h"
#include "poet/baselines/compute_order.h"

namespace poet {
namespace {}  // namespace

RotorTable::RotorTable(const Chain& chain, const std::vector<BlockMemory>& memory, Bytes budget, int slots)
    : chain_(chain), memory_(memory), budget_(budget) {
  const std::size_t blocks = chain.blocks.size();
  // Never more than all that the chain could hold at once, so that slots are not wasted on bytes that the
  // backward ops of one block need. Rounding up costs at most a slot per block.
  Bytes everything;
  for (const BlockMemory& block : memory) everything += block.input + block.saved;
  const Bytes most = std::max(std::min(budget, everything), Bytes(0));
  constexpr std::size_t kTable = 8'000'000;  // entries
  const auto affordable = static_cast<std::int64_t>(kTable / (blocks * (blocks + 1)));
  const std::int64_t reserve = static_cast<std::int64_t>(blocks) + 1;
  const std::int64_t fine = std::max<std::int64_t>(std::min<std::int64_t>(slots, affordable), 2 * reserve);
  slot_ = Bytes(std::max<std::int64_t>(1, (most.value() + fine - reserve - 1) / (fine - reserve)));
  slots_ = static_cast<int>(std::min(fine, most.value() / slot_.value() + reserve));
  rows_.resize(blocks * (blocks + 1));
  for (std::size_t length = 0; length < blocks; ++length) {
    for (std::size_t first = 0; first + length < blocks; ++first) {
      for (const bool kept : {false, true}) fill(first, first + length, kept);
    }
  }
}

std::size_t RotorTable::index(std::size_t first, std::size_t last, bool kept) const {
  return last * (last + 1) + 2 * first + (kept ? 1 : 0);
}

int RotorTable::slots_of(Bytes bytes) const {
  return static_cast<int>((bytes.value() + slot_.value() - 1) / slot_.value());
}

int RotorTable::most_held(Bytes peak) const {
  const std::int64_t left = budget_.value() - peak.value();
  return left < 0 ? -1 : static_cast<int>(std::min<std::int64_t>(left / slot_.value(), slots_));
}

bool RotorTable::stays(std::size_t block, bool kept) const {
  return kept || chain_.blocks[block].reads_input;
}

int RotorTable::held_by_record(std::size_t block, bool kept) const {
  const BlockMemory& memory = memory_[block];
  return slots_of(memory.saved + (stays(block, kept) ? memory.input : Bytes()));
}

int RotorTable::most_held_by_turn(std::size_t block, bool kept, bool initial) const {
  const BlockMemory& memory = memory_[block];
  const Bytes forward = memory.carried + memory.turn_peak[initial ? 1 : 0][stays(block, kept) ? 1 : 0];
  return most_held(std::max(forward, memory.backward_peak[kept ? 1 : 0]));
}

int RotorTable::most_held_by_record(std::size_t block, std::size_t last, bool kept, bool initial) const {
  const BlockMemory& memory = memory_[block];
  const Bytes forward =
      memory_[last].carried + memory.record_peak[initial ? 1 : 0][stays(block, kept) ? 1 : 0];
  return most_held(std::max(forward, memory.backward_peak[kept ? 1 : 0]));
}

// The recursion of the paper's theorem 1, for all slots at once.
void RotorTable::fill(std::size_t first, std::size_t last, bool kept) {
  const bool initial = last + 1 == chain_.blocks.size();
  const std::size_t again = initial ? 1 : 0;
  Row& row = rows_[index(first, last, kept)];
  row.assign(static_cast<std::size_t>(slots_) + 1, kInfinity);
  if (first == last) {
    const int most = most_held_by_turn(first, kept, initial);
    for (int held = 0; held <= most; ++held)
      row[static_cast<std::size_t>(held)] = memory_[first].turn_cost[again];
    return;
  }
  {
    const Row& after = rows_[index(first + 1, last, chain_.blocks[first].reads_output)];
    const int more = held_by_record(first, kept);
    const int most = std::min(most_held_by_record(first, last, kept, initial), slots_ - more);
    const double cost = memory_[first].record_cost[again];
    for (int held = 0; held <= most; ++held)
      row[static_cast<std::size_t>(held)] = cost + after[static_cast<std::size_t>(held + more)];
  }
  const Bytes input = memory_[first].input;
  const int more = slots_of(input);
  Bytes peak = memory_[first].advance_peak[again][1];
  double cost = memory_[first].advance_cost[again];
  for (std::size_t next = first + 1; next <= last; ++next) {
    const Row& right = rows_[index(next, last, false)];
    const Row& left = rows_[index(first, next - 1, kept)];
    const int most = std::min(most_held(memory_[last].carried + peak), slots_ - more);
    for (int held = 0; held <= most; ++held) {
      const auto at = static_cast<std::size_t>(held);
      row[at] = std::min(row[at], cost + right[at + static_cast<std::size_t>(more)] + left[at]);
    }
    peak = std::max(peak, input + memory_[next].advance_peak[again][0]);
    cost += memory_[next].advance_cost[again];
  }
}

// The same for one entry, to find which choice it stands for.
RotorTable::Choice RotorTable::best(int held, std::size_t first, std::size_t last, bool kept) const {
  const bool initial = last + 1 == chain_.blocks.size();
  const std::size_t again = initial ? 1 : 0;
  const auto at = static_cast<std::size_t>(held);
  if (first == last) return {rows_[index(first, last, kept)][at], first};
  Choice best{kInfinity, first};
  const int saved = held_by_record(first, kept);
  if (held <= std::min(most_held_by_record(first, last, kept, initial), slots_ - saved)) {
    const Row& after = rows_[index(first + 1, last, chain_.blocks[first].reads_output)];
    best.cost = memory_[first].record_cost[again] + after[at + static_cast<std::size_t>(saved)];
  }
  const Bytes input = memory_[first].input;
  const int more = slots_of(input);
  Bytes peak = memory_[first].advance_peak[again][1];
  double cost = memory_[first].advance_cost[again];
  for (std::size_t next = first + 1; next <= last; ++next) {
    if (held <= std::min(most_held(memory_[last].carried + peak), slots_ - more)) {
      const double sum = cost + rows_[index(next, last, false)][at + static_cast<std::size_t>(more)] +
                         rows_[index(first, next - 1, kept)][at];
      if (sum < best.cost) best = {sum, next};
    }
    peak = std::max(peak, input + memory_[next].advance_peak[again][0]);
    cost += memory_[next].advance_cost[again];
  }
  return best;
}

double RotorTable::cost(Bytes held, std::size_t first, std::size_t last, bool kept) const {
  const int slots = slots_of(held);
  return slots > slots_ ? kInfinity : rows_[index(first, last, kept)][static_cast<std::size_t>(slots)];
}

void RotorTable::emit(Bytes held, std::size_t first, std::size_t last, bool kept, ChainOrder& order) const {
  emit(slots_of(held), first, last, kept, order);
}

void RotorTable::emit(int held, std::size_t first, std::size_t last, bool kept, ChainOrder& order) const {
  const Choice choice = best(held, first, last, kept);
  ensure(choice.cost < kInfinity, "rotor: a schedule is wanted where none fits");
  if (first == last) {
    order.turn(first);
    order.backward(first);
  } else if (choice.next == first) {
    order.record(first);
    emit(held + held_by_record(first, kept), first + 1, last, chain_.blocks[first].reads_output, order);
    order.backward(first);
  } else {
    for (std::size_t b = first; b < choice.next; ++b) order.advance(b);
    emit(held + slots_of(memory_[first].input), choice.next, last, false, order);
    emit(held, first, choice.next - 1, kept, order);
  }
}

MethodAnswer rotor(const MethodRequest& request) {
  const Dataflow flow = dataflow(request.instance.graph);
  const Chain chain = chain_of(request.instance, flow);
  MethodAnswer answer = answer_on(chain);
  if (!answer.treats_graph) return answer;
  const std::vector<BlockMemory> memory = chain_memory(request.instance, flow, chain, request.semantics);
  const RotorTable table(chain, memory, transient_budget(request));
  if (table.cost(Bytes(), 0, chain.blocks.size() - 1, false) == kInfinity) {
    answer.reason = "no persistent schedule of the chain is within the RAM budget";
    return answer;
  }
  ChainOrder order(chain);
  table.emit(Bytes(), 0, chain.blocks.size() - 1, false, order);
  answer.plans.push_back(plan_of_order(request, order.ops()));
  const std::vector<OpId> keeping = recording_order(chain);
  if (keeping != order.ops()) answer.plans.push_back(plan_of_order(request, keeping));
  return answer;
}

}  // namespace poet
