// poet show as a user runs it: exit codes, messages, and files that other programs can read.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "poet/plan/file/plan_file.h"
#include "poet/plan/file/schedule_json.h"
#include "poet/plan/schedule/keep_all.h"
#include "poet/plan/schedule/linearise.h"
#include "poet/report/gnuplot.h"
#include "tests/support/background.h"
#include "tests/support/program.h"
#include "tests/support/tiny_instance.h"

namespace poet::test {
namespace {

bool has_part(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::string contents(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

/// chain() with a page-out and a page-in, which needs 35 bytes on a device.
std::string schedule_file(const TemporaryFolder& folder, std::int64_t budget,
                          const std::string& name = "chain.json") {
  ScheduleFile file;
  file.instance = chain();
  file.instance.graph.name = "chain";
  file.semantics = Semantics::device;
  file.limits = ram(budget);
  file.schedule = chain_paging();
  write_schedule(file, folder.file(name));
  return folder.file(name);
}

/// What the XML parser of Python finds: the texts, one a line, then the colours of what is filled or drawn.
ProgramRun read_svg(const std::string& file) {
  return run_command({POET_TEST_PYTHON, "-c",
                      "import sys, xml.etree.ElementTree as e\n"
                      "n = '{http://www.w3.org/2000/svg}'\n"
                      "r = e.parse(sys.argv[1]).getroot()\n"
                      "assert r.tag == n + 'svg', r.tag\n"
                      "for t in r.iter(n + 'text'): print(''.join(t.itertext()))\n"
                      "c = [x.get(a) for x in r.iter() for a in ('fill', 'stroke', 'color')]\n"
                      "for x in sorted({x.replace(' ', '') for x in c if x}): print(x)",
                      file});
}

TEST(Show, TextOfASchedule) {
  const TemporaryFolder folder;
  const ProgramRun run = poet("show " + schedule_file(folder, 40));
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(run.err, "");
  EXPECT_TRUE(has_part(run.out, "Plan          chain, 4 ops")) << run.out;
  EXPECT_TRUE(has_part(run.out, "Verdict       valid")) << run.out;
  EXPECT_TRUE(has_part(run.out, "page in")) << run.out;
}

TEST(Show, LocaleDecidesAboutUnicode) {
  const TemporaryFolder folder;
  const std::string file = schedule_file(folder, 40);
  const std::string program_name = program().string();
  const ProgramRun plain = run_command({"env", "LC_ALL=C", program_name, "show", file});
  const ProgramRun rich = run_command({"env", "LC_ALL=en_US.UTF-8", program_name, "show", file});
  EXPECT_EQ(plain.exit_code, 0);
  EXPECT_FALSE(has_part(plain.out, "\u2588"));
  EXPECT_TRUE(has_part(rich.out, "\u2588"));
}

TEST(Show, OverBudgetIsShownAndExitsWithOne) {
  const TemporaryFolder folder;
  const ProgramRun run = poet("show " + schedule_file(folder, 30));
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_TRUE(has_part(run.out, "INVALID: step")) << run.out;
  EXPECT_TRUE(has_part(run.out, "35 bytes of RAM, over the budget of 30")) << run.out;
  EXPECT_TRUE(has_part(run.out, "peak 35 B")) << run.out;
}

// 30 bytes suffice where a page-in takes no RAM before the next stage: b and c are 25, d needs a, c and
// d, 16.
TEST(Show, AnotherSemanticsIsAnotherVerdict) {
  const TemporaryFolder folder;
  const std::string file = schedule_file(folder, 30);
  EXPECT_EQ(poet("show --semantics published " + file).exit_code, 0);
  EXPECT_EQ(poet("show --semantics staged " + file).exit_code, 1);
  EXPECT_EQ(poet("show --semantics device " + file).exit_code, 1);
  EXPECT_EQ(poet("show --semantics imagined " + file).exit_code, 2);
}

TEST(Show, ABrokenScheduleIsShownAsFarAsItGoes) {
  const TemporaryFolder folder;
  ScheduleFile file;
  file.instance = chain();
  file.limits = ram(100);
  file.semantics = Semantics::staged;
  file.schedule = chain_paging();
  file.schedule.stages[2].retain.clear();  // c has no b
  write_schedule(file, folder.file("broken.json"));
  const ProgramRun run = poet("show " + folder.file("broken.json"));
  EXPECT_EQ(run.exit_code, 1) << run.err;
  EXPECT_TRUE(has_part(run.out, "INVALID: stage 2 (c)")) << run.out;
  EXPECT_TRUE(has_part(run.out, "Compute       F")) << run.out;
}

TEST(Show, SvgHoldsTheSeries) {
  if (!has_gnuplot()) GTEST_SKIP() << "gnuplot is not installed";
  const TemporaryFolder folder;
  const ProgramRun run = poet("show -o " + folder.file("a.svg") + " " + schedule_file(folder, 30));
  EXPECT_EQ(run.exit_code, 1) << run.err;
  EXPECT_TRUE(has_part(run.out, "chain.json: invalid, drawn as far as it goes: step")) << run.out;
  const ProgramRun read = read_svg(folder.file("a.svg"));
  EXPECT_EQ(read.exit_code, 0) << read.err;
  for (const char* line : {"computed", "page-out", "page-in", "in RAM", "over the budget", "budget 30 B",
                           // In RAM (a value), computed, page-out, page-in, in RAM, over the budget.
                           "rgb(180,180,180)", "rgb(0,114,178)", "rgb(204,121,167)", "rgb(0,158,115)",
                           "rgb(86,180,233)", "rgb(213,94,0)"}) {
    EXPECT_TRUE(has_part("\n" + read.out, std::string("\n") + line + "\n")) << line << " in " << read.out;
  }
  // Nothing but the two files: no half-written one.
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.file(".")), {}), 2);
}

TEST(Show, SameFileSameFigure) {
  if (!has_gnuplot()) GTEST_SKIP() << "gnuplot is not installed";
  const TemporaryFolder folder;
  const std::string file = schedule_file(folder, 40);
  for (const std::string extension : {"svg", "png", "pdf", "gp"}) {
    const std::string figure = folder.file("a." + extension);
    EXPECT_EQ(poet("show -o " + figure + " " + file).exit_code, 0);
    const std::string once = contents(figure);
    EXPECT_FALSE(once.empty());
    EXPECT_EQ(poet("show -o " + figure + " " + file).exit_code, 0);
    EXPECT_EQ(once, contents(figure)) << extension;
  }
}

TEST(Show, PngHasItsSize) {
  if (!has_gnuplot()) GTEST_SKIP() << "gnuplot is not installed";
  const TemporaryFolder folder;
  const ProgramRun run =
      poet("show --axis step -o " + folder.file("a.png") + " " + schedule_file(folder, 40));
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(run.out, "Figure        " + folder.file("a.png") + "\n");
  const std::string png = contents(folder.file("a.png"));
  ASSERT_GT(png.size(), 24U);
  EXPECT_EQ(png.substr(0, 8), "\x89PNG\r\n\x1a\n");
  const auto number = [&png](std::size_t at) {
    int value = 0;
    for (std::size_t i = at; i < at + 4; ++i) value = value * 256 + static_cast<unsigned char>(png[i]);
    return value;
  };
  EXPECT_EQ(number(16), 1050);  // 3.5 inches at 300 dots
  EXPECT_GT(number(20), 1050);
}

TEST(Show, TheScriptDrawsByItself) {
  if (!has_gnuplot()) GTEST_SKIP() << "gnuplot is not installed";
  const TemporaryFolder folder;
  EXPECT_EQ(poet("show -o " + folder.file("a.gp") + " " + schedule_file(folder, 40)).exit_code, 0);
  const ProgramRun run = run_command({"env", "-C", folder.file("."), "gnuplot", "a.gp"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(run.err, "");
  EXPECT_EQ(read_svg(folder.file("a.svg")).exit_code, 0);
}

TEST(Show, WithoutGnuplotItSaysWhatToInstall) {
  const TemporaryFolder folder;
  const std::string file = schedule_file(folder, 40);
  const ProgramRun run =
      run_command({"env", "PATH=/nonexistent", program().string(), "show", "-o", folder.file("a.svg"), file});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_EQ(run.err.find("poet: gnuplot: is not installed"), 0U) << run.err;
  EXPECT_TRUE(has_part(run.err, "apt-get install gnuplot-nox")) << run.err;
  EXPECT_FALSE(std::filesystem::exists(folder.file("a.svg")));
  EXPECT_EQ(
      run_command({"env", "PATH=/nonexistent", program().string(), "show", "-o", folder.file("a.gp"), file})
          .exit_code,
      0);
}

TEST(Show, SeveralFiles) {
  const TemporaryFolder folder;
  const std::string good = schedule_file(folder, 40, "good.json");
  const std::string bad = schedule_file(folder, 30, "bad.json");
  const ProgramRun text = poet("show " + good + " " + bad);
  EXPECT_EQ(text.exit_code, 1);
  EXPECT_TRUE(has_part(text.out, "good.json")) << text.out;
  EXPECT_TRUE(has_part(text.out, "bad.json")) << text.out;
  const ProgramRun figure = poet("show -o " + folder.file("a.svg") + " " + good + " " + bad);
  EXPECT_EQ(figure.exit_code, 2);
  EXPECT_EQ(figure.err, "poet: -o: a figure shows one plan, not 2; .html shows several\n");
}

TEST(Show, BadInputIsOneLine) {
  const TemporaryFolder folder;
  const std::string file = schedule_file(folder, 40);
  const auto fails = [](const std::string& arguments, const std::string& message) {
    const ProgramRun run = poet("show " + arguments);
    EXPECT_EQ(run.exit_code, 2) << arguments;
    EXPECT_EQ(run.out, "") << arguments;
    EXPECT_TRUE(has_part(run.err, message)) << run.err;
    EXPECT_EQ(run.err.find('\n'), run.err.size() - 1) << run.err;
  };
  fails("-o " + folder.file("a.jpg") + " " + file, "must end in .html, .svg, .png, .pdf, .gp or .json");
  fails("-o " + folder.file("no/a.svg") + " " + file, "no such folder");
  fails(folder.file("absent.plan"), "absent.plan");
  fails("", "FILE");
  fails("--axis height " + file, "--axis");
  folder.write("text.json", "{\"stages\": 3}");
  fails(folder.file("text.json"), "text.json");
  folder.write("garbage", "not a plan");
  fails(folder.file("garbage"), "garbage");
}

TEST(Show, WhatIsBrokenBeforeItsFirstStepIsShownAsThat) {
  const TemporaryFolder folder;
  ScheduleFile short_one;
  short_one.instance = chain();
  short_one.limits = ram(100);
  short_one.schedule = chain_paging();
  short_one.schedule.stages.pop_back();
  write_schedule(short_one, folder.file("short.json"));
  for (const std::string& out : {std::string(), "-o " + folder.file("a.svg") + " "}) {
    if (!out.empty() && !has_gnuplot()) continue;
    const ProgramRun run = poet("show " + out + folder.file("short.json"));
    EXPECT_EQ(run.exit_code, 1) << run.err;
    EXPECT_TRUE(has_part(run.out, "3 stages for 4 ops")) << run.out;
  }
}

// verify and show agree: a plan file's addresses are judged under any rules, those found for a schedule are
// not.
TEST(Show, AddressesArePartOfAPlanOnly) {
  const TemporaryFolder folder;
  for (const Semantics semantics : kAllSemantics) {
    PlanFile file;
    file.instance = chain();
    file.semantics = semantics;
    file.limits = ram(100);
    file.plan = linearise(file.instance, chain_paging(), semantics);
    file.layout = place(file.instance, file.plan, semantics);
    file.layout.allocations[1].offset = file.layout.allocations[0].offset;
    write_plan(file, folder.file("a.json"));
    for (const char* command : {"verify ", "show "}) {
      const ProgramRun run = poet(command + folder.file("a.json"));
      EXPECT_EQ(run.exit_code, 1) << command << to_string(semantics);
      EXPECT_TRUE(has_part(run.out, "overlaps a")) << run.out;
    }
  }
  ScheduleFile schedule;
  schedule.instance = with_a_gap();
  schedule.semantics = Semantics::device;
  schedule.limits = ram(17);
  schedule.schedule = keep_all_schedule(schedule.instance.graph);
  write_schedule(schedule, folder.file("s.json"));
  for (const char* command : {"verify ", "show "})
    EXPECT_EQ(poet(command + folder.file("s.json")).exit_code, 0) << command;
  EXPECT_TRUE(has_part(poet("verify " + folder.file("s.json")).out, "over the budget"));
}

TEST(Show, PlanFilesOfBothForms) {
  const TemporaryFolder folder;
  for (const std::string name : {"a.plan", "a.json"}) {
    const std::string plan = folder.file(name);
    ASSERT_EQ(poet("solve --quiet --model linear --platform a72 --semantics published --ram-budget 4136 "
                   "--runtime-budget 1.3 --plan-out " +
                   plan)
                  .exit_code,
              0);
    const ProgramRun run = poet("show " + plan);
    EXPECT_EQ(run.exit_code, 0) << run.err;
    EXPECT_TRUE(has_part(run.out, "2 recomputations")) << run.out;
    const ProgramRun other = poet("show --semantics device " + plan);
    EXPECT_EQ(other.exit_code, 2);
    EXPECT_TRUE(has_part(other.err, "other rules are for schedule files")) << other.err;
  }
}

// In 1 MB there is no room for bert_tiny's table of words.
TEST(Show, TablesByIndexAreTold) {
  const TemporaryFolder folder;
  const std::string plan = folder.file("tables.plan");
  const std::string problem =
      "--model bert_tiny --sequence-length 48 --platform m4 --ram-budget 1MB --beyond-device-ram --split "
      "off ";
  const std::string wanted = "of 30,522 rows the 48 that input_ids names";
  const auto in_one_line = [](std::string text) {
    for (std::size_t at = 0; (at = text.find('\n', at)) != std::string::npos;) {
      const std::size_t end = text.find_first_not_of(" \n", at);
      text.replace(at, (end == std::string::npos ? text.size() : end) - at, " ");
    }
    return text;
  };
  const ProgramRun solved = poet("solve " + problem + "--gap 0.9 --time-limit 5 --quiet --plan-out " + plan);
  ASSERT_EQ(solved.exit_code, 0) << solved.err;
  EXPECT_TRUE(has_part(in_one_line(solved.out), wanted)) << solved.out;
  const ProgramRun shown = poet("show " + plan);
  EXPECT_EQ(shown.exit_code, 0);
  EXPECT_TRUE(has_part(in_one_line(shown.out), wanted)) << shown.out;
  EXPECT_EQ(poet("verify " + plan).exit_code, 0);
  const ProgramRun explained =
      poet("explain bert.embeddings.word_embeddings.weight " + problem + "--gap 0.9 --time-limit 5 --quiet");
  EXPECT_EQ(explained.exit_code, 0) << explained.err;
  EXPECT_TRUE(has_part(in_one_line(explained.out),
                       "of a table of 15.63 MB, which lives on storage and is never in RAM as a whole"))
      << explained.out;
}

// What it is, not where it lies: the same request is the same file, and its page says the request.
TEST(Show, SaysWhichCommandMadeThePlan) {
  const TemporaryFolder folder;
  const std::string wanted = "poet solve --model linear --platform a72 --ram-budget 1MB --no-paging";
  const std::string request = wanted.substr(5) + " --quiet --plan-out ";
  ASSERT_EQ(poet(request + folder.file("one")).exit_code, 0);
  ASSERT_EQ(poet(request + folder.file("two") + " --json").exit_code, 0);
  EXPECT_EQ(file_text(folder.file("one")), file_text(folder.file("two")));
  const auto picture = [&] {
    EXPECT_EQ(poet("show " + folder.file("one") + " -o " + folder.file("p.json")).exit_code, 0);
    return nlohmann::json::parse(file_text(folder.file("p.json")))[0];
  };
  EXPECT_EQ(picture()["made"]["command"], wanted);
  EXPECT_EQ(picture()["made"]["paging"], false);
  EXPECT_THAT(picture()["made"]["by"].get<std::string>(), testing::StartsWith("poet "));
  setenv("SOURCE_DATE_EPOCH", "1000000000", 1);
  EXPECT_EQ(picture()["written"], "2001-09-09 01:46 UTC");
  unsetenv("SOURCE_DATE_EPOCH");
}

}  // namespace
}  // namespace poet::test
