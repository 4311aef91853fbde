#include "tests/support/plan_machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "poet/graph/in_place.h"

namespace poet::test {
namespace {

using Content = std::uint64_t;

Content mixed(Content a, Content b) {
  Content x = a * 0x9e3779b97f4a7c15U + b + 0x632be59bd9b4e019U;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31);
}

// Bytes in memory, and who has them: the number of an allocation, -1 nobody.
struct Place {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  int allocation = -1;

  [[nodiscard]] bool meets(const Place& other) const { return begin < other.end && other.begin < end; }
  [[nodiscard]] bool same_bytes(const Place& other) const { return begin == other.begin && end == other.end; }
};

// What every byte holds.
class Memory {
 public:
  [[nodiscard]] Content garbage() { return mixed(++garbage_, 0x6a7262616765U); }

  void write(const Place& place, Content content) {
    cut(place.begin);
    cut(place.end);
    parts_.erase(parts_.lower_bound(place.begin), parts_.lower_bound(place.end));
    parts_[place.begin] = {place.end, place.allocation, content, place.begin};
  }

  // Garbage unless all of it is one thing that was written here.
  [[nodiscard]] Content read(const Place& place) {
    const auto first = parts_.find(place.begin);
    if (first == parts_.end() || first->second.origin != place.begin) return garbage();
    std::int64_t at = place.begin;
    for (auto part = first; part != parts_.end() && at < place.end; ++part) {
      if (part->first != at || part->second.content != first->second.content ||
          part->second.origin != first->second.origin)
        return garbage();
      at = part->second.end;
    }
    return at == place.end ? first->second.content : garbage();
  }

  // Nobody keeps what is given back; what others have written over it is theirs.
  void give_back(const Place& place) {
    cut(place.begin);
    cut(place.end);
    for (auto part = parts_.lower_bound(place.begin); part != parts_.end() && part->first < place.end; ++part)
      if (part->second.allocation == place.allocation)
        part->second = {part->second.end, -1, garbage(), part->first};
  }

 private:
  struct Part {
    std::int64_t end = 0;
    int allocation = -1;
    Content content = 0;
    std::int64_t origin = 0;  // where its first byte was written
  };

  void cut(std::int64_t at) {
    auto part = parts_.lower_bound(at);
    if (part == parts_.begin() || (part != parts_.end() && part->first == at)) return;
    --part;
    if (part->second.end <= at) return;
    parts_[at] = part->second;
    part->second.end = at;
  }

  std::map<std::int64_t, Part> parts_;  // by first byte, disjoint
  Content garbage_ = 0;
};

// A value on storage.
struct Copy {
  Content content = 0;
  bool spoiled = false;            // its memory was written while it was read
  std::shared_ptr<const Copy> of;  // taken of what arrived from there
};

bool spoiled(const Copy& copy) { return copy.spoiled || (copy.of && spoiled(*copy.of)); }

struct Flight {
  bool in = false;
  int number = 0;
  Place place;
  std::shared_ptr<Copy> copy;
  bool spoiled = false;  // in: somebody has used the memory meanwhile
};

class Machine {
 public:
  Machine(const Instance& instance, const Plan& plan, const Layout& layout, Semantics semantics,
          const Limits& limits)
      : instance_(instance),
        graph_(instance.graph),
        plan_(plan),
        layout_(layout),
        semantics_(semantics),
        limits_(limits),
        alignment_(instance.costs.alignment.value()),
        storage_(storages(instance.graph)),
        right_(instance.graph.ops.size()),
        persistent_(instance.graph.values.size(), 1),
        place_(instance.graph.values.size()),
        copy_(instance.graph.values.size()),
        home_(instance.graph.values.size()),
        last_transfer_(instance.graph.values.size(), 0),
        transfer_ends_(instance.graph.values.size(), 0.0),
        runs_(instance.graph.ops.size(), 0),
        ram_(instance.costs.persistent.value()) {}

  MachineReport run() {
    const IdVector<ValueId, Content> wanted = keep_all();
    for (const ValueId v : ids<ValueId>(graph_.values.size()))
      if (graph_.values[v].paged) home_[v] = std::make_shared<Copy>(Copy{1, false, nullptr});
    use(0);
    for (; at_ < plan_.steps.size() && report_.wrong.empty(); ++at_) take(plan_.steps[at_]);
    for (const OpId op : ids<OpId>(graph_.ops.size()))
      if (runs_[op] == 0) wrong(fmt::format("op {} is never computed", op.index));
    for (const ValueId v : ids<ValueId>(graph_.values.size()))
      if (at_last(v) != wanted[v]) wrong(fmt::format("persistent value {} ends wrong", v.index));
    report_.makespan = std::max(now_, channel_free_);
    if (limits_.deadline && report_.makespan > limits_.deadline->value() * (1 + 1e-9)) wrong("late");
    report_.trains = report_.wrong.empty();
    return report_;
  }

