#include "poet/baselines/chain.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <unordered_set>
#include <utility>

namespace poet {
namespace {

constexpr std::size_t kFewestBlocks = 3;

bool is_input(const Graph& graph, const Dataflow& flow, OpId op) {
  return !graph.ops[op].recomputable && flow.reads[op].empty();
}

// Blocks as ranges of forward ops and of backward ops.
struct OpRange {
  std::size_t begin = 0;
  std::size_t end = 0;
};

class Cutter {
 public:
  Cutter(const Instance& instance, const Dataflow& flow)
      : graph_(instance.graph), flow_(flow), data_(graph_.values.size()), cut_(graph_.values.size(), -1) {
    const auto first = std::find_if(graph_.ops.begin(), graph_.ops.end(),
                                    [](const Op& op) { return op.pass == Pass::backward; });
    forward_end_ = static_cast<std::size_t>(first - graph_.ops.begin());
    for (std::size_t i = 0; i < forward_end_; ++i) {
      if (!is_input(graph_, flow_, OpId(i))) continue;
      for (const ValueId v : flow_.writes[OpId(i)]) data_[v] = 1;
    }
    while (forward_begin_ < forward_end_ && is_input(graph_, flow_, OpId(forward_begin_))) ++forward_begin_;
  }

  Chain chain() {
    Chain chain;
    if (forward_end_ == graph_.ops.size()) {
      chain.reason = "the graph has no backward pass";
      return chain;
    }
    cut();
    // The network's input is the first block's, if one value is all that it needs and gives back.
    first_input_ = candidate_input();
    std::string wrong = divide();
    if (!wrong.empty() && first_input_.valid()) {
      first_input_ = ValueId();
      if (divide().empty()) wrong.clear();
    }
    if (wrong.empty()) {
      merge_idle_blocks();
      wrong = build(chain);
    }
    if (!wrong.empty()) {
      chain = Chain();
      chain.reason = wrong;
    }
    return chain;
  }

 private:
  // Articulation points.
  void cut() {
    const std::size_t values = graph_.values.size();
    std::vector<std::vector<ValueId>> last_read(forward_end_);
    IdVector<ValueId, std::uint8_t> crosses(values);
    for (const ValueId v : flow_.transients) {
      if (data_[v] != 0 || static_cast<std::size_t>(flow_.producer[v].index) >= forward_end_) continue;
      std::optional<std::size_t> last;
      for (const OpId user : flow_.users[v])
        if (static_cast<std::size_t>(user.index) < forward_end_) last = static_cast<std::size_t>(user.index);
      if (!last) continue;
      crosses[v] = 1;
      last_read[*last].push_back(v);
    }
    std::vector<ValueId> crossing;
    forward_ = {{forward_begin_, forward_end_}};
    for (std::size_t i = forward_begin_; i + 1 < forward_end_; ++i) {
      for (const ValueId v : flow_.writes[OpId(i)])
        if (crosses[v] != 0) crossing.push_back(v);
      for (const ValueId v : last_read[i]) std::erase(crossing, v);
      if (crossing.size() != 1) continue;
      // Ops that leave nothing behind for the forward pass stay with what they read.
      if (cut_[crossing.front()] < 0) {
        cut_[crossing.front()] = static_cast<int>(forward_.size());
        cuts_.push_back(crossing.front());
        forward_.push_back({i + 1, forward_end_});
      }
      forward_.back().begin = i + 1;
      forward_[forward_.size() - 2].end = i + 1;
    }
  }

  [[nodiscard]] ValueId candidate_input() const {
    ValueId best;
    for (std::size_t i = 0; i < forward_begin_; ++i) {
      for (const ValueId v : flow_.writes[OpId(i)]) {
        const auto inside = [&](OpId user) {
          const auto index = static_cast<std::size_t>(user.index);
          return index < forward_.front().end || index >= forward_end_;
        };
        const std::vector<OpId>& users = flow_.users[v];
        if (users.empty() || !std::all_of(users.begin(), users.end(), inside)) continue;
        if (!best.valid() || graph_.values[v].bytes > graph_.values[best].bytes) best = v;
      }
    }
    return best;
  }

