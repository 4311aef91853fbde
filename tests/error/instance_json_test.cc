// One case per diagnostic about an instance: the file, the place in it, the rule, on one line.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "poet/base/error.h"
#include "poet/cost/instance_json.h"
#include "poet/cost/json_reader.h"

namespace poet {
namespace {

using Json = nlohmann::ordered_json;

const char* const kNodes =
    R"({"format": 1, "name": "n", "model": "m", "platform": "p", "batch_size": 1, "nodes": [
  {"name": "a", "backward": false, "deps": [], "ram_bytes": 4, "runtime_seconds": 0, "compute_joules": 0,
   "page_in_seconds": 1, "page_out_seconds": 1, "page_in_joules": 1, "page_out_joules": 1},
  {"name": "b", "backward": true, "deps": [0], "ram_bytes": 8, "runtime_seconds": 0.5, "compute_joules": 1e-3,
   "page_in_seconds": 1, "page_out_seconds": 1, "page_in_joules": 1, "page_out_joules": 1}]})";

const char* const kOps = R"({"format": 1, "name": "n", "device": {"concurrent": false, "idle_watts": 1},
 "persistent_bytes": 8, "has_storage": false,
 "ops": [
  {"name": "x", "kind": "input", "pass": "forward", "inputs": [], "outputs": [0], "recomputable": false,
   "runtime_seconds": 0, "compute_joules": 0},
  {"name": "y", "kind": "linear", "pass": "forward", "attributes": {"alpha": 0.5, "axes": [0, 1], "n": 3, "s": "t"},
   "inputs": [0, 2], "outputs": [1], "runtime_seconds": 1, "compute_joules": 2, "workspace_bytes": 16},
  {"name": "u", "kind": "made_up_update", "pass": "update", "inputs": [2, 1], "outputs": [], "updates": [2],
   "recomputable": false, "runtime_seconds": 1, "compute_joules": 2}],
 "values": [
  {"name": "x", "shape": [1], "dtype": "float32", "persistence": "input", "producer": 0, "bytes": 4, "ram_bytes": 4},
  {"name": "y", "shape": [2], "dtype": "float32", "persistence": "activation", "producer": 1, "bytes": 8, "ram_bytes": 8},
  {"name": "w", "shape": [2, 1], "dtype": "float32", "persistence": "parameter", "bytes": 8, "ram_bytes": 8},
  {"name": "v", "shape": [2], "strides": [1], "dtype": "float32", "persistence": "activation", "alias_of": 1, "bytes": 8,
   "ram_bytes": 0}]})";

