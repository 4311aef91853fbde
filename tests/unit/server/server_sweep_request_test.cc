// Sweeps as jobs: their points are counted before they are made, and what is wrong is named.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/support/server_requests.h"

namespace poet::server {
namespace {

using test::read_order;
using test::refusal_of;
using testing::HasSubstr;
using SweepJson = nlohmann::ordered_json;

std::string sweep_with(const std::string& name, const SweepJson& value) {
  SweepJson json = {{"kind", "sweep"},       {"networks", {"linear"}}, {"platforms", {"m0", "m4"}},
                    {"ram", {"24KiB", 0.5}}, {"deadlines", {nullptr}}, {"methods", {"poet", "chen-sqrt"}}};
  if (!name.empty()) json[name] = value;
  return json.dump();
}

TEST(ServerSweepRequest, CountsItsPoints) {
  EXPECT_EQ(SweepJson::parse(read_order(sweep_with("", nullptr)).request)["points"], 8);
  EXPECT_EQ(read_order(sweep_with("time_limit", 10.0)).id, read_order(sweep_with("", nullptr)).id);
  EXPECT_EQ(read_order(sweep_with("format", 1)).id, read_order(sweep_with("", nullptr)).id);
  EXPECT_EQ(SweepJson::parse(
                read_order(sweep_with("networks", {"Linear", {{"name", "linear"}}})).request)["points"],
            16);
  EXPECT_THAT(refusal_of(sweep_with("batch_sizes", {1, 2, 3})),
              HasSubstr("has 24 points; this server accepts 20"));
}

TEST(ServerSweepRequest, OfATrillionPointsIsRefusedUncounted) {
  SweepJson ram = SweepJson::array(), batches = SweepJson::array(), deadlines = SweepJson::array();
  for (int i = 1; i <= 10'000; ++i) {
    ram.push_back(std::to_string(i) + "KiB");
    batches.push_back(i);
    deadlines.push_back(1 + i);
  }
  SweepJson json = SweepJson::parse(sweep_with("ram", ram));
  json["batch_sizes"] = batches;
  json["deadlines"] = deadlines;
  EXPECT_THAT(refusal_of(json.dump()), HasSubstr("points"));
}

TEST(ServerSweepRequest, ThatIsWrongNamesTheField) {
  EXPECT_THAT(refusal_of(sweep_with("networks", SweepJson::array())), HasSubstr("/networks: "));
  EXPECT_THAT(refusal_of(sweep_with("networks", 5)), HasSubstr("/networks: "));
  EXPECT_THAT(refusal_of(sweep_with("networks", {{{"onnx", "../x.onnx"}}})), HasSubstr("/networks/0/onnx: "));
  EXPECT_THAT(refusal_of(sweep_with("networks", {{{"onnx", 5}}})), HasSubstr("/networks/0/onnx: "));
  EXPECT_THAT(refusal_of(sweep_with("networks", {"linear", {{"instance", "/etc/passwd"}}})),
              HasSubstr("/networks/1/instance: "));
  EXPECT_THAT(refusal_of(sweep_with("networks", {"linear", "/etc/passwd"})), HasSubstr("/networks/1: "));
  EXPECT_THAT(refusal_of(sweep_with("networks", {"../linear"})), HasSubstr("/networks/0: "));
  EXPECT_THAT(refusal_of(sweep_with("networks", {{{"name", "../../net.onnx"}}})),
              HasSubstr("/networks/0/name: "));
  EXPECT_THAT(refusal_of(sweep_with("platforms", {"m0", "/etc/passwd"})), HasSubstr("/platforms/1: "));
  EXPECT_THAT(refusal_of(sweep_with("platforms", {"m0", "m0.json"})), HasSubstr("/platforms/1: "));
  EXPECT_THAT(refusal_of(sweep_with("platforms", {{{"name", 5}}})), HasSubstr("/platforms/0"));
  EXPECT_THAT(refusal_of(sweep_with("platforms", "m0")), HasSubstr("/platforms: "));
  SweepJson devices = SweepJson::parse(sweep_with("devices", {"m0", "/etc/passwd"}));
  EXPECT_THAT(refusal_of(devices.dump()), HasSubstr("/devices: is another word for platforms"));
  devices.erase("platforms");
  EXPECT_THAT(refusal_of(devices.dump()), HasSubstr("/devices/1: "));
  EXPECT_THAT(refusal_of(sweep_with("ram", {"much"})), HasSubstr("/ram/0: "));
  EXPECT_THAT(refusal_of(sweep_with("methods", {"none"})), HasSubstr("/methods/0: "));
  EXPECT_THAT(refusal_of(sweep_with("deadlines", {-1})), HasSubstr("/deadlines/0: "));
  EXPECT_THAT(refusal_of(sweep_with("time_limit", 101)), HasSubstr("/time_limit: "));
  EXPECT_THAT(refusal_of(sweep_with("colour", 1)), HasSubstr("/colour: "));
  EXPECT_THAT(refusal_of(sweep_with("points", 1)), HasSubstr("/points: "));
  EXPECT_THAT(refusal_of(R"({"kind":"sweep"})"), HasSubstr("networks"));
}

}  // namespace
}  // namespace poet::server
