// The device profile's file format, both ways; docs/formats_device.md describes it.

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "poet/base/error.h"
#include "poet/cost/device.h"
#include "poet/cost/json_reader.h"
#include "poet/cost/variation_json.h"

namespace poet {

using Json = nlohmann::ordered_json;

namespace {

constexpr std::array<std::string_view, 7> kStorageFields = {
    "storage_bytes", "page_in", "page_out", "block_bytes", "concurrent", "wake_seconds", "wake_joules"};

Bytes positive_bytes(const JsonField& field) { return Bytes(field.integer(1, kMostBytes)); }

StorageDirection direction(const JsonField& json) {
  json.only({"latency_seconds", "bytes_per_second", "watts"});
  StorageDirection direction;
  direction.latency = Seconds(json.at("latency_seconds").non_negative());
  direction.bytes_per_second = json.at("bytes_per_second").positive();
  direction.power = Watts(json.at("watts").non_negative());
  return direction;
}

std::optional<Storage> storage(const JsonField& json) {
  const auto named = [&json](std::string_view key) { return json.has(key); };
  const bool any =
      std::any_of(kStorageFields.begin(), kStorageFields.end(), named) || json.has("write_endurance_bytes");
  if (!any) return std::nullopt;
  // One field of the storage without the others is a slip, not a device without storage.
  for (const std::string_view key : {"storage_bytes", "page_in", "page_out"}) {
    if (!json.has(key)) json.fail_at(key, "must be present: other fields describe a storage");
  }
  Storage storage;
  storage.capacity = positive_bytes(json.at("storage_bytes"));
  storage.page_in = direction(json.at("page_in"));
  storage.page_out = direction(json.at("page_out"));
  if (json.has("block_bytes")) storage.block = positive_bytes(json.at("block_bytes"));
  if (json.has("concurrent")) storage.concurrent = json.at("concurrent").boolean();
  if (json.has("wake_seconds")) storage.wake_time = Seconds(json.at("wake_seconds").non_negative());
  if (json.has("wake_joules")) storage.wake_energy = Joules(json.at("wake_joules").non_negative());
  if (json.has("write_endurance_bytes")) {
    storage.write_endurance = positive_bytes(json.at("write_endurance_bytes"));
  }
  return storage;
}

Watts active_power(const JsonField& json, double flops_per_second) {
  if (json.has("active_watts") && json.has("joules_per_flop")) {
    json.fail_at("joules_per_flop", "must be absent when active_watts is given: it would say the same twice");
  }
  if (json.has("joules_per_flop")) return Watts(json.at("joules_per_flop").positive() * flops_per_second);
  return Watts(json.at("active_watts").positive());
}

std::vector<OpOverride> overrides(const JsonField& json) {
  std::vector<OpOverride> found;
  for (const JsonField& item : json.items()) {
    item.only({"kind", "shape_class", "seconds", "joules", "workspace_bytes", "spread"});
    OpOverride measured;
    measured.kind = item.at("kind").name();
    measured.shape_class = item.at("shape_class").name();
    measured.runtime = Seconds(item.at("seconds").non_negative());
    measured.energy = Joules(item.at("joules").non_negative());
    if (item.has("workspace_bytes"))
      measured.workspace = Bytes(item.at("workspace_bytes").integer(0, kMostBytes));
    if (item.has("spread")) measured.spread = item.at("spread").non_negative();
    const bool repeated = std::any_of(found.begin(), found.end(), [&measured](const OpOverride& other) {
      return other.kind == measured.kind && other.shape_class == measured.shape_class;
    });
    if (repeated) item.fail("repeats the kind and shape class of an earlier override");
    found.push_back(std::move(measured));
  }
  return found;
}

std::vector<KindRates> rates(const JsonField& json) {
  std::vector<KindRates> found;
  for (const JsonField& item : json.items()) {
    item.only({"kind", "depthwise", "seconds_per_op", "seconds_per_plane", "seconds_per_row",
               "flops_per_second", "bytes_per_second"});
    KindRates rates;
    rates.kind = item.at("kind").name();
    if (item.has("depthwise")) rates.depthwise = item.at("depthwise").boolean();
    if (item.has("seconds_per_op")) rates.per_op = Seconds(item.at("seconds_per_op").non_negative());
    if (item.has("seconds_per_plane")) rates.per_plane = Seconds(item.at("seconds_per_plane").non_negative());
    if (item.has("seconds_per_row")) rates.per_row = Seconds(item.at("seconds_per_row").non_negative());
    if (item.has("flops_per_second")) rates.flops_per_second = item.at("flops_per_second").positive();
    if (item.has("bytes_per_second")) rates.bytes_per_second = item.at("bytes_per_second").positive();
    if (std::any_of(found.begin(), found.end(), [&](const KindRates& other) {
          return other.kind == rates.kind && other.depthwise == rates.depthwise;
        }))
      item.fail("repeats the kind of earlier rates");
    found.push_back(std::move(rates));
  }
  return found;
}

bool starts_with_origin(std::string_view text) {
  for (const std::string_view word : {"measured: ", "datasheet: ", "published: ", "assumed: "}) {
    if (text.size() > word.size() && text.substr(0, word.size()) == word) return true;
  }
  return false;
}

std::map<std::string, std::string> origins(const JsonField& json, const Json& profile) {
  std::map<std::string, std::string> found;
  if (!json.json().is_object()) json.fail("must be an object: JSON pointer -> origin");
  for (const auto& member : json.json().items()) {
    const JsonField origin = json.at(member.key());
    if (!starts_with_origin(origin.text())) {
      origin.fail("must be \"measured: ...\", \"datasheet: ...\", \"published: ...\" or \"assumed: ...\"");
    }
    bool exists = false;
    try {
      exists = profile.contains(Json::json_pointer(member.key()));
    } catch (const Json::exception&) {
      exists = false;  // not a JSON pointer at all
    }
    if (!exists) origin.fail("must be the JSON pointer of something in this profile");
    found[member.key()] = origin.text();
  }
  return found;
}

Json to_json(const StorageDirection& direction) {
  return {{"latency_seconds", direction.latency.value()},
          {"bytes_per_second", direction.bytes_per_second},
          {"watts", direction.power.value()}};
}

void write_storage(const Storage& storage, Json& json) {
  json["storage_bytes"] = storage.capacity.value();
  json["page_in"] = to_json(storage.page_in);
  json["page_out"] = to_json(storage.page_out);
  json["block_bytes"] = storage.block.value();
  json["concurrent"] = storage.concurrent;
  if (storage.wake_time != Seconds(0)) json["wake_seconds"] = storage.wake_time.value();
  if (storage.wake_energy != Joules(0)) json["wake_joules"] = storage.wake_energy.value();
  if (storage.write_endurance) json["write_endurance_bytes"] = storage.write_endurance->value();
}

}  // namespace

DeviceProfile device_from_json(const Json& json, const std::string& place) {
  const JsonField root(json, place);
  root.only({"format",           "name",
             "description",      "ram_bytes",
             "alignment_bytes",  "storage_bytes",
             "flops_per_second", "memory_bytes_per_second",
             "active_watts",     "joules_per_flop",
             "idle_watts",       "page_in",
             "page_out",         "block_bytes",
             "concurrent",       "wake_seconds",
             "wake_joules",      "write_endurance_bytes",
             "overrides",        "rates",
             "p95_over_median",  "origins"});
  if (root.has("format")) static_cast<void>(root.at("format").integer(1, 1));
  DeviceProfile device;
  device.name = root.at("name").name();
  if (device.name.empty()) root.at("name").fail("must not be empty");
  if (root.has("description")) device.description = root.at("description").text();
  device.ram = positive_bytes(root.at("ram_bytes"));
  if (root.has("alignment_bytes")) device.alignment = root.at("alignment_bytes").alignment();
  device.flops_per_second = root.at("flops_per_second").positive();
  device.memory_bytes_per_second = root.at("memory_bytes_per_second").positive();
  device.active = active_power(root, device.flops_per_second);
  device.idle = Watts(root.at("idle_watts").non_negative());
  device.storage = storage(root);
  if (root.has("overrides")) device.overrides = overrides(root.at("overrides"));
  if (root.has("rates")) device.rates = rates(root.at("rates"));
  if (root.has("p95_over_median")) {
    device.variation = read_variation(root.at("p95_over_median"));
    for (const std::string_view key : {"page_in", "page_out"})
      if (!device.storage && root.at("p95_over_median").has(key))
        root.at("p95_over_median").fail_at(key, "must be absent: there is no storage");
  }
  if (root.has("origins")) device.origins = origins(root.at("origins"), json);
  return device;
}

Json to_json(const DeviceProfile& device) {
  Json json = {{"format", 1},
               {"name", device.name},
               {"description", device.description},
               {"ram_bytes", device.ram.value()},
               {"alignment_bytes", device.alignment.value()},
               {"flops_per_second", device.flops_per_second},
               {"memory_bytes_per_second", device.memory_bytes_per_second},
               {"active_watts", device.active.value()},
               {"idle_watts", device.idle.value()}};
  if (device.storage) write_storage(*device.storage, json);
  if (!device.overrides.empty()) {
    Json& list = json["overrides"] = Json::array();
    for (const OpOverride& measured : device.overrides) {
      Json item = {{"kind", measured.kind},
                   {"shape_class", measured.shape_class},
                   {"seconds", measured.runtime.value()},
                   {"joules", measured.energy.value()}};
      if (measured.workspace > Bytes(0)) item["workspace_bytes"] = measured.workspace.value();
      if (measured.spread > 0) item["spread"] = measured.spread;
      list.push_back(std::move(item));
    }
  }
  if (!device.rates.empty()) {
    Json& list = json["rates"] = Json::array();
    for (const KindRates& rates : device.rates) {
      Json item = {{"kind", rates.kind}};
      if (rates.depthwise) item["depthwise"] = true;
      item["seconds_per_op"] = rates.per_op.value();
      if (rates.per_plane > Seconds(0)) item["seconds_per_plane"] = rates.per_plane.value();
      if (rates.per_row > Seconds(0)) item["seconds_per_row"] = rates.per_row.value();
      if (rates.flops_per_second > 0) item["flops_per_second"] = rates.flops_per_second;
      if (rates.bytes_per_second > 0) item["bytes_per_second"] = rates.bytes_per_second;
      list.push_back(std::move(item));
    }
  }
  if (device.variation) {
    Json& factors = json["p95_over_median"] = to_json(*device.variation);
    for (const char* key : {"page_in", "page_out"})
      if (!device.storage) factors.erase(key);
  }
  if (!device.origins.empty()) {
    // A profile read with joules_per_flop is written with active_watts; its origin moves along.
    Json& list = json["origins"] = Json::object();
    for (const auto& [pointer, origin] : device.origins) {
      list[pointer == "/joules_per_flop" ? "/active_watts" : pointer] = origin;
    }
  }
  return json;
}

DeviceProfile read_device(const std::filesystem::path& file) {
  return device_from_json(read_json_file(file), file.string());
}

}  // namespace poet
