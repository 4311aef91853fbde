#include "tests/support/plan_corruptions.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <utility>

#include "poet/verify/replay.h"

namespace poet::test {
namespace {

// A step, and which one of the valid plan it is.
struct Marked {
  Step step;
  std::size_t origin = 0;
};
using Steps = std::vector<Marked>;

std::ptrdiff_t signed_of(std::size_t i) { return static_cast<std::ptrdiff_t>(i); }
std::size_t any_below(Rng& rng, std::size_t count) {
  return static_cast<std::size_t>(pick(rng, 0, static_cast<int>(count) - 1));
}

template <class Test>
std::optional<std::size_t> any_step(Rng& rng, const Steps& steps, const Test& test) {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < steps.size(); ++i)
    if (test(steps[i].step)) found.push_back(i);
  if (found.empty()) return std::nullopt;
  return found[any_below(rng, found.size())];
}

bool is_transfer(const Step& step) {
  return step.kind == StepKind::page_in || step.kind == StepKind::page_out;
}

using OnSteps = std::function<bool(Rng&, const PlanCase&, Steps&)>;
using OnCase = std::function<bool(Rng&, PlanCase&)>;

OnSteps drop(StepKind kind) {
  return [kind](Rng& rng, const PlanCase&, Steps& steps) {
    const auto at = any_step(rng, steps, [&](const Step& step) { return step.kind == kind; });
    if (at) steps.erase(steps.begin() + signed_of(*at));
    return at.has_value();
  };
}

// By up to a few steps, as often as anywhere.
OnSteps move(StepKind kind, bool earlier) {
  return [kind, earlier](Rng& rng, const PlanCase&, Steps& steps) {
    const auto from = any_step(rng, steps, [&](const Step& step) { return step.kind == kind; });
    if (!from) return false;
    const std::size_t room = earlier ? *from : steps.size() - 1 - *from;
    if (room == 0) return false;
    std::size_t by = 1 + any_below(rng, room);
    if (chance(rng, 0.5)) by = std::min<std::size_t>(room, 1 + any_below(rng, 4));
    const Marked moved = steps[*from];
    steps.erase(steps.begin() + signed_of(*from));
    steps.insert(steps.begin() + signed_of(earlier ? *from - by : *from + by), moved);
    return true;
  };
}

OnSteps exchange(bool neighbours) {
  return [neighbours](Rng& rng, const PlanCase&, Steps& steps) {
    const std::size_t a = any_below(rng, steps.size() - 1);
    const std::size_t b = neighbours ? a + 1 : any_below(rng, steps.size());
    if (steps[a].step == steps[b].step) return false;
    std::swap(steps[a], steps[b]);
    return true;
  };
}

bool duplicate(Rng& rng, const PlanCase&, Steps& steps) {
  const Marked twice = steps[any_below(rng, steps.size())];
  steps.insert(steps.begin() + signed_of(any_below(rng, steps.size() + 1)), twice);
  return true;
}

// A value is made again where it is, or where nothing is.
bool compute_again(Rng& rng, const PlanCase&, Steps& steps) {
  const auto at = any_step(rng, steps, [](const Step& step) { return step.kind == StepKind::compute; });
  if (!at) return false;
  const Marked twice = steps[*at];
  const std::size_t by = 1 + any_below(rng, std::min<std::size_t>(8, steps.size() - *at));
  steps.insert(steps.begin() + signed_of(*at + by), twice);
  return true;
}

bool repeat_at_once(Rng& rng, const PlanCase&, Steps& steps) {
  const std::size_t at = any_below(rng, steps.size());
  const Marked twice = steps[at];
  steps.insert(steps.begin() + signed_of(at), twice);
  return true;
}

bool other_operand(Rng& rng, const PlanCase& c, Steps& steps) {
  Step& step = steps[any_below(rng, steps.size())].step;
  const Step before = step;
  if (step.kind == StepKind::compute) {
    step.op = OpId(pick(rng, -1, static_cast<int>(c.instance.graph.ops.size())));
  } else {
    step.value = ValueId(pick(rng, -1, static_cast<int>(c.instance.graph.values.size())));
  }
  return !(step == before);
}

bool other_kind(Rng& rng, const PlanCase&, Steps& steps) {
  const auto at = any_step(rng, steps, [](const Step& step) { return step.kind != StepKind::compute; });
  if (!at) return false;
  constexpr StepKind kKinds[] = {StepKind::page_out, StepKind::page_in, StepKind::wait, StepKind::free};
  const StepKind kind = kKinds[any_below(rng, std::size(kKinds))];
  if (kind == steps[*at].step.kind) return false;
  steps[*at].step.kind = kind;
  return true;
}

// A wait that ends sooner than it should: for a transfer that was issued before the one it is for.
bool wait_for_an_earlier_one(Rng& rng, const PlanCase&, Steps& steps) {
  const auto at = any_step(rng, steps, [](const Step& step) { return step.kind == StepKind::wait; });
  if (!at) return false;
  std::vector<ValueId> moved;  // before the transfer that is waited for
  std::vector<ValueId> all;
  for (std::size_t i = 0; i < *at; ++i) {
    if (!is_transfer(steps[i].step)) continue;
    if (steps[i].step.value == steps[*at].step.value) moved = all;
    all.push_back(steps[i].step.value);
  }
  if (moved.empty()) return false;
  const ValueId other = chance(rng, 0.7) ? moved.back() : moved[any_below(rng, moved.size())];
  if (other == steps[*at].step.value) return false;
  steps[*at].step.value = other;
  return true;
}

OnCase shift(const std::function<std::int64_t(Rng&, const PlanCase&, const Allocation&)>& by) {
  return [by](Rng& rng, PlanCase& c) {
    Allocation& allocation = c.layout.allocations[any_below(rng, c.layout.allocations.size())];
    const std::int64_t before = allocation.offset;
    allocation.offset += by(rng, c, allocation);
    return allocation.offset != before;
  };
}

bool page_out_between(const Plan& plan, ValueId v, int begin, int end) {
  return std::any_of(plan.steps.begin() + begin, plan.steps.begin() + end,
                     [&](const Step& step) { return step.kind == StepKind::page_out && step.value == v; });
}

// A result over an operand, which its op may or may not be able to do, and others may or may not miss; as
// often as anywhere over one that the channel may still be reading.
bool write_over_an_operand(Rng& rng, PlanCase& c) {
  std::vector<std::pair<Allocation*, const Allocation*>> all, leaving;
  for (Allocation& result : c.layout.allocations) {
    const Step& step = c.plan.steps[static_cast<std::size_t>(result.begin)];
    if (!result.value.valid() || step.kind != StepKind::compute) continue;
    const std::vector<ValueId>& inputs = c.instance.graph.ops[step.op].inputs;
    for (const Allocation& operand : c.layout.allocations) {
      if (operand.begin >= result.begin || operand.end <= result.begin || operand.bytes != result.bytes ||
          operand.offset == result.offset ||
          std::find(inputs.begin(), inputs.end(), operand.value) == inputs.end())
        continue;
      all.emplace_back(&result, &operand);
      if (page_out_between(c.plan, operand.value, operand.begin, result.begin))
        leaving.emplace_back(&result, &operand);
    }
  }
  if (all.empty()) return false;
  const auto& pairs = leaving.empty() || chance(rng, 0.5) ? all : leaving;
  const auto [result, operand] = pairs[any_below(rng, pairs.size())];
  result->offset = operand->offset;
  return true;
}

bool exchange_offsets(Rng& rng, PlanCase& c) {
  Allocation& a = c.layout.allocations[any_below(rng, c.layout.allocations.size())];
  Allocation& b = c.layout.allocations[any_below(rng, c.layout.allocations.size())];
  if (a.offset == b.offset) return false;
  std::swap(a.offset, b.offset);
  return true;
}

bool change_bytes(Rng& rng, PlanCase& c) {
  Allocation& allocation = c.layout.allocations[any_below(rng, c.layout.allocations.size())];
  allocation.bytes += Bytes(chance(rng, 0.7) ? -1 : 1);
  return true;
}

bool change_span(Rng& rng, PlanCase& c) {
  Allocation& allocation = c.layout.allocations[any_below(rng, c.layout.allocations.size())];
  (chance(rng, 0.5) ? allocation.begin : allocation.end) += chance(rng, 0.5) ? 1 : -1;
  return true;
}

bool drop_allocation(Rng& rng, PlanCase& c) {
  c.layout.allocations.erase(c.layout.allocations.begin() +
                             signed_of(any_below(rng, c.layout.allocations.size())));
  return true;
}

bool insert_allocation(Rng& rng, PlanCase& c) {
  const Allocation twice = c.layout.allocations[any_below(rng, c.layout.allocations.size())];
  c.layout.allocations.insert(
      c.layout.allocations.begin() + signed_of(any_below(rng, c.layout.allocations.size() + 1)), twice);
  return true;
}

bool shrink_arena(Rng& rng, PlanCase& c) {
  c.layout.arena -= Bytes(chance(rng, 0.5) ? c.instance.costs.alignment.value() : pick(rng, 1, 100));
  return true;
}

bool shrink_budget(Rng& rng, PlanCase& c) {
  c.limits.ram_budget -= Bytes(chance(rng, 0.7) ? 1 : pick(rng, 1, 100));
  return true;
}

bool shorten_deadline(Rng&, PlanCase& c) {
  const double runtime = replay(c.instance, c.plan, c.semantics, c.limits).runtime.value();
  c.limits.deadline = Seconds(runtime * (1 - 1e-8));
  return true;
}

bool write_less(Rng&, PlanCase& c) {
  const Bytes written = replay(c.instance, c.plan, c.semantics, c.limits).bytes_written;
  if (written == Bytes(0)) return false;
  c.limits.max_bytes_written = written - Bytes(1);
  return true;
}

// Spans that belong to the new steps, at the addresses of old: what is wrong must show in what the steps do.
void lay_out_again(Rng& rng, const PlanCase& valid, const Steps& steps, PlanCase& c) {
  c.plan.steps.clear();
  bool known = true;
  for (const Marked& marked : steps) {
    const Step& step = marked.step;
    c.plan.steps.push_back(step);
    known = known && (step.kind == StepKind::compute ? c.instance.graph.ops.contains(step.op)
                                                     : c.instance.graph.values.contains(step.value));
  }
  if (!known) return;
  const std::vector<Allocation>& old = valid.layout.allocations;
  c.layout.allocations = allocations_of(c.instance, c.plan, c.semantics);
  for (Allocation& allocation : c.layout.allocations) {
    const int origin = static_cast<int>(steps[static_cast<std::size_t>(allocation.begin)].origin);
    const auto same = [&](const Allocation& other) {
      return other.value == allocation.value && other.op == allocation.op;
    };
    auto from = std::find_if(old.begin(), old.end(),
                             [&](const Allocation& other) { return same(other) && other.begin == origin; });
    if (from == old.end()) from = std::find_if(old.begin(), old.end(), same);
    if (from == old.end()) from = old.begin() + signed_of(any_below(rng, old.size()));
    allocation.offset = from->offset;
    allocation.takes_over = -1;
  }
}

// The steps changed, with spans and addresses that fit.
OnCase on_steps(const OnSteps& change) {
  return [change](Rng& rng, PlanCase& c) {
    const PlanCase valid = c;
    Steps steps;
    for (std::size_t i = 0; i < c.plan.steps.size(); ++i) steps.push_back({c.plan.steps[i], i});
    if (!change(rng, valid, steps)) return false;
    lay_out_again(rng, valid, steps, c);
    return true;
  };
}

// Steps of persistent values at home on storage.

bool is_at_home(const PlanCase& c, const Step& step) {
  return step.kind != StepKind::compute && c.instance.graph.values.contains(step.value) &&
         c.instance.graph.values[step.value].paged;
}

std::optional<std::size_t> any_of_home(Rng& rng, const PlanCase& c, const Steps& steps, StepKind kind) {
  return any_step(rng, steps, [&](const Step& step) { return step.kind == kind && is_at_home(c, step); });
}

std::size_t update_of(const PlanCase& c, const Steps& steps, ValueId v) {
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (steps[i].step.kind != StepKind::compute) continue;
    for (const ValueId updated : c.instance.graph.ops[steps[i].step.op].updates)
      if (storage(c.instance.graph, updated) == v) return i;
  }
  return steps.size();
}

