// Schedule files: what is written is read back, and laid out for people and independent checkers.

#include "poet/plan/file/schedule_json.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "poet/base/error.h"
#include "tests/support/random_instance.h"
#include "tests/support/tiny_instance.h"

namespace poet {
namespace {

namespace fs = std::filesystem;

class ScheduleFiles : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / fmt::format("poet_schedule_json_{}", getpid());
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  [[nodiscard]] std::size_t files() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }

  fs::path folder_;
};

ScheduleFile paging_chain() {
  ScheduleFile file;
  file.instance = test::chain();
  file.semantics = Semantics::device;
  file.limits = test::ram(35);
  file.schedule = test::chain_paging();
  return file;
}

std::string content(const fs::path& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

TEST_F(ScheduleFiles, AreLaidOutOneStagePerLine) {
  write_schedule(paging_chain(), folder_ / "s.json");
  const std::string text = content(folder_ / "s.json");
  EXPECT_EQ(text.rfind("{\n\"format\": 1,\n\"instance\": {", 0), 0U) << text;
  EXPECT_NE(text.find("\n\"semantics\": \"device\",\n\"ram_budget_bytes\": 35,\n\"deadline_seconds\": null,\n"
                      "\"stages\": [\n"
                      "{\"retain\":[],\"page_in\":[],\"page_out\":[],\"compute\":[0]},\n"
                      "{\"retain\":[0],\"page_in\":[],\"page_out\":[0],\"compute\":[1]},\n"
                      "{\"retain\":[1],\"page_in\":[0],\"page_out\":[],\"compute\":[2]},\n"
                      "{\"retain\":[0,2],\"page_in\":[],\"page_out\":[],\"compute\":[3]}\n]\n}\n"),
            std::string::npos)
      << text;
}

TEST_F(ScheduleFiles, AreReadBackAsWritten) {
  test::Rng rng(11);
  for (int round = 0; round < 20; ++round) {
    test::RandomInstanceOptions options;
    options.ops = test::pick(rng, 2, 20);
    options.multi_output = options.views = options.updates = options.device = round % 2 == 1;
    ScheduleFile file;
    file.instance = test::random_instance(rng, options);
    file.schedule = test::random_schedule(rng, file.instance);
    file.semantics = round % 2 == 1 ? Semantics::device : Semantics::published;
    file.limits = test::ram(1000 + round);
    if (round % 3 > 0) file.limits.deadline = Seconds(0.1 * round);
    if (round % 3 > 1) file.limits.max_bytes_written = Bytes(round);
    write_schedule(file, folder_ / "s.json");  // over the one before
    const ScheduleFile read = read_schedule(folder_ / "s.json");
    EXPECT_EQ(read.schedule, file.schedule);
    EXPECT_EQ(read.semantics, file.semantics);
    EXPECT_EQ(read.limits.ram_budget, file.limits.ram_budget);
    EXPECT_EQ(read.limits.deadline, file.limits.deadline);
    EXPECT_EQ(read.limits.max_bytes_written, file.limits.max_bytes_written);
    EXPECT_EQ(to_json(read), to_json(file));
    EXPECT_EQ(files(), 1U);
  }
}

TEST_F(ScheduleFiles, ListsOfValuesAreSetsAndTransfersMayBeAbsent) {
  auto json = to_json(paging_chain());
  json["stages"][3]["retain"] = {2, 0, 2};
  json["stages"][3].erase("page_in");
  json["stages"][3].erase("page_out");
  EXPECT_EQ(schedule_from_json(json, "s.json").schedule, test::chain_paging());
}

TEST_F(ScheduleFiles, LinksKeepPointingWhereTheyPoint) {
  std::ofstream(folder_ / "target.json") << "old";
  fs::create_symlink("target.json", folder_ / "link.json");
  write_schedule(paging_chain(), folder_ / "link.json");
  EXPECT_TRUE(fs::is_symlink(folder_ / "link.json"));
  EXPECT_EQ(read_schedule(folder_ / "target.json").schedule, test::chain_paging());
  EXPECT_EQ(files(), 2U);
}

TEST_F(ScheduleFiles, NamesNeedNotBeUtf8) {
  ScheduleFile file = paging_chain();
  file.instance.graph.ops[OpId(0)].name = "\xff";
  write_schedule(file, folder_ / "s.json");
  EXPECT_EQ(read_schedule(folder_ / "s.json").schedule, file.schedule);
}

}  // namespace
}  // namespace poet
