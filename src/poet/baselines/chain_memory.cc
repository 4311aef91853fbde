#include "poet/baselines/chain_memory.h"

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <unordered_set>

namespace poet {
namespace {

class Measure {
 public:
  Measure(const Instance& instance, const Dataflow& flow, const Chain& chain, Semantics semantics)
      : costs_(instance.costs),
        flow_(flow),
        chain_(chain),
        device_(semantics == Semantics::device),
        pinned_(chain.pinned.begin(), chain.pinned.end()) {}

  std::vector<BlockMemory> blocks() {
    gradients();
    pin();
    std::vector<BlockMemory> all;
    for (std::size_t b = 0; b < chain_.blocks.size(); ++b) all.push_back(block(b));
    return all;
  }

 private:
  // Bytes of gradients alive while each backward op runs, and right before it.
  void gradients() {
    const std::size_t begin = chain_.blocks.back().backward.empty()
                                  ? flow_.reads.size()
                                  : static_cast<std::size_t>(chain_.blocks.back().backward.front().index);
    const std::size_t ops = flow_.reads.size();
    std::vector<std::int64_t> change(ops + 1, 0);  // at op i: born at i, less those last needed at i - 1
    crossing_.assign(ops + 1, Bytes());
    during_.assign(ops + 1, Bytes());
    std::vector<std::int64_t> crossing_change(ops + 1, 0);
    for (const ValueId v : flow_.transients) {
      const auto born = static_cast<std::size_t>(flow_.producer[v].index);
      if (born < begin) continue;
      const auto last = flow_.users[v].empty() ? born : static_cast<std::size_t>(flow_.users[v].back().index);
      const std::int64_t bytes = costs_.values[v].bytes.value();
      change[born] += bytes;
      change[last + 1] -= bytes;
      if (last == born) continue;
      crossing_change[born + 1] += bytes;
      crossing_change[last + 1] -= bytes;
    }
    for (std::size_t i = 0; i < ops; ++i) {
      during_[i] = Bytes(change[i]) + (i == 0 ? Bytes() : during_[i - 1]);
      crossing_[i] = Bytes(crossing_change[i]) + (i == 0 ? Bytes() : crossing_[i - 1]);
    }
  }

  // Per block the pinned bytes that are still to be read when its backward ops run.
  void pin() {
    const std::size_t count = chain_.blocks.size();
    std::vector<std::size_t> block_of(flow_.reads.size(), count);
    for (std::size_t b = 0; b < count; ++b) {
      for (const OpId op : chain_.blocks[b].forward) block_of[static_cast<std::size_t>(op.index)] = b;
      for (const OpId op : chain_.blocks[b].backward) block_of[static_cast<std::size_t>(op.index)] = b;
    }
    pinned_bytes_.assign(count, Bytes());
    for (const ValueId v : chain_.pinned) {
      std::size_t earliest = count - 1;
      for (const OpId op : flow_.users[v])
        earliest = std::min(earliest, block_of[static_cast<std::size_t>(op.index)]);
      for (std::size_t b = earliest; b < count; ++b) pinned_bytes_[b] += costs_.values[v].bytes;
    }
  }

  BlockMemory block(std::size_t b) const {
    const ChainBlock& block = chain_.blocks[b];
    BlockMemory memory;
    memory.input = bytes(block.input);
    memory.output = bytes(block.output);
    for (const ValueId v : block.saved) memory.saved += costs_.values[v].bytes;
    std::vector<ValueId> recorded = block.saved;
    std::vector<ValueId> turned = block.saved;
    if (block.output.valid()) recorded.push_back(block.output);
    if (block.output.valid() && block.reads_output) turned.push_back(block.output);
    std::vector<ValueId> advanced;
    if (block.output.valid()) advanced.push_back(block.output);
    for (const std::size_t first : {0U, 1U}) {
      const auto& advance = first == 1 ? block.forward : block.advance;
      const auto& record = first == 1 ? block.forward : block.record;
      const auto& turn = first == 1 ? block.forward : block.turn;
      for (const std::size_t keep : {0U, 1U}) {
        memory.advance_peak[first][keep] = forward_peak(block, advance, advanced, keep == 1);
        memory.record_peak[first][keep] = forward_peak(block, record, recorded, keep == 1);
        memory.turn_peak[first][keep] = forward_peak(block, turn, turned, keep == 1);
      }
      memory.advance_time[first] = time(advance);
      memory.record_time[first] = time(record);
      memory.turn_time[first] = time(turn);
      memory.advance_cost[first] = cost(advance);
      memory.record_cost[first] = cost(record);
      memory.turn_cost[first] = cost(turn);
    }
    for (const std::size_t keep : {0U, 1U}) memory.backward_peak[keep] = backward_peak(b, keep == 1);
    memory.backward_time = time(block.backward);
    const auto first_backward = static_cast<std::size_t>(block.backward.front().index);
    memory.carried = pinned_bytes_[b];
    if (b + 1 < chain_.blocks.size()) memory.carried += crossing_[first_backward];
    return memory;
  }

