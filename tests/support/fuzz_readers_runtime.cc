// Readers of files for the fuzzers (fuzz_readers.h): weights and page files.

#include "poet/runtime/storage/page_file_header.h"
#include "poet/runtime/storage/step_record.h"
#include "poet/runtime/weights/safetensors.h"
#include "tests/support/fuzz_readers.h"
#include "tests/support/memory_file.h"

namespace poet::test {

void read_fuzzed_safetensors(FuzzBytes bytes) {
  const MemoryFile file(bytes);
  const runtime::SafetensorsFile tensors(file.path());
  (void)tensors.names();
}

void read_fuzzed_page_file(FuzzBytes bytes) {
  const MemoryFile file(bytes);
  (void)runtime::kind_of_page_file(file.descriptor());
  const auto header = runtime::read_header(file.descriptor());
  if (header)
    for (const std::uint64_t number : {0, 1}) (void)runtime::record_offset(*header, number);
  (void)runtime::record_size(std::as_bytes(bytes), Bytes(static_cast<std::int64_t>(bytes.size())));
}

}  // namespace poet::test
