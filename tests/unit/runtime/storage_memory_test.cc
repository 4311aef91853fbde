// Transfers allocate nothing once everything is made. This program counts what asks for memory: its malloc
// and the rest stand before the C library's.

#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>

#include "poet/runtime/storage/page_cipher.h"
#include "poet/runtime/storage/page_file.h"
#include "poet/runtime/storage/transfer_queue.h"
#include "tests/support/pages.h"
#include "tests/support/program.h"

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define POET_TEST_COUNTS_ALLOCATIONS
#endif

namespace {
std::atomic<long> allocations{0};
}

#ifdef POET_TEST_COUNTS_ALLOCATIONS
extern "C" {
// NOLINTBEGIN(readability-identifier-naming)
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* block, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);
// NOLINTEND(readability-identifier-naming)

void* malloc(std::size_t size) noexcept {
  ++allocations;
  return __libc_malloc(size);
}
void* calloc(std::size_t count, std::size_t size) noexcept {
  ++allocations;
  return __libc_calloc(count, size);
}
void* realloc(void* block, std::size_t size) noexcept {
  ++allocations;
  return __libc_realloc(block, size);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) noexcept {
  ++allocations;
  return __libc_memalign(alignment, size);
}
int posix_memalign(void** block, std::size_t alignment, std::size_t size) noexcept {
  ++allocations;
  *block = __libc_memalign(alignment, size);
  return *block == nullptr ? ENOMEM : 0;
}
}
#endif

namespace poet::runtime {
namespace {

using test::Page;
using test::random_page;

constexpr std::size_t kPage = 3'000'000;

class StorageMemory : public ::testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
#ifndef POET_TEST_COUNTS_ALLOCATIONS
    GTEST_SKIP() << "allocations cannot be counted under a sanitizer";
#endif
    if (GetParam() && !can_encrypt()) GTEST_SKIP() << "built without encryption";
    file_ = std::make_unique<PageFile>(PageFileOptions{.where = folder_.file(""), .encrypt = GetParam()},
                                       std::vector{Bytes(kPage), Bytes(100)});
    const long before = allocations;
    free(malloc(1));
    ASSERT_EQ(allocations, before + 1);  // the counter counts
  }

  const test::TemporaryFolder folder_;
  std::unique_ptr<PageFile> file_;
  Page page_ = random_page(kPage, 1);
};

TEST_P(StorageMemory, PagesAllocateNothing) {
  const long before = allocations;
  for (int i = 0; i < 3; ++i) {
    for (const std::size_t slot : {0, 1}) {
      file_->write(slot, page_.data());
      file_->read(slot, page_.data());
    }
  }
  EXPECT_EQ(allocations, before);
}

TEST_P(StorageMemory, QueuedTransfersAllocateNothing) {
  TransferQueue queue(*file_, 2);
  queue.wait(queue.page_out(0, page_.data()));  // the thread has begun
  const long before = allocations;
  for (int i = 0; i < 3; ++i) {
    queue.page_out(1, page_.data());
    queue.page_in(1, page_.data());
    queue.wait(queue.page_in(0, page_.data()));
  }
  EXPECT_EQ(allocations, before);
}

INSTANTIATE_TEST_SUITE_P(PlainAndEncrypted, StorageMemory, ::testing::Bool());

}  // namespace
}  // namespace poet::runtime