std::string instance_diagnostic(const std::string& text) {
  try {
    static_cast<void>(instance_from_json(parse_json(text, "i.json"), "i.json"));
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

struct InstanceCase {
  std::string pointer;
  std::string replacement;  // JSON; "" removes
  std::string message;
};

void expect(const char* good, const std::vector<InstanceCase>& cases) {
  for (const InstanceCase& c : cases) {
    Json json = Json::parse(good);
    const Json::json_pointer where(c.pointer);
    if (!c.replacement.empty()) {
      json[where] = Json::parse(c.replacement);
    } else if (json.at(where.parent_pointer()).is_array()) {
      json.at(where.parent_pointer()).erase(std::stoul(where.back()));
    } else {
      json.at(where.parent_pointer()).erase(where.back());
    }
    EXPECT_EQ(instance_diagnostic(json.dump()), c.message) << c.pointer << " = " << c.replacement;
  }
}

TEST(InstanceErrors, TheInstancesThemselvesAreGood) {
  EXPECT_EQ(instance_diagnostic(kNodes), "no error");
  EXPECT_EQ(instance_diagnostic(kOps), "no error");
}

TEST(InstanceErrors, Nodes) {
  expect(
      kNodes,
      {
          {"/format", "", "i.json: /format: must be present, as in \"format\": 3"},
          {"/format", "4", "i.json: /format: must be <= 3"},
          {"/format", "1.0", "i.json: /format: must be an integer, written without point or exponent"},
          {"/name", "1", "i.json: /name: must be a string"},
          {"/batch_size", "0", "i.json: /batch_size: must be >= 1"},
          {"/nodes", "", "i.json: /nodes: must be present (or ops and values)"},
          {"/nodes", "[]", "i.json: /nodes: must not be empty"},
          {"/nodes", "{}", "i.json: /nodes: must be an array"},
          {"/nodes/0", "7", "i.json: /nodes/0: must be an object"},
          {"/ops", "[]", "i.json: /ops: must be absent when there are nodes"},
          {"/nodes/1/name", "", "i.json: /nodes/1/name: must be present"},
          {"/nodes/1/name", "\"a\\tb\"", "i.json: /nodes/1/name: must not contain control characters"},
          {"/nodes/1/backward", "0", "i.json: /nodes/1/backward: must be true or false"},
          {"/nodes/1/deps", "", "i.json: /nodes/1/deps: must be present"},
          {"/nodes/1/deps", "0", "i.json: /nodes/1/deps: must be an array"},
          {"/nodes/1/deps/0", "1", "i.json: /nodes/1/deps/0: must be an index below 1"},
          {"/nodes/1/deps/0", "-1", "i.json: /nodes/1/deps/0: must be >= 0"},
          {"/nodes/1/deps/0", "0.0",
           "i.json: /nodes/1/deps/0: must be an integer, written without point or exponent"},
          {"/nodes/1/deps/0", "4294967296", "i.json: /nodes/1/deps/0: must be an index below 1"},
          {"/nodes/0/deps/0", "1", "i.json: /nodes/0/deps/0: must be an index below 0"},
          {"/nodes/1/ram_bytes", "-4", "i.json: /nodes/1/ram_bytes: must be >= 0"},
          {"/nodes/1/ram_bytes", "4.5",
           "i.json: /nodes/1/ram_bytes: must be an integer, written without point or exponent"},
          {"/nodes/1/ram_bytes", "9223372036854775807",
           "i.json: /nodes/1/ram_bytes: must be <= 9007199254740992"},
          {"/nodes/1/runtime_seconds", "", "i.json: /nodes/1/runtime_seconds: must be present"},
          {"/nodes/1/runtime_seconds", "-1e-9", "i.json: /nodes/1/runtime_seconds: must be >= 0"},
          {"/nodes/1/runtime_seconds", "null", "i.json: /nodes/1/runtime_seconds: must be a number"},
          {"/nodes/1/compute_joules", "\"NaN\"", "i.json: /nodes/1/compute_joules: must be a number"},
          {"/nodes/1/page_in_seconds", "", "i.json: /nodes/1/page_in_seconds: must be present"},
          {"/nodes/1/page_out_joules", "-1", "i.json: /nodes/1/page_out_joules: must be >= 0"},
          {"/nodes/1/page_in_second", "1",
           "i.json: /nodes/1/page_in_second: is not a field here; did you mean page_in_seconds? known: name, "
           "backward, deps, ram_bytes, "
           "runtime_seconds, compute_joules, page_in_seconds, page_out_seconds, page_in_joules, "
           "page_out_joules"},
          {"/nodes/1", R"({"name": "b", "backward": true, "deps": [0], "ram_bytes": 8, "runtime_seconds": 1,
                           "compute_joules": 1})",
           "i.json: /nodes/1: must have page_* fields, as earlier entries do"},
          {"/nodes/0", R"({"name": "a", "backward": true, "deps": [], "ram_bytes": 8, "runtime_seconds": 1,
                           "compute_joules": 1})",
           "i.json: /nodes/1: has page_* fields, but earlier entries have none"},
          {"/nodes/1/runtime_seconds", "1.7e308", "no error"},
          {"/device", "[]", "i.json: /device: must be an object"},
          {"/device", R"({"idle_watts": -1})", "i.json: /device/idle_watts: must be >= 0"},
          {"/device", R"({"wake_seconds": "x"})", "i.json: /device/wake_seconds: must be a number"},
          {"/device", R"({"concurrent": 1})", "i.json: /device/concurrent: must be true or false"},
          {"/device", R"({"colour": 1})",
           "i.json: /device/colour: is not a field here; known: name, concurrent, idle_watts, wake_seconds, "
           "wake_joules, p95_over_median"},
          {"/device/p95_over_median", R"({"page_in": 0.5})",
           "i.json: /device/p95_over_median/page_in: must be >= 1: no quantile above the median is below it"},
      });
}

