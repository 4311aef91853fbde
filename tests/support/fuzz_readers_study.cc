// Readers of files for the fuzzers (fuzz_readers.h): specs of sweeps.

#include "poet/study/sweep_spec.h"
#include "tests/support/fuzz_readers.h"
#include "tests/support/memory_file.h"

namespace poet::test {

void read_fuzzed_sweep(FuzzBytes bytes) {
  (void)sweep_spec_of({bytes.begin(), bytes.end()}, "sweep", "/nonexistent");
}

}  // namespace poet::test
