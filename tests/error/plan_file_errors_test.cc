// One message per mistake in a plan file: place, then rule.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <fstream>
#include <functional>

#include "tests/support/input_error.h"
#include "tests/support/plan_files.h"
#include "tests/support/plan_image.h"

namespace poet {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
using test::chain_file;
using test::ImageSection;
using test::Octets;
using testing::HasSubstr;

// ---- JSON

std::string plan_diagnostic(const std::function<void(Json&)>& damage) {
  Json json = to_json(chain_file());
  damage(json);
  return test::input_error([&] { static_cast<void>(plan_from_json(json, "p.json")); });
}

TEST(PlanJsonErrors, Structure) {
  EXPECT_EQ(plan_diagnostic([](Json& j) { j = 3; }), "p.json: must be an object");
  EXPECT_EQ(plan_diagnostic([](Json& j) { j.erase("format"); }),
            "p.json: /format: must be present, as in \"format\": 2");
  EXPECT_EQ(plan_diagnostic([](Json& j) { j["format"] = 3; }), "p.json: /format: must be <= 2");
  EXPECT_THAT(plan_diagnostic([](Json& j) { j["arena"] = 2; }),
              HasSubstr("p.json: /arena: is not a field here"));
  for (const char* field : {"instance", "semantics", "ram_budget_bytes", "arena_bytes", "allocations"}) {
    EXPECT_EQ(plan_diagnostic([&](Json& j) { j.erase(field); }),
              fmt::format("p.json: /{}: must be present", field));
  }
  EXPECT_EQ(plan_diagnostic([](Json& j) { j.erase("steps"); }),
            "p.json: is neither a plan (no steps) nor a schedule (no stages)");
  EXPECT_EQ(plan_diagnostic([](Json& j) { j["instance"]["values"][2]["ram_bytes"] = -1; }),
            "p.json: /instance: /values/2/ram_bytes: must be >= 0");
  EXPECT_EQ(plan_diagnostic([](Json& j) { j["semantics"] = "instant"; }),
            "p.json: /semantics: must be published, staged or device");
  EXPECT_EQ(plan_diagnostic([](Json& j) { j["deadline_seconds"] = 0; }),
            "p.json: /deadline_seconds: must be > 0");
  EXPECT_EQ(plan_diagnostic([](Json& j) { j["max_bytes_written"] = -1; }),
            "p.json: /max_bytes_written: must be >= 0");
  EXPECT_EQ(plan_diagnostic([](Json& j) { j["arena_bytes"] = -1; }), "p.json: /arena_bytes: must be >= 0");
}

TEST(PlanJsonErrors, HowItWasMade) {
  const Json made = to_json(Made{"poet 0.1.0", "poet solve", "optimal", Joules(1)});
  const auto diagnostic = [&](const std::function<void(Json&)>& damage) {
    return plan_diagnostic([&](Json& j) {
      j["made"] = made;
      damage(j["made"]);
    });
  };
  EXPECT_EQ(diagnostic([](Json& m) { m["status"] = "best"; }),
            "p.json: /made/status: must be optimal or feasible");
  EXPECT_EQ(diagnostic([](Json& m) { m["bound_joules"] = -1; }), "p.json: /made/bound_joules: must be >= 0");
  EXPECT_EQ(diagnostic([](Json& m) { m.erase("by"); }), "p.json: /made/by: must be present");
  EXPECT_THAT(diagnostic([](Json& m) { m["date"] = "today"; }),
              HasSubstr("p.json: /made/date: is not a field here"));
  EXPECT_EQ(diagnostic([](Json& m) { m = 1; }), "p.json: /made: must be an object");
  // In binary, too.
  PlanFile file = chain_file();
  file.made = {"poet 0.1.0", "", "optimal"};
  std::vector<ImageSection> sections = test::sections_of_image(to_binary(file));
  sections[4].payload.clear();
  Json::to_cbor({{"by", 1}, {"status", "optimal"}, {"paging", true}, {"rematerialization", true}},
                sections[4].payload);
  EXPECT_EQ(
      test::input_error([&] { static_cast<void>(plan_from_binary(test::make_image(sections), "p.plan")); }),
      "p.plan: MADE: /by: must be a string");
  sections[4].payload = {0xff};
  EXPECT_EQ(
      test::input_error([&] { static_cast<void>(plan_from_binary(test::make_image(sections), "p.plan")); }),
      "p.plan: MADE: is not CBOR");
}

TEST(PlanJsonErrors, Steps) {
  EXPECT_EQ(plan_diagnostic([](Json& j) { j["steps"] = 1; }), "p.json: /steps: must be an array");
  EXPECT_EQ(plan_diagnostic([](Json& j) { j["steps"][1] = "compute"; }),
            "p.json: /steps/1: must be an array");
  EXPECT_EQ(plan_diagnostic([](Json& j) { j["steps"][1].push_back(1); }),
            "p.json: /steps/1: must be a kind of step and an index, as in [\"compute\", 0]");
  EXPECT_EQ(plan_diagnostic([](Json& j) { j["steps"][1][0] = "page"; }),
            "p.json: /steps/1/0: must be compute, page_out, page_in, wait or free");
  EXPECT_EQ(plan_diagnostic([](Json& j) { j["steps"][1][0] = 1; }), "p.json: /steps/1/0: must be a string");
  for (const char* kind : {"compute", "page_out", "page_in", "wait", "free"}) {
    EXPECT_EQ(plan_diagnostic([&](Json& j) {
                j["steps"][1] = {kind, 4};
              }),
              "p.json: /steps/1/1: must be <= 3");
    EXPECT_EQ(plan_diagnostic([&](Json& j) {
                j["steps"][1] = {kind, -1};
              }),
              "p.json: /steps/1/1: must be >= 0");
  }
}

TEST(PlanJsonErrors, Allocations) {
  EXPECT_EQ(plan_diagnostic([](Json& j) { j["allocations"] = 1; }), "p.json: /allocations: must be an array");
  EXPECT_THAT(plan_diagnostic([](Json& j) { j["allocations"][0]["ofset"] = 1; }),
              HasSubstr("p.json: /allocations/0/ofset: is not a field here"));
  const std::string either = "p.json: /allocations/0: must have either value or scratch_of_op";
  EXPECT_EQ(plan_diagnostic([](Json& j) { j["allocations"][0].erase("value"); }), either);
  EXPECT_EQ(plan_diagnostic([](Json& j) { j["allocations"][0]["scratch_of_op"] = 1; }), either);
  EXPECT_EQ(plan_diagnostic([](Json& j) { j["allocations"][0]["value"] = 4; }),
            "p.json: /allocations/0/value: must be <= 3");
  EXPECT_EQ(plan_diagnostic([](Json& j) {
              j["allocations"][0].erase("value");
              j["allocations"][0]["scratch_of_op"] = 4;
            }),
            "p.json: /allocations/0/scratch_of_op: must be <= 3");
  for (const char* field : {"begin", "end", "bytes", "offset"}) {
    EXPECT_EQ(plan_diagnostic([&](Json& j) { j["allocations"][0][field] = -1; }),
              fmt::format("p.json: /allocations/0/{}: must be >= 0", field));
    EXPECT_EQ(plan_diagnostic([&](Json& j) { j["allocations"][0].erase(field); }),
              fmt::format("p.json: /allocations/0/{}: must be present", field));
  }
  for (const char* field : {"begin", "end"}) {
    EXPECT_EQ(plan_diagnostic([&](Json& j) { j["allocations"][0][field] = 14; }),  // there are 13 steps
              fmt::format("p.json: /allocations/0/{}: must be <= 13", field));
  }
}

// ---- binary

std::string plan_diagnostic(const Octets& bytes) {
  return test::input_error([&] { static_cast<void>(plan_from_binary(bytes, "p.plan")); });
}

// Of a file of which some sections are changed, checksums right. By tag: what to do with the payload.
std::string diagnostic_about(const std::string& tag, const std::function<void(Octets&)>& damage) {
  std::vector<ImageSection> sections = test::sections_of_image(to_binary(chain_file()));
  for (ImageSection& section : sections)
    if (section.tag == tag) damage(section.payload);
  return plan_diagnostic(test::make_image(sections));
}

// The same for what is CBOR. The schedule stays that of the graph.
std::string diagnostic_about(const std::string& tag, const std::function<void(Json&)>& damage) {
  std::vector<ImageSection> sections = test::sections_of_image(to_binary(chain_file()));
  for (ImageSection& section : sections) {
    if (section.tag != tag) continue;
    Json json = Json::from_cbor(section.payload);
    damage(json);
    section.payload.clear();
    Json::to_cbor(json, section.payload);
  }
  const std::uint32_t graph = poet_plan_crc32(sections[2].payload.data(), sections[2].payload.size());
  for (std::size_t i = 0; i < 4; ++i)
    sections[0].payload[3 + i] = static_cast<std::uint8_t>(graph >> (8 * i) & 255);
  return plan_diagnostic(test::make_image(sections));
}

TEST(PlanBinaryErrors, Container) {
  const Octets good = to_binary(chain_file());
  EXPECT_EQ(plan_diagnostic(Octets()), "p.plan: not a plan: does not begin with POET");
  EXPECT_EQ(plan_diagnostic(Octets{'P', 'O', 'E', 'M', 1, 0, 0, 0}),
            "p.plan: not a plan: does not begin with POET");
  Octets bad = good;
  bad[4] = 7;
  EXPECT_EQ(plan_diagnostic(bad), "p.plan: version 7 of the plan format; this program reads up to version 3");
  bad = good;
  bad.pop_back();
  EXPECT_EQ(plan_diagnostic(bad), "p.plan: ends before its last section does");
  EXPECT_EQ(plan_diagnostic(to_device_image(chain_file())),
            "p.plan: has no GRAPH section: it is for a device; the plan file that it was made with has one");
  std::vector<ImageSection> sections = test::sections_of_image(good);
  const char* const names[] = {"SCHEDULE", "ADDRESSES", "GRAPH", "COSTS"};
  std::size_t at = 8;
  for (std::size_t i = 0; i < 4; ++i) {
    bad = good;
    bad[at + 8] ^= 1;
    EXPECT_EQ(plan_diagnostic(bad), fmt::format("p.plan: {}: damaged: wrong checksum", names[i]));
    at += sections[i].payload.size() + 12;
    std::vector<ImageSection> without = sections;
    without.erase(without.begin() + static_cast<std::ptrdiff_t>(i));
    if (i != 2) {
      EXPECT_EQ(plan_diagnostic(test::make_image(without)),
                fmt::format("p.plan: has no {} section", names[i]));
    }
    std::vector<ImageSection> twice = sections;
    twice.push_back(sections[i]);
    EXPECT_EQ(plan_diagnostic(test::make_image(twice)),
              fmt::format("p.plan: {}: a section is there twice", names[i]));
  }
}

TEST(PlanBinaryErrors, Schedule) {
  const auto event = [](int byte) {
    return [byte](Octets& payload) { payload.push_back(static_cast<std::uint8_t>(byte)); };
  };
  EXPECT_EQ(diagnostic_about("SCHD", event(0xe0)),
            "p.plan: SCHEDULE is cut short or has an event of no known sort");
  EXPECT_EQ(diagnostic_about("SCHD", event(0x00)),
            "p.plan: SCHEDULE names an op that the graph does not have");
  EXPECT_EQ(diagnostic_about("SCHD", event(0x9e)),
            "p.plan: SCHEDULE names a value that the graph does not have");
  EXPECT_EQ(diagnostic_about("SCHD", event(0xd0)),
            "p.plan: SCHEDULE waits for a transfer that is not under way");
  // Flags of a device without waits.
  EXPECT_EQ(diagnostic_about("SCHD", [](Octets& payload) { payload[0] = 1; }),
            "p.plan: SCHEDULE waits for a transfer that is not under way");
  EXPECT_EQ(diagnostic_about("SCHD", [](Octets& payload) { payload[1] = 5; }),
            "p.plan: SCHEDULE: is for 5 ops and 4 values, GRAPH has 4 and 4");
  EXPECT_EQ(diagnostic_about("SCHD", [](Octets& payload) { payload[2] = 5; }),
            "p.plan: SCHEDULE: is for 4 ops and 5 values, GRAPH has 4 and 4");
  EXPECT_EQ(diagnostic_about("SCHD", [](Octets& payload) { payload[3] ^= 1; }),
            "p.plan: SCHEDULE: belongs to another graph: its checksum is not that of GRAPH");
}

TEST(PlanBinaryErrors, Addresses) {
  EXPECT_EQ(diagnostic_about("ADDR", [](Octets& payload) { payload.pop_back(); }),
            "p.plan: ADDRESSES has not the length that it states");
  EXPECT_EQ(diagnostic_about("ADDR",
                             [](Octets& payload) {
                               payload.pop_back();
                               --payload[1];
                             }),
            "p.plan: ADDRESSES: must have 5 addresses, one per allocation of the plan; has 4");
  EXPECT_EQ(diagnostic_about("ADDR",
                             [](Octets& payload) {
                               payload = {0xff, 0xff, 0xff, 0xff, 0x0f, 5, 4};
                               payload.resize(payload.size() + 20, 0xff);
                             }),
            "p.plan: ADDRESSES: address 0 must be <= 9007199254740992 bytes");
}

TEST(PlanBinaryErrors, GraphAndCosts) {
  const auto array = [](Json& json) { json = Json::array({1}); };
  EXPECT_EQ(diagnostic_about("GRPH", array), "p.plan: GRAPH: must be an object");
  EXPECT_EQ(diagnostic_about("COST", array), "p.plan: COSTS: must be an object");
  EXPECT_EQ(diagnostic_about("COST", [](Octets& payload) { payload.pop_back(); }),
            "p.plan: COSTS: is not CBOR");
  EXPECT_EQ(diagnostic_about("COST", [](Octets& payload) { payload.push_back(0); }),
            "p.plan: COSTS: is not CBOR");
  // An array of 2^60 items, and arrays within arrays, deep enough to use up the stack.
  EXPECT_EQ(diagnostic_about("COST", [](Octets& payload) { payload = {0x9b, 0x10, 0, 0, 0, 0, 0, 0, 0}; }),
            "p.plan: COSTS: is not CBOR");
  EXPECT_EQ(diagnostic_about("COST", [](Octets& payload) { payload.assign(10'000'000, 0x81); }),
            "p.plan: COSTS: is not CBOR");
  EXPECT_EQ(diagnostic_about("COST", [](Json& json) { json.erase("semantics"); }),
            "p.plan: COSTS: /semantics: must be present");
  EXPECT_EQ(diagnostic_about("COST", [](Json& json) { json["ram_budget_bytes"] = -1; }),
            "p.plan: COSTS: /ram_budget_bytes: must be >= 0");
  EXPECT_EQ(diagnostic_about("COST", [](Json& json) { json["nodes"] = Json::object(); }),
            "p.plan: GRAPH: /nodes: must be present");
  EXPECT_EQ(diagnostic_about("COST", [](Json& json) { json["ops"] = 1; }),
            "p.plan: COSTS: /ops: must be an object");
  EXPECT_EQ(diagnostic_about("COST", [](Json& json) { json["ops"]["runtime_seconds"] = 1; }),
            "p.plan: COSTS: /ops/runtime_seconds: must be an array");
  EXPECT_EQ(diagnostic_about("COST", [](Json& json) { json["ops"]["runtime_seconds"].push_back(1); }),
            "p.plan: COSTS: /ops/runtime_seconds: must have 4 items, as in GRAPH");
  EXPECT_EQ(diagnostic_about("COST", [](Json& json) { json["ops"]["runtime_seconds"][1] = -1; }),
            "p.plan: /ops/1/runtime_seconds: must be >= 0");
  EXPECT_EQ(diagnostic_about("COST", [](Json& json) { json["ops"]["runtime_seconds"][1] = nullptr; }),
            "p.plan: /ops/1/runtime_seconds: must be present");
  EXPECT_EQ(diagnostic_about("GRPH", [](Json& json) { json["ops"][1] = 1; }),
            "p.plan: GRAPH: /ops/1: must be an object");
  EXPECT_EQ(diagnostic_about("GRPH", [](Json& json) { json["ops"] = 1; }),
            "p.plan: GRAPH: /ops: must be an array");
  EXPECT_EQ(diagnostic_about("GRPH", [](Json& json) { json["format"] = 4; }),
            "p.plan: /format: must be <= 3");
}

// ---- files

TEST(PlanFileErrors, ReadingAndWriting) {
  const auto read = [](const fs::path& file) {
    return test::input_error([&] { static_cast<void>(read_plan(file)); });
  };
  EXPECT_EQ(read("/nowhere/p.plan"), "/nowhere/p.plan: no such file");
  for (const char* name : {"p.plan", "p.json"}) {
    EXPECT_EQ(test::input_error([&] { write_plan(chain_file(), fs::path("/nowhere") / name); }),
              fmt::format("/nowhere/{}: cannot be written: No such file or directory", name));
  }
  const fs::path folder = fs::temp_directory_path() / fmt::format("poet_plan_errors_{}", getpid());
  fs::create_directories(folder);
  const fs::path file = folder / "p";
  std::ofstream(file).close();
  EXPECT_EQ(read(file), file.string() + ": is empty");
  for (const char* text : {"  ", "plan", "[{}]", "POE", "P{"}) {
    std::ofstream(file) << text;
    EXPECT_EQ(read(file), file.string() + ": is no plan file: begins neither with POET nor, as JSON, with {");
  }
  std::ofstream(file) << "POET";
  EXPECT_EQ(read(file), file.string() + ": not a plan: does not begin with POET");
  std::ofstream(file) << " {\"format\": ";
  EXPECT_THAT(read(file), HasSubstr(": line 1, column "));
  fs::remove_all(folder);
}

}  // namespace
}  // namespace poet
