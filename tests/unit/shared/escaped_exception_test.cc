// What the programs say and how they end where an exception leaves what none may leave.

#include <gtest/gtest.h>

#include <new>
#include <stdexcept>

#include "apps/shared/errors.h"

namespace poet::cli {
namespace {

void fail(bool out_of_memory) {
  if (out_of_memory) throw std::bad_alloc();
  throw std::logic_error("a mistake");
}

/// As the JSON library's values do that find no memory.
struct FailsAtItsEnd {
  bool out_of_memory;
  ~FailsAtItsEnd() { fail(out_of_memory); }
};

void end_one(bool out_of_memory) {
  set_up_signals();
  const FailsAtItsEnd failing{out_of_memory};
}

TEST(EscapedExceptionDeathTest, IsALineAndAnInternalError) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(end_one(true), testing::ExitedWithCode(3), "^poet: internal error: out of memory\n$");
  EXPECT_EXIT(end_one(false), testing::ExitedWithCode(3), "^poet: internal error: a mistake\n$");
}

}  // namespace
}  // namespace poet::cli
