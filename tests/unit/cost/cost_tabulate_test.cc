#include "poet/cost/tabulate.h"

#include <gtest/gtest.h>

#include "poet/base/error.h"
#include "poet/cost/instance.h"
#include "tests/support/one_op.h"

namespace poet {
namespace {

using test::last_op;
using test::one_op;
using test::parameter;

/// 1000 operations and 100 bytes a second at 2 W; storage in blocks of 16 bytes.
DeviceProfile device() {
  DeviceProfile d;
  d.name = "toy";
  d.ram = Bytes(1000);
  d.flops_per_second = 1000;
  d.memory_bytes_per_second = 100;
  d.active = Watts(2);
  d.idle = Watts(0.5);
  Storage storage;
  storage.capacity = Bytes(100000);
  storage.block = Bytes(16);
  storage.page_in = {Seconds(0.25), 64, Watts(3)};
  storage.page_out = {Seconds(0.5), 32, Watts(5)};
  storage.concurrent = false;
  storage.wake_time = Seconds(0.125);
  storage.wake_energy = Joules(0.0625);
  d.storage = storage;
  return d;
}

Graph linear_graph() { return one_op("linear", {{{2, 3}}, parameter({5, 3})}, {{{2, 5}}}); }

TEST(Tabulate, RooflineMemorySide) {
  // relu of 6 elements: 6 / 1000 s of computing, 48 bytes / 100 = 0.48 s of moving; 2 W.
  const Graph graph = one_op("relu", {{{2, 3}}}, {{{2, 3}}});
  const CostTable costs = tabulate(graph, device());
  EXPECT_DOUBLE_EQ(costs.ops[last_op(graph)].runtime.value(), 0.48);
  EXPECT_DOUBLE_EQ(costs.ops[last_op(graph)].energy.value(), 0.96);
}

TEST(Tabulate, RooflineComputeSide) {
  // (16,16)*(16,16): 16^3 * 2 = 8192 operations = 8.192 s at 1000/s; at 1e6 bytes/s moving takes 3 ms.
  DeviceProfile d = device();
  d.memory_bytes_per_second = 1e6;
  const Graph graph = one_op("matmul", {{{16, 16}}, {{16, 16}}}, {{{16, 16}}});
  const CostTable costs = tabulate(graph, d);
  EXPECT_DOUBLE_EQ(costs.ops[last_op(graph)].runtime.value(), 8.192);
  EXPECT_DOUBLE_EQ(costs.ops[last_op(graph)].energy.value(), 16.384);
}

TEST(Tabulate, InputsCostNothing) {
  const CostTable costs = tabulate(linear_graph(), device());
  EXPECT_EQ(costs.ops[OpId(0)].runtime, Seconds(0));
  EXPECT_EQ(costs.ops[OpId(0)].energy, Joules(0));
}

TEST(Tabulate, TransfersRoundUpToBlocks) {
  // y is 40 bytes: 3 blocks, 48 bytes. In: 0.25 + 48/64 = 1 s at 3 W. Out: 0.5 + 48/32 = 2 s at 5 W.
  const CostTable costs = tabulate(linear_graph(), device());
  const ValueCost y = costs.values[ValueId(2)];
  EXPECT_EQ(y.bytes, Bytes(40));
  EXPECT_DOUBLE_EQ(y.page_in.seconds.value(), 1);
  EXPECT_DOUBLE_EQ(y.page_in.energy.value(), 3);
  EXPECT_DOUBLE_EQ(y.page_out.seconds.value(), 2);
  EXPECT_DOUBLE_EQ(y.page_out.energy.value(), 10);
}

TEST(Tabulate, WholeBlocksAreNotRounded) {
  // 16 bytes are one block: 0.25 + 16/64 = 0.5 s.
  const Graph graph = one_op("relu", {{{4}}}, {{{4}}});
  EXPECT_DOUBLE_EQ(tabulate(graph, device()).values[ValueId(1)].page_in.seconds.value(), 0.5);
}

TEST(Tabulate, TimingIsTheDevices) {
  const CostTable costs = tabulate(linear_graph(), device());
  EXPECT_TRUE(costs.has_storage);
  EXPECT_FALSE(costs.timing.concurrent);
  EXPECT_EQ(costs.timing.idle, Watts(0.5));
  EXPECT_EQ(costs.timing.wake_time, Seconds(0.125));
  EXPECT_EQ(costs.timing.wake_energy, Joules(0.0625));
}

TEST(Tabulate, WithoutStorageNothingCanBePaged) {
  DeviceProfile d = device();
  d.storage.reset();
  Instance instance;
  instance.graph = linear_graph();
  instance.costs = tabulate(instance.graph, d);
  EXPECT_FALSE(instance.costs.has_storage);
  EXPECT_EQ(instance.costs.values[ValueId(2)].page_in.seconds, Seconds(0));
  EXPECT_EQ(instance.costs.timing.idle, Watts(0.5));
  EXPECT_NO_THROW(verify(instance));
}

/// sgd_update with its gradient: values are the parameter (24 bytes) and a parameter gradient (24 bytes).
Graph update_graph() {
  return one_op("sgd_update", {parameter({2, 3}), {{2, 3}, DType::float32, Persistence::parameter_gradient}},
                {}, {}, {0});
}

TEST(Tabulate, CountedParametersArePersistentAndGradientsAreNot) {
  const CostTable costs = tabulate(update_graph(), device(), PersistentPolicy::resident);
  EXPECT_EQ(costs.persistent, Bytes(24));
  EXPECT_EQ(costs.values[ValueId(0)].bytes, Bytes(24));
  EXPECT_EQ(costs.values[ValueId(1)].bytes, Bytes(24));
}

TEST(Tabulate, ExcludedValuesOccupyNothingButAreNotFreeToPage) {
  const CostTable counted = tabulate(update_graph(), device(), PersistentPolicy::resident);
  const CostTable costs = tabulate(update_graph(), device(), PersistentPolicy::excluded);
  EXPECT_EQ(costs.persistent, Bytes(0));
  EXPECT_EQ(costs.values[ValueId(0)].bytes, Bytes(0));
  EXPECT_EQ(costs.values[ValueId(1)].bytes, Bytes(0));
  // 24 bytes, 2 blocks: 0.25 + 32/64.
  EXPECT_DOUBLE_EQ(costs.values[ValueId(1)].page_in.seconds.value(), 0.75);
  EXPECT_EQ(costs.values[ValueId(1)].page_out.energy, counted.values[ValueId(1)].page_out.energy);
}

TEST(Tabulate, ViewsOccupyNothing) {
  Graph graph = one_op("relu", {{{2, 3}}}, {{{2, 3}}});
  Value view = graph.values[ValueId(1)];
  view.alias_of = ValueId(1);
  view.producer = OpId();
  view.shape = {6};
  graph.values.push_back(view);
  const CostTable costs = tabulate(verified(graph), device());
  EXPECT_EQ(costs.values[ValueId(1)].bytes, Bytes(24));
  EXPECT_EQ(costs.values[ValueId(2)].bytes, Bytes(0));
}

TEST(ShapeClass, NamesInputsAndOutputs) {
  const Graph linear = linear_graph();
  EXPECT_EQ(shape_class(linear, last_op(linear)), "2x3,5x3->2x5");
  const Graph update = update_graph();
  EXPECT_EQ(shape_class(update, last_op(update)), "2x3,2x3->2x3");
  const Graph scalar = one_op("relu", {{{}}}, {{{}}});
  EXPECT_EQ(shape_class(scalar, last_op(scalar)), "scalar->scalar");
}

TEST(Tabulate, OverrideReplacesTimeAndEnergyOfItsKindAndShapesOnly) {
  DeviceProfile d = device();
  d.overrides = {{"linear", "2x3,5x3->2x5", Seconds(7), Joules(11)},
                 {"relu", "2x3,5x3->2x5", Seconds(1), Joules(1)},
                 {"linear", "9x3,5x3->9x5", Seconds(1), Joules(1)}};
  const Graph graph = linear_graph();
  const OpCost cost = tabulate(graph, d).ops[last_op(graph)];
  EXPECT_EQ(cost.runtime, Seconds(7));
  EXPECT_EQ(cost.energy, Joules(11));
  // Another shape keeps the model: 4 rows. 4*3*5*2 = 120 operations = 0.12 s; (12 + 15 + 20) * 4 / 100 = 1.88
  // s.
  const Graph other = one_op("linear", {{{4, 3}}, parameter({5, 3})}, {{{4, 5}}});
  EXPECT_DOUBLE_EQ(tabulate(other, d).ops[last_op(other)].runtime.value(), 1.88);
}

TEST(Tabulate, RatesOfAKindAddUpWhereNoOverrideCounts) {
  DeviceProfile d = device();
  d.rates = {{"linear", false, Seconds(5), Seconds(9), Seconds(0.25), 120.0, 376.0},
             {"relu", false, Seconds(1), Seconds(3), Seconds(10), 0, 0}};
  const Graph other = one_op("linear", {{{4, 3}}, parameter({5, 3})}, {{{4, 5}}});
  // 5 s, no planes, 4 rows, 120 operations, (12 + 15 + 20) * 4 = 188 bytes.
  const OpCost cost = tabulate(other, d).ops[last_op(other)];
  EXPECT_DOUBLE_EQ(cost.runtime.value(), 5 + 4 * 0.25 + 1 + 0.5);
  EXPECT_DOUBLE_EQ(cost.energy.value(), (d.active * cost.runtime).value());
  const Graph planes = one_op("relu", {{{2, 3, 4, 5}}}, {{{2, 3, 4, 5}}});
  EXPECT_DOUBLE_EQ(tabulate(planes, d).ops[last_op(planes)].runtime.value(), 1 + 6 * 3 + 24 * 10);
  d.overrides = {{"linear", "4x3,5x3->4x5", Seconds(7), Joules(11)}};
  EXPECT_EQ(tabulate(other, d).ops[last_op(other)].runtime, Seconds(7));
}

TEST(Tabulate, FiguresBeyondADoubleAreADiagnostic) {
  DeviceProfile slow = device();
  slow.flops_per_second = 1e-308;
  EXPECT_THROW(static_cast<void>(tabulate(linear_graph(), slow)), InputError);
  DeviceProfile stuck = device();
  stuck.storage->page_out.bytes_per_second = 1e-308;
  EXPECT_THROW(static_cast<void>(tabulate(linear_graph(), stuck)), InputError);
}

}  // namespace
}  // namespace poet