  [[nodiscard]] Bytes bytes(ValueId v) const { return v.valid() ? costs_.values[v].bytes : Bytes(); }

  [[nodiscard]] Bytes workspace(OpId op) const { return device_ ? costs_.ops[op].workspace : Bytes(); }

  [[nodiscard]] Seconds time(const std::vector<OpId>& ops) const {
    Seconds sum;
    for (const OpId op : ops) sum += costs_.ops[op].runtime;
    return sum;
  }

  [[nodiscard]] double cost(const std::vector<OpId>& ops) const {
    double sum = 0;
    for (const OpId op : ops) {
      sum += costs_.ops[op].energy.value();
      if (device_) sum += (costs_.timing.idle * costs_.ops[op].runtime).value();
    }
    return sum;
  }

  // From the input in RAM to `kept` in RAM.
  [[nodiscard]] Bytes forward_peak(const ChainBlock& block, const std::vector<OpId>& ops,
                                   const std::vector<ValueId>& kept, bool keep_input) const {
    std::unordered_map<ValueId, std::size_t> last;
    for (std::size_t i = 0; i < ops.size(); ++i) {
      for (const ValueId v : flow_.writes[ops[i]]) last[v] = i;
      for (const ValueId v : flow_.reads[ops[i]]) last[v] = i;
    }
    std::unordered_set<ValueId> stays(kept.begin(), kept.end());
    if (keep_input && block.input.valid()) stays.insert(block.input);
    const auto leaves = [&](ValueId v, std::size_t i) {
      return last[v] == i && !stays.contains(v) && !pinned_.contains(v);
    };
    Bytes now = bytes(block.input);
    Bytes peak = now;
    // An input that nobody reads here and that does not stay has left with what came before.
    if (block.input.valid() && !keep_input && !last.contains(block.input)) now = Bytes();
    for (std::size_t i = 0; i < ops.size(); ++i) {
      const std::vector<ValueId>& writes = flow_.writes[ops[i]];
      const std::vector<ValueId>& reads = flow_.reads[ops[i]];
      for (const ValueId v : writes)
        if (!pinned_.contains(v)) now += costs_.values[v].bytes;
      peak = std::max(peak, now + workspace(ops[i]));
      for (const ValueId v : writes)
        if (leaves(v, i)) now -= costs_.values[v].bytes;
      for (const ValueId v : reads)
        if (leaves(v, i)) now -= costs_.values[v].bytes;
    }
    return peak;
  }

  [[nodiscard]] Bytes backward_peak(std::size_t b, bool keep_input) const {
    const ChainBlock& block = chain_.blocks[b];
    std::unordered_map<ValueId, std::size_t> last;
    for (std::size_t i = 0; i < block.backward.size(); ++i)
      for (const ValueId v : flow_.reads[block.backward[i]]) last[v] = i;
    std::vector<ValueId> held = block.saved;
    if (block.reads_output) held.push_back(block.output);
    if (block.reads_input && !keep_input) held.push_back(block.input);
    Bytes now = pinned_bytes_[b];
    if (keep_input) now += bytes(block.input);
    for (const ValueId v : held) now += costs_.values[v].bytes;
    Bytes peak;
    for (std::size_t i = 0; i < block.backward.size(); ++i) {
      const OpId op = block.backward[i];
      peak = std::max(peak, now + during_[static_cast<std::size_t>(op.index)] + workspace(op));
      for (const ValueId v : held)
        if (last[v] == i) now -= costs_.values[v].bytes;
    }
    return peak;
  }

  const CostTable& costs_;
  const Dataflow& flow_;
  const Chain& chain_;
  const bool device_;
  const std::unordered_set<ValueId> pinned_;
  std::vector<Bytes> during_;        // per op: gradients in RAM while it runs
  std::vector<Bytes> crossing_;      // per op: gradients in RAM before it runs
  std::vector<Bytes> pinned_bytes_;  // per block
};

}  // namespace

std::vector<BlockMemory> chain_memory(const Instance& instance, const Dataflow& flow, const Chain& chain,
                                      Semantics semantics) {
  return Measure(instance, flow, chain, semantics).blocks();
}

}  // namespace poet
