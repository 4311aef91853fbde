// One case per diagnostic about a device profile: the file, the field, the rule, on one line.

#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>

#include "poet/base/error.h"
#include "poet/cost/device.h"
#include "poet/cost/json_reader.h"

namespace poet {
namespace {

using Json = nlohmann::ordered_json;

const char* const kGood = R"({
  "format": 1, "name": "mine", "description": "", "ram_bytes": 1000,
  "flops_per_second": 1e6, "memory_bytes_per_second": 1e7, "active_watts": 2, "idle_watts": 0,
  "storage_bytes": 100000,
  "page_in": {"latency_seconds": 0, "bytes_per_second": 1e3, "watts": 0},
  "page_out": {"latency_seconds": 1e-3, "bytes_per_second": 1e3, "watts": 1},
  "block_bytes": 512, "concurrent": true, "wake_seconds": 0.1, "wake_joules": 0.1, "write_endurance_bytes": 1000000,
  "overrides": [{"kind": "relu", "shape_class": "2->2", "seconds": 0, "joules": 1}],
  "rates": [{"kind": "relu", "seconds_per_op": 1, "flops_per_second": 1e6}],
  "origins": {"/ram_bytes": "datasheet: page 1", "/page_in": "measured: here"}})";

std::string diagnostic_of_text(const std::string& text) {
  try {
    static_cast<void>(device_from_json(parse_json(text, "my.json"), "my.json"));
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

/// The good profile with the value at `pointer` replaced by `text`, written as JSON; "" removes it.
std::string diagnostic(const std::string& pointer, const std::string& text) {
  Json json = Json::parse(kGood);
  const Json::json_pointer where(pointer);
  if (text.empty()) {
    json.at(where.parent_pointer()).erase(where.back());
  } else {
    json[where] = Json::parse(text);
  }
  return diagnostic_of_text(json.dump());
}

struct Case {
  std::string pointer;
  std::string replacement;
  std::string message;
};

TEST(DeviceErrors, TheProfileItselfIsGood) { EXPECT_EQ(diagnostic_of_text(kGood), "no error"); }

TEST(DeviceErrors, NameFileFieldAndRule) {
  const std::vector<Case> cases = {
      {"/format", "2", "my.json: /format: must be <= 1"},
      {"/name", "", "my.json: /name: must be present"},
      {"/name", "\"\"", "my.json: /name: must not be empty"},
      {"/name", "7", "my.json: /name: must be a string"},
      {"/name", "\"a\\nb\"", "my.json: /name: must not contain control characters"},
      {"/ram_bytes", "", "my.json: /ram_bytes: must be present"},
      {"/ram_bytes", "0", "my.json: /ram_bytes: must be >= 1"},
      {"/ram_bytes", "-5", "my.json: /ram_bytes: must be >= 1"},
      {"/ram_bytes", "1e6", "my.json: /ram_bytes: must be an integer, written without point or exponent"},
      {"/ram_bytes", "\"1\"", "my.json: /ram_bytes: must be an integer, written without point or exponent"},
      {"/ram_bytes", "9007199254740993", "my.json: /ram_bytes: must be <= 9007199254740992"},
      {"/ram_bytes", "18446744073709551615", "my.json: /ram_bytes: must be <= 9007199254740992"},
      {"/flops_per_second", "", "my.json: /flops_per_second: must be present"},
      {"/flops_per_second", "0", "my.json: /flops_per_second: must be > 0"},
      {"/flops_per_second", "-1.5", "my.json: /flops_per_second: must be > 0"},
      {"/flops_per_second", "null", "my.json: /flops_per_second: must be a number"},
      {"/flops_per_second", "true", "my.json: /flops_per_second: must be a number"},
      {"/memory_bytes_per_second", "", "my.json: /memory_bytes_per_second: must be present"},
      {"/memory_bytes_per_second", "0", "my.json: /memory_bytes_per_second: must be > 0"},
      {"/active_watts", "", "my.json: /active_watts: must be present"},
      {"/active_watts", "0", "my.json: /active_watts: must be > 0"},
      {"/joules_per_flop", "1",
       "my.json: /joules_per_flop: must be absent when active_watts is given: it would say the "
       "same twice"},
      {"/idle_watts", "", "my.json: /idle_watts: must be present"},
      {"/idle_watts", "-1", "my.json: /idle_watts: must be >= 0"},
      {"/storage_bytes", "", "my.json: /storage_bytes: must be present: other fields describe a storage"},
      {"/storage_bytes", "0", "my.json: /storage_bytes: must be >= 1"},
      {"/page_in", "", "my.json: /page_in: must be present: other fields describe a storage"},
      {"/page_in", "3", "my.json: /page_in: must be an object"},
      {"/page_in/latency_seconds", "", "my.json: /page_in/latency_seconds: must be present"},
      {"/page_in/latency_seconds", "-1", "my.json: /page_in/latency_seconds: must be >= 0"},
      {"/page_out/bytes_per_second", "0", "my.json: /page_out/bytes_per_second: must be > 0"},
      {"/page_out/watts", "-0.1", "my.json: /page_out/watts: must be >= 0"},
      {"/page_out/throughput", "1",
       "my.json: /page_out/throughput: is not a field here; known: latency_seconds, "
       "bytes_per_second, watts"},
      {"/block_bytes", "0", "my.json: /block_bytes: must be >= 1"},
      {"/concurrent", "1", "my.json: /concurrent: must be true or false"},
      {"/wake_seconds", "-1", "my.json: /wake_seconds: must be >= 0"},
      {"/wake_joules", "-1", "my.json: /wake_joules: must be >= 0"},
      {"/p95_over_median", "1.5", "my.json: /p95_over_median: must be an object"},
      {"/p95_over_median", R"({"step": 0.99})",
       "my.json: /p95_over_median/step: must be >= 1: no quantile above the median is below it"},
      {"/p95_over_median", R"({"op": 1e4})", "my.json: /p95_over_median/op: must be <= 1000"},
      {"/p95_over_median", R"({"page": 2})",
       "my.json: /p95_over_median/page: is not a field here; known: step, op, page_in, page_out"},
      {"/write_endurance_bytes", "0", "my.json: /write_endurance_bytes: must be >= 1"},
      {"/overrides", "{}", "my.json: /overrides: must be an array"},
      {"/overrides/0", "1", "my.json: /overrides/0: must be an object"},
      {"/overrides/0/kind", "", "my.json: /overrides/0/kind: must be present"},
      {"/overrides/0/seconds", "-1", "my.json: /overrides/0/seconds: must be >= 0"},
      {"/overrides/0/joules", "\"x\"", "my.json: /overrides/0/joules: must be a number"},
      {"/overrides/1", R"({"kind": "relu", "shape_class": "2->2", "seconds": 0, "joules": 1})",
       "my.json: /overrides/1: repeats the kind and shape class of an earlier override"},
      {"/rates", "{}", "my.json: /rates: must be an array"},
      {"/rates/0/kind", "", "my.json: /rates/0/kind: must be present"},
      {"/rates/0/flops_per_second", "0", "my.json: /rates/0/flops_per_second: must be > 0"},
      {"/rates/1", R"({"kind": "relu"})", "my.json: /rates/1: repeats the kind of earlier rates"},
      {"/origins", "[]", "my.json: /origins: must be an object: JSON pointer -> origin"},
      {"/origins/~1ram_bytes", "\"guessed\"",
       "my.json: /origins/~1ram_bytes: must be \"measured: ...\", \"datasheet: ...\", \"published: ...\" or "
       "\"assumed: ...\""},
      {"/origins/~1rom_bytes", "\"assumed: x\"",
       "my.json: /origins/~1rom_bytes: must be the JSON pointer of something in this profile"},
      {"/origins/ram", "\"assumed: x\"",
       "my.json: /origins/ram: must be the JSON pointer of something in this profile"},
  };
  for (const Case& c : cases) EXPECT_EQ(diagnostic(c.pointer, c.replacement), c.message) << c.pointer;
}

TEST(DeviceErrors, UnknownFieldsAreNamedOnOneLine) {
  EXPECT_EQ(diagnostic("/ram", "1").substr(0, 60),
            "my.json: /ram: is not a field here; known: format, name, des");
  EXPECT_EQ(diagnostic("/a\n~1b", "1").substr(0, 37), "my.json: /a\\u000a~1b: is not a field ");
}

TEST(DeviceErrors, TextThatIsNotJson) {
  EXPECT_EQ(diagnostic_of_text(""), "my.json: line 1, column 1: not JSON");
  EXPECT_EQ(diagnostic_of_text("{\n \"name\": NaN}"),
            "my.json: line 2, column 10: not JSON (at \"\"name\": N\")");
  EXPECT_EQ(diagnostic_of_text("{\"a\": [1,]}"), "my.json: line 1, column 10: not JSON (at \"1,]\")");
  EXPECT_EQ(diagnostic_of_text("{\"a\":\n 1e999}"),
            "my.json: line 2, column 6: a number beyond the range of a double: 1e999");
  EXPECT_EQ(diagnostic_of_text("{\"a\": -1e999}"),
            "my.json: line 1, column 12: a number beyond the range of a double: -1e999");
  EXPECT_EQ(diagnostic_of_text("[]"), "my.json: must be an object");
  EXPECT_EQ(diagnostic_of_text("{} {}"), "my.json: line 1, column 4: not JSON (at \"{} {\")");
  EXPECT_EQ(diagnostic_of_text(R"({"a": 1, "b": [{"a": 2}, {"a": 3}], "a": 4})"),
            "my.json: \"a\" is there twice in one object");
  EXPECT_EQ(diagnostic_of_text(std::string(200, '[')), "my.json: nested deeper than 100 levels");
  std::string large = "{\"m0\": 0";
  for (int i = 1; i < 2048; ++i) large += ", \"m" + std::to_string(i) + "\": 0";
  EXPECT_EQ(diagnostic_of_text(large + "}").find("an object of more"), std::string::npos);
  EXPECT_EQ(diagnostic_of_text(large + ", \"one more\": 0}"), "my.json: an object of more than 2048 members");
}

TEST(DeviceErrors, Files) {
  EXPECT_THROW(static_cast<void>(read_device("/nonexistent.json")), InputError);
  EXPECT_THROW(static_cast<void>(read_device("/")), InputError);
}

}  // namespace
}  // namespace poet
