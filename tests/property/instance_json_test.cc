// Whatever the instance: reading what was written gives the same instance, to the last bit.

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <nlohmann/json.hpp>
#include <random>

#include "poet/cost/instance_json.h"
#include "poet/cost/json_reader.h"

namespace poet {
namespace {

class Maker {
 public:
  explicit Maker(std::uint64_t seed) : random_(seed) {}

  Instance make() {
    Instance instance;
    Graph& graph = instance.graph;
    graph.name = text();
    instance.model = text();
    instance.platform = text();
    instance.source = text();
    instance.batch_size = 1 + below(1000);
    instance.has_device = below(2) == 0;
    instance.costs.has_storage = below(3) != 0;
    if (instance.has_device || below(4) == 0) {
      instance.costs.timing = {below(2) == 0, Watts(figure()), Seconds(figure()), Joules(figure())};
      if (below(2) == 0) instance.costs.timing.variation = {1 + 1.0 / 3, 1, 1000, 1.1};
    }
    const std::int64_t parameters = below(4);
    for (std::int64_t p = 0; p < parameters; ++p) {
      Value& value = add_value(instance, OpId());
      value.persistence = below(2) == 0 ? Persistence::parameter : Persistence::optimizer_state;
    }
    instance.costs.persistent = Bytes(below(1 << 20));
    const std::int64_t ops = 1 + below(8);
    for (std::int64_t i = 0; i < ops; ++i) add_op(instance);
    if (parameters > 0 && below(2) == 0) add_update(instance);
    verify(instance);
    return instance;
  }

 private:
  std::int64_t below(std::int64_t limit) {
    return std::uniform_int_distribution<std::int64_t>(0, limit - 1)(random_);
  }

  /// Any finite non-negative double up to 1e200, denormals and awkward decimals included.
  double figure() {
    switch (below(5)) {
      case 0:
        return 0;
      case 1:
        return 5e-324;
      case 2:
        return 0.1 + 0.2;
      default:
        return std::ldexp(std::uniform_real_distribution<double>(1, 2)(random_),
                          static_cast<int>(below(1300)) - 650);
    }
  }

  std::string text() {
    static const std::vector<std::string> texts = {"", "a/b~c", "\"quoted\" \\", "\u00fc\u4e2d",
                                                   "0_InputLayer"};
    return texts[static_cast<std::size_t>(below(5))] + std::to_string(below(100));
  }

  TransferCost transfer(const Instance& instance) {
    return instance.costs.has_storage ? TransferCost{Seconds(figure()), Joules(figure())} : TransferCost{};
  }

  Value& add_value(Instance& instance, OpId producer) {
    Value value;
    value.name = text();
    value.dtype = static_cast<DType>(below(4));
    for (std::int64_t d = below(4); d > 0; --d) value.shape.push_back(below(5));
    if (below(3) == 0) value.strides = Shape(value.shape.size(), below(7) - 3);
    value.bytes = byte_count(value.shape, value.dtype);
    value.producer = producer;
    instance.costs.values.push_back({Bytes(below(1 << 20)), transfer(instance), transfer(instance)});
    instance.graph.values.push_back(value);
    return instance.graph.values[ValueId(instance.graph.values.size() - 1)];
  }

  void add_view(Instance& instance, ValueId base) {
    Value view = instance.graph.values[base];
    view.name = text();
    view.alias_of = base;
    view.producer = OpId();
    instance.graph.values.push_back(view);
    instance.costs.values.push_back({Bytes(0), transfer(instance), transfer(instance)});
  }

  void add_op(Instance& instance) {
    Graph& graph = instance.graph;
    Op op;
    op.name = text();
    op.kind = below(2) == 0 ? "published" : "made_up";
    op.pass = below(2) == 0 ? Pass::forward : Pass::backward;
    op.recomputable = below(4) != 0;
    for (std::int64_t n = graph.values.empty() ? 0 : below(4); n > 0; --n) {
      op.inputs.push_back(
          ValueId(static_cast<std::int32_t>(below(static_cast<std::int64_t>(graph.values.size())))));
    }
    if (below(2) == 0) op.attributes["eps"] = figure();
    if (below(2) == 0) op.attributes["one"] = 1.0;
    if (below(2) == 0) op.attributes["groups"] = below(9) - 4;
    if (below(2) == 0) op.attributes["mode"] = text();
    if (below(2) == 0)
      op.attributes["axes"] = std::vector<std::int64_t>(static_cast<std::size_t>(below(3)), 2);
    const OpId id = graph.ops.next_id();
    for (std::int64_t n = 1 + below(3); n > 0; --n) {
      const ValueId v = graph.values.next_id();
      Value& value = add_value(instance, id);
      if (!op.recomputable && below(2) == 0) value.persistence = Persistence::input;
      op.outputs.push_back(v);
      if (below(4) == 0) add_view(instance, v);
    }
    graph.ops.push_back(op);
    instance.costs.ops.push_back({Seconds(figure()), Joules(figure()), Bytes(below(3) * 64)});
  }

  void add_update(Instance& instance) {
    Op op;
    op.name = text();
    op.kind = "made_up_update";
    op.pass = Pass::update;
    op.recomputable = false;
    op.inputs = {ValueId(0)};
    op.updates = {ValueId(0)};
    instance.graph.ops.push_back(op);
    instance.costs.ops.push_back({});
  }

