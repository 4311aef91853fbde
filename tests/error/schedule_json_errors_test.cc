// One message per mistake in a schedule file: place, then rule.

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>

#include "poet/plan/file/schedule_json.h"
#include "tests/support/input_error.h"
#include "tests/support/tiny_instance.h"

namespace poet {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

ScheduleFile chain_file() {
  ScheduleFile file;
  file.instance = test::chain();
  file.limits = test::ram(35);
  file.limits.deadline = Seconds(4);
  file.limits.max_bytes_written = Bytes(10);
  file.schedule = test::chain_paging();
  return file;
}

std::string schedule_diagnostic(const std::function<void(Json&)>& damage) {
  Json json = to_json(chain_file());
  damage(json);
  return test::input_error([&] { static_cast<void>(schedule_from_json(json, "s.json")); });
}

TEST(ScheduleJsonErrors, Structure) {
  EXPECT_EQ(schedule_diagnostic([](Json& j) { j = 3; }), "s.json: must be an object");
  EXPECT_EQ(schedule_diagnostic([](Json& j) { j.erase("format"); }),
            "s.json: /format: must be present, as in \"format\": 1");
  EXPECT_EQ(schedule_diagnostic([](Json& j) { j["format"] = 2; }), "s.json: /format: must be 1");
  EXPECT_EQ(schedule_diagnostic([](Json& j) { j.erase("stages"); }), "s.json: /stages: must be present");
  EXPECT_EQ(schedule_diagnostic([](Json& j) { j["stages"] = 1; }), "s.json: /stages: must be an array");
  EXPECT_NE(schedule_diagnostic([](Json& j) { j["stage"] = 1; }).find("s.json: /stage: is not a field here"),
            std::string::npos);
  EXPECT_NE(schedule_diagnostic([](Json& j) {
              j["stages"][2]["pagein"] = 1;
            }).find("s.json: /stages/2/pagein: is not a field"),
            std::string::npos);
}

TEST(ScheduleJsonErrors, Limits) {
  EXPECT_EQ(schedule_diagnostic([](Json& j) { j["semantics"] = "instant"; }),
            "s.json: /semantics: must be published, staged or device");
  EXPECT_EQ(schedule_diagnostic([](Json& j) { j.erase("semantics"); }),
            "s.json: /semantics: must be present");
  EXPECT_EQ(schedule_diagnostic([](Json& j) { j.erase("ram_budget_bytes"); }),
            "s.json: /ram_budget_bytes: must be present");
  EXPECT_EQ(schedule_diagnostic([](Json& j) { j["ram_budget_bytes"] = -1; }),
            "s.json: /ram_budget_bytes: must be >= 0");
  EXPECT_EQ(schedule_diagnostic([](Json& j) { j["ram_budget_bytes"] = 1.5; }),
            "s.json: /ram_budget_bytes: must be an integer, written without point or exponent");
  EXPECT_EQ(schedule_diagnostic([](Json& j) { j["deadline_seconds"] = 0; }),
            "s.json: /deadline_seconds: must be > 0");
  EXPECT_EQ(schedule_diagnostic([](Json& j) { j["max_bytes_written"] = -5; }),
            "s.json: /max_bytes_written: must be >= 0");
}

TEST(ScheduleJsonErrors, Indices) {
  EXPECT_EQ(schedule_diagnostic([](Json& j) { j["stages"][1]["retain"] = {4}; }),
            "s.json: /stages/1/retain/0: must be <= 3");
  EXPECT_EQ(schedule_diagnostic([](Json& j) {
              j["stages"][1]["page_in"] = {0, -1};
            }),
            "s.json: /stages/1/page_in/1: must be >= 0");
  EXPECT_EQ(schedule_diagnostic([](Json& j) { j["stages"][1]["page_out"] = "a"; }),
            "s.json: /stages/1/page_out: must be an array");
  EXPECT_EQ(schedule_diagnostic([](Json& j) { j["stages"][3]["compute"] = {4}; }),
            "s.json: /stages/3/compute/0: must be <= 3");
  EXPECT_EQ(schedule_diagnostic([](Json& j) { j["stages"][3].erase("compute"); }),
            "s.json: /stages/3/compute: must be present");
  EXPECT_EQ(schedule_diagnostic([](Json& j) { j["stages"][3].erase("retain"); }),
            "s.json: /stages/3/retain: must be present");
}

TEST(ScheduleJsonErrors, EmbeddedInstance) {
  EXPECT_EQ(schedule_diagnostic([](Json& j) { j.erase("instance"); }), "s.json: /instance: must be present");
  EXPECT_EQ(schedule_diagnostic([](Json& j) { j["instance"] = 1; }), "s.json: /instance: must be an object");
  EXPECT_EQ(schedule_diagnostic([](Json& j) { j["instance"]["values"][2]["ram_bytes"] = -1; }),
            "s.json: /instance: /values/2/ram_bytes: must be >= 0");
}

TEST(ScheduleJsonErrors, SenseIsForTheVerifierToJudge) {
  Json json = to_json(chain_file());
  json["stages"].erase(3);
  json["stages"][2]["compute"] = {3, 0};
  const ScheduleFile file = schedule_from_json(json, "s.json");
  EXPECT_EQ(file.schedule.stages.size(), 3U);
  EXPECT_EQ(file.schedule.stages[2].compute, test::id_list<OpId>({3, 0}));
}

TEST(ScheduleJsonErrors, Reading) {
  EXPECT_EQ(test::input_error([] { static_cast<void>(read_schedule("/nowhere/s.json")); }),
            "/nowhere/s.json: no such file");
}

TEST(ScheduleJsonErrors, Writing) {
  EXPECT_EQ(test::input_error([] { write_schedule(chain_file(), "/nowhere/s.json"); }),
            "/nowhere/s.json: cannot be written: No such file or directory");
  const fs::path folder = fs::temp_directory_path() / fmt::format("poet_schedule_errors_{}", getpid());
  fs::create_directories(folder);
  EXPECT_EQ(test::input_error([&] { write_schedule(chain_file(), folder); }),
            folder.string() + ": cannot be written: it is a folder");
  EXPECT_TRUE(fs::is_empty(folder));
  fs::remove_all(folder);
}

}  // namespace
}  // namespace poet
