// Files in a folder that their names must not leave, by both ways of opening them.

#include "poet/base/open_beneath.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <fstream>
#include <string>

#include "poet/base/temporary_folder.h"

namespace poet {
namespace {

namespace fs = std::filesystem;

using Open = Descriptor (*)(const fs::path& folder, const fs::path& name, int flags);

class OpenBeneath : public testing::TestWithParam<Open> {
 protected:
  OpenBeneath() {
    fs::create_directories(folder() / "sub" / "deep");
    std::ofstream(folder() / "sub" / "deep" / "file") << "inside";
    std::ofstream(outer_.path() / "secret") << "outside";
  }
  [[nodiscard]] fs::path folder() const { return outer_.path() / "folder"; }

  /// What the file has, or the errno.
  [[nodiscard]] std::string opened(const fs::path& name, int flags = O_RDONLY) const {
    const Descriptor file = GetParam()(folder(), name, flags);
    if (!file.valid()) return std::to_string(errno);
    std::array<char, 16> bytes{};
    const ssize_t count = ::read(file.get(), bytes.data(), bytes.size());
    return {bytes.data(), count < 0 ? 0 : static_cast<std::size_t>(count)};
  }

  TemporaryFolder outer_{"test"};
  const std::string left_ = std::to_string(EXDEV), link_ = std::to_string(ELOOP);
};

TEST_P(OpenBeneath, FindsWhatIsInTheFolder) {
  for (const char* name : {"sub/deep/file", "./sub/./deep/file", "sub//deep/file"})
    EXPECT_EQ(opened(name), "inside") << name;
  EXPECT_EQ(opened("sub/none"), std::to_string(ENOENT));
  EXPECT_EQ(opened("sub/deep/file/none"), std::to_string(ENOTDIR));
  EXPECT_TRUE(GetParam()(folder(), "sub/deep", O_PATH | O_DIRECTORY).valid());
}

TEST_P(OpenBeneath, RefusesNamesThatLeadElsewhere) {
  for (const std::string& name :
       {std::string("../secret"), (outer_.path() / "secret").string(), std::string("sub/../../secret"),
        std::string("sub/../sub/deep/file"), std::string(".."), std::string("/"), std::string(),
        std::string("..\0/secret", 10), std::string("sub/..\0/../secret", 17)})
    EXPECT_EQ(opened(name), left_) << name;
}

TEST_P(OpenBeneath, FollowsNoLink) {
  fs::create_symlink(outer_.path() / "secret", folder() / "away");
  fs::create_symlink("sub/deep/file", folder() / "here");
  fs::create_directory_symlink(outer_.path(), folder() / "up");
  fs::create_directory_symlink("deep", folder() / "sub" / "same");
  fs::create_symlink("/proc/self/cwd", folder() / "magic");
  for (const char* name : {"away", "here", "up/secret", "sub/same/file", "up", "magic/secret"})
    for (const int flags : {O_RDONLY, O_PATH, O_RDONLY | O_NONBLOCK})
      EXPECT_EQ(opened(name, flags), link_) << name << " " << flags;
  EXPECT_EQ(opened("up", O_PATH | O_DIRECTORY), link_);
}

TEST_P(OpenBeneath, TakesTheFolderAsItsUserNamesIt) {
  fs::create_directory_symlink(folder(), outer_.path() / "named");
  EXPECT_TRUE(GetParam()(outer_.path() / "named", "sub/deep/file", O_RDONLY).valid());
  EXPECT_FALSE(GetParam()(outer_.path() / "none", "file", O_RDONLY).valid());
  EXPECT_EQ(errno, ENOENT);
  EXPECT_TRUE(GetParam()({}, ".", O_PATH | O_DIRECTORY).valid()) << "the working folder";
}

INSTANTIATE_TEST_SUITE_P(BothWays, OpenBeneath, testing::Values(&open_beneath, &open_beneath_in_steps));

TEST(RuleBeneath, SaysWhy) {
  EXPECT_EQ(rule_beneath(EXDEV), "is not in the folder");
  EXPECT_EQ(rule_beneath(ELOOP), "is, or is behind, a symbolic link");
  EXPECT_EQ(rule_beneath(ENOENT), "No such file or directory");
}

}  // namespace
}  // namespace poet
