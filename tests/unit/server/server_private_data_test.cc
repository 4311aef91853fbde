// The server's folder is nobody else's, whether it is new or was made by an earlier version.

#include "apps/server/jobs/private_data.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/input_error.h"
#include "tests/support/scratch_folder.h"

namespace poet::server {
namespace {

namespace fs = std::filesystem;

int mode_of(const fs::path& file) { return static_cast<int>(fs::status(file).permissions()); }

TEST(ServerPrivateData, IsCreatedForItsOwner) {
  const test::ScratchFolder folder;
  const fs::path made = private_data(folder.path() / "a" / "b" / "");
  EXPECT_EQ(made, folder.path() / "a" / "b");
  EXPECT_EQ(mode_of(made), 0700);
}

TEST(ServerPrivateData, OfAnEarlierVersionIsTakenFromOthers) {
  const test::ScratchFolder folder;
  fs::permissions(folder.path(), fs::perms{0755});
  fs::permissions(folder.write("jobs.sqlite", ""), fs::perms{0644});
  fs::permissions(folder.write("somebodys", ""), fs::perms{0644});
  fs::create_directory(folder.path() / "uploads");
  fs::permissions(folder.path() / "uploads", fs::perms{0755});
  const fs::path outside = folder.write("outside", "");
  fs::permissions(outside, fs::perms{0644});
  fs::create_symlink(outside, folder.path() / "work");
  EXPECT_EQ(private_data(folder.path()), folder.path());
  EXPECT_EQ(mode_of(folder.path() / "jobs.sqlite"), 0600);
  EXPECT_EQ(mode_of(folder.path() / "uploads"), 0700);
  EXPECT_EQ(mode_of(folder.path() / "somebodys"), 0644);
  EXPECT_EQ(mode_of(outside), 0644);
  EXPECT_EQ(mode_of(folder.path()), 0755) << "it may be /tmp";
}

TEST(ServerPrivateData, CannotBeAFile) {
  const test::ScratchFolder folder;
  EXPECT_THAT(test::input_error([&] { (void)private_data(folder.write("file", "")); }),
              testing::HasSubstr("file: cannot be created"));
}

}  // namespace
}  // namespace poet::server
