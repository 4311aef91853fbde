#include "poet/verify/replay_layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "poet/graph/dataflow.h"
#include "poet/graph/in_place.h"
#include "poet/plan/names.h"

namespace poet {
namespace {

class LayoutReplay {
 public:
  LayoutReplay(const Instance& instance, const Plan& plan, const Layout& layout, Semantics semantics)
      : instance_(instance),
        graph_(instance.graph),
        plan_(plan),
        layout_(layout),
        device_(semantics == Semantics::device),
        staged_(semantics == Semantics::staged),
        at_once_(semantics == Semantics::published || (device_ && !instance.costs.timing.concurrent)),
        alignment_(instance.costs.alignment.value()),
        flow_(dataflow(instance.graph)),
        places_(instance.graph.values.size()),
        last_transfer_(instance.graph.values.size(), 0) {}

  ArenaReport run(const Limits& limits) {
    for (number_ = 0; number_ < plan_.steps.size() && report_.violation.empty(); ++number_) execute();
    for (const Place& place : places_) check_end(place);
    if (report_.violation.empty() && next_ != layout_.allocations.size())
      break_rule(fmt::format("allocation {} belongs to no step", next_));
    if (report_.arena > layout_.arena) {
      break_rule(fmt::format("allocations end at byte {}, beyond the arena of {}", report_.arena.value(),
                             layout_.arena.value()));
    }
    report_.arena = std::max(report_.arena, layout_.arena);  // whoever runs the plan takes what it asks for
    report_.ram = instance_.costs.persistent + report_.arena;
    if (device_ && report_.ram > limits.ram_budget) {
      break_rule(fmt::format("arena and persistent values take {} bytes of RAM, over the budget of {}",
                             report_.ram.value(), limits.ram_budget.value()));
    }
    report_.valid = report_.violation.empty();
    return report_;
  }

 private:
  struct Place {
    bool taken = false;
    bool overwritten = false;  // by a result in place
    int page_out = 0;          // number of its last transfer to storage; 0: none
    std::int64_t offset = 0;
    int allocation = -1;  // none for values without bytes
  };

  void execute() {
    const Step& step = plan_.steps[number_];
    switch (step.kind) {
      case StepKind::compute:
        compute(step.op);
        break;
      case StepKind::page_in:
        transfer(step.value);
        take(step.value);
        break;
      case StepKind::page_out:
        transfer(step.value);
        read(step.value);
        places_[step.value].page_out = transfers_;
        break;
      case StepKind::wait:  // the channel carries out one transfer after the other
        ended_ = std::max(ended_, last_transfer_[step.value]);
        break;
      case StepKind::free:
        give_back(step.value);
        break;
    }
  }

  void transfer(ValueId v) {
    last_transfer_[v] = ++transfers_;
    if (at_once_) ended_ = transfers_;
  }

  void compute(OpId op) {
    for (const ValueId v : flow_.reads[op]) read(v);
    const Bytes workspace = instance_.costs.ops[op].workspace;
    const bool scratch = device_ && workspace.value() > 0;
    std::int64_t scratch_offset = 0;
    if (scratch) {
      scratch_offset = next_offset(ValueId(), op, workspace);
      occupy(scratch_offset, workspace, "scratch memory");
      if (report_.violation.empty() && layout_.allocations[next_ - 1].end != static_cast<int>(number_) + 1)
        break_rule(fmt::format("allocation {} is scratch memory and lasts one step", next_ - 1));
    }
    for (const ValueId v : flow_.writes[op]) {
      if (places_[v].taken)
        read(v);  // written again where it is: it must still be there
      else
        take(v, op);
    }
    if (scratch && report_.violation.empty()) occupied_.erase(scratch_offset);
    if (op < next_op_) return;
    next_op_ = OpId(op.index + 1);
    if (staged_) ended_ = transfers_;  // they last as long as their stage
  }

  void read(ValueId v) {
    if (instance_.costs.values[v].bytes.value() > 0 && places_[v].overwritten)
      break_rule(fmt::format("{} has been overwritten", name_of(graph_, v)));
  }

  void take(ValueId v, OpId by = OpId()) {
    const Bytes bytes = instance_.costs.values[v].bytes;
    places_[v] = {.taken = true};
    if (bytes.value() == 0) return;
    const std::int64_t offset = next_offset(v, OpId(), bytes);
    if (!report_.violation.empty()) return;
    const int allocation = static_cast<int>(next_) - 1;
    const int overwritten = by.valid() ? make_way(v, by, offset, bytes) : -1;
    const int said = layout_.allocations[next_ - 1].takes_over;
    if (said != overwritten) {
      break_rule(
          said < 0 ? fmt::format("allocation {} does not say that it takes over {}", allocation, overwritten)
                   : fmt::format("allocation {} does not take over {}", allocation, said));
    }
    places_[v].offset = offset;
    places_[v].allocation = allocation;
    occupy(offset, bytes, name_of(graph_, v));
  }

