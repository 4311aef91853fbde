#include "tests/support/exhaustive.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <map>
#include <vector>

#include "poet/graph/dataflow.h"
#include "poet/graph/in_place.h"

namespace poet::test {
namespace {

using Mask = std::uint32_t;

struct State {
  Mask in_ram;
  Mask on_storage;
  auto operator<=>(const State&) const = default;
};

// What it took to get here; neither part may be worse than another way's.
struct Cost {
  double joules;
  double seconds;
  std::int64_t written;
};

class Enumeration {
 public:
  Enumeration(const Instance& instance, Semantics semantics, const Limits& limits,
              const ExhaustiveOptions& options)
      : instance_(instance),
        flow_(dataflow(instance.graph)),
        semantics_(semantics),
        limits_(limits),
        options_(options) {
    const std::size_t ops = instance.graph.ops.size();
    for (OpId op : ids<OpId>(ops)) {
      reads_.push_back(mask(flow_.reads[op]));
      writes_.push_back(mask(flow_.writes[op]));
    }
    for (ValueId v : ids<ValueId>(instance.graph.values.size()))
      bytes_.push_back(instance.costs.values[v].bytes.value());
    remaining_.assign(ops + 1, 0.0);
    for (std::size_t t = ops; t-- > 0;)
      remaining_[t] = remaining_[t + 1] + instance.costs.ops[OpId(t)].energy.value();
  }

  std::optional<double> run() {
    std::map<State, std::vector<Cost>> front{{State{0, 0}, {Cost{0, 0, 0}}}};
    for (int t = 0; t < ops(); ++t) {
      std::map<State, std::vector<Cost>> next;
      for (const auto& [state, costs] : front) extend(t, state, costs, next);
      front = std::move(next);
    }
    std::optional<double> least;
    for (const auto& [state, costs] : front)
      for (const Cost& cost : costs)
        if (!least || cost.joules < *least) least = cost.joules;
    return least;
  }

 private:
  [[nodiscard]] int ops() const { return static_cast<int>(reads_.size()); }
  static Mask bit(int i) { return Mask{1} << i; }

  [[nodiscard]] Mask mask(const std::vector<ValueId>& values) const {
    Mask m = 0;
    for (ValueId v : values) m |= bit(v.index);
    return m;
  }

  [[nodiscard]] std::int64_t bytes(Mask m) const {
    std::int64_t sum = instance_.costs.persistent.value();
    for (; m != 0; m &= m - 1) sum += bytes_[static_cast<std::size_t>(std::countr_zero(m))];
    return sum;
  }

  void extend(int t, State state, const std::vector<Cost>& costs, std::map<State, std::vector<Cost>>& next) {
    Mask again = 0;  // what may be recomputed
    if (options_.rematerialization)
      for (int i = 0; i < t; ++i)
        if (instance_.graph.ops[OpId(i)].recomputable && t <= flow_.last_recompute[OpId(i)].index)
          again |= bit(i);
    const bool paging = options_.paging && instance_.costs.has_storage;
    const Mask may_leave = paging ? state.in_ram & ~state.on_storage : 0;
    const Mask may_come = paging ? state.on_storage & ~state.in_ram : 0;
    for_each_subset(again, [&](Mask recomputed) {
      const Mask computed = recomputed | bit(t);
      if (!operands_present(state.in_ram, computed)) return;
      Mask written = 0;
      for (int i = 0; i <= t; ++i)
        if (computed & bit(i)) written |= writes_[static_cast<std::size_t>(i)];
      for_each_subset(may_leave, [&](Mask out) {
        for_each_subset(may_come, [&](Mask in) {
          const Cost step = cost_of(computed, in, out);
          std::vector<Cost> reached = add(costs, step, t);
          if (reached.empty()) return;
          for_each_subset(state.in_ram | written | in, [&](Mask kept) {
            if (!fits(t, state.in_ram, computed, written, in, out, kept)) return;
            merge(next[State{kept, state.on_storage | out}], reached);
          });
        });
      });
    });
  }

  template <class F>
  static void for_each_subset(Mask of, F f) {
    Mask sub = of;
    for (;;) {
      f(sub);
      if (sub == 0) return;
      sub = (sub - 1) & of;
    }
  }

  [[nodiscard]] bool operands_present(Mask in_ram, Mask computed) const {
    for (int i = 0; i < ops(); ++i) {
      if (!(computed & bit(i))) continue;
      if (reads_[static_cast<std::size_t>(i)] & ~in_ram) return false;
      in_ram |= writes_[static_cast<std::size_t>(i)];
    }
    return true;
  }