  [[nodiscard]] int block_of(OpId op) const {
    const auto after =
        std::upper_bound(forward_.begin(), forward_.end(), static_cast<std::size_t>(op.index),
                         [](std::size_t index, const OpRange& range) { return index < range.begin; });
    return static_cast<int>(after - forward_.begin()) - 1;
  }

  // One run of backward ops per block; gives why there is no such division.
  std::string divide() {
    backward_.assign(forward_.size(), {});
    int block = static_cast<int>(forward_.size()) - 1;
    IdVector<ValueId, int> reader(graph_.values.size(), block);  // of persistent values: the first block
    for (std::size_t i = forward_end_; i-- > forward_begin_;)
      for (const ValueId v : graph_.ops[OpId(i)].inputs) reader[storage(graph_, v)] = block_of(OpId(i));
    backward_.back() = {forward_end_, forward_end_};
    for (std::size_t i = forward_end_; i < graph_.ops.size(); ++i) {
      int low = 0;
      int high = static_cast<int>(forward_.size()) - 1;
      for (const ValueId v : flow_.reads[OpId(i)]) {
        if (static_cast<std::size_t>(flow_.producer[v].index) >= forward_end_) continue;
        const bool first = v == first_input_;
        if (data_[v] != 0 && !first) continue;
        const int from = first ? 0 : cut_[v] > 0 ? cut_[v] - 1 : block_of(flow_.producer[v]);
        const int to = first ? 0 : cut_[v] > 0 ? cut_[v] : from;
        low = std::max(low, from);
        high = std::min(high, to);
      }
      // Nothing that reads a parameter can be repeated once it has changed.
      for (const ValueId v : graph_.ops[OpId(i)].updates) high = std::min(high, reader[storage(graph_, v)]);
      const std::string& name = graph_.ops[OpId(i)].name;
      if (low > high)
        return fmt::format("op \"{}\" reads what is inside more than one block of the forward pass", name);
      if (low > block)
        return fmt::format("op \"{}\" comes after backward ops of earlier blocks of the forward pass", name);
      for (; block > high; --block) backward_[static_cast<std::size_t>(block - 1)] = {i, i};
      backward_[static_cast<std::size_t>(block)].end = i + 1;
    }
    for (; block > 0; --block)
      backward_[static_cast<std::size_t>(block - 1)] = {graph_.ops.size(), graph_.ops.size()};
    return {};
  }

  void merge_idle_blocks() {
    for (std::size_t b = forward_.size(); b-- > 0 && forward_.size() > 1;) {
      if (backward_[b].begin < backward_[b].end) continue;
      const auto at = static_cast<std::ptrdiff_t>(b);
      if (b > 0) {
        forward_[b - 1].end = forward_[b].end;
        cuts_.erase(cuts_.begin() + at - 1);
      } else {
        forward_[1].begin = forward_[0].begin;
        cuts_.erase(cuts_.begin());
      }
      forward_.erase(forward_.begin() + at);
      backward_.erase(backward_.begin() + at);
    }
  }

  std::string build(Chain& chain) const {
    const std::size_t count = forward_.size();
    if (count < kFewestBlocks) {
      return fmt::format("the forward pass cannot be cut into {} blocks with one value between them, only {}",
                         kFewestBlocks, count);
    }
    for (std::size_t i = 0; i < forward_begin_; ++i) chain.inputs.emplace_back(i);
    for (const ValueId v : flow_.transients)
      if (data_[v] != 0 && v != first_input_) chain.pinned.push_back(v);
    for (std::size_t b = 0; b < count; ++b) {
      ChainBlock block;
      block.input = b == 0 ? first_input_ : cuts_[b - 1];
      if (b + 1 < count) block.output = cuts_[b];
      for (std::size_t i = forward_[b].begin; i < forward_[b].end; ++i) block.forward.emplace_back(i);
      for (std::size_t i = backward_[b].begin; i < backward_[b].end; ++i) block.backward.emplace_back(i);
      chain.forward_ops += block.forward.size();
      read(block);
      if (std::string wrong = repeatable(block); !wrong.empty()) return wrong;
      std::vector<ValueId> needed = block.saved;
      block.turn = ops_for(block, block.reads_output ? with(needed, block.output) : needed);
      block.record = ops_for(block, with(needed, block.output));
      block.advance = ops_for(block, with({}, block.output));
      chain.blocks.push_back(std::move(block));
    }
    return {};
  }

