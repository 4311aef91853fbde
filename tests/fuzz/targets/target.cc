// A program of libFuzzer per reader, which POET_FUZZ_READ names. docs/robustness.md says how to run them.

#include "tests/support/fuzz_readers.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  (void)poet::test::read_or_refuse(poet::test::POET_FUZZ_READ, {data, size});
  return 0;
}
