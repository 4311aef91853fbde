// Posing a problem: floors, budgets and limits by hand, on the chain of tests/support.

#include "poet/pipeline/pose.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "poet/base/error.h"
#include "poet/compile.h"
#include "poet/cost/instance_json.h"
#include "poet/frontend/zoo.h"
#include "poet/pipeline/solve_options.h"
#include "tests/support/tiny_instance.h"

namespace poet::test {
namespace {

using testing::HasSubstr;

std::string message_of(const NetworkSpec& network, const DeviceSpec& device, const Policy& policy) {
  try {
    (void)pose(network, device, policy);
  } catch (const InputError& error) {
    return error.what();
  }
  return "no exception";
}

TEST(RamFloor, IsTheLargestWorkingSet) {
  Instance instance = chain();  // a: 10 bytes; b reads a: 10 + 20; c reads b: 20 + 5; d: 10 + 5 + 1
  EXPECT_EQ(ram_floor(instance, Semantics::device).bytes(), Bytes(30));
  EXPECT_EQ(ram_floor(instance, Semantics::device).op, OpId(1));
  instance.costs.ops[OpId(2)].workspace = Bytes(9);  // c: 34
  instance.costs.persistent = Bytes(100);
  const RamFloor floor = ram_floor(instance, Semantics::device);
  EXPECT_EQ(floor.bytes(), Bytes(134));
  EXPECT_EQ(floor.op, OpId(2));
  EXPECT_EQ(floor.persistent, Bytes(100));
  EXPECT_EQ(floor.largest.values, Bytes(25));
  EXPECT_EQ(floor.largest.workspace, Bytes(9));
  EXPECT_EQ(ram_floor(instance, Semantics::published).bytes(), Bytes(130));
}

TEST(WriteLimit, IsWhatTheStorageHolds) {
  Instance instance = chain();  // 36 bytes in all
  Limits limits;
  EXPECT_FALSE(write_limit(instance.costs, limits));
  instance.costs.storage_capacity = Bytes(36);  // holds all that there is
  EXPECT_FALSE(write_limit(instance.costs, limits));
  instance.costs.storage_capacity = Bytes(35);
  EXPECT_EQ(write_limit(instance.costs, limits), Bytes(35));
  limits.max_bytes_written = Bytes(50);
  EXPECT_EQ(write_limit(instance.costs, limits), Bytes(35));
  limits.max_bytes_written = Bytes(7);
  EXPECT_EQ(write_limit(instance.costs, limits), Bytes(7));
}

TEST(LimitsOf, AreRelativeToTheInstance) {
  Workload workload;
  workload.instance = chain();
  workload.whole_keep_all = Bytes(1200);
  Figures figures;
  figures.keep_all.peak_ram = Bytes(1000);
  figures.keep_all.runtime = Seconds(2);
  figures.floor.persistent = Bytes(150);
  figures.floor.largest.values = Bytes(50);
  Policy policy;
  policy.ram = RamAboveFloor{0.25};
  policy.deadline.factor = 1.5;
  Limits limits = limits_of(policy, workload, figures);
  EXPECT_EQ(limits.ram_budget, Bytes(400));  // 200 + 0.25 * 800
  EXPECT_EQ(limits.deadline, Seconds(3));
  EXPECT_FALSE(limits.max_bytes_written);
  policy.ram = RamAboveFloor{1};
  EXPECT_EQ(limits_of(policy, workload, figures).ram_budget, Bytes(1000));
  policy.ram = RamAboveFloor{0.999};  // 799.2 cut off
  EXPECT_EQ(limits_of(policy, workload, figures).ram_budget, Bytes(999));

  policy.ram = {};
  policy.ram = RamOfKeepAll{0.0101};  // 12.12 cut off
  EXPECT_EQ(limits_of(policy, workload, figures).ram_budget, Bytes(12));

  policy.ram = {};
  policy.ram = Bytes(77);
  policy.deadline = {std::nullopt, Seconds(0.1)};
  policy.max_bytes_written = Bytes(30);
  workload.instance.costs.storage_capacity = Bytes(33);
  limits = limits_of(policy, workload, figures);
  EXPECT_EQ(limits.ram_budget, Bytes(77));
  EXPECT_EQ(limits.deadline, Seconds(0.1));
  EXPECT_EQ(limits.max_bytes_written, Bytes(30));
  workload.instance.costs.storage_capacity = Bytes(20);
  EXPECT_EQ(limits_of(policy, workload, figures).max_bytes_written, Bytes(20));
}

TEST(Pose, BuildsANetworkOnADevice) {
  NetworkSpec network{BuiltInNetwork{"linear", std::nullopt}, 2, Optimizer::adam, std::nullopt};
  Policy policy;
  policy.ram = RamAboveFloor{0.5};
  policy.deadline.factor = 1.25;
  const Posed posed = pose(network, {"m4", std::nullopt}, policy);
  const Instance& instance = posed.workload.instance;
  EXPECT_EQ(instance.model, "linear");
  EXPECT_EQ(instance.platform, "m4");
  EXPECT_EQ(instance.batch_size, 2);
  EXPECT_EQ(posed.workload.semantics, Semantics::device);
  EXPECT_EQ(posed.workload.origin, "built-in network");
  ASSERT_TRUE(posed.workload.device && posed.workload.device->storage);
  EXPECT_EQ(instance.costs.storage_capacity, posed.workload.device->storage->capacity);
  // Parameters and Adam's two states for each: 43,590 of four bytes.
  EXPECT_EQ(posed.figures.floor.persistent, Bytes(3 * 4 * 43590));
  EXPECT_EQ(posed.limits.deadline, 1.25 * posed.figures.keep_all.runtime);
  EXPECT_GT(posed.limits.ram_budget, posed.figures.floor.bytes());
  EXPECT_LT(posed.limits.ram_budget, posed.figures.keep_all.peak_ram);

  policy.persistent = PersistentPolicy::excluded;
  const Posed excluded = pose(network, {"m4", std::nullopt}, policy);
  EXPECT_TRUE(excluded.workload.persistent_excluded);
  EXPECT_EQ(excluded.figures.floor.persistent, Bytes(0));

  // A profile as a value is as good as its name.
  const Posed by_value = pose(network, {"", posed.workload.device}, policy);
  EXPECT_EQ(by_value.figures.keep_all.energy, excluded.figures.keep_all.energy);

  // So is a graph.
  network.source = ForwardGraph{build_network("linear", {2, {}}), 2};
  EXPECT_THAT(message_of(network, {"m4", {}}, policy), HasSubstr("batch_size: was fixed"));
  network.batch_size.reset();
  const Posed by_graph = pose(network, {"m4", {}}, policy);
  EXPECT_EQ(by_graph.workload.instance.batch_size, 2);
  EXPECT_EQ(by_graph.figures.keep_all.energy, excluded.figures.keep_all.energy);
  EXPECT_EQ(by_graph.figures.floor.bytes(), excluded.figures.floor.bytes());
}

TEST(Pose, RefusesWhatAFixedGraphCannotObey) {
  const BuiltInNetwork linear{"linear", std::nullopt};
  Policy policy;
  policy.semantics = Semantics::published;
  EXPECT_THAT(message_of({linear, 2, {}, {}}, {"m4", {}}, policy), HasSubstr("batch_size: published"));
  EXPECT_THAT(message_of({linear, 1, Optimizer::sgd, {}}, {"m4", {}}, policy), HasSubstr("optimizer: "));
  EXPECT_THAT(message_of({linear, {}, {}, {}}, {"nowhere", {}}, policy),
              HasSubstr("no published instance of linear on nowhere; there are "));
  EXPECT_THAT(message_of({linear, {}, {}, {}}, {}, {}), HasSubstr("platform: is missing"));
  EXPECT_THAT(message_of({linear, {}, {}, "conv*"}, {"m4", {}}, {}),
              HasSubstr("trainable: \"conv*\" matches none of the 12 parameters"));
  EXPECT_THAT(message_of({InstanceFile{"x.json"}, {}, {}, {}}, {"m4", {}}, {}),
              HasSubstr("platform: an instance file holds its costs"));
  Policy endless;
  endless.deadline.factor = 1e300;
  endless.deadline.time = Seconds(std::numeric_limits<double>::infinity());
  EXPECT_THAT(message_of({linear, {}, {}, {}}, {"m4", {}}, endless),
              HasSubstr("deadline.time: the deadline that follows is not finite"));
}

// Whoever has the instance has the capacity with it: in a file, in a solve, in a replay.
TEST(StorageCapacity, CannotBeLost) {
  const NetworkSpec network{BuiltInNetwork{"resnet18_cifar", std::nullopt}, {}, {}, {}};
  Policy policy;
  policy.persistent = PersistentPolicy::excluded;
  policy.rematerialization = false;
  policy.ram = RamAboveFloor{0.5};
  const Posed posed = pose(network, {"a72", std::nullopt}, policy);
  CompileRequest request;
  request.instance = posed.workload.instance;
  request.limits = posed.limits;
  request.options = solve_options(policy, {});
  request.options.time_limit_seconds = 5;
  request.options.explain = false;
  const CompileResult free = compile(request);
  ASSERT_GT(free.report.bytes_written, Bytes(0));

  request.instance.costs.storage_capacity = free.report.bytes_written - Bytes(1);
  const Report over = replay(request.instance, free.plan, request.semantics, request.limits);
  EXPECT_THAT(over.violation, HasSubstr("bytes written to storage so far, which holds "));
  EXPECT_TRUE(compile(request).report.bytes_written < free.report.bytes_written);
  request.instance.costs.storage_capacity = Bytes(0);
  EXPECT_EQ(compile(request).report.bytes_written, Bytes(0));

  const Instance read = instance_from_json(to_json(request.instance), "x.json");
  EXPECT_EQ(read.costs.storage_capacity, Bytes(0));
}

}  // namespace
}  // namespace poet::test
