// A folder of firmware that somebody else has prepared: what is written and removed stays in it.

#include "poet/firmware/draft.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>

#include "tests/support/input_error.h"
#include "tests/support/scratch_folder.h"

namespace poet::firmware {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

constexpr const char* kHeading = "Written by poet codegen, which replaces these files and no others:\n";

class FirmwareDraft : public ::testing::Test {
 protected:
  FirmwareDraft() {
    fs::create_directories(folder());
    fs::create_directories(elsewhere());
    folder_.write("elsewhere/precious", "precious");
  }
  [[nodiscard]] fs::path folder() const { return folder_.path() / "firmware"; }
  [[nodiscard]] fs::path elsewhere() const { return folder_.path() / "elsewhere"; }

  static void write(const Draft& draft, const fs::path& name) {
    fs::create_directories((draft.path() / name).parent_path());
    std::ofstream(draft.path() / name) << "new";
  }
  [[nodiscard]] std::string text(const fs::path& name) const {
    std::ifstream in(folder_.path() / name);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  test::ScratchFolder folder_;
};

TEST_F(FirmwareDraft, ReplacesWhatItHasWritten) {
  folder_.write("firmware/files.txt", std::string(kHeading) + "old.c\nsub/deep/old.c\nsub/deep\n");
  fs::create_directories(folder() / "sub" / "deep");
  folder_.write("firmware/old.c", "old");
  folder_.write("firmware/sub/deep/old.c", "old");
  Draft draft(folder());
  write(draft, "new.c");
  write(draft, "other/deep/new.c");
  draft.commit();
  EXPECT_EQ(text("firmware/new.c"), "new");
  EXPECT_EQ(text("firmware/other/deep/new.c"), "new");
  EXPECT_FALSE(fs::exists(folder() / "old.c") || fs::exists(folder() / "sub"));
  EXPECT_EQ(text("firmware/files.txt"), std::string(kHeading) + "new.c\nother/deep/new.c\n");
}

TEST_F(FirmwareDraft, RemovesNothingBehindALink) {
  folder_.write("firmware/files.txt", std::string(kHeading) + "sub/precious\n");
  fs::create_directory_symlink(elsewhere(), folder() / "sub");
  Draft draft(folder());
  write(draft, "new.c");
  draft.commit();
  EXPECT_EQ(text("elsewhere/precious"), "precious");
}

TEST_F(FirmwareDraft, WritesNothingBehindALink) {
  folder_.write("firmware/files.txt", kHeading);
  fs::create_directory_symlink(elsewhere(), folder() / "sub");
  Draft draft(folder());
  write(draft, "sub/precious");
  EXPECT_THAT(test::input_error([&] { draft.commit(); }),
              HasSubstr("firmware/sub: cannot be written: is, or is behind, a symbolic link"));
  EXPECT_EQ(text("elsewhere/precious"), "precious");
}

TEST_F(FirmwareDraft, ListsItsFilesOverNoOthers) {
  folder_.write("firmware/files.txt", kHeading);
  fs::create_symlink(elsewhere() / "precious", folder() / "files.txt.new");
  Draft draft(folder());
  write(draft, "new.c");
  draft.commit();
  EXPECT_EQ(text("elsewhere/precious"), "precious");
  EXPECT_EQ(text("firmware/files.txt"), std::string(kHeading) + "new.c\n");
}

}  // namespace
}  // namespace poet::firmware
