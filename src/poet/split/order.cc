#include "poet/split/order.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <queue>
#include <utility>

#include "poet/base/error.h"
#include "poet/graph/operators/schema.h"

namespace poet::splitting {
namespace {

using Index = std::size_t;

class Schedule {
 public:
  Schedule(const Graph& graph, const std::vector<Op>& ops, const std::vector<char>& copies)
      : graph_(graph),
        ops_(ops),
        copies_(copies),
        before_(ops.size()),
        after_(ops.size()),
        missing_(ops.size()),
        done_(ops.size()) {
    find_edges();
    find_gradients();
    find_waiting();
  }

  std::vector<Index> run() {
    for (Index op = 0; op < ops_.size(); ++op) {
      if (waits_[op] || ops_[op].pass == Pass::update) continue;
      if (!done_[op]) emit(op);
      drain();
    }
    ensure(result_.size() == ops_.size(), "every op has its place");
    return std::move(result_);
  }

 private:
  void find_edges() {
    IdVector<ValueId, std::int64_t> producer(graph_.values.size(), -1);
    IdVector<ValueId, std::vector<Index>> readers(graph_.values.size());
    for (Index op = 0; op < ops_.size(); ++op)
      for (const ValueId v : ops_[op].outputs) producer[v] = static_cast<std::int64_t>(op);
    const auto tie = [&](Index first, Index then) { before_[then].push_back(first); };
    for (Index op = 0; op < ops_.size(); ++op) {
      for (const ValueId v : ops_[op].inputs) {
        const ValueId s = storage(graph_, v);
        if (producer[s] >= 0) tie(static_cast<Index>(producer[s]), op);
        if (is_persistent(graph_.values[s].persistence)) readers[s].push_back(op);
      }
    }
    for (Index op = 0; op < ops_.size(); ++op) {
      for (const ValueId v : ops_[op].updates) {
        for (const Index reader : readers[storage(graph_, v)])
          if (reader != op) tie(reader, op);
      }
    }
    for (Index op = 0; op < ops_.size(); ++op) {
      std::vector<Index>& list = before_[op];
      std::sort(list.begin(), list.end());
      list.erase(std::unique(list.begin(), list.end()), list.end());
      for (const Index first : list) after_[first].push_back(op);
    }
  }

  /// What computes gradients of parameters alone.
  void find_gradients() {
    waits_.assign(ops_.size(), false);
    for (Index op = ops_.size(); op-- > 0;) {
      if (ops_[op].pass != Pass::backward || after_[op].empty()) continue;
      const bool of_parameters = std::all_of(
          ops_[op].outputs.begin(), ops_[op].outputs.end(),
          [&](ValueId v) { return graph_.values[v].persistence == Persistence::parameter_gradient; });
      waits_[op] = of_parameters && std::all_of(after_[op].begin(), after_[op].end(), [&](Index next) {
                     return waits_[next] || ops_[next].pass == Pass::update;
                   });
    }
  }

  /// What has to be there before an op, or before an update and the gradients that it calls for.
  void find_waiting() {
    users_.resize(ops_.size());
    for (Index op = 0; op < ops_.size(); ++op) early_.push_back(comes_early(op) ? 1 : 0);
    for (Index op = 0; op < ops_.size(); ++op) {
      if (waits_[op]) continue;
      std::vector<Index> outside = before_[op];
      if (ops_[op].pass == Pass::update) outside = outside_of(op);
      missing_[op] = outside.size();
      for (const Index first : outside) users_[first].push_back(op);
      if (missing_[op] == 0 && early_[op] != 0) ready_.push(op);
    }
  }

  std::vector<Index> outside_of(Index update) {
    std::vector<Index> outside, open = {update}, seen;
    while (!open.empty()) {
      const Index op = open.back();
      open.pop_back();
      for (const Index first : before_[op]) {
        if (!waits_[first]) {
          outside.push_back(first);
        } else if (std::find(seen.begin(), seen.end(), first) == seen.end()) {
          seen.push_back(first);
          open.push_back(first);
        }
      }
    }
    std::sort(outside.begin(), outside.end());
    outside.erase(std::unique(outside.begin(), outside.end()), outside.end());
    return outside;
  }

  [[nodiscard]] bool comes_early(Index op) const {
    const Op& o = ops_[op];
    if (o.pass == Pass::update) return true;
    // While what it is taken from is in RAM; unless that would wait for the next pass.
    if (copies_[op] != 0)
      return o.kind == "slice" && !before_[op].empty() && ops_[before_[op].front()].pass == o.pass;
    const OperatorSchema* schema = find_operator(o.kind);
    return schema != nullptr && !schema->accumulates && o.kind != "input" && !o.inputs.empty();
  }

  void emit(Index op) {
    if (done_[op]) return;
    for (const Index first : before_[op])
      if (waits_[first]) emit(first);
    done_[op] = true;
    result_.push_back(op);
    for (const Index user : users_[op])
      if (--missing_[user] == 0 && !done_[user] && early_[user] != 0) ready_.push(user);
  }

  void drain() {
    while (!ready_.empty()) {
      const Index op = ready_.top();
      ready_.pop();
      emit(op);
    }
  }

  const Graph& graph_;
  const std::vector<Op>& ops_;
  const std::vector<char>& copies_;
  std::vector<std::vector<Index>> before_, after_;
  std::vector<std::vector<Index>> users_;  // what waits for the op: `missing_` counts
  std::vector<Index> missing_;
  std::vector<char> done_;
  std::vector<bool> waits_;  // for the update that it leads to
  std::vector<char> early_;
  std::priority_queue<Index, std::vector<Index>, std::greater<>> ready_;
  std::vector<Index> result_;
};

}  // namespace

std::vector<std::size_t> order_of(const Graph& graph, const std::vector<Op>& ops,
                                  const std::vector<char>& copies) {
  return Schedule(graph, ops, copies).run();
}

}  // namespace poet::splitting
