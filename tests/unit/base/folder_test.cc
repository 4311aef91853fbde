// Folders: what is in them, by name, and that they go with all that is in them.

#include "poet/base/folder.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <system_error>
#include <vector>

#include "poet/base/temporary_folder.h"

namespace poet {
namespace {

namespace fs = std::filesystem;

void put(const fs::path& file) {
  fs::create_directories(file.parent_path());
  std::ofstream(file) << "x";
}

std::vector<std::string> names(const std::vector<fs::path>& entries, const fs::path& below) {
  std::vector<std::string> out;
  for (const fs::path& entry : entries) out.push_back(entry.lexically_relative(below).string());
  return out;
}

TEST(Folder, HasEntriesInTheOrderOfNames) {
  const TemporaryFolder folder("test");
  for (const char* name : {"b", "a", "c/deep/file", ".hidden"}) put(folder.path() / name);
  fs::create_symlink("nowhere", folder.path() / "link");
  std::error_code error;
  EXPECT_EQ(names(entries_of(folder.path(), error), folder.path()),
            (std::vector<std::string>{".hidden", "a", "b", "c", "link"}));
  EXPECT_FALSE(error);
  EXPECT_EQ(names(files_below(folder.path()), folder.path()),
            (std::vector<std::string>{".hidden", "a", "b", "c/deep/file"}));
}

TEST(Folder, SaysWhatCannotBeRead) {
  const TemporaryFolder folder("test");
  put(folder.path() / "file");
  for (const char* name : {"nowhere", "file"}) {
    std::error_code error;
    EXPECT_TRUE(entries_of(folder.path() / name, error).empty()) << name;
    EXPECT_TRUE(error) << name;
    EXPECT_THROW((void)files_below(folder.path() / name), fs::filesystem_error) << name;
  }
}

TEST(Folder, GoesWithAllThatIsInItButNotWithWhatLinksNameToo) {
  const TemporaryFolder folder("test");
  put(folder.path() / "kept/file");
  put(folder.path() / "gone/a/b");
  fs::create_directory_symlink(folder.path() / "kept", folder.path() / "gone/link");
  remove_folder(folder.path() / "gone");
  remove_folder(folder.path() / "gone");  // there is none any more
  EXPECT_FALSE(fs::exists(folder.path() / "gone"));
  EXPECT_TRUE(fs::exists(folder.path() / "kept/file"));
}

}  // namespace
}  // namespace poet
