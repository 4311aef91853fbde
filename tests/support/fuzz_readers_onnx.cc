// Readers of files for the fuzzers (fuzz_readers.h): networks.

#include "poet/frontend/onnx/import.h"
#include "tests/support/fuzz_readers.h"
#include "tests/support/memory_file.h"

namespace poet::test {

void read_fuzzed_onnx(FuzzBytes bytes) { (void)import_onnx(MemoryFile(bytes).path()); }

}  // namespace poet::test
