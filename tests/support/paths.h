#pragma once

// Where tests find things outside their own program.

#include <filesystem>

namespace poet::test {

/// The repository's root folder.
inline std::filesystem::path repository() { return POET_TEST_REPOSITORY; }

/// The folder `shared` beside the repository. It may be absent: GTEST_SKIP with a message then.
inline std::filesystem::path shared() { return repository().parent_path() / "shared"; }

#ifdef POET_TEST_PROGRAM
/// The command line program of this build.
inline std::filesystem::path program() { return POET_TEST_PROGRAM; }
#endif

}  // namespace poet::test