TEST(InstanceErrors, OpsAndValues) {
  expect(
      kOps,
      {
          {"/ops", "", "i.json: /nodes: must be present (or ops and values)"},
          {"/ops", "[]", "i.json: /values/0/producer: must be <= -1"},
          {"/values", "", "i.json: /values: must be present"},
          {"/values", "[]", "i.json: /ops/0/outputs/0: must be the index of a value, below 0"},
          {"/timing", "{}",
           "i.json: /timing: must be absent when there is a device: it would say the same twice"},
          {"/persistent_bytes", "-1", "i.json: /persistent_bytes: must be >= 0"},
          {"/has_storage", "true", "i.json: /has_storage: contradicts the values' page_* fields"},
          {"/ops/1/kind", "", "i.json: /ops/1/kind: must be present"},
          {"/ops/1/pass", "\"sideways\"",
           "i.json: /ops/1/pass: unknown pass 'sideways': must be one of forward, backward, update"},
          {"/ops/1/inputs/0", "4", "i.json: /ops/1/inputs/0: must be the index of a value, below 4"},
          {"/ops/1/outputs/0", "-1", "i.json: /ops/1/outputs/0: must be >= 0"},
          {"/ops/2/updates/0", "1.5",
           "i.json: /ops/2/updates/0: must be an integer, written without point or exponent"},
          {"/ops/1/attributes", "[]", "i.json: /ops/1/attributes: must be an object"},
          {"/ops/1/attributes/n", "null",
           "i.json: /ops/1/attributes/n: must be a number, a string or an array of integers"},
          {"/ops/1/attributes/n", "18446744073709551615",
           "i.json: /ops/1/attributes/n: must be <= 9223372036854775807"},
          {"/ops/1/attributes/axes/1", "0.5",
           "i.json: /ops/1/attributes/axes/1: must be an integer, written without point or exponent"},
          {"/ops/1/recomputable", "0", "i.json: /ops/1/recomputable: must be true or false"},
          {"/ops/1/workspace_bytes", "-1", "i.json: /ops/1/workspace_bytes: must be >= 0"},
          {"/ops/1/flops", "1",
           "i.json: /ops/1/flops: is not a field here; known: name, kind, pass, attributes, inputs, outputs, "
           "updates, "
           "recomputable, runtime_seconds, compute_joules, workspace_bytes"},
          {"/values/1/shape", "3", "i.json: /values/1/shape: must be an array"},
          {"/values/1/shape/0", "-3", "i.json: /values/1/shape/0: must be >= 0"},
          {"/values/1/dtype", "\"float8\"",
           "i.json: /values/1/dtype: unknown element type 'float8': must be one of float32, int32, int64, "
           "uint8, bfloat16"},
          {"/values/1/persistence", "\"eternal\"",
           "i.json: /values/1/persistence: unknown persistence 'eternal': must be one of activation, input, "
           "parameter, "
           "parameter_gradient, optimizer_state"},
          {"/values/1/producer", "3", "i.json: /values/1/producer: must be <= 2"},
          {"/values/3/alias_of", "4", "i.json: /values/3/alias_of: must be <= 3"},
          {"/values/1/ram_bytes", "", "i.json: /values/1/ram_bytes: must be present"},
          {"/values/1/page_in_seconds", "1", "i.json: /values/1/page_in_joules: must be present"},
          {"/values/1/size", "1",
           "i.json: /values/1/size: is not a field here; known: name, shape, strides, dtype, persistence, "
           "paged, "
           "producer, "
           "alias_of, bytes, part, rows, in_file, ram_bytes, page_in_seconds, page_out_seconds, "
           "page_in_joules, "
           "page_out_joules"},
          // What only the graph as a whole can say is said by op and value.
          {"/values/1/producer", "0",
           "i.json: value 1 'y': is written by op 1 'y' but names another producer, or none"},
          {"/ops/1/inputs/0", "1",
           "i.json: op 1 'y': reads value 1 'y', which it itself writes; ops must be in topological order, "
           "without cycles"},
          {"/values/3/ram_bytes", "8", "i.json: value 3 'v': a view occupies no RAM of its own"},
          {"/values/3/alias_of", "3", "i.json: value 3 'v': views may not form a cycle"},
      });
}