void move_to(Steps& steps, std::size_t from, std::size_t to) {
  const Marked moved = steps[from];
  steps.erase(steps.begin() + signed_of(from));
  steps.insert(steps.begin() + signed_of(to), moved);
}

OnSteps drop_of_home(StepKind kind) {
  return [kind](Rng& rng, const PlanCase& c, Steps& steps) {
    const auto at = any_of_home(rng, c, steps, kind);
    if (at) steps.erase(steps.begin() + signed_of(*at));
    return at.has_value();
  };
}

OnSteps move_of_home(StepKind kind, bool earlier) {
  return [kind, earlier](Rng& rng, const PlanCase& c, Steps& steps) {
    const auto from = any_of_home(rng, c, steps, kind);
    if (!from || (earlier ? *from : steps.size() - 1 - *from) == 0) return false;
    const std::size_t by = 1 + any_below(rng, earlier ? *from : steps.size() - 1 - *from);
    move_to(steps, *from, earlier ? *from - by : *from + by);
    return true;
  };
}

// Right before the update, or with a wait in between.
bool go_home_before_the_update(Rng& rng, const PlanCase& c, Steps& steps) {
  const auto out = any_of_home(rng, c, steps, StepKind::page_out);
  if (!out) return false;
  const std::size_t update = update_of(c, steps, steps[*out].step.value);
  if (update >= *out) return false;
  const Marked wait{{StepKind::wait, OpId(), steps[*out].step.value}, steps[*out].origin};
  move_to(steps, *out, update);
  if (chance(rng, 0.5)) steps.insert(steps.begin() + signed_of(update) + 1, wait);
  return true;
}

