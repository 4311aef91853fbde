// Readers of files for the fuzzers (fuzz_readers.h): instances, devices, schedules, plans, and the decoder of
// devices.

#include <cstdint>
#include <cstdlib>
#include <vector>

#include "poet/base/error.h"
#include "poet/cost/device.h"
#include "poet/cost/instance_json.h"
#include "poet/plan/decoder/poet_plan.h"
#include "poet/plan/file/plan_family.h"
#include "poet/plan/file/schedule_json.h"
#include "tests/support/fuzz_readers.h"
#include "tests/support/memory_file.h"

namespace poet::test {
namespace {

/// With every section's checksum right, so that what is behind that check is reached, too.
std::vector<std::uint8_t> with_checksums(FuzzBytes bytes) {
  std::vector<std::uint8_t> mended(bytes.begin(), bytes.end());
  std::size_t at = POET_PLAN_HEADER_BYTES;
  while (at < mended.size() && mended.size() - at >= POET_PLAN_SECTION_BYTES) {
    std::size_t length = 0;
    for (std::size_t i = 0; i < 4; ++i) length |= std::size_t{mended[at + 4 + i]} << (8 * i);
    if (length > mended.size() - at - POET_PLAN_SECTION_BYTES) break;
    const std::uint32_t sum = poet_plan_crc32(mended.data() + at, length + 8);
    for (std::size_t i = 0; i < 4; ++i)
      mended[at + 8 + length + i] = static_cast<std::uint8_t>(sum >> (8 * i));
    at += POET_PLAN_SECTION_BYTES + length;
  }
  return mended;
}

}  // namespace

void read_fuzzed_instance(FuzzBytes bytes) { (void)read_instance(MemoryFile(bytes).path()); }

void read_fuzzed_device(FuzzBytes bytes) { (void)read_device(MemoryFile(bytes).path()); }

void read_fuzzed_schedule(FuzzBytes bytes) { (void)read_schedule(MemoryFile(bytes).path()); }

void read_fuzzed_plan(FuzzBytes bytes) {
  const std::vector<std::uint8_t> mended = with_checksums(bytes);
  (void)plans_from_text({mended.begin(), mended.end()}, "plan");
}

/// Without an exception: in C. All that a device asks of a plan, and twice, as every step asks it.
void read_fuzzed_image(FuzzBytes bytes) {
  poet_plan plan;
  (void)poet_plan_open(&plan, bytes.data(), bytes.size());
  const std::vector<std::uint8_t> mended = with_checksums(bytes);
  const int opened = poet_plan_open(&plan, mended.data(), mended.size());
  if (opened != POET_PLAN_OK) throw InputError("image", poet_plan_message(opened));
  for (int pass = 0; pass < 2; ++pass) {
    poet_plan_cursor cursor;
    poet_plan_step step;
    poet_plan_begin(&plan, &cursor);
    // A run of ops takes a few bytes for as many steps as it says.
    for (int steps = 0; steps < 100'000; ++steps) {
      const int next = poet_plan_next(&cursor, &step);
      if (next == POET_PLAN_END) break;
      if (next != POET_PLAN_OK) std::abort();  // what was opened cannot fail any more
    }
  }
  std::uint32_t units = 0;
  for (std::uint32_t a = 0; a < plan.allocations && a < 100'000; ++a)
    if (poet_plan_address(&plan, a, &units) != POET_PLAN_OK) std::abort();
  if (poet_plan_address(&plan, plan.allocations, &units) == POET_PLAN_OK) std::abort();
}

}  // namespace poet::test