  std::mt19937_64 random_;
};

void expect_same(const Instance& a, const Instance& b) {
  RC_ASSERT(a.graph.name == b.graph.name);
  RC_ASSERT(a.model == b.model);
  RC_ASSERT(a.platform == b.platform);
  RC_ASSERT(a.source == b.source);
  RC_ASSERT(a.batch_size == b.batch_size);
  RC_ASSERT(a.has_device == b.has_device);
  RC_ASSERT(a.costs.has_storage == b.costs.has_storage);
  RC_ASSERT(a.costs.persistent == b.costs.persistent);
  RC_ASSERT(a.costs.timing.concurrent == b.costs.timing.concurrent);
  RC_ASSERT(a.costs.timing.idle == b.costs.timing.idle);
  RC_ASSERT(a.costs.timing.wake_time == b.costs.timing.wake_time);
  RC_ASSERT(a.costs.timing.wake_energy == b.costs.timing.wake_energy);
  RC_ASSERT(a.costs.timing.variation == b.costs.timing.variation);
  RC_ASSERT(a.graph.ops.size() == b.graph.ops.size());
  RC_ASSERT(a.graph.values.size() == b.graph.values.size());
  for (const OpId id : ids<OpId>(a.graph.ops.size())) {
    const Op& x = a.graph.ops[id];
    const Op& y = b.graph.ops[id];
    RC_ASSERT(x.name == y.name);
    RC_ASSERT(x.kind == y.kind);
    RC_ASSERT(x.pass == y.pass);
    RC_ASSERT(x.recomputable == y.recomputable);
    RC_ASSERT((x.attributes == y.attributes));
    RC_ASSERT((x.inputs == y.inputs && x.outputs == y.outputs && x.updates == y.updates));
    RC_ASSERT(a.costs.ops[id].runtime == b.costs.ops[id].runtime);
    RC_ASSERT(a.costs.ops[id].energy == b.costs.ops[id].energy);
    RC_ASSERT(a.costs.ops[id].workspace == b.costs.ops[id].workspace);
  }
  for (const ValueId v : ids<ValueId>(a.graph.values.size())) {
    const Value& x = a.graph.values[v];
    const Value& y = b.graph.values[v];
    RC_ASSERT(x.name == y.name);
    RC_ASSERT(x.shape == y.shape);
    RC_ASSERT(x.strides == y.strides);
    RC_ASSERT(x.dtype == y.dtype);
    RC_ASSERT(x.bytes == y.bytes);
    RC_ASSERT((x.producer == y.producer && x.alias_of == y.alias_of));
    RC_ASSERT(x.persistence == y.persistence);
    const ValueCost& p = a.costs.values[v];
    const ValueCost& q = b.costs.values[v];
    RC_ASSERT(p.bytes == q.bytes);
    RC_ASSERT((p.page_in.seconds == q.page_in.seconds && p.page_in.energy == q.page_in.energy));
    RC_ASSERT((p.page_out.seconds == q.page_out.seconds && p.page_out.energy == q.page_out.energy));
  }
}

RC_GTEST_PROP(InstanceJson, RoundTripIsExact, (std::uint64_t seed)) {
  const Instance instance = Maker(seed).make();
  const std::string text = to_json(instance).dump();
  const Instance back = instance_from_json(parse_json(text, "x"), "x");
  expect_same(instance, back);
  RC_ASSERT(to_json(back).dump() == text);
}

/// In the published form, which must win whenever it loses nothing.
RC_GTEST_PROP(InstanceJson, NodesStayNodes, (std::uint64_t seed)) {
  std::mt19937_64 random(seed);
  const auto below = [&random](std::int64_t limit) {
    return std::uniform_int_distribution<std::int64_t>(0, limit - 1)(random);
  };
  const bool has_storage = below(2) == 0;
  nlohmann::ordered_json json = {{"format", 1}, {"name", "n"}, {"nodes", nlohmann::ordered_json::array()}};
  const std::int64_t count = 1 + below(10);
  for (std::int64_t i = 0; i < count; ++i) {
    nlohmann::ordered_json node = {{"name", "n" + std::to_string(i)}, {"backward", below(2) == 0}};
    node["deps"] = nlohmann::ordered_json::array();
    for (std::int64_t n = below(3); i > 0 && n > 0; --n) node["deps"].push_back(below(i));
    node["ram_bytes"] = below(1000);
    node["runtime_seconds"] = static_cast<double>(below(1000)) / 7;
    node["compute_joules"] = static_cast<double>(below(1000)) / 11;
    if (has_storage) {
      for (const char* key : {"page_in_seconds", "page_out_seconds", "page_in_joules", "page_out_joules"}) {
        node[key] = static_cast<double>(below(1000)) / 13;
      }
    }
    json["nodes"].push_back(node);
  }
  const Instance instance = instance_from_json(json, "x");
  RC_ASSERT(to_json(instance)["nodes"].dump() == json["nodes"].dump());
  expect_same(instance, instance_from_json(to_json(instance), "x"));
}

}  // namespace
}  // namespace poet
