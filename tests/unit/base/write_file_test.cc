// The file that write_file() writes first has a name that can be guessed.

#include "poet/base/write_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <string>

#include "poet/base/error.h"
#include "poet/base/temporary_folder.h"

namespace poet {
namespace {

namespace fs = std::filesystem;

std::string text_of(const fs::path& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST(WriteFileBeside, WritesThroughNoLink) {
  const TemporaryFolder folder("test");
  const fs::path file = folder.path() / "answer";
  std::ofstream(folder.path() / "precious") << "precious";
  fs::create_symlink("precious", folder.path() / ("answer." + std::to_string(getpid()) + ".tmp"));
  EXPECT_THROW(write_file(file, "text"), InputError);
  EXPECT_EQ(text_of(folder.path() / "precious"), "precious");
  EXPECT_FALSE(fs::exists(file));
  write_file(file, "text");  // the link is gone
  EXPECT_EQ(text_of(file), "text");
}

}  // namespace
}  // namespace poet