  // What the backward ops read.
  void read(ChainBlock& block) const {
    for (const OpId op : block.backward) {
      for (const ValueId v : flow_.reads[op]) {
        if (static_cast<std::size_t>(flow_.producer[v].index) >= forward_end_) continue;
        if (v == block.input) {
          block.reads_input = true;
        } else if (v == block.output) {
          block.reads_output = true;
        } else if (data_[v] == 0) {
          block.saved.push_back(v);
        }
      }
    }
    std::sort(block.saved.begin(), block.saved.end());
    block.saved.erase(std::unique(block.saved.begin(), block.saved.end()), block.saved.end());
  }

  [[nodiscard]] std::string repeatable(const ChainBlock& block) const {
    for (const OpId op : block.forward) {
      const bool writes = !flow_.writes[op].empty();
      if (!writes || is_input(graph_, flow_, op)) continue;
      if (!graph_.ops[op].recomputable)
        return fmt::format("op \"{}\" cannot be recomputed", graph_.ops[op].name);
      if (flow_.last_recompute[op] < block.backward.front())
        return fmt::format("op \"{}\" cannot be recomputed as late as its block would need it",
                           graph_.ops[op].name);
    }
    return {};
  }

  static std::vector<ValueId> with(std::vector<ValueId> values, ValueId v) {
    if (v.valid()) values.push_back(v);
    return values;
  }

  // Of the block's ops those that `values` follow from.
  [[nodiscard]] std::vector<OpId> ops_for(const ChainBlock& block, const std::vector<ValueId>& values) const {
    std::vector<OpId> ops;
    std::unordered_set<ValueId> needed(values.begin(), values.end());
    for (std::size_t i = block.forward.size(); i-- > 0;) {
      const OpId op = block.forward[i];
      const bool wanted = std::any_of(flow_.writes[op].begin(), flow_.writes[op].end(),
                                      [&](ValueId v) { return needed.contains(v); });
      if (!wanted || !graph_.ops[op].recomputable) continue;
      ops.push_back(op);
      needed.insert(flow_.reads[op].begin(), flow_.reads[op].end());
    }
    std::reverse(ops.begin(), ops.end());
    return ops;
  }

  const Graph& graph_;
  const Dataflow& flow_;
  IdVector<ValueId, std::uint8_t> data_;  // 1: written by input ops of the forward pass
  IdVector<ValueId, int> cut_;            // the block that has it as its input, before merging; or negative
  std::vector<ValueId> cuts_;             // input of block i + 1
  ValueId first_input_;
  std::size_t forward_begin_ = 0;
  std::size_t forward_end_ = 0;
  std::vector<OpRange> forward_;
  std::vector<OpRange> backward_;
};

}  // namespace

Chain chain_of(const Instance& instance, const Dataflow& flow) { return Cutter(instance, flow).chain(); }

std::vector<OpId> recording_order(const Chain& chain) {
  ChainOrder order(chain);
  for (std::size_t b = 0; b < chain.blocks.size(); ++b) order.record(b);
  for (std::size_t b = chain.blocks.size(); b-- > 0;) order.backward(b);
  return order.ops();
}

std::string chain_note(const Chain& chain) {
  return fmt::format("on a chain of {} blocks (of {} forward ops)", chain.blocks.size(), chain.forward_ops);
}

}  // namespace poet