// After its update, before it has left or while it does.
bool free_while_changed(Rng& rng, const PlanCase& c, Steps& steps) {
  const auto out = any_of_home(rng, c, steps, StepKind::page_out);
  if (!out) return false;
  const ValueId v = steps[*out].step.value;
  const std::size_t update = update_of(c, steps, v);
  const auto later = std::find_if(steps.begin() + signed_of(*out), steps.end(), [&](const Marked& marked) {
    return marked.step.kind == StepKind::free && marked.step.value == v;
  });
  if (update >= *out || later == steps.end()) return false;
  const std::size_t to = update + 1 + any_below(rng, *out - update + 1);
  move_to(steps, static_cast<std::size_t>(later - steps.begin()), to);
  return true;
}

// At once, or later, when it may have left RAM.
bool go_home_twice(Rng& rng, const PlanCase& c, Steps& steps) {
  const auto out = any_of_home(rng, c, steps, StepKind::page_out);
  if (!out) return false;
  const std::size_t room = steps.size() - *out;
  const std::size_t by = 1 + (chance(rng, 0.5) ? 0 : any_below(rng, room));
  steps.insert(steps.begin() + signed_of(*out + by), Marked(steps[*out]));
  return true;
}

// What comes back after the update is the step's beginning; sometimes that goes home in the update's place.
bool bring_back_after_the_update(Rng& rng, const PlanCase& c, Steps& steps) {
  const auto freed = any_step(
      rng, steps, [&](const Step& step) { return step.kind == StepKind::free && is_at_home(c, step); });
  if (!freed) return false;
  const ValueId v = steps[*freed].step.value;
  if (update_of(c, steps, v) >= *freed) return false;
  std::size_t at = *freed;
  const std::size_t origin = steps[*freed].origin;
  const auto insert = [&](StepKind kind) {
    steps.insert(steps.begin() + signed_of(++at), Marked{{kind, OpId(), v}, origin});
  };
  insert(StepKind::page_in);
  if (chance(rng, 0.7)) insert(StepKind::page_out);
  insert(StepKind::wait);
  insert(StepKind::free);
  return true;
}

