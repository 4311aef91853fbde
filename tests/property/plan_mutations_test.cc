// What the verifier is worth: of plans with one thing wrong it must reject every one that no longer does what
// it should. Whether it does is found out by carrying it out (support/plan_machine.h).

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "poet/autodiff/differentiate.h"
#include "poet/cost/tabulate.h"
#include "poet/frontend/zoo.h"
#include "poet/optimize/problem/loads.h"
#include "poet/optimize/solve.h"
#include "poet/plan/canonical.h"
#include "poet/plan/layout/layout.h"
#include "poet/plan/schedule/linearise.h"
#include "poet/plan/timing/transfers.h"
#include "poet/verify/replay.h"
#include "poet/verify/replay_layout.h"
#include "tests/support/effort.h"
#include "tests/support/linear_cases.h"
#include "tests/support/plan_corruptions.h"
#include "tests/support/plan_machine.h"
#include "tests/support/random_instance.h"
#include "tests/support/tiny_instance.h"

namespace poet {
namespace {

using test::chance;
using test::Corruption;
using test::pick;
using test::PlanCase;
using test::Rng;

struct Ruling {
  bool valid = false;
  std::string violation;
  Report report;
};

Ruling judged(const PlanCase& c) {
  Ruling verdict;
  verdict.report = replay(c.instance, c.plan, c.semantics, c.limits);
  verdict.violation = verdict.report.violation;
  if (!verdict.report.valid) return verdict;
  const ArenaReport arena = replay_layout(c.instance, c.plan, c.layout, c.semantics, c.limits);
  verdict.valid = arena.valid;
  verdict.violation = arena.violation;
  return verdict;
}

test::MachineReport executed(const PlanCase& c) {
  return test::run_on_machine(c.instance, c.plan, c.layout, c.semantics, c.limits);
}

// Addresses, and limits without any room: what is one byte larger or a little later is over them.
void lay_out(PlanCase& c, Rng& rng) {
  c.layout = place(c.instance, c.plan, c.semantics);
  Limits none;
  none.ram_budget = Bytes(std::int64_t{1} << 50);
  const Report report = replay(c.instance, c.plan, c.semantics, none);
  ASSERT_TRUE(report.valid) << report.violation;
  Bytes end{};
  for (const Allocation& allocation : c.layout.allocations)
    end = std::max(end, Bytes(allocation.offset) + allocation.bytes);
  c.limits.ram_budget = std::max(report.peak_ram, c.instance.costs.persistent + end);
  if (chance(rng, 0.5)) c.limits.deadline = report.runtime;
  if (chance(rng, 0.5)) c.limits.max_bytes_written = report.bytes_written;
}

// Operators that may write over an operand, of two sizes, so that they often can.
void make_elementwise(Rng& rng, Instance& instance) {
  const std::int64_t unit = pick(rng, 3, 40);
  Graph& graph = instance.graph;
  for (const ValueId v : ids<ValueId>(graph.values.size())) {
    Value& value = graph.values[v];
    if (is_persistent(value.persistence)) continue;
    value.bytes = value.alias_of.valid() ? graph.values[value.alias_of].bytes
                                         : Bytes(chance(rng, 0.7) ? unit : 2 * unit);
    value.shape = {value.bytes.value()};
    if (!value.alias_of.valid()) instance.costs.values[v].bytes = value.bytes;
  }
  for (Value& value : graph.values) value.dtype = DType::uint8;
  // Kinds whose results may lie over each operand, where operands and result are of one shape.
  for (Op& op : graph.ops) {
    const bool one_result = op.outputs.size() == 1 && op.updates.empty();
    if (!one_result || op.inputs.empty() || op.inputs.size() > 3) continue;
    const bool alike = std::all_of(op.inputs.begin(), op.inputs.end(), [&](ValueId v) {
      return graph.values[v].shape == graph.values[op.outputs[0]].shape;
    });
    const std::array<const char*, 3> kinds = {"logical_not", "logical_and", "where"};
    if (alike) op.kind = kinds[op.inputs.size() - 1];
  }
  verify(instance);
}

// Computations and transfers that nobody asked for, as far as they do no harm: values made again while they
// are in RAM or on their way to storage, moved twice, moved on as soon as they arrive.
void enrich(Rng& rng, PlanCase& c) {
  Limits none;
  none.ram_budget = Bytes(std::int64_t{1} << 50);
  for (int attempt = 0; attempt < 40; ++attempt) {
    Plan more = c.plan;
    const int at = pick(rng, 0, static_cast<int>(more.steps.size()));
    const OpId op(pick(rng, 0, static_cast<int>(c.instance.graph.ops.size()) - 1));
    const ValueId v(pick(rng, 0, static_cast<int>(c.instance.graph.values.size()) - 1));
    const Step steps[] = {
        {StepKind::compute, op, ValueId()}, {StepKind::page_out, OpId(), v}, {StepKind::page_in, OpId(), v}};
    more.steps.insert(more.steps.begin() + at, steps[pick(rng, 0, 2)]);
    more = canonicalize(c.instance, more, c.semantics);
    if (replay(c.instance, more, c.semantics, none).valid) c.plan = more;
  }
}

PlanCase random_case(int seed) {
  Rng rng(static_cast<std::uint64_t>(seed) + 1);
  test::RandomInstanceOptions options;
  options.ops = pick(rng, 6, 16);
  options.multi_output = chance(rng, 0.4);
  options.updates = chance(rng, 0.4);
  options.views = chance(rng, 0.3);
  options.inputs = chance(rng, 0.3);
  options.device = true;
  PlanCase c;
  c.instance = test::random_instance(rng, options);
  c.instance.costs.timing.concurrent = seed % 4 != 0;
  if (seed % 3 == 0) make_elementwise(rng, c.instance);
  if (seed % 10 >= 7) c.semantics = Semantics::staged;
  if (seed % 10 == 9) c.semantics = Semantics::published;
  c.instance.costs.alignment =
      Bytes(std::vector<std::int64_t>{1, 4, 16}[static_cast<std::size_t>(pick(rng, 0, 2))]);
  align_sizes(c.instance.graph, c.instance.costs);
  c.plan = linearise(c.instance, test::random_schedule(rng, c.instance), c.semantics);
  if (c.semantics == Semantics::device && seed % 2 == 0) {
    Limits room;
    const Report all = replay_keep_all(c.instance, c.semantics);
    room.ram_budget = Bytes(all.peak_ram.value() * pick(rng, 70, 150) / 100);
    c.plan = plan_transfers(c.instance, c.plan, c.semantics, room);
  }
  if (seed % 2 == 1) enrich(rng, c);
  c.name = fmt::format("random {} {}", seed, to_string(c.semantics));
  lay_out(c, rng);
  return c;
}

// Steps around random loads, which come again as often as the seed likes, and page-outs right after updates.
PlanCase paged_case(int seed) {
  Rng rng(static_cast<std::uint64_t>(seed) + 1);
  const test::PagedCase made = test::paged_case(static_cast<std::uint64_t>(seed) + 1, 6, 14);
  PlanCase c;
  c.instance = with_paged(made.problem.instance, made.paged);
  c.instance.costs.timing.concurrent = seed % 4 != 0;
  if (seed % 10 == 9) c.semantics = Semantics::published;
  const WithLoads loads = with_loads(c.instance);
  const Plan with =
      linearise(loads.instance, test::random_schedule(rng, loads.instance), Semantics::published);
  c.plan = canonicalize(c.instance, without_loads(loads, c.instance, with).plan, c.semantics);
  if (c.semantics == Semantics::device && seed % 2 == 0) {
    Limits room;
    const Report all = replay_keep_all(made.problem.instance, c.semantics);
    room.ram_budget = Bytes(all.peak_ram.value() * pick(rng, 70, 150) / 100);
    c.plan = plan_transfers(c.instance, c.plan, c.semantics, room);
  }
  if (seed % 2 == 1) enrich(rng, c);
  c.name = fmt::format("paged {} {}", seed, to_string(c.semantics));
  lay_out(c, rng);
  return c;
}

// y = relu(x) while a has left and x, which comes back, may still be leaving: y is not to lie over it.
PlanCase two_on_their_way() {
  Rng rng(1);
  Graph graph;
  const ValueId a = test::add_node(graph, "a", {}, 8);
  const ValueId x = test::add_node(graph, "x", {}, 8);
  const ValueId y = test::add_node(graph, "y", {x}, 8);
  test::add_node(graph, "z", {x, y}, 8);
  for (const ValueId v : {x, y}) graph.values[v].shape = {2};
  const OpId relu = graph.values[y].producer;
  graph.ops[relu].kind = "relu";
  PlanCase c;
  c.name = "two on their way";
  c.instance = test::instance_of(std::move(graph));
  const auto compute = [](int op) { return Step{StepKind::compute, OpId(op), ValueId()}; };
  const auto other = [](StepKind kind, ValueId v) { return Step{kind, OpId(), v}; };
  c.plan.steps = {compute(0),
                  compute(1),
                  other(StepKind::page_out, a),
                  other(StepKind::page_out, x),
                  other(StepKind::wait, a),
                  other(StepKind::free, a),
                  compute(2),
                  other(StepKind::wait, x),
                  other(StepKind::free, x),
                  other(StepKind::page_in, x),
                  other(StepKind::wait, x),
                  compute(3)};
  lay_out(c, rng);
  const std::int64_t offsets[] = {0, 8, 16, 0, 24};  // a, x, y, x, z
  for (std::size_t i = 0; i < std::size(offsets); ++i) c.layout.allocations[i].offset = offsets[i];
  c.layout.arena = c.limits.ram_budget = Bytes(32);
  return c;
}

// A network on a device that has too little RAM for it; what the search finds first will do.
PlanCase network_case(const std::string& network, const std::string& device, int percent, bool paging_only) {
  Rng rng(7);
  PlanCase c;
  c.name = network + " on " + device;
  ZooOptions zoo;
  if (network == "transformer") zoo.sequence_length = 16;
  c.instance.graph = differentiate(build_network(network, zoo));
  c.instance.costs = tabulate(c.instance.graph, find_device(device));
  c.instance.has_device = true;
  c.instance.costs.alignment = Bytes(16);
  align_sizes(c.instance.graph, c.instance.costs);
  const Report all = replay_keep_all(c.instance, c.semantics);
  const std::int64_t persistent = c.instance.costs.persistent.value();
  c.limits.ram_budget = Bytes(persistent + (all.peak_ram.value() - persistent) * percent / 100);
  SolveOptions quick;
  quick.gap = 1e9;
  quick.rematerialization = !paging_only;
  const Outcome outcome = solve({c.instance, c.limits, c.semantics}, quick);
  EXPECT_FALSE(outcome.schedule.stages.empty()) << c.name;
  if (outcome.schedule.stages.empty()) return c;
  c.plan =
      plan_transfers(c.instance, linearise(c.instance, outcome.schedule, c.semantics), c.semantics, c.limits);
  lay_out(c, rng);
  return c;
}

std::string listed(const PlanCase& c) {
  std::string text;
  for (std::size_t i = 0; i < c.plan.steps.size(); ++i)
    text += fmt::format("  {} {}\n", i, to_string(c.instance, c.plan.steps[i]));
  for (const Allocation& allocation : c.layout.allocations)
    text += fmt::format("  value {} op {} steps {} to {}: {} bytes at {}\n", allocation.value.index,
                        allocation.op.index, allocation.begin, allocation.end, allocation.bytes.value(),
                        allocation.offset);
  return text;
}

struct Tally {
  int made = 0;
  int changed = 0;   // does something else
  int accepted = 0;  // of these, by the verifier: must be none
  int strict = 0;    // rejected although it still does the same
};

void corrupt(const PlanCase& valid, const Corruption& corruption, Rng& rng, Tally& tally) {
  PlanCase c = valid;
  if (!corruption.apply(rng, c)) return;
  ++tally.made;
  const test::MachineReport machine = executed(c);
  const Ruling verdict = judged(c);
  if (machine.trains) {
    tally.strict += !verdict.valid;
    if (!verdict.valid) return;
    // It may be a plan as good as any: then the figures are those of this one.
    EXPECT_EQ(verdict.report.peak_ram, machine.ram);
    EXPECT_EQ(verdict.report.bytes_written, machine.bytes_written);
    EXPECT_NEAR(verdict.report.runtime.value(), machine.makespan, 1e-9 * machine.makespan);
    return;
  }
  ++tally.changed;
  if (!verdict.valid) return;
  ++tally.accepted;
  ADD_FAILURE() << "accepted: " << machine.wrong << "\n" << (c.plan.steps.size() < 80 ? listed(c) : "");
}

std::vector<PlanCase> valid_cases() {
  std::vector<PlanCase> cases;
  for (int seed = 0; seed < test::effort(600); ++seed) cases.push_back(random_case(seed));
  cases.push_back(two_on_their_way());
  cases.push_back(network_case("resnet18_cifar", "m4", 75, false));
  cases.push_back(network_case("transformer", "m4", 95, true));
  return cases;
}

struct Kinds {
  int paging = 0, in_place = 0, recomputing = 0;
};

// Each is a plan for both.
Kinds check_valid(const std::vector<PlanCase>& cases) {
  Kinds kinds;
  for (const PlanCase& c : cases) {
    SCOPED_TRACE(c.name);
    const Ruling verdict = judged(c);
    const test::MachineReport machine = executed(c);
    EXPECT_TRUE(verdict.valid) << verdict.violation;
    EXPECT_TRUE(machine.trains) << machine.wrong << "\n" << listed(c);
    if (testing::Test::HasFailure()) return kinds;
    EXPECT_EQ(verdict.report.peak_ram, machine.ram);
    EXPECT_EQ(verdict.report.bytes_written, machine.bytes_written);
    EXPECT_NEAR(verdict.report.runtime.value(), machine.makespan, 1e-9 * machine.makespan);
    kinds.paging += verdict.report.page_ins > 0;
    kinds.recomputing += verdict.report.recomputations > 0;
    kinds.in_place += std::any_of(c.layout.allocations.begin(), c.layout.allocations.end(),
                                  [](const Allocation& allocation) { return allocation.takes_over >= 0; });
  }
  fmt::print("{} plans: {} page, {} recompute, {} write in place\n", cases.size(), kinds.paging,
             kinds.recomputing, kinds.in_place);
  return kinds;
}

Tally corrupt_all(const std::vector<PlanCase>& cases, const std::vector<Corruption>& corruptions) {
  Tally all;
  fmt::print("{:<30}{:>8}{:>10}{:>10}{:>10}\n", "", "made", "changed", "accepted", "strict");
  for (const Corruption& corruption : corruptions) {
    SCOPED_TRACE(corruption.name);
    Rng rng(1);
    Tally tally;
    for (const PlanCase& c : cases) {
      SCOPED_TRACE(c.name);
      for (int repeat = 0; repeat < 4; ++repeat) corrupt(c, corruption, rng, tally);
      if (testing::Test::HasFailure()) break;
    }
    fmt::print("{:<30}{:>8}{:>10}{:>10}{:>10}\n", corruption.name, tally.made, tally.changed, tally.accepted,
               tally.strict);
    EXPECT_GE(tally.changed, test::enough(corruption.floor));
    all.made += tally.made;
    all.changed += tally.changed;
    all.accepted += tally.accepted;
    all.strict += tally.strict;
  }
  fmt::print("{:<30}{:>8}{:>10}{:>10}{:>10}\n", "all", all.made, all.changed, all.accepted, all.strict);
  return all;
}

TEST(PlanMutations, TheVerifierRejectsWhatDoesSomethingElse) {
  const std::vector<PlanCase> cases = valid_cases();
  if (HasFailure()) return;
  const Kinds kinds = check_valid(cases);
  EXPECT_GT(kinds.paging, test::enough(200));
  EXPECT_GT(kinds.recomputing, test::enough(200));
  EXPECT_GT(kinds.in_place, test::enough(100));
  if (HasFailure()) return;
  const Tally all = corrupt_all(cases, test::corruptions());
  // Rejecting everything is no judgement: thousands of harmless ones are let through.
  EXPECT_GT(all.made - all.changed - all.strict, test::enough(5000));
  EXPECT_GE(all.changed, test::enough(1000));
}

// With persistent values at home on storage.
TEST(PlanMutations, TheVerifierKnowsWhatIsAtHome) {
  std::vector<PlanCase> cases;
  for (int seed = 0; seed < test::effort(200); ++seed) cases.push_back(paged_case(seed));
  if (HasFailure()) return;
  const Kinds kinds = check_valid(cases);
  EXPECT_GT(kinds.paging, test::enough(150));
  EXPECT_GT(kinds.recomputing, test::enough(50));
  EXPECT_GT(kinds.in_place, test::enough(20));
  if (HasFailure()) return;
  std::vector<Corruption> corruptions = test::paged_corruptions();
  for (Corruption& corruption : test::corruptions()) {
    corruption.floor /= 5;
    corruptions.push_back(std::move(corruption));
  }
  const Tally all = corrupt_all(cases, corruptions);
  EXPECT_GT(all.made - all.changed - all.strict, test::enough(1000));
}

}  // namespace
}  // namespace poet
