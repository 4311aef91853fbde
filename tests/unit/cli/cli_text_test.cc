#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "apps/cli/solve/progress.h"
#include "apps/shared/inputs.h"
#include "apps/shared/live_line.h"
#include "apps/shared/output.h"
#include "poet/base/error.h"
#include "poet/pipeline/network.h"
#include "poet/report/table.h"
#include "tests/support/program.h"

namespace poet::cli {
namespace {

TEST(Table, AlignsColumnsAndEndsNoLineInSpaces) {
  Table table({{"name", Align::left}, {"size", Align::right}, {"note", Align::left}});
  table.add({"a", "10 B", ""});
  table.add({"longer", "2 B", "x"});
  EXPECT_EQ(table.text(1),
            " name    size  note\n"
            " a       10 B\n"
            " longer   2 B  x\n");
}

TEST(Table, CountsCharactersNotBytes) {
  Table table({{"", Align::left}, {"", Align::left}});
  table.add({"µs", "1"});  // three bytes, two characters
  table.add({"ms", "2"});
  EXPECT_EQ(table.text(), "µs  1\nms  2\n");
}

TEST(Table, BreaksTheLastColumn) {
  Table table({{"a", Align::left}, {"b", Align::left}});
  table.add({"x", "thirty characters at the least and more"});
  EXPECT_EQ(table.text(0, 20), "a  b\nx  thirty characters at the least\n   and more\n");
}

TEST(Table, FitsATerminal) {
  Table table({{"layer", Align::left}, {"bytes", Align::right}, {"reason", Align::left}});
  table.add({"encoder.layer.11.attention", "1,024", "paging is cheaper than recomputing"});
  // Names lose their beginning.
  EXPECT_EQ(table.fitted(60),
            "layer                  bytes  reason\n"
            "\u2026r.layer.11.attention  1,024  paging is cheaper than\n"
            "                              recomputing\n");
  // What does not fit comes below.
  EXPECT_EQ(table.fitted(40),
            "layer                 bytes\n"
            "\u2026.layer.11.attention  1,024\n"
            "\n"
            "layer                 reason\n"
            "\u2026.layer.11.attention  paging is cheaper\n"
            "                      than recomputing\n");
  EXPECT_EQ(table.fitted(200), table.text());
}

TEST(Shortened, KeepsTheEnd) {
  EXPECT_EQ(shortened("layer4.conv2", 12), "layer4.conv2");
  EXPECT_EQ(shortened("layer4.conv2", 6), "\u2026conv2");
  EXPECT_EQ(shortened("\u00b5\u00b5\u00b5", 2), "\u2026\u00b5");
  EXPECT_EQ(shortened("abc", 0), "");
}

TEST(Wrapped, BreaksAtSpacesAndIndentsTheRest) {
  EXPECT_EQ(wrapped("one two three four", 9, 2), "one two\n  three\n  four");
  EXPECT_EQ(wrapped("unbreakable-word x", 5, 0), "unbreakable-word\nx");
  EXPECT_EQ(wrapped("", 5, 0), "");
  // Colours take no room.
  EXPECT_EQ(wrapped("\x1b[31mone\x1b[0m two three", 7, 0), "\x1b[31mone\x1b[0m two\nthree");
  EXPECT_EQ(columns_of("\x1b[1m\u2588\u2588\x1b[0m x"), 4U);
}

TEST(Describe, NamesWhatIsKnown) {
  Progress progress;
  progress.phase = "root relaxation";
  progress.elapsed_seconds = 0.25;
  EXPECT_EQ(describe(progress, Joules(10)), "root relaxation: 0.2 s");
  progress.bound_joules = 10.9;
  EXPECT_EQ(describe(progress, Joules(10)), "root relaxation: bound 10.9 J, 0.2 s");
  progress.incumbent_joules = 11;
  // (11 - 10.9) / (11 - 10) = 10%
  EXPECT_EQ(describe(progress, Joules(10)), "root relaxation: schedule 11 J, bound 10.9 J, gap 10%, 0.2 s");
  // Of a plan that is an answer already.
  progress.plan_joules = 12;
  EXPECT_EQ(describe(progress, Joules(10)),
            "root relaxation: best 12 J, schedule 11 J, bound 10.9 J, gap 55%, 0.2 s");
  progress.incumbent_joules = 13;
  EXPECT_EQ(describe(progress, Joules(10)), "root relaxation: best 12 J, bound 10.9 J, gap 55%, 0.2 s");
}

TEST(Describe, LeavesOutWhatIsOfLessImportance) {
  Progress progress;
  progress.phase = "root relaxation";
  progress.incumbent_joules = 11;
  progress.bound_joules = 10.9;
  const auto within = [&](int columns) { return describe_within(columns, progress, Joules(10), "2 s left"); };
  EXPECT_EQ(within(80), "root relaxation, 2 s left: schedule 11 J, bound 10.9 J, gap 10%");
  EXPECT_EQ(within(62), "schedule 11 J, bound 10.9 J, gap 10%, 2 s left");
  EXPECT_EQ(within(40), "schedule 11 J, bound 10.9 J, 2 s left");
  EXPECT_EQ(within(30), "schedule 11 J, bound 10.9 J");
  EXPECT_EQ(within(20), "11 J, bound 10.9 J");
  EXPECT_EQ(within(15), "schedule 11 J");
  progress.plan_joules = 12;
  EXPECT_EQ(within(24), "best 12 J, bound 10.9 J");
  EXPECT_EQ(within(15), "best 12 J");
  progress.plan_joules = progress.incumbent_joules = std::nullopt;
  progress.bound_joules.reset();
  EXPECT_EQ(within(80), "root relaxation, 2 s left");
  EXPECT_EQ(within(10), "2 s left");
}

TEST(PlainFilter, PrintsChangesAtMostOnceASecond) {
  PlainFilter filter;
  Progress progress;
  progress.phase = "search";
  EXPECT_TRUE(filter.worth_printing(progress, Joules(1)));
  progress.elapsed_seconds = 5;
  EXPECT_FALSE(filter.worth_printing(progress, Joules(1)));  // nothing but the time changed
  progress.incumbent_joules = 2;
  EXPECT_TRUE(filter.worth_printing(progress, Joules(1)));
  progress.incumbent_joules = 1.9;
  progress.elapsed_seconds = 5.5;
  EXPECT_FALSE(filter.worth_printing(progress, Joules(1)));  // too soon
  progress.elapsed_seconds = 6;
  EXPECT_TRUE(filter.worth_printing(progress, Joules(1)));
  progress.phase = "proof";
  progress.elapsed_seconds = 6.1;
  EXPECT_TRUE(filter.worth_printing(progress, Joules(1)));  // a new phase is news
}

TEST(Matches, IsAListOfGlobsOverWholeNames) {
  EXPECT_TRUE(matches("fc.*", "fc.weight"));
  EXPECT_FALSE(matches("fc", "fc.weight"));
  EXPECT_TRUE(matches("layer4.*,fc.*", "fc.bias"));
  EXPECT_TRUE(matches("*weight", "layer1.0.conv1.weight"));
  EXPECT_TRUE(matches("layer[34].*", "layer3.0.bn1.bias"));
  EXPECT_FALSE(matches("layer[34].*", "layer2.0.bn1.bias"));
  EXPECT_FALSE(matches("", "fc.bias"));
}

TEST(CheckWritable, RefusesWhatCannotBeCreated) {
  namespace fs = std::filesystem;
  const test::TemporaryFolder own;
  const fs::path folder = own.file("folder");
  fs::create_directory(folder);
  EXPECT_NO_THROW(check_writable("--schedule-out", (folder / "new.json").string()));
  EXPECT_FALSE(fs::exists(folder / "new.json"));
  EXPECT_THROW(check_writable("--schedule-out", folder.string()), InputError);
  EXPECT_THROW(check_writable("--schedule-out", (folder / "absent" / "new.json").string()), InputError);
  EXPECT_THROW(check_writable("--schedule-out", ""), InputError);
  EXPECT_THROW(check_writable("--schedule-out", folder.string() + "/"), InputError);
  EXPECT_THROW(check_writable("--schedule-out", "/dev/null"), InputError);
}

TEST(LiveLine, EndsAfterAWord) {
  const std::string text = "searching, 3 s left: best 1.34 mJ, bound";
  EXPECT_EQ(first_words(text, 80), text);
  EXPECT_EQ(first_words(text, 30), "searching, 3 s left: best");          // not 1.34 without its unit
  EXPECT_EQ(first_words(text, 34), "searching, 3 s left: best 1.34 mJ");  // nor a comma
  EXPECT_EQ(first_words("\u2588\u2588\u2588\u2588", 3), "\u2588\u2588\u2588");
}

class LimitPolicy : public testing::Test {
 protected:
  LimitPolicy() { options_.ram_budget = "1KiB"; }
  [[nodiscard]] Policy read() const { return policy_of({}, options_); }
  [[nodiscard]] std::string message() const {
    try {
      (void)read();
    } catch (const InputError& error) {
      return error.what();
    }
    return "no exception";
  }
  LimitOptions options_;
};

TEST_F(LimitPolicy, BudgetAloneMeansNoDeadline) {
  EXPECT_FALSE(read().deadline.factor || read().deadline.time);
  EXPECT_FALSE(read().max_bytes_written);
  EXPECT_TRUE(read().within_device);
  options_.beyond_device_ram = true;
  EXPECT_FALSE(read().within_device);
}

TEST_F(LimitPolicy, FactorIsOnTheUnlimitedStep) {
  options_.runtime_budget = "1.5";
  EXPECT_EQ(read().deadline.factor, 1.5);
  options_.runtime_budget = "0";
  EXPECT_EQ(message(), "--runtime-budget: \"0\" is not a factor (try 1.3; it must be finite and > 0)");
}

TEST_F(LimitPolicy, TotalDeadlineIsSharedByTheSteps) {
  options_.total_deadline = "1min";
  options_.steps = "120";
  EXPECT_EQ(read().deadline.time, Seconds(0.5));  // 60 s / 120
  options_.steps.reset();
  EXPECT_EQ(message(), "--total-deadline: needs --steps: how many steps that time is for");
}

TEST_F(LimitPolicy, DeadlinesExcludeEachOther) {
  options_.runtime_budget = "1.5";
  options_.deadline = "2s";
  EXPECT_EQ(message(), "--deadline: cannot be combined with --runtime-budget: give one of them");
}

TEST_F(LimitPolicy, WearIsALimitOfItsOwn) {
  options_.max_bytes_written = "3MB";
  EXPECT_EQ(read().max_bytes_written, Bytes(3'000'000));
}

}  // namespace
}  // namespace poet::cli
