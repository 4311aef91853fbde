// Every test program's main().

#include <gmock/gmock.h>

#include <cstdlib>
#include <string>

#include "tests/support/effort.h"

int main(int argc, char** argv) {
  // RapidCheck's cases are the same in every run, unless RC_PARAMS says otherwise.
  const int cases = poet::test::kSanitized ? 20 : poet::test::cases(100, 300);
  setenv("RC_PARAMS", ("seed=1 max_success=" + std::to_string(cases)).c_str(), 0);
  ::testing::InitGoogleMock(&argc, argv);
  return RUN_ALL_TESTS();
}