 private:
  void wrong(const std::string& what) {
    if (report_.wrong.empty()) report_.wrong = fmt::format("step {}: {}", at_, what);
  }

  [[nodiscard]] bool lives_in_arena(ValueId v) const {
    return graph_.values.contains(v) && storage_[v] == v && !is_resident(graph_.values[v]);
  }
  [[nodiscard]] std::int64_t bytes(ValueId v) const { return instance_.costs.values[v].bytes.value(); }

  // What every op makes of operands that nobody touches; returns the persistent values' last contents.
  IdVector<ValueId, Content> keep_all() {
    IdVector<ValueId, Content> contents(graph_.values.size(), 1);
    for (const OpId op : ids<OpId>(graph_.ops.size())) {
      Content result = mixed(0x6f70U, static_cast<Content>(op.index));
      for (const ValueId input : graph_.ops[op].inputs)
        result = mixed(result, mixed(contents[storage_[input]], static_cast<Content>(input.index)));
      right_[op] = result;
      for (const ValueId v : graph_.ops[op].outputs) contents[v] = made(result, v);
      for (const ValueId v : graph_.ops[op].updates) contents[storage_[v]] = made(result, v);
    }
    for (const ValueId v : ids<ValueId>(graph_.values.size()))
      if (!is_persistent(graph_.values[v].persistence)) contents[v] = 1;
    return contents;
  }
  // What the next step finds of a persistent value: at home the place that was written in this step, if any.
  Content at_last(ValueId v) {
    if (!graph_.values[v].paged) return persistent_[v];
    const Copy& copy = copy_[v] ? *copy_[v] : *home_[v];
    return spoiled(copy) ? memory_.garbage() : copy.content;
  }
  static Content made(Content result, ValueId v) { return mixed(result, static_cast<Content>(v.index)); }

  void use(std::int64_t more) {
    ram_ += more;
    report_.ram = std::max(report_.ram, Bytes(ram_));
    if (ram_ > limits_.ram_budget.value()) wrong(fmt::format("{} bytes are in use", ram_));
  }

  // The layout's next address.
  Place reserve(std::int64_t bytes) {
    const int number = next_allocation_++;
    if (static_cast<std::size_t>(number) >= layout_.allocations.size()) {
      wrong("the layout has no address left");
      return {0, bytes, number};
    }
    const Allocation& allocation = layout_.allocations[static_cast<std::size_t>(number)];
    if (allocation.bytes.value() < bytes) wrong("the place is too small");
    if (allocation.offset < 0 || allocation.offset + bytes > layout_.arena.value())
      wrong("outside the arena");
    if (allocation.offset % alignment_ != 0) wrong("not aligned");
    const Bytes end(allocation.offset + bytes);
    if (semantics_ == Semantics::device && instance_.costs.persistent + end > limits_.ram_budget)
      wrong("address over the budget");
    return {allocation.offset, allocation.offset + bytes, number};
  }
  // What has no bytes lies somewhere else.
  Place reserve(ValueId v) {
    if (bytes(v) > 0) return reserve(bytes(v));
    const std::int64_t elsewhere = (std::int64_t{1} << 60) + v.index;
    return {elsewhere, elsewhere + 1, -2 - v.index};
  }

  // Whether the channel may be at work on these bytes: then what it does is spoiled.
  bool disturb(const Place& place) {
    bool arriving = false;
    for (Flight& flight : flights_) {
      if (!flight.place.meets(place)) continue;
      (flight.in ? flight.spoiled : flight.copy->spoiled) = true;
      arriving = arriving || flight.in;
    }
    return arriving;
  }

  void write(const Place& place, Content content) {
    memory_.write(place, disturb(place) ? memory_.garbage() : content);
  }

  void take(const Step& step) {
    if (step.kind == StepKind::compute) {
      if (graph_.ops.contains(step.op)) return compute(step.op);
      return wrong("computes what is no op");
    }
    if (step.kind == StepKind::wait) return wait(step.value);
    if (!lives_in_arena(step.value)) return wrong("moves or frees what has no memory of its own");
    if (step.kind == StepKind::free) return free(step.value);
    if (!instance_.costs.has_storage) wrong("there is no storage");
    transfer(step);
  }

  void wait(ValueId v) {
    if (semantics_ != Semantics::device || !graph_.values.contains(v)) return;
    now_ = std::max(now_, transfer_ends_[v]);
    land(last_transfer_[v]);
  }

  void free(ValueId v) {
    if (!place_[v]) return;
    for (const Flight& flight : flights_) {
      if (flight.place.allocation != place_[v]->allocation) continue;
      if (flight.in) wrong("given back while it arrives");
      flight.copy->spoiled = true;
    }
    memory_.give_back(*place_[v]);
    place_[v].reset();
    use(-bytes(v));
  }