// A reader again, once what it read has been updated.
bool read_again_after_the_update(Rng& rng, const PlanCase& c, Steps& steps) {
  const auto out = any_of_home(rng, c, steps, StepKind::page_out);
  if (!out) return false;
  const ValueId v = steps[*out].step.value;
  const std::size_t update = update_of(c, steps, v);
  std::vector<std::size_t> readers;
  for (std::size_t i = 0; i < std::min(update, steps.size()); ++i) {
    if (steps[i].step.kind != StepKind::compute) continue;
    for (const ValueId read : c.instance.graph.ops[steps[i].step.op].inputs)
      if (storage(c.instance.graph, read) == v) readers.push_back(i);
  }
  if (readers.empty() || update >= steps.size()) return false;
  const Marked again = steps[readers[any_below(rng, readers.size())]];
  steps.insert(steps.begin() + signed_of(update) + 1, again);
  return true;
}

}  // namespace

std::vector<Corruption> paged_corruptions() {
  return {
      {"drop a load", 50, on_steps(drop_of_home(StepKind::page_in))},
      {"load earlier", 10, on_steps(move_of_home(StepKind::page_in, true))},
      {"load later", 50, on_steps(move_of_home(StepKind::page_in, false))},
      {"stay away from home", 50, on_steps(drop_of_home(StepKind::page_out))},
      {"go home earlier", 50, on_steps(move_of_home(StepKind::page_out, true))},
      {"go home later", 10, on_steps(move_of_home(StepKind::page_out, false))},
      {"go home before the update", 50, on_steps(go_home_before_the_update)},
      {"go home twice", 0, on_steps(go_home_twice)},
      {"free while changed", 50, on_steps(free_while_changed)},
      {"free what is at home earlier", 50, on_steps(move_of_home(StepKind::free, true))},
      {"drop a wait for home", 10, on_steps(drop_of_home(StepKind::wait))},
      {"bring back after the update", 20, on_steps(bring_back_after_the_update)},
      {"read again after the update", 0, on_steps(read_again_after_the_update)},
  };
}

