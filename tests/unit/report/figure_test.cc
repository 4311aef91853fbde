// The gnuplot script of a figure: what it draws, that names cannot break out of it, and that gnuplot takes
// it.

#include "poet/report/figure.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "poet/base/amounts.h"
#include "poet/base/write_file.h"
#include "poet/plan/layout/layout.h"
#include "poet/report/gnuplot.h"
#include "tests/support/input_error.h"
#include "tests/support/program.h"
#include "tests/support/small_pictures.h"
#include "tests/support/tiny_instance.h"

namespace poet {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Picture planned(const Instance& instance, const Schedule& schedule, Semantics semantics,
                std::int64_t budget) {
  return test::picture_of_schedule(instance, schedule, test::ram(budget), "chain.plan", semantics);
}

Picture paging(std::int64_t budget = 40) {
  return planned(test::chain(), test::chain_paging(), Semantics::device, budget);
}

std::string script_of(const Picture& picture, Axis axis = Axis::time) {
  return figure_script(picture, axis, FigureFormat::svg, "figure");
}

TEST(Figure, DrawsTheSeriesOfThePlan) {
  const std::string script = script_of(paging());
  // a is moved out from 1 s to 2 s and in until 3 s; op 0's row reaches from -0.42 to 0.42.
  EXPECT_THAT(script, HasSubstr("$values_page_out << EOD\n1 2 -0.42 0.42\nEOD\n"));
  EXPECT_THAT(script, HasSubstr("$values_page_in << EOD\n2 3 -0.42 0.42\nEOD\n"));
  EXPECT_THAT(script, HasSubstr("$values_computed << EOD\n0 1 -0.42 0.42\n1 2 0.58 1.42\n"));
  EXPECT_THAT(script, Not(HasSubstr("recomputed")));
  EXPECT_THAT(script, HasSubstr("\"budget 40 B\""));
  EXPECT_THAT(script, HasSubstr("\"time (s)\""));
  EXPECT_THAT(script, HasSubstr("15 J, 87.5\\045 over keep-all"));
}

// The axis is in the units that amounts are told in.
TEST(Figure, RamAxisIsInTheUnitsOfTheBudget) {
  Instance instance = test::chain();
  for (ValueCost& value : instance.costs.values) value.bytes = 1'024 * value.bytes;
  const Picture picture = planned(instance, test::chain_paging(), Semantics::device, 40'960);
  EXPECT_THAT(script_of(picture), HasSubstr("\"RAM (KB)\""));
  set_byte_units(ByteUnits::binary);
  EXPECT_THAT(script_of(picture), HasSubstr("\"RAM (KiB)\""));
  set_byte_units(ByteUnits::decimal);
}

TEST(Figure, WhatIsOnStorageIsDrawn) {
  EXPECT_THAT(script_of(paging()), Not(HasSubstr("stored")));  // a comes back as soon as it is out
  PlanFile file = paging(100).plan;
  ASSERT_EQ(file.plan.steps[5].kind, StepKind::page_in);
  std::swap(file.plan.steps[5], file.plan.steps[6]);  // c, from 2 s to 3 s, comes first
  file.layout = {};
  const std::string script = script_of(picture_of(std::move(file), ""));
  EXPECT_THAT(script, HasSubstr("$values_stored << EOD\n2 3 -0.42 0.42\nEOD\n"));
  EXPECT_THAT(script, HasSubstr("$values_page_in << EOD\n3 4 -0.42 0.42\nEOD\n"));
}

// A panel of its own, apart from what ops make.
TEST(Figure, WhatLivesOnStorageHasItsOwnPanel) {
  const std::string script = script_of(test::picture_at_home());
  EXPECT_THAT(script, HasSubstr("$parameters_load << EOD\n0 1 -0.42 0.42\nEOD\n"));
  EXPECT_THAT(script, HasSubstr("$parameters_to_home << EOD\n4 5 -0.42 0.42\nEOD\n"));
  EXPECT_THAT(script, HasSubstr("$parameters_parameter_in_RAM << EOD\n0 5 -0.42 0.42\nEOD\n"));
  EXPECT_THAT(script, HasSubstr("\"w\""));
  EXPECT_THAT(script, HasSubstr("title 'parameters from storage'"));
  EXPECT_THAT(script, HasSubstr("$arena_parameter << EOD"));
  EXPECT_THAT(script, Not(HasSubstr("page-in")));
  EXPECT_THAT(script, Not(HasSubstr("resident")));  // nothing is
  EXPECT_THAT(script, HasSubstr("\"(d)\""));
  EXPECT_THAT(script_of(paging()), Not(HasSubstr("\"(d)\"")));
}

TEST(Figure, StepsOnTheAxis) {
  const Picture picture = planned(test::chain(), test::chain_recomputing(), Semantics::published, 40);
  const std::string script = script_of(picture, Axis::step);
  // Steps: a, b, free a, c, free b, a again, d...
  EXPECT_THAT(script,
              HasSubstr("$values_computed << EOD\n0 1 -0.42 0.42\n1 2 0.58 1.42\n3 4 1.58 2.42\n6 7"));
  EXPECT_THAT(script, HasSubstr("$values_recomputed << EOD\n5 6 -0.42 0.42\nEOD\n"));
  EXPECT_THAT(script, HasSubstr("\"step\""));
}

TEST(Figure, WhatExceedsTheBudgetIsMarked) {
  EXPECT_THAT(script_of(paging()), Not(HasSubstr("over the budget")));
  const std::string script = script_of(paging(30));
  EXPECT_THAT(script, HasSubstr("title 'over the budget'"));
  EXPECT_THAT(script, HasSubstr(": INVALID\""));
}

TEST(Figure, ABrokenPlanGoesAsFarAsTheReplay) {
  PlanFile file = paging().plan;
  file.plan.steps.erase(file.plan.steps.begin() + 5);  // the page-in: c is computed, d has no a
  ASSERT_EQ(paging().plan.plan.steps[5].kind, StepKind::page_in);
  const Picture picture = picture_of(std::move(file), "");
  ASSERT_FALSE(picture.report.valid);
  const std::string script = script_of(picture);
  EXPECT_THAT(script, HasSubstr(": INVALID\""));
  EXPECT_THAT(script, Not(HasSubstr("$values_page_in")));
  EXPECT_THAT(script, HasSubstr("set xrange [0:3]"));
}

TEST(Figure, AnEmptyPlanIsNoError) {
  PlanFile file = paging().plan;
  file.plan.steps.clear();
  file.layout = {};
  const Picture picture = picture_of(std::move(file), "");
  const std::string script = script_of(picture);
  EXPECT_THAT(script, HasSubstr("INVALID"));
  if (!has_gnuplot()) GTEST_SKIP() << "gnuplot is not installed";
  EXPECT_THAT(run_gnuplot(script), HasSubstr("</svg>"));
}

// A chain of `ops`, everything kept.
Picture long_chain(int ops) {
  Graph graph;
  Plan plan;
  for (int i = 0; i < ops; ++i) {
    test::add_node(graph, "v" + std::to_string(i),
                   i > 0 ? std::vector{ValueId(i - 1)} : std::vector<ValueId>{}, 1);
    plan.steps.push_back({StepKind::compute, OpId(i), ValueId()});
  }
  return test::picture_of_plan(test::instance_of(std::move(graph)), plan, test::ram(ops), "long.plan");
}

// What is too small to be seen is merged, where there is much of it.
TEST(Figure, GrowsNoLargerThanItsArea) {
  const auto lines = [](const std::string& text) { return std::count(text.begin(), text.end(), '\n'); };
  EXPECT_GT(lines(script_of(long_chain(400))), 5 * 400);  // boxes of three kinds, and a curve
  EXPECT_LT(lines(script_of(long_chain(16'000))), 20'000);
}

TEST(Figure, SamePictureSameBytes) {
  const Picture picture = paging();
  EXPECT_EQ(script_of(picture), script_of(paging()));
  if (!has_gnuplot()) GTEST_SKIP() << "gnuplot is not installed";
  for (const FigureFormat format : {FigureFormat::svg, FigureFormat::png}) {
    const std::string script = figure_script(picture, Axis::time, format, "figure");
    EXPECT_EQ(run_gnuplot(script), run_gnuplot(script));
  }
}

TEST(Figure, APdfHasNoDateOfItsOwn) {
  if (!has_gnuplot()) GTEST_SKIP() << "gnuplot is not installed";
  const test::TemporaryFolder folder;
  write_figure(paging(), Axis::time, folder.file("a.pdf"));
  std::ifstream in(folder.file("a.pdf"), std::ios::binary);
  const std::string pdf((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  EXPECT_THAT(pdf, HasSubstr("%PDF-"));
  EXPECT_THAT(pdf, HasSubstr("/CreationDate (D:19700101000000"));
}

// Every way out of a string that gnuplot knows: quotes, backslashes, macros, commands of the shell, formats,
// data blocks.
TEST(Figure, NamesStayNames) {
  const test::TemporaryFolder folder;
  const std::string trace = folder.file("escaped");
  const std::vector<std::string> names = {
      "'; system('touch " + trace + "'); '",
      "`touch " + trace + "`",
      "\"; !touch " + trace,
      "{/Bold y} _a ^b %s @{x}]]>{d}",
  };
  Instance instance = test::chain();
  instance.model = "it's <&> \"50%\" \\n `touch " + trace + "` @MACRO";
  for (std::size_t i = 0; i < names.size(); ++i) {
    instance.graph.ops[OpId(i)].name = names[i];
    instance.graph.values[ValueId(i)].name = names[i] + "\nEOD\nsystem('touch " + trace + "')";
  }
  const Picture picture = planned(std::move(instance), test::chain_paging(), Semantics::device, 30);
  const std::string script = script_of(picture);
  EXPECT_THAT(script, HasSubstr("it\\047s <\\046> \\042\\065\\060\\045\\042 \\134n \\140touch"));
  if (!has_gnuplot()) GTEST_SKIP() << "gnuplot is not installed";
  const std::string svg = run_gnuplot(script);
  EXPECT_FALSE(std::filesystem::exists(trace));
  EXPECT_THAT(svg, HasSubstr("it's &lt;&amp;> \"50%\" \\n"));
  EXPECT_THAT(svg, HasSubstr("'); '<"));
  EXPECT_THAT(svg, HasSubstr("\u2026 %s @{x}]] >{d}<"));
}

TEST(Figure, ScriptForPeople) {
  const test::TemporaryFolder folder;
  write_figure(paging(), Axis::time, folder.file("plan.gp"));
  std::ifstream in(folder.file("plan.gp"));
  const std::string script((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  EXPECT_THAT(script, HasSubstr("set output \"plan.svg\""));
  EXPECT_EQ(script.front(), '#');
}

TEST(Figure, FormatsByName) {
  for (const char* name : {"a.svg", "b/c.png", "d.pdf", "e.gp"}) EXPECT_TRUE(is_figure(name)) << name;
  for (const char* name : {"a.SVG", "svg", ".svg", "a.html", "a.svg.txt", ""})
    EXPECT_FALSE(is_figure(name)) << name;
}

TEST(Gnuplot, WhatItSaysIsTheMessage) {
  if (!has_gnuplot()) GTEST_SKIP() << "gnuplot is not installed";
  const std::string message = test::input_error([] { (void)run_gnuplot("plot nonsense from nowhere\n"); });
  EXPECT_THAT(message, HasSubstr("gnuplot: failed, exit code 1"));
  EXPECT_THAT(test::input_error([] { (void)run_gnuplot("set terminal svg\n"); }),
              HasSubstr("gnuplot: failed"));
}

TEST(Gnuplot, MissingIsSaidInOneLine) {
  const char* path = std::getenv("PATH");
  const std::string before = path == nullptr ? "" : path;
  setenv("PATH", "/nonexistent", 1);
  EXPECT_FALSE(has_gnuplot());
  EXPECT_THAT(test::input_error([] { (void)run_gnuplot(""); }), HasSubstr("apt-get install gnuplot-nox"));
  setenv("PATH", before.c_str(), 1);
}

TEST(WriteFile, ReplacesAndFollowsLinks) {
  const test::TemporaryFolder folder;
  write_file(folder.file("a"), "one");
  std::filesystem::create_symlink("a", folder.file("link"));
  write_file(folder.file("link"), "two");
  EXPECT_TRUE(std::filesystem::is_symlink(folder.file("link")));
  std::ifstream in(folder.file("a"));
  std::string text;
  in >> text;
  EXPECT_EQ(text, "two");
  EXPECT_THAT(test::input_error([&] { write_file(folder.file("."), "x"); }), HasSubstr("it is a folder"));
  EXPECT_THAT(test::input_error([&] { write_file(folder.file("no/file"), "x"); }),
              HasSubstr("cannot be written"));
}

}  // namespace
}  // namespace poet
