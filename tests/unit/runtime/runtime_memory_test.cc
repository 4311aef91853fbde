// One block between two pages that nobody may touch, and how much of it was used.

#include "poet/runtime/executor/memory.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <limits>

#include "poet/base/error.h"

namespace poet::runtime {
namespace {

TEST(Memory, IsOfTheSizeAskedForAndOnAPage) {
  const Memory memory(Bytes(10'000));
  EXPECT_EQ(memory.bytes().size(), 10'000u);
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory.bytes().data()) % page, 0u);
  memory.bytes().front() = std::byte{1};
  memory.bytes().back() = std::byte{2};
}

TEST(Memory, OfNoBytesIsThere) {
  const Memory memory(Bytes(0));
  EXPECT_TRUE(memory.bytes().empty());
  EXPECT_NE(memory.bytes().data(), nullptr);
}

TEST(MemoryDeathTest, EndsTheProcessBeyondItsPages) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const Memory memory(Bytes(static_cast<std::int64_t>(page)));
  volatile std::byte* begin = memory.bytes().data();
  EXPECT_DEATH(begin[page] = std::byte{1}, "");
  EXPECT_DEATH(*(begin - 1) = std::byte{1}, "");
}

TEST(Memory, ThatNoMachineHasIsAnError) { EXPECT_THROW(Memory(Bytes(std::int64_t{1} << 60)), InputError); }

TEST(HighWater, IsOnePastTheLastByteThatChanged) {
  const Memory memory(Bytes(1000));
  fill_with_marks(memory.bytes());
  EXPECT_EQ(high_water(memory.bytes()), Bytes(0));
  memory.bytes()[0] = std::byte{0};
  EXPECT_EQ(high_water(memory.bytes()), Bytes(1));
  memory.bytes()[700] = std::byte{0};
  EXPECT_EQ(high_water(memory.bytes()), Bytes(701));
  memory.bytes()[999] = std::byte{0};
  EXPECT_EQ(high_water(memory.bytes()), Bytes(1000));
}

}  // namespace
}  // namespace poet::runtime
