// The instance file's two forms; docs/formats_instance.md describes them.

#include "poet/cost/instance_json.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "poet/base/error.h"
#include "poet/cost/json_reader.h"
#include "poet/cost/variation_json.h"

namespace poet {

using Json = nlohmann::ordered_json;

namespace {

constexpr std::int64_t kMostInt = std::numeric_limits<std::int64_t>::max();
constexpr const char* kPublishedKind = "published";
constexpr std::initializer_list<const char*> kPageFields = {"page_in_seconds", "page_out_seconds",
                                                            "page_in_joules", "page_out_joules"};

// ---- reading

Bytes byte_field(const JsonField& field) { return Bytes(field.integer(0, kMostBytes)); }

/// All four page_* fields or none. Returns whether they are there.
bool read_transfers(const JsonField& json, ValueCost& cost) {
  const auto present = std::count_if(kPageFields.begin(), kPageFields.end(),
                                     [&json](const char* key) { return json.has(key); });
  if (present == 0) return false;
  cost.page_in = {Seconds(json.at("page_in_seconds").non_negative()),
                  Joules(json.at("page_in_joules").non_negative())};
  cost.page_out = {Seconds(json.at("page_out_seconds").non_negative()),
                   Joules(json.at("page_out_joules").non_negative())};
  return true;
}

/// Storage is there for all values of a file or for none.
void agree_on_storage(const JsonField& json, bool here, bool first, CostTable& costs) {
  if (first) costs.has_storage = here;
  if (here == costs.has_storage) return;
  json.fail(here ? "has page_* fields, but earlier entries have none"
                 : "must have page_* fields, as earlier entries do");
}

OpCost read_op_cost(const JsonField& json) {
  OpCost cost;
  cost.runtime = Seconds(json.at("runtime_seconds").non_negative());
  cost.energy = Joules(json.at("compute_joules").non_negative());
  if (json.has("workspace_bytes")) cost.workspace = byte_field(json.at("workspace_bytes"));
  return cost;
}

void read_nodes(const JsonField& nodes, Instance& instance) {
  std::int32_t index = 0;
  for (const JsonField& node : nodes.items()) {
    node.only({"name", "backward", "deps", "ram_bytes", "runtime_seconds", "compute_joules",
               "page_in_seconds", "page_out_seconds", "page_in_joules", "page_out_joules"});
    Op op;
    op.name = node.at("name").name();
    op.kind = kPublishedKind;
    op.pass = node.at("backward").boolean() ? Pass::backward : Pass::forward;
    for (const JsonField& dep : node.at("deps").items()) {
      const std::int64_t id = dep.integer(0, kMostInt);
      if (id >= index) dep.fail("must be an index below " + std::to_string(index));
      op.inputs.emplace_back(static_cast<std::int32_t>(id));
    }
    op.outputs = {ValueId(index)};

    ValueCost cost;
    cost.bytes = byte_field(node.at("ram_bytes"));
    agree_on_storage(node, read_transfers(node, cost), index == 0, instance.costs);
    Value value;
    value.name = op.name;
    value.shape = {cost.bytes.value()};
    value.dtype = DType::uint8;
    value.bytes = cost.bytes;
    value.producer = OpId(index);

    instance.graph.ops.push_back(std::move(op));
    instance.graph.values.push_back(std::move(value));
    instance.costs.ops.push_back(read_op_cost(node));
    instance.costs.values.push_back(cost);
    ++index;
  }
}

std::vector<ValueId> read_ids(const JsonField& json, std::size_t values) {
  std::vector<ValueId> list;
  for (const JsonField& item : json.items()) {
    const std::int64_t id = item.integer(0, kMostInt);
    if (id >= static_cast<std::int64_t>(values)) {
      item.fail("must be the index of a value, below " + std::to_string(values));
    }
    list.emplace_back(static_cast<std::int32_t>(id));
  }
  return list;
}

Attribute read_attribute(const JsonField& json) {
  if (json.json().is_number_float()) return json.number();
  if (json.json().is_number()) return json.integer(std::numeric_limits<std::int64_t>::min(), kMostInt);
  if (json.json().is_string()) return json.text();
  if (json.json().is_array()) return json.integers(std::numeric_limits<std::int64_t>::min(), kMostInt);
  json.fail("must be a number, a string or an array of integers");
}

/// The enumerator that a name stands for; `parse` refuses names it does not know.
template <class Enum>
Enum read_name(const JsonField& json, Enum (*parse)(const std::string&)) {
  const std::string& name = json.name();
  try {
    return parse(name);
  } catch (const InputError& error) {
    json.fail(error.what());
  }
}

Op read_op(const JsonField& json, std::size_t values) {
  json.only({"name", "kind", "pass", "attributes", "inputs", "outputs", "updates", "recomputable",
             "runtime_seconds", "compute_joules", "workspace_bytes"});
  Op op;
  op.name = json.at("name").name();
  op.kind = json.at("kind").name();
  op.pass = read_name(json.at("pass"), pass_from_string);
  if (json.has("attributes")) {
    const JsonField attributes = json.at("attributes");
    if (!attributes.json().is_object()) attributes.fail("must be an object");
    for (const auto& member : attributes.json().items()) {
      op.attributes[member.key()] = read_attribute(attributes.at(member.key()));
    }
  }
  op.inputs = read_ids(json.at("inputs"), values);
  op.outputs = read_ids(json.at("outputs"), values);
  if (json.has("updates")) op.updates = read_ids(json.at("updates"), values);
  if (json.has("recomputable")) op.recomputable = json.at("recomputable").boolean();
  return op;
}

std::int32_t read_index(const JsonField& json, std::size_t count) {
  return static_cast<std::int32_t>(json.integer(0, static_cast<std::int64_t>(count) - 1));
}

Value read_value(const JsonField& json, std::size_t ops, std::size_t values) {
  json.only({"name", "shape", "strides", "dtype", "persistence", "paged", "producer", "alias_of", "bytes",
             "part", "rows", "in_file", "ram_bytes", "page_in_seconds", "page_out_seconds", "page_in_joules",
             "page_out_joules"});
  Value value;
  value.name = json.at("name").name();
  value.shape = json.at("shape").integers(0, kMostInt);
  if (json.has("strides")) {
    value.strides = json.at("strides").integers(std::numeric_limits<std::int64_t>::min(), kMostInt);
  }
  value.dtype = read_name(json.at("dtype"), dtype_from_string);
  value.persistence = read_name(json.at("persistence"), persistence_from_string);
  value.bytes = byte_field(json.at("bytes"));
  if (json.has("paged")) value.paged = json.at("paged").boolean();
  if (json.has("part")) {
    const JsonField part = json.at("part");
    part.only({"tensor", "shape", "begin"});
    value.part = Part{part.at("tensor").name(), part.at("shape").integers(0, kMostInt),
                      part.at("begin").integers(0, kMostInt)};
  }
  if (json.has("rows")) {
    const JsonField rows = json.at("rows");
    rows.only({"table", "indices", "of"});
    value.rows = Rows{rows.at("table").name(), rows.at("indices").name(), rows.at("of").integer(1, kMostInt)};
  }
  if (json.has("in_file")) {
    const JsonField in_file = json.at("in_file");
    in_file.only({"shape", "transposed"});
    value.in_file = FileLayout{in_file.at("shape").integers(0, kMostInt),
                               in_file.has("transposed") && in_file.at("transposed").boolean()};
  }
  if (json.has("alias_of")) value.alias_of = ValueId(read_index(json.at("alias_of"), values));
  if (json.has("producer")) value.producer = OpId(read_index(json.at("producer"), ops));
  return value;
}

void read_ops_and_values(const JsonField& root, Instance& instance) {
  const std::vector<JsonField> ops = root.at("ops").items();
  const std::vector<JsonField> values = root.at("values").items();
  for (const JsonField& json : values) {
    ValueCost cost;
    cost.bytes = byte_field(json.at("ram_bytes"));
    agree_on_storage(json, read_transfers(json, cost), instance.costs.values.empty(), instance.costs);
    instance.graph.values.push_back(read_value(json, ops.size(), values.size()));
    instance.costs.values.push_back(cost);
  }
  for (const JsonField& json : ops) {
    Op op = read_op(json, values.size());
    for (const ValueId v : op.outputs) {
      // Named by the op alone it is known all the same; a contradiction is found by verify().
      if (!instance.graph.values[v].producer.valid())
        instance.graph.values[v].producer = instance.graph.ops.next_id();
    }
    instance.graph.ops.push_back(std::move(op));
    instance.costs.ops.push_back(read_op_cost(json));
  }
  if (root.has("persistent_bytes")) instance.costs.persistent = byte_field(root.at("persistent_bytes"));
  if (root.has("persistent_of"))
    if (const std::string of = root.at("persistent_of").name(); !of.empty())
      instance.costs.persistent_of = of;
  if (root.has("has_storage")) {
    // Only a file without values cannot show it.
    const bool stated = root.at("has_storage").boolean();
    if (!values.empty() && stated != instance.costs.has_storage) {
      root.at("has_storage").fail("contradicts the values' page_* fields");
    }
    instance.costs.has_storage = stated;
  }
}

void read_timing(const JsonField& json, DeviceTiming& timing) {
  json.only({"name", "concurrent", "idle_watts", "wake_seconds", "wake_joules", "p95_over_median"});
  if (json.has("concurrent")) timing.concurrent = json.at("concurrent").boolean();
  if (json.has("idle_watts")) timing.idle = Watts(json.at("idle_watts").non_negative());
  if (json.has("wake_seconds")) timing.wake_time = Seconds(json.at("wake_seconds").non_negative());
  if (json.has("wake_joules")) timing.wake_energy = Joules(json.at("wake_joules").non_negative());
  if (json.has("p95_over_median")) timing.variation = read_variation(json.at("p95_over_median"));
}

std::string optional_text(const JsonField& root, std::string_view key) {
  return root.has(key) ? root.at(key).name() : std::string();
}

// ---- writing

bool operator==(const DeviceTiming& a, const DeviceTiming& b) {
  return a.concurrent == b.concurrent && a.idle == b.idle && a.wake_time == b.wake_time &&
         a.wake_energy == b.wake_energy && a.variation == b.variation;
}

/// Whether `nodes` says everything that the instance says.
bool fits_nodes_form(const Instance& instance) {
  const Graph& graph = instance.graph;
  if (graph.ops.empty() || graph.ops.size() != graph.values.size() || instance.costs.persistent != Bytes(0)) {
    return false;
  }
  for (const OpId id : ids<OpId>(graph.ops.size())) {
    const Op& op = graph.ops[id];
    const ValueId v(id.index);
    const Value& value = graph.values[v];
    const Bytes bytes = instance.costs.values[v].bytes;
    const bool plain_op = op.kind == kPublishedKind && op.attributes.empty() && op.pass != Pass::update &&
                          op.recomputable && op.updates.empty() && op.outputs == std::vector<ValueId>{v} &&
                          instance.costs.ops[id].workspace == Bytes(0);
    const bool plain_value = value.name == op.name && value.persistence == Persistence::activation &&
                             !value.alias_of.valid() && value.bytes == bytes && value.dtype == DType::uint8 &&
                             value.shape == Shape{bytes.value()} && value.strides.empty();
    if (!plain_op || !plain_value) return false;
  }
  return true;
}

template <class IdType>
Json indices(const std::vector<IdType>& list) {
  Json json = Json::array();
  for (const IdType id : list) json.push_back(id.index);
  return json;
}

void write_transfers(const ValueCost& cost, Json& json) {
  json["page_in_seconds"] = cost.page_in.seconds.value();
  json["page_out_seconds"] = cost.page_out.seconds.value();
  json["page_in_joules"] = cost.page_in.energy.value();
  json["page_out_joules"] = cost.page_out.energy.value();
}

Json nodes_json(const Instance& instance) {
  Json nodes = Json::array();
  for (const OpId id : ids<OpId>(instance.graph.ops.size())) {
    const Op& op = instance.graph.ops[id];
    const ValueCost& cost = instance.costs.values[ValueId(id.index)];
    Json node = {{"name", op.name},
                 {"backward", op.pass == Pass::backward},
                 {"deps", indices(op.inputs)},
                 {"ram_bytes", cost.bytes.value()},
                 {"runtime_seconds", instance.costs.ops[id].runtime.value()},
                 {"compute_joules", instance.costs.ops[id].energy.value()}};
    if (instance.costs.has_storage) write_transfers(cost, node);
    nodes.push_back(std::move(node));
  }
  return nodes;
}

Json op_json(const Op& op, const OpCost& cost) {
  Json json = {{"name", op.name}, {"kind", op.kind}, {"pass", to_string(op.pass)}};
  if (!op.attributes.empty()) {
    Json& attributes = json["attributes"] = Json::object();
    for (const auto& [name, attribute] : op.attributes) {
      Json& slot = attributes[name];
      std::visit([&slot](const auto& content) { slot = content; }, attribute);
    }
  }
  json["inputs"] = indices(op.inputs);
  json["outputs"] = indices(op.outputs);
  if (!op.updates.empty()) json["updates"] = indices(op.updates);
  if (!op.recomputable) json["recomputable"] = false;
  json["runtime_seconds"] = cost.runtime.value();
  json["compute_joules"] = cost.energy.value();
  if (cost.workspace != Bytes(0)) json["workspace_bytes"] = cost.workspace.value();
  return json;
}

Json value_json(const Value& value, const ValueCost& cost, bool has_storage) {
  Json json = {{"name", value.name}, {"shape", value.shape}};
  if (!value.strides.empty()) json["strides"] = value.strides;
  json["dtype"] = to_string(value.dtype);
  json["persistence"] = to_string(value.persistence);
  if (value.producer.valid()) json["producer"] = value.producer.index;
  if (value.paged) json["paged"] = true;
  if (value.alias_of.valid()) json["alias_of"] = value.alias_of.index;
  if (value.part)
    json["part"] = {
        {"tensor", value.part->tensor}, {"shape", value.part->shape}, {"begin", value.part->begin}};
  if (value.rows)
    json["rows"] = {{"table", value.rows->table}, {"indices", value.rows->indices}, {"of", value.rows->of}};
  if (value.in_file) {
    json["in_file"] = {{"shape", value.in_file->shape}};
    if (value.in_file->transposed) json["in_file"]["transposed"] = true;
  }
  json["bytes"] = value.bytes.value();
  json["ram_bytes"] = cost.bytes.value();
  if (has_storage) write_transfers(cost, json);
  return json;
}

Json timing_json(const DeviceTiming& timing) {
  Json json = {{"concurrent", timing.concurrent},
               {"idle_watts", timing.idle.value()},
               {"wake_seconds", timing.wake_time.value()},
               {"wake_joules", timing.wake_energy.value()}};
  if (timing.variation) json["p95_over_median"] = to_json(*timing.variation);
  return json;
}

}  // namespace

Instance instance_from_json(const Json& json, const std::string& place) {
  const JsonField root(json, place);
  static_cast<void>(root.format(1, 3));
  Instance instance;
  instance.graph.name = optional_text(root, "name");
  instance.model = optional_text(root, "model");
  instance.platform = optional_text(root, "platform");
  instance.source = optional_text(root, "source");
  if (root.has("alignment_bytes")) instance.costs.alignment = root.at("alignment_bytes").alignment();
  if (root.has("storage_capacity_bytes"))
    instance.costs.storage_capacity = byte_field(root.at("storage_capacity_bytes"));
  if (root.has("batch_size")) instance.batch_size = root.at("batch_size").integer(1, kMostInt);
  instance.has_device = root.has("device");
  if (instance.has_device) read_timing(root.at("device"), instance.costs.timing);
  if (root.has("timing")) {
    if (instance.has_device)
      root.fail_at("timing", "must be absent when there is a device: it would say the same twice");
    read_timing(root.at("timing"), instance.costs.timing);
  }

  if (root.has("nodes")) {
    if (root.has("ops")) root.fail_at("ops", "must be absent when there are nodes");
    read_nodes(root.at("nodes"), instance);
  } else if (root.has("ops")) {
    read_ops_and_values(root, instance);
  } else {
    root.fail_at("nodes", "must be present (or ops and values)");
  }
  if (instance.graph.ops.empty()) root.fail_at(root.has("nodes") ? "nodes" : "ops", "must not be empty");
  align_sizes(instance.graph, instance.costs);
  try {
    verify(instance);
  } catch (const InputError& error) {
    throw InputError(place, error.what());
  }
  return instance;
}

Json to_json(const Instance& instance) {
  const auto& values_of = instance.graph.values;
  int format = 1;
  for (const Value& value : values_of) format = std::max(format, value.rows ? 3 : value.paged ? 2 : 1);
  Json json = {{"format", format},
               {"name", instance.graph.name},
               {"model", instance.model},
               {"platform", instance.platform},
               {"batch_size", instance.batch_size},
               {"source", instance.source}};
  if (instance.has_device) {
    json["device"] = {{"name", instance.platform}};
    json["device"].update(timing_json(instance.costs.timing));
  } else if (!(instance.costs.timing == DeviceTiming{})) {
    json["timing"] = timing_json(instance.costs.timing);
  }
  if (instance.costs.alignment > Bytes(1)) json["alignment_bytes"] = instance.costs.alignment.value();
  if (instance.costs.storage_capacity)
    json["storage_capacity_bytes"] = instance.costs.storage_capacity->value();
  if (fits_nodes_form(instance)) {
    json["nodes"] = nodes_json(instance);
    return json;
  }
  json["persistent_bytes"] = instance.costs.persistent.value();
  if (instance.costs.persistent_of != CostTable().persistent_of)
    json["persistent_of"] = instance.costs.persistent_of;
  json["has_storage"] = instance.costs.has_storage;
  Json& ops = json["ops"] = Json::array();
  for (const OpId id : ids<OpId>(instance.graph.ops.size())) {
    ops.push_back(op_json(instance.graph.ops[id], instance.costs.ops[id]));
  }
  Json& values = json["values"] = Json::array();
  for (const ValueId v : ids<ValueId>(instance.graph.values.size())) {
    values.push_back(
        value_json(instance.graph.values[v], instance.costs.values[v], instance.costs.has_storage));
  }
  return json;
}

Instance read_instance(const std::filesystem::path& file) {
  return instance_from_json(read_json_file(file), file.string());
}

}  // namespace poet
