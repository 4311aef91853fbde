// RAM of this process and room on the machine, from texts as the kernel writes them and from the kernel.

#include "poet/runtime/sensors/process_memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstring>
#include <filesystem>

#include "poet/base/error.h"
#include "poet/runtime/sensors/small_file.h"
#include "tests/support/program.h"

namespace poet::runtime {
namespace {

namespace fs = std::filesystem;
using test::TemporaryFolder;

constexpr std::int64_t kMiB = 1 << 20;

/// A root folder of a machine that is made up.
class AvailableMemory : public ::testing::Test {
 protected:
  AvailableMemory() {
    write("proc/meminfo", "MemTotal:       8000 kB\nMemFree:        1000 kB\nMemAvailable:   5000 kB\n");
  }

  void write(const std::string& file, const std::string& text) const {
    fs::create_directories(fs::path(root_.file(file)).parent_path());
    root_.write(file, text);
  }
  Bytes available() const { return available_memory(root_.file("")); }

  const TemporaryFolder root_;
};

TEST(SmallFile, NumbersAfterKeys) {
  const std::string text = "VmRSSX:\t1 kB\nVmRSS:\t  1234 kB\ninactive_file 77\nlast: 5";
  EXPECT_EQ(number_after(text, "VmRSS"), 1234);
  EXPECT_EQ(number_after(text, "inactive_file"), 77);
  EXPECT_EQ(number_after(text, "last"), 5);
  EXPECT_EQ(number_after(text, "Vm"), std::nullopt);
  EXPECT_EQ(number_after("key: many", "key"), std::nullopt);
  EXPECT_EQ(number_after("key:", "key"), std::nullopt);
  EXPECT_EQ(whole_number("12x"), std::nullopt);
  EXPECT_EQ(whole_number(""), std::nullopt);
}

TEST(ProcessMemory, ReadsTheKernelsTable) {
  const TemporaryFolder folder;
  const std::string file =
      folder.write("status", "VmHWM:\t 400 kB\nVmRSS:\t 300 kB\nRssAnon:\t 200 kB\nRssFile:\t 90 kB\n");
  const ProcessMemory memory = process_memory(file);
  EXPECT_EQ(memory.resident, Bytes(300 * 1024));
  EXPECT_EQ(memory.peak, Bytes(400 * 1024));
  EXPECT_EQ(memory.anonymous, Bytes(200 * 1024));
  EXPECT_EQ(memory.file_backed, Bytes(90 * 1024));
  EXPECT_THROW(static_cast<void>(process_memory(folder.write("status", "VmRSS:\t 300 kB\n"))), InputError);
  EXPECT_THROW(static_cast<void>(process_memory(folder.file("absent"))), InputError);
}

TEST(ProcessMemory, FollowsThisProcess) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "a sanitizer has memory of its own";
#endif
  constexpr std::int64_t kBlock = 64 * kMiB;
  const Bytes before = process_memory().resident;
  void* const block = mmap(nullptr, kBlock, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(block, MAP_FAILED);
  EXPECT_LT(process_memory().resident, before + Bytes(8 * kMiB));  // not yet touched
  std::memset(block, 1, kBlock);
  const ProcessMemory with = process_memory();
  EXPECT_GT(with.resident, before + Bytes(kBlock - 8 * kMiB));
  EXPECT_GT(with.anonymous, Bytes(kBlock - 8 * kMiB));
  munmap(block, kBlock);
  const ProcessMemory after = process_memory();
  EXPECT_LT(after.resident, before + Bytes(8 * kMiB));
  EXPECT_GE(after.peak, with.resident - Bytes(kMiB));
  if (!reset_peak_memory()) GTEST_SKIP() << "the peak cannot be reset here";
  EXPECT_LT(process_memory().peak, before + Bytes(8 * kMiB));
}

TEST_F(AvailableMemory, IsTheMachinesWithoutGroups) {
  EXPECT_EQ(available(), Bytes(5000 * 1024));
  write("proc/self/cgroup", "0::/\n");
  EXPECT_EQ(available(), Bytes(5000 * 1024));
}

TEST_F(AvailableMemory, GroupsOfVersion2) {
  write("proc/self/cgroup", "0::/user/job\n");
  write("sys/fs/cgroup/user/job/memory.max", "max\n");
  write("sys/fs/cgroup/user/job/memory.current", "600000\n");
  EXPECT_EQ(available(), Bytes(5000 * 1024));
  // The group around it: 1,000,000 less 700,000, of which 200,000 can be dropped.
  write("sys/fs/cgroup/user/memory.max", "1000000\n");
  write("sys/fs/cgroup/user/memory.current", "700000\n");
  write("sys/fs/cgroup/user/memory.stat", "anon 500000\ninactive_file 200000\n");
  EXPECT_EQ(available(), Bytes(500'000));
  // The limit that is nearer counts.
  write("sys/fs/cgroup/user/job/memory.max", "650000\n");
  EXPECT_EQ(available(), Bytes(50'000));
  write("sys/fs/cgroup/user/job/memory.current", "660000\n");
  EXPECT_EQ(available(), Bytes(0));
}

TEST_F(AvailableMemory, GroupsOfVersion1) {
  write("proc/self/cgroup", "5:cpu,memory:/box\n4:cpuset:/other\n");
  write("sys/fs/cgroup/memory/box/memory.limit_in_bytes", "1000000\n");
  write("sys/fs/cgroup/memory/box/memory.usage_in_bytes", "300000\n");
  write("sys/fs/cgroup/memory/box/memory.stat", "inactive_file 1\ntotal_inactive_file 100000\n");
  EXPECT_EQ(available(), Bytes(800'000));
}

TEST_F(AvailableMemory, InsideAContainerThePathMayBeUnknown) {
  write("proc/self/cgroup", "3:memory:/docker/0123\n");
  write("sys/fs/cgroup/memory/memory.limit_in_bytes", "1000000\n");
  write("sys/fs/cgroup/memory/memory.usage_in_bytes", "400000\n");
  EXPECT_EQ(available(), Bytes(600'000));
}

TEST(AvailableMemoryHere, IsSome) {
  EXPECT_GT(available_memory(), Bytes(kMiB));
  EXPECT_THROW(static_cast<void>(available_memory("/proc/self/fdinfo")), InputError);
}

}  // namespace
}  // namespace poet::runtime
