#include "apps/shared/command_text.h"

#include <gtest/gtest.h>

namespace poet::cli {
namespace {

TEST(CommandText, IsWhatCanBeTypedAgain) {
  const char* const words[] = {"/usr/bin/poet", "solve",  "--plan-out", "a b.plan",    "--json", "--model",
                               "linear",        "--onnx", "it's",       "--csv=x.csv", ""};
  remember_command(11, words);
  EXPECT_EQ(command_text(),
            "poet solve --plan-out 'a b.plan' --json --model linear --onnx 'it'\\''s' --csv=x.csv ''");
  EXPECT_EQ(command_text({"--plan-out=", "--json", "--csv="}),
            "poet solve --model linear --onnx 'it'\\''s' ''");
  remember_command(0, nullptr);
  EXPECT_EQ(command_text(), "");
}

}  // namespace
}  // namespace poet::cli
