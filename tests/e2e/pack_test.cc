// poet pack as a user runs it: exit codes, tables, JSON, stdin, pictures.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "tests/support/program.h"

namespace poet::test {
namespace {

constexpr const char* kBuffers =
    "id,lower,upper,size\n"
    "b1,0,3,4\n"
    "b2,3,9,4\n"
    "b3,0,9,4\n"
    "b4,9,21,4\n"
    "b5,0,21,4\n";

std::string text_of(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

class PackCommand : public testing::Test {
 protected:
  PackCommand() { std::ofstream(buffers) << kBuffers; }

  [[nodiscard]] std::string file(const std::string& name) const { return folder.file(name); }

  TemporaryFolder folder;
  std::string buffers = file("buffers.csv");
};

TEST_F(PackCommand, WritesTheTableToStdoutAndTheRestToStderr) {
  const ProgramRun run = poet("pack " + buffers);
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_TRUE(run.out.starts_with("id,lower,upper,size,offset\nb1,0,3,4,")) << run.out;
  EXPECT_NE(run.err.find("optimal"), std::string::npos) << run.err;
  EXPECT_NE(run.err.find("12 bytes"), std::string::npos) << run.err;
}

TEST_F(PackCommand, TakesAHyphenForStdout) {
  const ProgramRun run = poet("pack " + buffers + " -o -");
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_EQ(run.out, poet("pack " + buffers).out);
  EXPECT_FALSE(std::filesystem::exists("-"));
  EXPECT_EQ(poet("pack " + buffers + " -o - --json").exit_code, 2);  // both would be stdout
}

TEST_F(PackCommand, ReadsItsOwnOutputAsFixedOffsets) {
  const ProgramRun first = poet("pack " + buffers + " --capacity 12 -o " + file("o.csv"));
  EXPECT_EQ(first.exit_code, 0);
  EXPECT_NE(first.out.find("Offsets"), std::string::npos) << first.out;
  const ProgramRun again = poet("pack " + file("o.csv"));
  EXPECT_EQ(again.exit_code, 0);
  EXPECT_EQ(again.out, text_of(file("o.csv")));
}

TEST_F(PackCommand, SaysWhatFixedOffsetsMean) {
  std::ofstream(buffers) << "id,lower,upper,size,offset\na,5,9,4,8\nb,5,9,4,16\nc,7,9,4,\n";
  const ProgramRun some = poet("pack " + buffers + " -o " + file("o.csv"));
  EXPECT_EQ(some.exit_code, 0);
  EXPECT_NE(some.out.find("optimal: no arena is smaller with these 2 fixed offsets"), std::string::npos)
      << some.out;
  const ProgramRun all = poet("pack " + file("o.csv") + " --capacity 20");
  EXPECT_EQ(all.exit_code, 0);
  EXPECT_EQ(all.out, text_of(file("o.csv")));
  EXPECT_NE(all.err.find("checked: no two overlap, all are within the capacity"), std::string::npos)
      << all.err;
}

TEST_F(PackCommand, SaysThatNothingFits) {
  const ProgramRun run = poet("pack " + buffers + " --capacity 11B -o " + file("o.csv") + " --json");
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_EQ(run.json()["status"], "infeasible");
  EXPECT_EQ(run.json()["lower_bound_bytes"], 12);
  EXPECT_TRUE(run.json()["buffers"].empty());
  EXPECT_FALSE(std::filesystem::exists(file("o.csv")));
  const ProgramRun text = poet("pack " + buffers + " --capacity 11B");
  EXPECT_EQ(text.exit_code, 1);
  EXPECT_NE(text.out.find("an arena of 12 bytes, above the capacity of 11 bytes"), std::string::npos)
      << text.out;
}

TEST_F(PackCommand, ReadsStdin) {
  const ProgramRun run = run_command({"sh", "-c", POET_TEST_PROGRAM " pack - --json < " + buffers});
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_EQ(run.json()["buffers"].size(), 5U);
  EXPECT_EQ(run.json()["height_bytes"], 12);
  const ProgramRun bad = run_command({"sh", "-c", "echo id,lower | " POET_TEST_PROGRAM " pack -"});
  EXPECT_EQ(bad.exit_code, 2);
  EXPECT_EQ(bad.err, "poet: stdin:1: the column \"upper\" is missing\n");
}

TEST_F(PackCommand, PlacesIntoBanks) {
  const ProgramRun run = poet("pack " + buffers + " --bank fast=4 --bank slow=8");
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_TRUE(run.out.starts_with("id,lower,upper,size,offset,bank\n")) << run.out;
  EXPECT_NE(run.err.find("slow: 8 bytes of 8 bytes"), std::string::npos) << run.err;
  const ProgramRun none = poet("pack " + buffers + " --bank fast=4 --bank slow=7 --json");
  EXPECT_EQ(none.exit_code, 1);
  EXPECT_EQ(none.json()["status"], "infeasible");
  EXPECT_EQ(none.json()["banks"][1]["capacity_bytes"], 7);
}

TEST_F(PackCommand, DrawsTheTimesOfTheTable) {
  const std::string script = file("map.gp");
  std::ofstream(buffers) << "id,lower,upper,size\na,5,9,4\nb,7,9,0\n";
  EXPECT_EQ(poet("pack " + buffers + " --picture " + script).exit_code, 0);
  EXPECT_NE(text_of(script).find("set xrange [5:9]"), std::string::npos);
  EXPECT_NE(text_of(script).find("\n5 9 0 4\n"), std::string::npos);
  std::ofstream(buffers) << "id,lower,upper,size\na,1000000005,1000000009,4\n";
  EXPECT_EQ(poet("pack " + buffers + " --picture " + script).exit_code, 0);
  EXPECT_NE(text_of(script).find("set xrange [0:4]"), std::string::npos);
  EXPECT_NE(text_of(script).find("times from 1,000,000,005"), std::string::npos);
}

TEST_F(PackCommand, DrawsAPanelForEachBank) {
  const std::string script = file("map.gp");
  EXPECT_EQ(
      poet("pack " + buffers + " --bank fast=4 --bank slow=8 -o " + file("o.csv") + " --picture " + script)
          .exit_code,
      0);
  const std::string text = text_of(script);
  EXPECT_NE(text.find("$memory_0"), std::string::npos);
  EXPECT_NE(text.find("$memory_1"), std::string::npos);
  EXPECT_NE(text.find("slow"), std::string::npos);
}

TEST_F(PackCommand, RefusesBadInputInOneLine) {
  const auto refused = [](const std::string& arguments) {
    const ProgramRun run = poet("pack " + arguments);
    EXPECT_EQ(run.exit_code, 2) << arguments;
    EXPECT_EQ(run.out, "") << arguments;
    return run.err;
  };
  EXPECT_EQ(refused(buffers + " --capacity 12XB"),
            "poet: --capacity: \"12XB\" is not an amount of bytes (try 300KiB, 2MB or 737719)\n");
  EXPECT_EQ(refused(buffers + " --bank sram"),
            "poet: --bank: \"sram\" is not NAME=BYTES, such as sram=256KiB\n");
  EXPECT_EQ(refused(buffers + " --bank a=1 --bank a=2"), "poet: --bank: names \"a\" twice\n");
  EXPECT_EQ(refused(buffers + " --bank a=1 --capacity 2"),
            "poet: --capacity: excludes --bank: each bank has its own\n");
  EXPECT_EQ(refused(buffers + " --picture map.txt"),
            "poet: --picture: \"map.txt\" must end in .svg, .png, .pdf or .gp\n");
  std::ofstream(buffers) << "id,lower,upper,size,bank\nx,0,1,1,sram\n";
  EXPECT_EQ(refused(buffers), "poet: " + buffers + ":2: there is no bank \"sram\"\n");
  EXPECT_NE(refused(file("none.csv")).find("none.csv"), std::string::npos);
}

}  // namespace
}  // namespace poet::test
