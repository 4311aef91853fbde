#include "poet/base/data_dir.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "poet/base/error.h"
#include "tests/support/paths.h"

namespace poet {
namespace {

class DataDir : public testing::Test {
 protected:
  void SetUp() override { unsetenv("POET_DATA_DIR"); }
  void TearDown() override { unsetenv("POET_DATA_DIR"); }
};

TEST_F(DataDir, IsTheSourceTreesInABuild) {
  EXPECT_TRUE(std::filesystem::equivalent(data_dir(), test::repository() / "data"));
  EXPECT_TRUE(std::filesystem::exists(data_dir() / "published" / "linear.m0.json"));
}

TEST_F(DataDir, EnvironmentDecides) {
  setenv("POET_DATA_DIR", test::repository().c_str(), 1);
  EXPECT_TRUE(std::filesystem::equivalent(data_dir(), test::repository()));
}

TEST_F(DataDir, EmptyVariableCountsAsUnset) {
  setenv("POET_DATA_DIR", "", 1);
  EXPECT_TRUE(std::filesystem::equivalent(data_dir(), test::repository() / "data"));
}

TEST_F(DataDir, WrongVariableIsAnErrorNotAFallback) {
  setenv("POET_DATA_DIR", "/nonexistent/poet-data", 1);
  try {
    data_dir();
    FAIL() << "no exception";
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(), "POET_DATA_DIR: no such folder: /nonexistent/poet-data");
  }
}

}  // namespace
}  // namespace poet
