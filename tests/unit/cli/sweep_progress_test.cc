#include "apps/cli/sweep/sweep_progress.h"

#include <gtest/gtest.h>

#include <cstdio>

#include "tests/support/background.h"
#include "tests/support/program.h"

namespace poet::cli {
namespace {

TEST(SweepProgress, TellsTheTimeLeftFromTheMeanSoFar) {
  EXPECT_EQ(describe({0, 96, 0, 0}, 5), "0 of 96 points");
  // 10 points in 20 s, 60 to come: 2 s each.
  EXPECT_EQ(describe({36, 96, 10, 0}, 20), "36 of 96 points, 2 min left");
  EXPECT_EQ(describe({36, 96, 10, 3}, 20), "36 of 96 points, 3 failed, 2 min left");
  EXPECT_EQ(describe({96, 96, 10, 0}, 20), "96 of 96 points");
  EXPECT_EQ(describe({1, 1, 1, 1}, 20), "1 of 1 point, 1 failed");
}

TEST(SweepProgress, PlainLinesAreFew) {
  const test::TemporaryFolder folder;
  std::FILE* file = std::fopen(folder.file("log").c_str(), "w");
  ASSERT_NE(file, nullptr);
  {
    SweepProgress progress(file);
    progress.say("3,000 points");
    for (std::size_t run = 0; run <= 3000; ++run) {
      progress.show({run, 3000, run, 0});
      progress.show({run, 3000, run, 0});  // as the time goes on
    }
  }
  std::fclose(file);
  const std::string text = test::file_text(folder.file("log"));
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 3) << text;  // the sentence, the first, the last
  EXPECT_TRUE(text.starts_with("poet: 3,000 points\npoet: 1 of 3,000 points, ")) << text;
  EXPECT_TRUE(text.ends_with("\npoet: 3,000 of 3,000 points\n")) << text;

  SweepProgress silent(nullptr);
  silent.say("nothing");
  silent.show({1, 2, 1, 0});
}

}  // namespace
}  // namespace poet::cli