std::vector<Corruption> corruptions() {
  const auto units = [](Rng& rng, const PlanCase& c, int most) {
    return c.instance.costs.alignment.value() * pick(rng, 1, most) * (chance(rng, 0.5) ? 1 : -1);
  };
  return {
      {"swap neighbours", 20, on_steps(exchange(true))},
      {"swap two steps", 50, on_steps(exchange(false))},
      {"drop a page-out", 50, on_steps(drop(StepKind::page_out))},
      {"drop a page-in", 50, on_steps(drop(StepKind::page_in))},
      {"drop a wait", 50, on_steps(drop(StepKind::wait))},
      {"drop a computation", 50, on_steps(drop(StepKind::compute))},
      {"drop a free", 20, on_steps(drop(StepKind::free))},
      {"duplicate a step", 50, on_steps(duplicate)},
      {"repeat a step at once", 20, on_steps(repeat_at_once)},
      {"compute again", 50, on_steps(compute_again)},
      {"another op or value", 50, on_steps(other_operand)},
      {"another kind", 50, on_steps(other_kind)},
      {"wait earlier", 20, on_steps(move(StepKind::wait, true))},
      {"wait later", 20, on_steps(move(StepKind::wait, false))},
      {"wait for an earlier one", 20, on_steps(wait_for_an_earlier_one)},
      {"free earlier", 50, on_steps(move(StepKind::free, true))},
      {"free later", 20, on_steps(move(StepKind::free, false))},
      {"page out earlier", 20, on_steps(move(StepKind::page_out, true))},
      {"page out later", 20, on_steps(move(StepKind::page_out, false))},
      {"page in earlier", 20, on_steps(move(StepKind::page_in, true))},
      {"page in later", 50, on_steps(move(StepKind::page_in, false))},
      {"compute earlier", 50, on_steps(move(StepKind::compute, true))},
      {"compute later", 50, on_steps(move(StepKind::compute, false))},
      {"shift by one unit", 50,
       shift([units](Rng& rng, const PlanCase& c, const Allocation&) { return units(rng, c, 1); })},
      {"shift", 50,
       shift([units](Rng& rng, const PlanCase& c, const Allocation&) { return units(rng, c, 20); })},
      {"shift below zero", 50, shift([](Rng& rng, const PlanCase& c, const Allocation& allocation) {
         return -allocation.offset - c.instance.costs.alignment.value() * pick(rng, 1, 5);
       })},
      {"misalign", 50, shift([](Rng& rng, const PlanCase& c, const Allocation&) {
         return c.instance.costs.alignment == Bytes(1)
                    ? 0
                    : std::int64_t{pick(rng, 1, static_cast<int>(c.instance.costs.alignment.value()) - 1)};
       })},
      {"shift onto another", 50, shift([](Rng& rng, const PlanCase& c, const Allocation& allocation) {
         return c.layout.allocations[any_below(rng, c.layout.allocations.size())].offset - allocation.offset;
       })},
      {"shift beyond the arena", 50, shift([](Rng& rng, const PlanCase& c, const Allocation& allocation) {
         const std::int64_t end = c.layout.arena.value() - allocation.bytes.value();
         return end - end % c.instance.costs.alignment.value() - allocation.offset +
                c.instance.costs.alignment.value() * pick(rng, 1, 5);
       })},
      {"write over an operand", 50, write_over_an_operand},
      {"exchange two offsets", 50, exchange_offsets},
      {"change a size", 50, change_bytes},
      {"change a span", 0, change_span},
      {"drop an allocation", 50, drop_allocation},
      {"insert an allocation", 50, insert_allocation},
      {"shrink the arena", 50, shrink_arena},
      {"shrink the budget", 50, shrink_budget},
      {"shorten the deadline", 50, shorten_deadline},
      {"write less", 50, write_less},
  };
}

}  // namespace poet::test