  void transfer(const Step& step) {
    const ValueId v = step.value;
    const bool in = step.kind == StepKind::page_in;
    const ValueCost& cost = instance_.costs.values[v];
    last_transfer_[v] = ++issued_;
    if (semantics_ == Semantics::device) {
      const bool rested = issued_ == 1 || channel_free_ < now_;
      channel_free_ = std::max(channel_free_, now_) +
                      (rested ? instance_.costs.timing.wake_time.value() : 0.0) +
                      (in ? cost.page_in : cost.page_out).seconds.value();
      transfer_ends_[v] = channel_free_;
      if (!instance_.costs.timing.concurrent) now_ = channel_free_;
    }
    if (in) {
      // In staged semantics transfers of one stage have no order. What is at home comes from the place that
      // the step before has written.
      const std::shared_ptr<Copy> from = graph_.values[v].paged ? home_[v] : copy_[v];
      const bool stored = from && !(semantics_ == Semantics::staged && leaving(v));
      const std::shared_ptr<Copy> copy =
          stored ? from : std::make_shared<Copy>(Copy{memory_.garbage(), false, nullptr});
      place_[v] = reserve(v);
      use(bytes(v));
      const bool clash = disturb(*place_[v]);
      memory_.write(*place_[v], memory_.garbage());
      flights_.push_back({true, issued_, *place_[v], copy, clash});
    } else {
      report_.bytes_written += Bytes(bytes(v));
      if (limits_.max_bytes_written && report_.bytes_written > *limits_.max_bytes_written)
        wrong("too much is written");
      copy_[v] = std::make_shared<Copy>(taken_of(v));
      if (place_[v]) flights_.push_back({false, issued_, *place_[v], copy_[v], false});
    }
    const bool beside = semantics_ == Semantics::device && instance_.costs.timing.concurrent;
    if (!beside && semantics_ != Semantics::staged) land(issued_);
  }

  // One after the other on the channel: what is still arriving has arrived when its turn comes to leave.
  Copy taken_of(ValueId v) {
    if (!place_[v]) return {memory_.garbage(), false, nullptr};
    for (const Flight& flight : flights_)
      if (flight.in && flight.place.allocation == place_[v]->allocation && semantics_ == Semantics::device)
        return {flight.copy->content, flight.spoiled, flight.copy};
    return {memory_.read(*place_[v]), false, nullptr};
  }

  [[nodiscard]] bool leaving(ValueId v) const {
    return std::any_of(flights_.begin(), flights_.end(),
                       [&](const Flight& flight) { return !flight.in && flight.copy == copy_[v]; });
  }

  // All transfers up to this one have ended.
  void land(int number) {
    std::vector<Flight> landing;
    const auto still = std::stable_partition(flights_.begin(), flights_.end(),
                                             [&](const Flight& flight) { return flight.number > number; });
    landing.assign(still, flights_.end());
    flights_.erase(still, flights_.end());
    for (const Flight& flight : landing)
      if (flight.in && !flight.spoiled)
        memory_.write(flight.place, spoiled(*flight.copy) ? memory_.garbage() : flight.copy->content);
  }

  // An op that makes a value again waits while the channel moves it: where transfers take no time, unasked.
  void finish_moving(const Place& place) {
    flights_.erase(
        std::remove_if(flights_.begin(), flights_.end(),
                       [&](const Flight& flight) { return flight.place.allocation == place.allocation; }),
        flights_.end());
  }

  void compute(OpId id) {
    const Op& op = graph_.ops[id];
    const bool first = runs_[id]++ == 0;
    if (first && id != next_) wrong(fmt::format("op {} before op {}", id.index, next_.index));
    if (!first && !op.recomputable) wrong(fmt::format("op {} cannot be computed twice", id.index));
    if (first) next_ = OpId(id.index + 1);

    const std::int64_t workspace =
        semantics_ == Semantics::device ? instance_.costs.ops[id].workspace.value() : 0;
    std::optional<Place> scratch;
    if (workspace > 0) scratch = reserve(workspace);
    std::vector<ValueId> outputs = op.outputs;
    std::sort(outputs.begin(), outputs.end());
    std::int64_t added = -written_over(op);
    const std::int64_t given_back = -added;
    for (const ValueId v : outputs) {
      if (place_[v]) {  // made again where it is
        if (semantics_ == Semantics::staged) finish_moving(*place_[v]);
        continue;
      }
      place_[v] = reserve(v);
      added += bytes(v);
    }
    use(added + workspace);
    ram_ += given_back - workspace;  // until the plan gives it back

    Content result = mixed(0x6f70U, static_cast<Content>(id.index));
    for (const ValueId input : op.inputs)
      result = mixed(result, mixed(operand(storage_[input]), static_cast<Content>(input.index)));
    if (collides(op, outputs, scratch)) result = memory_.garbage();
    if (scratch) write(*scratch, memory_.garbage());
    for (const ValueId v : outputs) write(*place_[v], made(result, v));
    for (const ValueId v : op.updates) {
      if (graph_.values[storage_[v]].paged) {
        if (place_[storage_[v]]) write(*place_[storage_[v]], made(result, v));
      } else {
        persistent_[storage_[v]] = made(result, v);
      }
    }
    now_ += instance_.costs.ops[id].runtime.value();

    if (!first) return;
    if (result != right_[id]) wrong(fmt::format("op {} computes something else", id.index));
    for (const ValueId v : outputs)
      if (memory_.read(*place_[v]) != made(right_[id], v))
        wrong(fmt::format("value {} is spoiled at once", v.index));
    if (semantics_ == Semantics::staged) land(issued_);
  }

