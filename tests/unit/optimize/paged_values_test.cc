// Persistent values at home on storage: what they are in the graph, what plans may do with them, and how the
// search sees them.

#include <gtest/gtest.h>

#include "poet/cost/instance.h"
#include "poet/graph/dataflow.h"
#include "poet/optimize/problem/loads.h"
#include "poet/optimize/problem/residence.h"
#include "poet/plan/allowance.h"
#include "poet/plan/canonical.h"
#include "poet/plan/paged_to_fit.h"
#include "poet/verify/replay.h"
#include "tests/support/input_error.h"

namespace poet {
namespace {

using test::input_error;

const ValueId kWeight(0), kData(1), kResult(2), kGradient(3);
const OpId kInput(0), kForward(1), kBackward(2), kUpdate(3);

Value value(const std::string& name, Persistence persistence, OpId producer) {
  Value v;
  v.name = name;
  v.shape = {25};
  v.bytes = Bytes(100);
  v.persistence = persistence;
  v.producer = producer;
  return v;
}

Op op(const std::string& name, Pass pass, const std::vector<ValueId>& inputs,
      const std::vector<ValueId>& outputs) {
  Op o;
  o.name = name;
  o.kind = "published";
  o.pass = pass;
  o.inputs = inputs;
  o.outputs = outputs;
  return o;
}

/// weight, data -> result -> gradient -> the weight's update. Every transfer takes 1 s and 1 J (out: 2 J).
Instance instance() {
  Instance made;
  Graph& graph = made.graph;
  graph.values.push_back(value("weight", Persistence::parameter, OpId()));
  graph.values.push_back(value("data", Persistence::activation, kInput));
  graph.values.push_back(value("result", Persistence::activation, kForward));
  graph.values.push_back(value("gradient", Persistence::parameter_gradient, kBackward));
  graph.ops.push_back(op("input", Pass::forward, {}, {kData}));
  graph.ops.push_back(op("forward", Pass::forward, {kData, kWeight}, {kResult}));
  graph.ops.push_back(op("backward", Pass::backward, {kResult}, {kGradient}));
  graph.ops.push_back(op("update", Pass::update, {kWeight, kGradient}, {}));
  graph.ops[kUpdate].updates = {kWeight};
  graph.ops[kUpdate].recomputable = false;
  for (int i = 0; i < 4; ++i) {
    made.costs.ops.push_back({Seconds(10), Joules(10), Bytes(0)});
    made.costs.values.push_back({Bytes(100), {Seconds(1), Joules(2)}, {Seconds(1), Joules(1)}});
  }
  made.costs.persistent = Bytes(100);
  made.has_device = true;
  verify(made);
  return made;
}

Instance paged() { return with_paged(instance(), {kWeight}); }

Step in(ValueId v) { return {StepKind::page_in, OpId(), v}; }
Step out(ValueId v) { return {StepKind::page_out, OpId(), v}; }
Step free_of(ValueId v) { return {StepKind::free, OpId(), v}; }
Step run(OpId o) { return {StepKind::compute, o, ValueId()}; }

Report judged(const std::vector<Step>& steps, std::int64_t ram = 1000) {
  Limits limits;
  limits.ram_budget = Bytes(ram);
  const Plan plan = canonicalize(paged(), {steps}, Semantics::device);
  return replay(paged(), plan, Semantics::device, limits);
}

/// As it is: waits and frees are the test's.
std::string violation(const std::vector<Step>& steps) {
  Instance blocking = paged();
  blocking.costs.timing.concurrent = false;
  return replay(blocking, {steps}, Semantics::device, no_limits()).violation;
}

TEST(PagedValues, AreReadAndChangedLikeOthers) {
  const Dataflow flow = dataflow(paged().graph);
  using Values = std::vector<ValueId>;
  EXPECT_EQ(flow.paged, Values{kWeight});
  EXPECT_EQ(flow.reads[kForward], (Values{kWeight, kData}));
  EXPECT_EQ(flow.reads[kUpdate], (Values{kWeight, kGradient}));
  EXPECT_EQ(flow.changes[kUpdate], Values{kWeight});
  EXPECT_TRUE(flow.changes[kForward].empty());
  EXPECT_EQ(flow.users[kWeight], (std::vector<OpId>{kForward, kUpdate}));
  EXPECT_TRUE(flow.movable(kWeight));
  EXPECT_FALSE(dataflow(instance().graph).movable(kWeight));
  EXPECT_EQ(flow.last_recompute[kForward], kUpdate);
}

TEST(PagedValues, TakeTheirRamFromThePlan) {
  const Instance resident = instance();
  EXPECT_EQ(paged().costs.persistent, Bytes(0));
  EXPECT_EQ(with_paged(paged(), {}).costs.persistent, Bytes(100));
  EXPECT_EQ(pageable(resident), std::vector<ValueId>{kWeight});
  EXPECT_EQ(ram_floor(resident, Semantics::device).bytes(), Bytes(300));
  EXPECT_EQ(ram_floor(paged(), Semantics::device).bytes(), Bytes(300));
  Instance without = resident;
  without.costs.has_storage = false;
  EXPECT_TRUE(pageable(without).empty());
}

TEST(PagedValues, OnlyPersistentValuesAreAtHomeOnStorage) {
  Instance wrong = instance();
  wrong.graph.values[kResult].paged = true;
  EXPECT_EQ(input_error([&] { verify(wrong); }),
            "value 2 'result': only a persistent value that is no view can be paged");
}

TEST(PagedValues, ComeInForEveryUseAndGoHomeAfterTheUpdate) {
  const Report report = judged(
      {run(kInput), in(kWeight), run(kForward), run(kBackward), in(kWeight), run(kUpdate), out(kWeight)});
  EXPECT_TRUE(report.valid) << report.violation;
  EXPECT_EQ(report.peak_ram, Bytes(300));
  EXPECT_EQ(report.page_ins, 2);
  EXPECT_EQ(report.page_outs, 1);
  EXPECT_EQ(report.bytes_written, Bytes(100));
  EXPECT_DOUBLE_EQ(report.energy.value(), 40 + 2 * 1 + 2);
}

TEST(PagedValues, EveryRuleHasAMessage) {
  EXPECT_EQ(violation({run(kInput), run(kForward)}), "step 1 (compute forward): needs weight, not in RAM");
  EXPECT_EQ(violation({in(kWeight), out(kWeight)}),
            "step 1 (page_out weight): its contents are on storage: nothing has updated it");
  const std::vector<Step> updated = {in(kWeight), run(kInput), run(kForward), run(kBackward), run(kUpdate)};
  const auto after = [&](std::vector<Step> more) {
    more.insert(more.begin(), updated.begin(), updated.end());
    return violation(more);
  };
  EXPECT_EQ(after({}), "after the last step: weight was not paged out after its update");
  EXPECT_EQ(after({free_of(kWeight)}), "step 5 (free weight): its update has not been paged out");
  EXPECT_EQ(after({out(kWeight)}), "");
  EXPECT_EQ(after({out(kWeight), out(kWeight)}),
            "step 6 (page_out weight): it has been paged out since its update");
  EXPECT_EQ(after({out(kWeight), free_of(kWeight), in(kWeight)}),
            "step 7 (page_in weight): nothing reads it after its update");
  EXPECT_EQ(after({out(kWeight), free_of(kWeight)}), "");
}

TEST(PagedValues, AreLoadsForTheSearch) {
  const WithLoads loads = with_loads(paged());
  ASSERT_EQ(loads.instance.graph.ops.size(), 5U);
  const OpId load(1);  // right before its first reader
  EXPECT_EQ(loads.loads[load], kWeight);
  EXPECT_FALSE(loads.original[load].valid());
  EXPECT_EQ(loads.written_home, Bytes(100));
  EXPECT_EQ(loads.instance.costs.ops[load].energy, Joules(1));
  EXPECT_EQ(loads.instance.costs.ops[load].runtime, Seconds(0));    // beside compute
  EXPECT_EQ(loads.instance.costs.ops[OpId(4)].energy, Joules(12));  // the update and its page-out
  const Dataflow flow = dataflow(loads.instance.graph);
  EXPECT_EQ(flow.last_recompute[load], OpId(4));
  EXPECT_EQ(flow.last_recompute[OpId(2)], OpId(4));
  // Loaded, dropped, loaded again.
  const Plan plan{
      {run(kInput), run(load), run(OpId(2)), free_of(ValueId(4)), run(OpId(3)), run(load), run(OpId(4))}};
  const std::vector<Step> expected = {run(kInput),    in(kWeight), run(kForward), free_of(kWeight),
                                      run(kBackward), in(kWeight), run(kUpdate),  out(kWeight)};
  EXPECT_EQ(without_loads(loads, paged(), plan).plan.steps, expected);
}

TEST(PagedValues, ThatNothingReadsAreNotLoaded) {
  Instance instance = paged();
  const Value weight = instance.graph.values[kWeight];
  instance.graph.values.push_back(weight);
  instance.costs.values.push_back(ValueCost(instance.costs.values[kWeight]));
  const WithLoads loads = with_loads(instance);
  EXPECT_EQ(loads.instance.graph.ops.size(), 5U);
  const Dataflow flow = dataflow(loads.instance.graph);
  for (const ValueId v : flow.transients) EXPECT_TRUE(flow.producer[v].valid());
}

TEST(PagedValues, SetsToTryBeginWithAllResident) {
  const std::vector<ValueId> all{kWeight};
  const std::vector<ValueId> none;
  EXPECT_EQ(paged_sets(instance(), {Bytes(1000), {}, {}}, regime_of(0)), (std::vector{none, all}));
  EXPECT_EQ(paged_sets(instance(), {Bytes(300), {}, {}}, regime_of(0)), (std::vector{none, all}));
  EXPECT_TRUE(paged_sets(instance(), {Bytes(299), {}, {}}, regime_of(0)).empty());
}

// The weight itself is no help to its update, which needs it in RAM.
TEST(PagedValues, ToFitAreThoseThatTheLargestOpsDoNotUse) {
  EXPECT_EQ(paged_to_fit(instance(), Bytes(300)), std::vector<ValueId>());  // as it is
  EXPECT_EQ(paged_to_fit(instance(), Bytes(299)), std::nullopt);
}

// Two ops of a chain with a weight each and one without: what the first needs most RAM for is not to be
// paged.
TEST(PagedValues, ToFitAreFew) {
  Instance made = instance();
  const ValueId other(4);
  made.graph.values.push_back(value("other", Persistence::parameter, OpId()));
  made.costs.values.push_back({Bytes(100), {Seconds(1), Joules(2)}, {Seconds(1), Joules(1)}});
  made.graph.ops[kBackward].inputs.push_back(other);
  made.costs.ops[kForward].workspace = Bytes(150);
  made.costs.persistent = Bytes(200);
  verify(made);
  const Bytes all_resident = ram_floor(with_paged(made, {}), Semantics::device).bytes();
  EXPECT_EQ(all_resident, Bytes(550));  // forward: both weights, data, result, workspace
  EXPECT_EQ(paged_to_fit(made, all_resident), std::vector<ValueId>());
  const auto paged = paged_to_fit(made, Bytes(450));
  ASSERT_EQ(paged, std::vector{other});
  EXPECT_EQ(ram_floor(with_paged(made, *paged), Semantics::device).bytes(), Bytes(450));
  EXPECT_EQ(paged_to_fit(made, Bytes(449)), std::nullopt);
}

// Twelve further weights, all read by `backward`; `forward` needs 400 bytes of workspace. The more is to stay
// free, the more weights have to go.
TEST(PagedValues, SetsToFitLeaveMoreAndMoreRoom) {
  Instance made = instance();
  for (int i = 4; i < 16; ++i) {
    made.graph.values.push_back(value("weight " + std::to_string(i), Persistence::parameter, OpId()));
    made.costs.values.push_back({Bytes(100), {Seconds(1), Joules(2)}, {Seconds(1), Joules(1)}});
    made.graph.ops[kBackward].inputs.push_back(ValueId(i));
  }
  made.costs.ops[kForward].workspace = Bytes(400);
  made.costs.persistent = Bytes(1300);
  verify(made);
  const Bytes all_resident = ram_floor(with_paged(made, {}), Semantics::device).bytes();
  const auto sets = sets_to_fit(made, all_resident, Bytes(640));
  std::vector<std::size_t> sizes;
  for (const std::vector<ValueId>& paged : sets) {
    sizes.push_back(paged.size());
    const auto is_new = [](ValueId v) { return v >= ValueId(4); };  // `forward` uses the other weight
    EXPECT_TRUE(std::ranges::all_of(paged, is_new));
  }
  // An eighth, a 16th and a 32nd need the same weight; where nothing is to stay free, none has to go.
  EXPECT_EQ(sizes, (std::vector<std::size_t>{4, 2, 1}));
  EXPECT_TRUE(sets_to_fit(made, all_resident, Bytes(0)).empty());
}

TEST(PagedValues, HaveTwoPlacesOnStorage) {
  Instance small = instance();
  small.costs.storage_capacity = Bytes(250);
  EXPECT_EQ(with_paged(small, {kWeight}).costs.storage_capacity, Bytes(50));
  EXPECT_EQ(with_paged(with_paged(small, {kWeight}), {}).costs.storage_capacity, Bytes(250));
  small.costs.storage_capacity = Bytes(150);
  EXPECT_EQ(paged_sets(small, {Bytes(1000), {}, {}}, regime_of(0)), std::vector<std::vector<ValueId>>{{}});
}

TEST(PagedValues, ResidentOnesSaveAtMostTheirTransfers) {
  // One page-in and the page-out, where there is room for the weight beside data, weight and result; a part
  // of that where there is less.
  EXPECT_DOUBLE_EQ(most_saved_by_residents(instance(), Bytes(1000)).value(), 3);
  EXPECT_DOUBLE_EQ(most_saved_by_residents(instance(), Bytes(250)).value(), 1.5);
  EXPECT_DOUBLE_EQ(most_saved_by_residents(instance(), Bytes(100)).value(), 0);
}

}  // namespace
}  // namespace poet