  // Where the result lies exactly over an operand that may be overwritten, the operand is gone. Gives the
  // operand's allocation; -1: none.
  int make_way(ValueId result, OpId op, std::int64_t offset, Bytes bytes) {
    const Op& by = graph_.ops[op];
    if (by.outputs.empty() || storage(graph_, by.outputs.front()) != result) return -1;
    for (const std::size_t position : overwritable_inputs(graph_, by)) {
      const ValueId v = storage(graph_, by.inputs[position]);
      if (!flow_.producer[v].valid()) continue;
      Place& operand = places_[v];
      if (!operand.taken || operand.overwritten || operand.page_out > ended_ || operand.offset != offset ||
          instance_.costs.values[v].bytes != bytes)
        continue;
      operand.overwritten = true;
      occupied_.erase(offset);
      return operand.allocation;
    }
    return -1;
  }

  void give_back(ValueId v) {
    Place& place = places_[v];
    check_end(place);
    if (instance_.costs.values[v].bytes.value() > 0 && !place.overwritten) occupied_.erase(place.offset);
    place = {};
  }

  // Runtimes and pictures go by what an allocation says of itself.
  void check_end(const Place& place) {
    if (place.allocation < 0) return;
    const int said = layout_.allocations[static_cast<std::size_t>(place.allocation)].end;
    if (said != static_cast<int>(number_))
      break_rule(fmt::format("allocation {} ends here, not at step {}", place.allocation, said));
  }

  // Allocations stand in the order in which memory is taken.
  std::int64_t next_offset(ValueId v, OpId op, Bytes bytes) {
    const std::string who = v.valid() ? name_of(graph_, v) : "scratch memory of " + name_of(graph_, op);
    if (next_ == layout_.allocations.size()) {
      break_rule("no allocation for " + who);
      return 0;
    }
    const Allocation& allocation = layout_.allocations[next_++];
    const bool same = allocation.value == v && allocation.op == op && allocation.bytes == bytes &&
                      allocation.begin == static_cast<int>(number_);
    if (!same) break_rule(fmt::format("allocation {} is not that of {}", next_ - 1, who));
    if (allocation.offset < 0 || allocation.offset % alignment_ != 0)
      break_rule(fmt::format("{} at {}, not a multiple of {}", who, allocation.offset, alignment_));
    return allocation.offset;
  }

  void occupy(std::int64_t offset, Bytes bytes, const std::string& who) {
    if (!report_.violation.empty()) return;
    const std::int64_t end = offset + bytes.value();
    const auto after = occupied_.lower_bound(offset);
    const bool hits_after = after != occupied_.end() && after->first < end;
    const bool hits_before = after != occupied_.begin() && std::prev(after)->second.end > offset;
    if (hits_after || hits_before) {
      const Taken& other = hits_after ? after->second : std::prev(after)->second;
      break_rule(fmt::format("{} at bytes {} to {} overlaps {}", who, offset, end, other.who));
      return;
    }
    occupied_.emplace(offset, Taken{end, who});
    report_.arena = std::max(report_.arena, Bytes(end));
  }

  void break_rule(const std::string& what) {
    if (!report_.violation.empty()) return;
    report_.violation =
        number_ < plan_.steps.size()
            ? fmt::format("step {} ({}): {}", number_, to_string(instance_, plan_.steps[number_]), what)
            : what;
  }

  struct Taken {
    std::int64_t end;
    std::string who;
  };

  const Instance& instance_;
  const Graph& graph_;
  const Plan& plan_;
  const Layout& layout_;
  const bool device_;
  const bool staged_;
  const bool at_once_;  // transfers end when they are issued
  const std::int64_t alignment_;
  const Dataflow flow_;
  IdVector<ValueId, Place> places_;
  IdVector<ValueId, int> last_transfer_;    // its number
  int transfers_ = 0;                       // issued
  int ended_ = 0;                           // of them, known to have ended
  OpId next_op_{0};                         // the op to be computed first next
  std::map<std::int64_t, Taken> occupied_;  // by offset
  std::size_t number_ = 0;                  // of the running step
  std::size_t next_ = 0;                    // allocation
  ArenaReport report_;
};

}  // namespace

ArenaReport replay_layout(const Instance& instance, const Plan& plan, const Layout& layout,
                          Semantics semantics, const Limits& limits) {
  return LayoutReplay(instance, plan, layout, semantics).run(limits);
}

}  // namespace poet
