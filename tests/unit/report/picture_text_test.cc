// The picture of a plan as text: exact for a plan worked out by hand, and never wider than asked for.

#include "poet/plan/schedule/linearise.h"
#include "poet/report/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <utility>

#include "poet/plan/canonical.h"
#include "poet/plan/layout/layout.h"
#include "poet/plan/schedule/keep_all.h"
#include "poet/report/table.h"
#include "tests/support/random_training_graph.h"
#include "tests/support/small_pictures.h"
#include "tests/support/tiny_instance.h"

namespace poet {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Picture planned(Instance instance, const Schedule& schedule, Semantics semantics, std::int64_t budget) {
  instance.graph.name = "chain";
  return test::picture_of_schedule(instance, schedule, test::ram(budget), "chain.plan", semantics);
}

/// The longest line, in characters.
std::size_t widest(const std::string& text) {
  std::istringstream lines(text);
  std::size_t most = 0;
  for (std::string line; std::getline(lines, line);) {
    std::size_t width = 0;
    for (const char c : line) width += (static_cast<unsigned char>(c) & 0xC0) != 0x80 ? 1 : 0;
    most = std::max(most, width);
  }
  return most;
}

std::string in_one_line(const std::string& text) {
  std::istringstream words(text);
  std::string line;
  for (std::string word; words >> word;) line += (line.empty() ? "" : " ") + word;
  return line;
}

// 4 computations, 2 transfers, 2 waits for them and 5 frees, as a is freed twice: 13 steps. A line of the
// chart is 4 B, a column 4 s / 46. a (10 B) is computed from 0 s to 1 s, paged out beside b (20 B), which is
// computed until 2 s, and paged in beside c (5 B); b and c read from RAM 10 + 20 = 30 B, then 20 + 10 + 5 =
// 35 B, then d takes 10 + 5 + 1 = 16 B.
TEST(PictureText, OfAPlanByHand) {
  TextOptions options;
  options.width = 60;
  options.unicode = false;
  EXPECT_EQ(picture_text(planned(test::chain(), test::chain_paging(), Semantics::device, 40), options),
            R"(Plan          chain, 4 ops, 4 values (4 transient), batch 1
From          chain.plan
Rules         device: transfers take time and RAM; 13 steps
Verdict       valid: every rule holds
Energy        15 J, 87.5% over the 8 J of keeping everything
              compute          8 J    53.3%  #######
              page-in          4 J    26.7%  ###
              page-out         3 J      20%  ##
Time          4 s, no deadline; computing 100%, storage busy
              50%
RAM           peak 35 B of 40 B allowed (87.5%)
Arena         35 B for 5 allocations, none is smaller

RAM           # values, - budget 40 B
         40 B ----------------------------------------------

                                     ############
                         ########################
                         ########################
                         ########################
                         ########################
                         ###################################
              ##############################################
              ##############################################
              ##############################################
          0 B ''''''''''''''''''''''''''''''''''''''''''''''
              0                                          4 s
                                     ^ peak 35 B at c, 2 s
Compute       FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF
Storage       ...........ooooooooooooiiiiiiiiiiii...........
              F forward, o page-out, i page-in

Deviations    from keeping everything: 1 page-out (10 B,
              1 s), 1 page-in (10 B, 1 s)

   at  what      takes  bytes  of
  1 s  page out    1 s   10 B  a
  2 s  page in     1 s   10 B  a
)");
}

TEST(PictureText, UnicodeDrawsEighths) {
  const std::string text = picture_text(planned(test::chain(), test::chain_paging(), Semantics::device, 40));
  EXPECT_THAT(text, HasSubstr("\u2588"));
  EXPECT_THAT(text, HasSubstr("\u25b2 peak 35 B at c, 2 s"));
}

TEST(PictureText, AsciiHasNothingElse) {
  TextOptions options;
  options.unicode = false;
  for (const char c :
       picture_text(planned(test::chain(), test::chain_paging(), Semantics::device, 30), options)) {
    EXPECT_LT(static_cast<unsigned char>(c), 0x80);
  }
}

TEST(PictureText, SaysWhatBreaksTheBudget) {
  TextOptions options;
  options.unicode = false;
  const std::string text =
      picture_text(planned(test::chain(), test::chain_paging(), Semantics::device, 30), options);
  EXPECT_THAT(text, HasSubstr("Verdict       INVALID: step"));
  EXPECT_THAT(text, HasSubstr("35 bytes of RAM, over the budget of 30"));
  // RAM is over the budget from 2 s to 3 s of 4 s: the third quarter of 86 columns crosses its line.
  EXPECT_THAT(text, HasSubstr("30 B " + std::string(43, '-') + std::string(22, '!') + std::string(21, '-')));
  // It breaks nothing else, so its figures are those of the whole plan.
  EXPECT_THAT(text, HasSubstr("peak 35 B of 30 B allowed (117%)"));
}

TEST(PictureText, TellsParametersFromWhatOpsMake) {
  TextOptions options;
  options.width = 90;
  options.unicode = false;
  const std::string text = picture_text(test::picture_at_home(), options);
  EXPECT_LE(widest(text), 90u);
  // Parameters are a part of what is paged in and out, as poet solve and poet verify count them.
  EXPECT_THAT(text, HasSubstr("page-in        2.5 J"));
  EXPECT_THAT(text, HasSubstr("  load         2.5 J"));
  EXPECT_THAT(text, HasSubstr("page-out         5 J"));
  EXPECT_THAT(text, HasSubstr("  to home        5 J"));
  EXPECT_THAT(text,
              HasSubstr("Parameters    10 B of parameters and optimiser state live on storage (1 value)"));
  EXPECT_THAT(text, HasSubstr("# values, % parameters from storage, - budget 40 B"));
  EXPECT_THAT(text, HasSubstr("%%%%"));
  EXPECT_THAT(text, HasSubstr("\nStorage       lll"));
  EXPECT_THAT(text, HasSubstr("l load of parameters"));
  EXPECT_THAT(
      in_one_line(text),
      HasSubstr("from keeping everything: 1 page-out (10 B, 1 s), 1 of them of parameters or state, to "
                "home (10 B, 1 s), 1 page-in (10 B, 1 s), 1 of them a load of parameters or state (10 "
                "B, 1 s)"));
  EXPECT_THAT(text, HasSubstr("  to home    1 s     5 J   10 B  w\n"));
}

TEST(PictureText, KeepAllDeviatesInNothing) {
  const Instance instance = test::chain();
  const std::string text =
      picture_text(planned(instance, keep_all_schedule(instance.graph), Semantics::staged, 1000));
  EXPECT_THAT(text, HasSubstr("8 J, as much as keeping everything"));
  EXPECT_THAT(text, HasSubstr("Deviations    none from keeping everything"));
  EXPECT_THAT(text, HasSubstr("; the budget, 1,000 B, is far above"));
  EXPECT_THAT(text, Not(HasSubstr("Storage")));
}

TEST(PictureText, RecomputationIsTold) {
  const std::string text =
      picture_text(planned(test::chain(), test::chain_recomputing(), Semantics::published, 40));
  EXPECT_THAT(text, HasSubstr("10 J, 25% over the 8 J of keeping everything"));
  EXPECT_THAT(text, HasSubstr("1 recomputation (1 s)"));
  EXPECT_THAT(text, HasSubstr("recompute    1 s     2 J   10 B  a\n"));
}

TEST(PictureText, ShortenedUnlessAllIsAskedFor) {
  test::RandomTrainingGraphOptions size;
  size.ops = 200;
  const Instance instance = test::random_training_graph(3, size);
  // Everything that is kept for long is paged.
  Schedule schedule = keep_all_schedule(instance.graph);
  TextOptions options;
  options.all = true;
  PlanFile file;
  file.instance = instance;
  file.semantics = Semantics::device;
  file.limits.ram_budget = Bytes(1'000'000'000);
  file.plan = linearise(instance, schedule, Semantics::device);
  // A page-out after every computation deviates often.
  Plan paged;
  for (const Step& step : file.plan.steps) {
    paged.steps.push_back(step);
    if (step.kind != StepKind::compute || instance.graph.ops[step.op].outputs.empty()) continue;
    const ValueId v = instance.graph.ops[step.op].outputs.front();
    const bool stays = std::find(file.plan.steps.begin(), file.plan.steps.end(),
                                 Step{StepKind::free, OpId(), v}) != file.plan.steps.end();
    if (stays && instance.costs.values[v].bytes > Bytes(0))
      paged.steps.push_back({StepKind::page_out, OpId(), v});
  }
  file.plan = canonicalize(instance, paged, Semantics::device);
  const Picture picture = picture_of(std::move(file), "");
  ASSERT_TRUE(picture.report.valid) << picture.report.violation;
  ASSERT_GT(picture.report.page_outs, 100);
  const auto lines_with = [](const std::string& text, const std::string& part) {
    std::istringstream lines(text);
    int count = 0;
    for (std::string line; std::getline(lines, line);) count += line.find(part) != std::string::npos ? 1 : 0;
    return count;
  };
  const std::string all = picture_text(picture, options);
  EXPECT_EQ(lines_with(all, "  page out  "), picture.report.page_outs);
  options.all = false;
  const std::string some = picture_text(picture, options);
  EXPECT_EQ(lines_with(some, "  page out  ") + lines_with(some, "  wait  "), 20);
  EXPECT_THAT(some, HasSubstr("`all` lists every one"));
  for (const int width : {40, 59, 60, 79, 80, 100, 160}) {
    for (const Axis axis : {Axis::time, Axis::step}) {
      EXPECT_LE(widest(picture_text(picture, {width, true, true, axis})), static_cast<std::size_t>(width));
    }
  }
}

TEST(PictureText, HostileNamesStayOnTheirLine) {
  Instance instance = test::chain();
  instance.model = "two\nlines \x1b[31m and \xff";
  instance.graph.values[ValueId(0)].name = std::string(500, 'x') + "\n";
  instance.graph.ops[OpId(2)].name = std::string(500, 'y') + "\n";
  const std::string text = picture_text(planned(instance, test::chain_paging(), Semantics::device, 40));
  EXPECT_THAT(text, HasSubstr("two?lines ?[31m and ?,"));
  EXPECT_LE(widest(text), 100U);
}

TEST(Printable, OnlyValidUtf8OfOneLine) {
  EXPECT_EQ(printable("caf\u00e9", 10), "caf\u00e9");
  EXPECT_EQ(printable("a\nb\tc\x7f", 10), "a?b?c?");
  EXPECT_EQ(printable("\xc0\xaf", 10), "??");            // overlong
  EXPECT_EQ(printable("\xed\xa0\x80", 10), "???");       // a surrogate
  EXPECT_EQ(printable("\xf4\x90\x80\x80", 10), "????");  // beyond Unicode
  EXPECT_EQ(printable("\xef\xbf\xbf", 10), "???");       // no character
  EXPECT_EQ(printable("\xc2\x85", 10), "??");            // a control character
  EXPECT_EQ(printable("\xe2\x82", 10), "??");            // cut off
  EXPECT_EQ(printable("0123456789ab", 10), "0123456...");
}

// The examples of data/report/axes.js, whose test is in tests/e2e/studio/names.mjs.
TEST(Printable, NamesKeepLayerAndPart) {
  EXPECT_EQ(printable_name("fc4[0:8]", 8), "fc4[0:8]");
  EXPECT_EQ(printable_name("relu4[40:80]", 11), "relu4\u20260:80]");
  EXPECT_EQ(printable_name("grad:fc4.weight[120:160,0:25]", 25), "grad:fc4.weight\u2026160,0:25]");
  EXPECT_EQ(printable_name("fc4:backward_weight[40:80,75:100]", 25), "fc4\u2026ckward_weight\u202675:100]");
  EXPECT_EQ(printable_name("layer4.1.conv2.weight[0:512,384:512]", 25),
            "\u20264.1.conv2.weight\u202684:512]");
  EXPECT_EQ(printable_name("layer4.1.conv2.weight[0:512,384:512]", 16), "\u20264.1\u2026weight\u2026512]");
  EXPECT_EQ(printable_name("bert.encoder.layer.11.attention.self.query.weight", 25),
            "\u202611\u2026ion.self.query.weight");
  EXPECT_EQ(printable_name("input_identifiers", 10), "\u2026entifiers");
  EXPECT_EQ(printable_name("input_identifiers", 10, false), "~entifiers");
  EXPECT_EQ(printable_name("\xc0[1]", 20), "?[1]");
}

TEST(Printable, NamesFitAnyRoom) {
  for (const std::string name :
       {"layer4.1.conv2.weight[0:512,384:512]", "a.b.c.d.e.f.g", "[1:2,3:4]", "12345678901234567890"})
    for (std::size_t room = 1; room < 40; ++room)
      EXPECT_EQ(columns_of(printable_name(name, room)), std::min(room, name.size())) << name << " " << room;
}

}  // namespace
}  // namespace poet
