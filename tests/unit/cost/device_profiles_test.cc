// The shipped profiles: sane, and every number with its origin.

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

#include "poet/base/error.h"
#include "poet/cost/device.h"
#include "poet/cost/json_reader.h"
#include "poet/cost/tabulate.h"
#include "tests/support/one_op.h"
#include "tests/support/paths.h"

namespace poet {
namespace {

using Json = nlohmann::ordered_json;

std::filesystem::path devices_folder() { return test::repository() / "data" / "devices"; }

/// JSON pointers of everything that states a fact: numbers and booleans outside `origins`.
void collect_facts(const Json& json, const std::string& pointer, std::vector<std::string>& facts) {
  if (json.is_number() || json.is_boolean()) facts.push_back(pointer);
  if (!json.is_structured()) return;
  for (const auto& member : json.items()) {
    const std::string below = pointer + "/" + member.key();
    if (below != "/origins" && below != "/format") collect_facts(member.value(), below, facts);
  }
}

TEST(ShippedDevices, AreThePapersAndTheEmulatedOne) {
  std::vector<std::string> names;
  for (const DeviceProfile& device : shipped_devices()) names.push_back(device.name);
  EXPECT_EQ(names, (std::vector<std::string>{"a72", "a72nocache", "jetsontx2", "m0", "m4", "m4-emulated"}));
}

TEST(ShippedDevices, EveryNumberHasAnOrigin) {
  for (const auto& entry : std::filesystem::directory_iterator(devices_folder())) {
    const Json json = read_json_file(entry.path());
    std::vector<std::string> facts;
    collect_facts(json, "", facts);
    EXPECT_GE(facts.size(), 14U) << entry.path();
    for (const std::string& fact : facts) {
      bool has_origin = false;
      // An origin holds for everything below its pointer.
      for (std::string above = fact; !above.empty(); above.resize(above.rfind('/'))) {
        has_origin = has_origin || json.at("origins").contains(above);
      }
      EXPECT_TRUE(has_origin) << entry.path() << ": " << fact << " has no origin";
    }
  }
}

TEST(ShippedDevices, AreNamedLikeTheirFilesAndFoundByBoth) {
  for (const auto& entry : std::filesystem::directory_iterator(devices_folder())) {
    EXPECT_EQ(read_device(entry.path()).name, entry.path().stem());
    EXPECT_EQ(find_device(entry.path().stem()).name, entry.path().stem());
    EXPECT_EQ(find_device(entry.path().string()).name, entry.path().stem());
  }
}

TEST(ShippedDevices, HaveTheSizesOfTheirDatasheets) {
  EXPECT_EQ(find_device("m0").ram, Bytes(32 * 1024));
  EXPECT_EQ(find_device("m4").ram, Bytes(256 * 1024));
  EXPECT_EQ(find_device("a72").ram, Bytes(std::int64_t{2} << 30));
  EXPECT_EQ(find_device("a72nocache").ram, Bytes(std::int64_t{2} << 30));
  EXPECT_EQ(find_device("jetsontx2").ram, Bytes(std::int64_t{8} << 30));
}

TEST(ShippedDevices, EnergyPerSecondIsActivePower) {
  // What the reference gets wrong for a72: 49.9 W out of 3 W.
  const Graph graph = test::one_op("matmul", {{{64, 64}}, {{64, 64}}}, {{{64, 64}}});
  for (const DeviceProfile& device : shipped_devices()) {
    const OpCost cost = tabulate(graph, device).ops[test::last_op(graph)];
    EXPECT_NEAR(cost.energy.value() / cost.runtime.value(), device.active.value(),
                1e-12 * device.active.value());
    // 64^3 * 2 operations; every device is limited by computing here.
    if (device.rates.empty()) {
      EXPECT_DOUBLE_EQ(cost.runtime.value(), 2.0 * 64 * 64 * 64 / device.flops_per_second) << device.name;
    }
  }
}

TEST(ShippedDevices, ArePhysical) {
  for (const DeviceProfile& device : shipped_devices()) {
    SCOPED_TRACE(device.name);
    // From a microcontroller to a single-board computer.
    EXPECT_GT(device.active, Watts(1e-3));
    EXPECT_LT(device.active + device.idle, Watts(15));
    EXPECT_LT(device.idle, 2.0 * device.active);
    ASSERT_TRUE(device.storage.has_value());
    EXPECT_GT(device.storage->capacity, device.ram);
    EXPECT_GT(device.memory_bytes_per_second, device.storage->page_in.bytes_per_second);
    ASSERT_TRUE(device.storage->write_endurance.has_value());
    EXPECT_GT(*device.storage->write_endurance, device.storage->capacity);
    // Joules per operation: software floating point is the costliest, 0.4 uJ; the TX2 the cheapest, 0.2 nJ.
    const double joules = device.active.value() / device.flops_per_second;
    EXPECT_GT(joules, 1e-11);
    EXPECT_LT(joules, 1e-6);
  }
}

TEST(ShippedDevices, TheTwoPisDifferInPageOutOnly) {
  Json a = to_json(find_device("a72"));
  Json b = to_json(find_device("a72nocache"));
  EXPECT_NE(a["page_out"], b["page_out"]);
  for (Json* json : {&a, &b}) {
    for (const char* key : {"name", "description", "page_out", "origins"}) json->erase(key);
  }
  EXPECT_EQ(a, b);
}

TEST(DeviceJson, RoundTripIsExact) {
  for (const DeviceProfile& device : shipped_devices()) {
    const std::string text = to_json(device).dump();
    EXPECT_EQ(to_json(device_from_json(parse_json(text, "x"), "x")).dump(), text) << device.name;
  }
}

TEST(DeviceJson, OptionalFieldsSurvive) {
  DeviceProfile device = find_device("m4");
  device.storage->wake_time = Seconds(0.1);
  device.storage->wake_energy = Joules(0.3);
  device.storage->concurrent = false;
  device.storage->write_endurance.reset();
  device.overrides = {{"relu", "2x3->2x3", Seconds(1e-5), Joules(1e-7)}};
  device.rates = {{"relu", false, Seconds(1e-6), Seconds(2e-6), Seconds(3e-6), 2e6, 0},
                  {"conv2d", true, Seconds(0), Seconds(0), Seconds(0), 0, 3e6}};
  device.origins.erase("/write_endurance_bytes");
  const DeviceProfile back = device_from_json(to_json(device), "x");
  EXPECT_EQ(to_json(back), to_json(device));
  EXPECT_EQ(back.storage->wake_time, Seconds(0.1));
  EXPECT_EQ(back.storage->wake_energy, Joules(0.3));
  EXPECT_FALSE(back.storage->concurrent);
  ASSERT_EQ(back.overrides.size(), 1U);
  EXPECT_EQ(back.overrides[0].runtime, Seconds(1e-5));
  ASSERT_EQ(back.rates.size(), 2U);
  EXPECT_EQ(back.rates[0].per_plane, Seconds(2e-6));
  EXPECT_EQ(back.rates[0].per_row, Seconds(3e-6));
  EXPECT_EQ(back.rates[0].flops_per_second, 2e6);
  EXPECT_EQ(back.rates[1].bytes_per_second, 3e6);
  EXPECT_TRUE(back.rates[1].depthwise);
}

const char* const kRecomputeOnly =
    R"({"name": "mine", "ram_bytes": 1000, "flops_per_second": 1e6, "memory_bytes_per_second": 1e7,
        "joules_per_flop": 2e-9, "idle_watts": 0})";

TEST(DeviceJson, WithoutStorageAndOrigins) {
  const DeviceProfile device = device_from_json(parse_json(kRecomputeOnly, "x"), "x");
  EXPECT_FALSE(device.storage.has_value());
  EXPECT_TRUE(device.origins.empty());
  // 2e-9 J per operation * 1e6 operations per second.
  EXPECT_DOUBLE_EQ(device.active.value(), 2e-3);
}

TEST(FindDevice, UnknownNameListsTheKnownOnes) {
  try {
    static_cast<void>(find_device("m7"));
    FAIL() << "no exception";
  } catch (const InputError& error) {
    EXPECT_STREQ(
        error.what(),
        "platform: unknown device \"m7\": known are a72, a72nocache, jetsontx2, m0, m4, m4-emulated; a "
        "profile of your own "
        "is named by "
        "its path (FILE.json)");
  }
}

TEST(FindDevice, PathsAreFiles) {
  for (const char* path : {"nowhere/m4", "m7.json"}) {
    try {
      static_cast<void>(find_device(path));
      FAIL() << "no exception";
    } catch (const InputError& error) {
      EXPECT_EQ(error.what(), std::string(path) + ": no such file");
    }
  }
}

}  // namespace
}  // namespace poet
