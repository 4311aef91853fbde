// Pages come back as they went, wherever the file lies and however it is opened; nothing stays behind.

#include "poet/runtime/storage/page_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>

#include "poet/base/error.h"
#include "poet/runtime/storage/backing_file.h"
#include "poet/runtime/storage/page_cipher.h"
#include "tests/support/pages.h"
#include "tests/support/program.h"
#include "tests/support/real_faults.h"

namespace poet::runtime {
namespace {

using test::names_in;
using test::Page;
using test::random_page;
using test::TemporaryFolder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

// Around the block and around the buffer.
constexpr std::size_t kSizes[] = {1, 100, 4095, 4096, 4097, 1 << 20, (1 << 20) + 1, 3 * (1 << 20) + 17, 0};

std::vector<Bytes> slots_of_all_sizes() {
  std::vector<Bytes> slots;
  for (const std::size_t size : kSizes) slots.emplace_back(static_cast<std::int64_t>(size));
  return slots;
}

void expect_round_trips(PageFile& file) {
  for (std::uint64_t round = 1; round <= 2; ++round) {
    for (std::size_t slot = 0; slot < std::size(kSizes); ++slot)
      file.write(slot, random_page(kSizes[slot], round * 100 + slot).data());
    for (std::size_t slot = std::size(kSizes); slot-- > 0;) {
      Page back(kSizes[slot] + 1, std::byte{0x5a});  // one more, which must stay
      file.read(slot, back.data());
      EXPECT_EQ(back.back(), std::byte{0x5a});
      back.pop_back();
      EXPECT_EQ(back, random_page(kSizes[slot], round * 100 + slot))
          << "slot " << slot << ", round " << round;
    }
  }
}

std::string contents(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string text_of(const Page& page) { return {reinterpret_cast<const char*>(page.data()), page.size()}; }

TEST(PageFile, GivesBackWhatWasWritten) {
  const TemporaryFolder folder;
  for (const bool encrypt : {false, can_encrypt()}) {
    for (const bool direct : {false, true}) {
      SCOPED_TRACE(testing::Message() << "encrypt " << encrypt << ", direct " << direct);
      PageFile file({.where = folder.file(""), .encrypt = encrypt, .direct = direct}, slots_of_all_sizes());
      expect_round_trips(file);
      EXPECT_EQ(file.description().find("AES-256-GCM") != std::string::npos, encrypt);
      if (!direct) {
        EXPECT_THAT(file.description(), Not(HasSubstr("O_DIRECT")));
      }
    }
  }
}

TEST(PageFile, TellsWhereItIsInRam) {
  constexpr std::uint64_t kEnough = std::uint64_t{32} << 20;
  struct statfs facts {};
  if (statfs("/dev/shm", &facts) != 0 || facts.f_type != TMPFS_MAGIC || access("/dev/shm", W_OK) != 0 ||
      facts.f_bavail * static_cast<std::uint64_t>(facts.f_bsize) < kEnough)
    GTEST_SKIP() << "/dev/shm is absent, not in RAM, too small or not to be written to here";
  PageFile file({.where = "/dev/shm"}, slots_of_all_sizes());
  EXPECT_TRUE(file.in_ram());
  EXPECT_THAT(file.description(), HasSubstr("in RAM"));
  expect_round_trips(file);
}

TEST(PageFile, AnUnnamedFileIsNeverSeen) {
  const TemporaryFolder folder;
  {
    PageFile file({.where = folder.file("")}, {Bytes(5000)});
    file.write(0, random_page(5000, 1).data());
    EXPECT_THAT(names_in(folder.file("")), IsEmpty());
  }
  EXPECT_THAT(names_in(folder.file("")), IsEmpty());
}

TEST(PageFile, WithoutUnnamedFilesTheNameIsGoneAtOnce) {
  const TemporaryFolder folder;
  const Descriptor file = open_and_unlink(folder.file(""));
  ASSERT_TRUE(file.valid());
  EXPECT_THAT(names_in(folder.file("")), IsEmpty());
  const Page page = random_page(10, 1);
  EXPECT_EQ(write_at(file.get(), 5, page).done, 10U);
  Page back(10);
  EXPECT_EQ(read_at(file.get(), 5, back).done, 10U);
  EXPECT_EQ(back, page);
}

TEST(PageFile, AKilledProcessLeavesNothing) {
  const TemporaryFolder folder;
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t child = fork();
  if (child == 0) {
    PageFile file({.where = folder.file("")}, {Bytes(1 << 20)});
    const Page page = random_page(1 << 20, 1);
    for (bool first = true;; first = false) {
      file.write(0, page.data());
      if (first && write(ready[1], "x", 1) != 1) _exit(1);
    }
  }
  char x = 0;
  ASSERT_EQ(read(ready[0], &x, 1), 1);  // it has written, and is writing
  kill(child, SIGKILL);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_THAT(names_in(folder.file("")), IsEmpty());
  close(ready[0]);
  close(ready[1]);
}

TEST(PageFile, ANamedFileIsRemovedByWhoCreatedIt) {
  const TemporaryFolder folder;
  {
    PageFile file({.where = folder.file("pages")}, {Bytes(5000)});
    EXPECT_THAT(names_in(folder.file("")), ElementsAre("pages"));
  }
  EXPECT_THAT(names_in(folder.file("")), IsEmpty());
}

TEST(PageFile, AnEmptyFileThatWasThereIsLeftEmpty) {
  const TemporaryFolder folder;
  folder.write("pages", "");
  for (int round = 0; round < 2; ++round) {
    {
      PageFile file({.where = folder.file("pages")}, slots_of_all_sizes());
      expect_round_trips(file);
    }
    EXPECT_THAT(names_in(folder.file("")), ElementsAre("pages"));
    EXPECT_EQ(std::filesystem::file_size(folder.file("pages")), 0U);
  }
}

/// In a process of its own: pages to `file` and is killed when it has begun to.
void page_and_be_killed(const std::string& file, bool direct) {
  const pid_t child = fork();
  if (child == 0) {
    PageFile pages({.where = file, .direct = direct}, {Bytes(100'000)});
    pages.write(0, random_page(100'000, 1).data());
    kill(getpid(), SIGKILL);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status));
}

TEST(PageFile, WhatAKilledRunLeftIsTakenOver) {
  for (const bool direct : {false, true}) {
    SCOPED_TRACE(testing::Message() << "direct " << direct);
    const TemporaryFolder folder;
    page_and_be_killed(folder.file("pages"), direct);
    EXPECT_THAT(names_in(folder.file("")), ElementsAre("pages"));
    EXPECT_THAT(contents(folder.file("pages")), StartsWith("poet page file"));
    {
      PageFile file({.where = folder.file("pages"), .direct = direct}, slots_of_all_sizes());
      expect_round_trips(file);
      EXPECT_THAT(contents(folder.file("pages")), StartsWith("poet page file"));
    }
    EXPECT_THAT(names_in(folder.file("")), IsEmpty());
  }
}

TEST(PageFile, SlotsLieBehindTheFirstBlockOneAfterAnother) {
  const TemporaryFolder folder;
  const PageFile file({.where = folder.file("")}, {Bytes(65536), Bytes(2 * 65536), Bytes(1)});
  // Blocks divide 65536, so that the first two have no gap behind them.
  const Bytes first = file.offset(0);
  EXPECT_GE(first, Bytes(4096));
  EXPECT_EQ(file.offset(1), first + Bytes(65536));
  EXPECT_EQ(file.offset(2), first + Bytes(3 * 65536));
  EXPECT_EQ(file.size(), first + Bytes(3 * 65536) + first);
}

TEST(PageFile, KeepsTheSpaceOfAllSlotsFromTheBeginning) {
  const TemporaryFolder folder;
  const PageFile file({.where = folder.file("pages")}, {Bytes(1), Bytes(0), Bytes(300'000), Bytes(4097)});
  // In blocks of 4096: the file's own, and 1 + 0 + 74 + 2 = 77. Where blocks are larger it is more.
  EXPECT_GE(file.size(), Bytes(78 * 4096));
  struct stat facts {};
  ASSERT_EQ(stat(folder.file("pages").c_str(), &facts), 0);
  EXPECT_EQ(facts.st_size, file.size().value());
  EXPECT_GE(facts.st_blocks * 512, file.size().value());
}

TEST(PageFile, TakesAMebibyteForItself) {
  const TemporaryFolder folder;
  const PageFile small({.where = folder.file("")}, {Bytes(1)});
  const PageFile large({.where = folder.file("")}, {Bytes(10 << 20)});
  EXPECT_EQ(small.buffer(), large.buffer());
  EXPECT_GE(small.buffer(), Bytes(1 << 20));
  EXPECT_LT(small.buffer(), Bytes((1 << 20) + 1000));
}

TEST(PageFile, WithoutSlotsIsEmpty) {
  const TemporaryFolder folder;
  const PageFile file({.where = folder.file("pages")}, {});
  EXPECT_EQ(file.size(), Bytes(0));
}

TEST(PageFile, EncryptedPagesCannotBeReadFromOutside) {
  if (!can_encrypt()) GTEST_SKIP() << "built without encryption";
  const TemporaryFolder folder;
  const std::string name = folder.file("pages");
  const Page page = random_page(3000, 7);
  {
    PageFile plain({.where = name}, {Bytes(3000)});
    plain.write(0, page.data());
    EXPECT_THAT(contents(name), HasSubstr(text_of(page)));
  }
  PageFile secret({.where = name, .encrypt = true}, {Bytes(3000)});
  secret.write(0, page.data());
  const std::string first = contents(name);
  for (std::size_t at = 0; at + 16 <= page.size(); at += 16)
    EXPECT_THAT(first, Not(HasSubstr(text_of(page).substr(at, 16))));
  // The same page again looks different: every writing has a nonce of its own. Two texts from one nonce would
  // give away their difference.
  secret.write(0, page.data());
  const std::string second = contents(name);
  int equal = 0;
  const auto begin = static_cast<std::size_t>(secret.offset(0).value());
  for (std::size_t at = begin; at < begin + page.size(); ++at) equal += first[at] == second[at];
  EXPECT_LT(equal, 100);  // by chance one in 256: 12
}

TEST(PageFile, APageMustBeWrittenBeforeItIsRead) {
  const TemporaryFolder folder;
  PageFile file({.where = folder.file("")}, {Bytes(10), Bytes(10)});
  Page page(10);
  file.write(0, page.data());
  EXPECT_THROW(file.read(1, page.data()), InternalError);
  EXPECT_THROW(file.read(2, page.data()), InternalError);
  EXPECT_THROW(file.write(2, page.data()), InternalError);
}

}  // namespace
}  // namespace poet::runtime