  // On a device: bytes of an operand over which the first result can be written, because the plan gives it
  // back right after and the channel has nothing to do with it.
  [[nodiscard]] std::int64_t written_over(const Op& op) const {
    if (semantics_ != Semantics::device || op.outputs.empty() || place_[op.outputs.front()]) return 0;
    for (const std::size_t position : overwritable_inputs(graph_, op)) {
      const ValueId v = storage_[op.inputs[position]];
      if (!lives_in_arena(v) || !place_[v] || bytes(v) != bytes(op.outputs.front())) continue;
      if (is_persistent(graph_.values[v].persistence)) continue;
      if (std::any_of(flights_.begin(), flights_.end(),
                      [&](const Flight& flight) { return flight.place.allocation == place_[v]->allocation; }))
        continue;
      for (std::size_t i = at_ + 1; i < plan_.steps.size() && plan_.steps[i].kind == StepKind::free; ++i)
        if (plan_.steps[i].value == v) return bytes(v);
    }
    return 0;
  }

  Content operand(ValueId v) {
    if (is_resident(graph_.values[v])) return persistent_[v];
    return place_[v] ? memory_.read(*place_[v]) : memory_.garbage();
  }

  // Whether the op writes what it has not read yet, or something else does while it runs.
  [[nodiscard]] bool collides(const Op& op, const std::vector<ValueId>& outputs,
                              const std::optional<Place>& scratch) {
    bool clash = false;
    if (scratch) {
      clash = disturb(*scratch);
      for (const ValueId v : outputs) clash = clash || scratch->meets(*place_[v]);
    }
    const std::vector<std::size_t> overwritable = overwritable_inputs(graph_, op);
    for (std::size_t i = 0; i < op.inputs.size(); ++i) {
      const ValueId read = storage_[op.inputs[i]];
      if (!lives_in_arena(read) || !place_[read]) continue;
      const Place& from = *place_[read];
      clash = clash || (scratch && scratch->meets(from));
      for (const ValueId v : outputs) {
        if (!place_[v]->meets(from)) continue;
        const bool in_place = v == storage_[op.outputs.front()] && place_[v]->same_bytes(from) &&
                              may_overwrite(op, overwritable, read);
        clash = clash || !in_place;
      }
    }
    return clash;
  }
  [[nodiscard]] bool may_overwrite(const Op& op, const std::vector<std::size_t>& positions, ValueId v) const {
    return std::any_of(positions.begin(), positions.end(),
                       [&](std::size_t position) { return storage_[op.inputs[position]] == v; });
  }

  const Instance& instance_;
  const Graph& graph_;
  const Plan& plan_;
  const Layout& layout_;
  const Semantics semantics_;
  const Limits& limits_;
  const std::int64_t alignment_;
  const IdVector<ValueId, ValueId> storage_;
  IdVector<OpId, Content> right_;  // what the op makes when everything is right

  Memory memory_;
  IdVector<ValueId, Content> persistent_;
  IdVector<ValueId, std::optional<Place>> place_;
  IdVector<ValueId, std::shared_ptr<Copy>> copy_;  // written in this step
  IdVector<ValueId, std::shared_ptr<Copy>> home_;  // of paged persistent values: by the step before
  std::vector<Flight> flights_;                    // in order of issue
  IdVector<ValueId, int> last_transfer_;
  IdVector<ValueId, double> transfer_ends_;
  int issued_ = 0;
  IdVector<OpId, int> runs_;
  OpId next_{0};
  int next_allocation_ = 0;
  std::int64_t ram_ = 0;
  double now_ = 0;
  double channel_free_ = 0;
  std::size_t at_ = 0;
  MachineReport report_;
};

}  // namespace

MachineReport run_on_machine(const Instance& instance, const Plan& plan, const Layout& layout,
                             Semantics semantics, const Limits& limits) {
  return Machine(instance, plan, layout, semantics, limits).run();
}

}  // namespace poet::test