TEST(InstanceErrors, ProducerMayBeLeftOut) {
  Json json = Json::parse(kOps);
  json["values"][1].erase("producer");
  const Instance instance = instance_from_json(json, "i.json");
  EXPECT_EQ(instance.graph.values[ValueId(1)].producer, OpId(1));
}

TEST(InstanceErrors, RepeatedFields) {
  std::string text = kNodes;
  text.replace(text.find("\"batch_size\": 1"), 15, "\"batch_size\": 0, \"batch_size\": 3");
  EXPECT_EQ(instance_diagnostic(text), "i.json: \"batch_size\" is there twice in one object");
}

TEST(InstanceErrors, SumsThatOverflow) {
  Json json = Json::parse(kNodes);
  for (int i = 0; i < 2; ++i) json["nodes"][i]["runtime_seconds"] = 1.7e308;
  EXPECT_EQ(instance_diagnostic(json.dump()),
            "i.json: op 1 'b': the sum of costs up to here exceeds the range of a double");
}

/// What verify() says of an instance with one thing changed in memory, where JSON cannot express it.
template <class Change>
std::string verdict(const char* text, Change change) {
  Instance instance = instance_from_json(Json::parse(text), "x");
  change(instance);
  try {
    verify(instance);
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

TEST(InstanceErrors, Costs) {
  const double nan = std::nan("");
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(verdict(kNodes, [](Instance& i) { i.costs.ops = {}; }), "0 op costs for 2 ops");
  EXPECT_EQ(verdict(kNodes, [](Instance& i) { i.costs.values = {}; }), "0 value costs for 2 values");
  EXPECT_EQ(verdict(kNodes, [](Instance& i) { i.batch_size = 0; }), "the batch size must be >= 1, not 0");
  EXPECT_EQ(verdict(kNodes, [](Instance& i) { i.costs.persistent = Bytes(-1); }),
            "persistent: bytes must be >= 0, not -1");
  EXPECT_EQ(verdict(kNodes, [nan](Instance& i) { i.costs.ops[OpId(1)].runtime = Seconds(nan); }),
            "op 1 'b': runtime must be finite and >= 0, not nan");
  EXPECT_EQ(verdict(kNodes, [infinity](Instance& i) { i.costs.ops[OpId(1)].energy = Joules(infinity); }),
            "op 1 'b': energy must be finite and >= 0, not inf");
  EXPECT_EQ(verdict(kNodes, [](Instance& i) { i.costs.ops[OpId(1)].workspace = Bytes(-2); }),
            "op 1 'b': workspace must be >= 0, not -2");
  EXPECT_EQ(verdict(kNodes, [](Instance& i) { i.costs.values[ValueId(0)].bytes = Bytes(-2); }),
            "value 0 'a': RAM must be >= 0, not -2");
  EXPECT_EQ(verdict(kNodes, [](Instance& i) { i.costs.values[ValueId(0)].page_in.seconds = Seconds(-1); }),
            "value 0 'a': page-in seconds must be finite and >= 0, not -1");
  EXPECT_EQ(verdict(kNodes, [nan](Instance& i) { i.costs.values[ValueId(0)].page_out.energy = Joules(nan); }),
            "value 0 'a': page-out joules must be finite and >= 0, not nan");
  EXPECT_EQ(verdict(kNodes, [](Instance& i) { i.costs.has_storage = false; }),
            "value 0 'a': page-in must cost nothing: there is no storage");
  EXPECT_EQ(verdict(kNodes, [](Instance& i) { i.costs.timing.idle = Watts(-1); }),
            "device: idle watts must be finite and >= 0, not -1");
  EXPECT_EQ(verdict(kNodes, [](Instance& i) { i.costs.timing.wake_time = Seconds(-1); }),
            "device: wake seconds must be finite and >= 0, not -1");
  EXPECT_EQ(verdict(kNodes, [](Instance& i) { i.costs.timing.wake_energy = Joules(-1); }),
            "device: wake joules must be finite and >= 0, not -1");
  EXPECT_EQ(verdict(kNodes,
                    [](Instance& i) {
                      for (ValueCost& cost : i.costs.values)
                        cost.bytes = Bytes(std::numeric_limits<std::int64_t>::max());
                    }),
            "value 1 'b': the sum of bytes up to here exceeds 64 bits");
}

}  // namespace
}  // namespace poet