  [[nodiscard]] Cost cost_of(Mask computed, Mask in, Mask out) const {
    Cost cost{0, 0, 0};
    for (int i = 0; i < ops(); ++i)
      if (computed & bit(i)) {
        cost.joules += instance_.costs.ops[OpId(i)].energy.value();
        cost.seconds += instance_.costs.ops[OpId(i)].runtime.value();
      }
    for (std::size_t v = 0; v < bytes_.size(); ++v) {
      const ValueCost& value = instance_.costs.values[ValueId(v)];
      if (in & bit(static_cast<int>(v))) cost.joules += value.page_in.energy.value();
      if (out & bit(static_cast<int>(v))) {
        cost.joules += value.page_out.energy.value();
        cost.written += bytes_[v];
      }
    }
    return cost;
  }

  [[nodiscard]] std::vector<Cost> add(const std::vector<Cost>& costs, const Cost& step, int t) const {
    std::vector<Cost> reached;
    for (const Cost& cost : costs) {
      const Cost sum{cost.joules + step.joules, cost.seconds + step.seconds, cost.written + step.written};
      if (sum.joules + remaining_[static_cast<std::size_t>(t) + 1] >
          options_.at_most_joules * (1 + 1e-9) + 1e-9)
        continue;
      if (limits_.deadline && (semantics_ != Semantics::device || options_.transfers_take_no_time) &&
          sum.seconds > limits_.deadline->value() * (1 + 1e-9))
        continue;
      if (limits_.max_bytes_written && sum.written > limits_.max_bytes_written->value()) continue;
      reached.push_back(sum);
    }
    return reached;
  }

  static void merge(std::vector<Cost>& into, const std::vector<Cost>& more) {
    for (const Cost& cost : more) {
      const auto dominates = [](const Cost& a, const Cost& b) {
        return a.joules <= b.joules && a.seconds <= b.seconds && a.written <= b.written;
      };
      if (std::any_of(into.begin(), into.end(), [&](const Cost& c) { return dominates(c, cost); })) continue;
      std::erase_if(into, [&](const Cost& c) { return dominates(cost, c); });
      into.push_back(cost);
    }
  }

  // RAM at every instant of the stage.
  [[nodiscard]] bool fits(int t, Mask retained, Mask computed, Mask written, Mask in, Mask out,
                          Mask kept) const {
    const std::int64_t budget = limits_.ram_budget.value();
    const bool staged = semantics_ != Semantics::published;
    const Mask flying = staged ? in : 0;
    const Mask stays = staged ? kept | out : kept & ~(in & ~retained & ~written);
    if (bytes(retained | flying) > budget) return false;
    Mask live = retained;
    const auto drop_unneeded = [&](int after) {
      Mask needed = stays;
      for (int j = after + 1; j <= t; ++j)
        if (computed & bit(j)) needed |= reads_[static_cast<std::size_t>(j)];
      live &= needed;
    };
    drop_unneeded(-1);
    for (int i = 0; i <= t; ++i) {
      if (!(computed & bit(i))) continue;
      Mask needed = stays | flying;  // after the op
      for (int j = i + 1; j <= t; ++j)
        if (computed & bit(j)) needed |= reads_[static_cast<std::size_t>(j)];
      const std::int64_t once = written_over(i, live | flying, live & ~needed);
      live |= writes_[static_cast<std::size_t>(i)];
      const std::int64_t scratch =
          semantics_ == Semantics::device ? instance_.costs.ops[OpId(i)].workspace.value() : 0;
      if (bytes(live | flying) + scratch - once > budget) return false;
      drop_unneeded(i);
    }
    return true;
  }

  // Device: bytes of one of the dying operands, where the op's first result may be written over it.
  [[nodiscard]] std::int64_t written_over(int i, Mask in_ram, Mask dying) const {
    const Op& op = instance_.graph.ops[OpId(i)];
    if (semantics_ != Semantics::device || op.outputs.empty()) return 0;
    const ValueId result = op.outputs.front();
    if (in_ram & bit(result.index)) return 0;
    for (const std::size_t position : overwritable_inputs(instance_.graph, op)) {
      const ValueId v = storage(instance_.graph, op.inputs[position]);
      const auto size = static_cast<std::size_t>(v.index);
      if ((dying & bit(v.index)) && bytes_[size] == bytes_[static_cast<std::size_t>(result.index)])
        return bytes_[size];
    }
    return 0;
  }

  const Instance& instance_;
  const Dataflow flow_;
  Semantics semantics_;
  Limits limits_;
  ExhaustiveOptions options_;
  std::vector<Mask> reads_, writes_;
  std::vector<std::int64_t> bytes_;
  std::vector<double> remaining_;  // joules of first computations still to come
};

}  // namespace

std::optional<double> least_energy(const Instance& instance, Semantics semantics, const Limits& limits,
                                   const ExhaustiveOptions& options) {
  return Enumeration(instance, semantics, limits, options).run();
}

}  // namespace poet::test
