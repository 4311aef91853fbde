// What storage does to those who trust it, done by the operating system itself: no space, errors, short
// writes, changed bytes, two runs at once. Each ends in one line that names the file.

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <memory>

#include "poet/base/error.h"
#include "poet/runtime/storage/file_io.h"
#include "poet/runtime/storage/page_cipher.h"
#include "poet/runtime/storage/page_file.h"
#include "tests/support/background.h"
#include "tests/support/pages.h"
#include "tests/support/program.h"
#include "tests/support/real_faults.h"

namespace poet::runtime {
namespace {

namespace fs = std::filesystem;
using test::names_in;
using test::Page;
using test::random_page;
using test::TemporaryFolder;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

/// The InputError's text; empty when there is none.
template <class Action>
std::string page_diagnostic(const Action& action) {
  try {
    action();
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), Not(HasSubstr("\n")));
    return error.what();
  }
  return {};
}

std::string opening(const fs::path& where, std::int64_t bytes = 5000) {
  return page_diagnostic([&] { PageFile({.where = where}, {Bytes(bytes)}); });
}

/// Pages in a file with a name, for the world to lay hands on.
class PageFileErrors : public ::testing::TestWithParam<bool> {
 protected:
  static constexpr std::size_t kPage = 3'000'000;

  void SetUp() override {
    if (GetParam() && !can_encrypt()) GTEST_SKIP() << "built without encryption";
    file_ = std::make_unique<PageFile>(PageFileOptions{.where = name(), .encrypt = GetParam()},
                                       std::vector<Bytes>(3, Bytes(kPage)));
    for (std::size_t slot = 0; slot < 3; ++slot) file_->write(slot, random_page(kPage, slot).data());
  }

  [[nodiscard]] std::string name() const { return folder_.file("pages"); }
  [[nodiscard]] std::int64_t offset(std::size_t slot) const { return file_->offset(slot).value(); }
  std::string reading(std::size_t slot) {
    return page_diagnostic([&] {
      Page page(kPage);
      file_->read(slot, page.data());
      EXPECT_EQ(page, random_page(kPage, slot));
    });
  }
  std::string writing(std::size_t slot) {
    return page_diagnostic([&] { file_->write(slot, random_page(kPage, 9).data()); });
  }

  const TemporaryFolder folder_;
  std::unique_ptr<PageFile> file_;
};

INSTANTIATE_TEST_SUITE_P(PlainAndEncrypted, PageFileErrors, ::testing::Bool());

TEST_P(PageFileErrors, OneBitOfAnyPlaceIsMissed) {
  const Descriptor outside(open(name().c_str(), O_RDWR));
  for (const std::int64_t at : {std::int64_t{0}, std::int64_t{1'500'000}, std::int64_t{kPage - 1}}) {
    Page byte(1);
    ASSERT_EQ(read_at(outside.get(), offset(1) + at, byte).done, 1U);
    byte[0] ^= std::byte{0x10};
    ASSERT_EQ(write_at(outside.get(), offset(1) + at, byte).done, 1U);
    EXPECT_THAT(reading(1), HasSubstr("page 1 of " + name() + " is corrupted: ")) << at;
    byte[0] ^= std::byte{0x10};
    ASSERT_EQ(write_at(outside.get(), offset(1) + at, byte).done, 1U);
    EXPECT_EQ(reading(1), "");
  }
  EXPECT_EQ(reading(0), "");
  EXPECT_EQ(reading(2), "");
}

TEST_P(PageFileErrors, PagesThatChangedPlacesAreCorrupted) {
  const Descriptor outside(open(name().c_str(), O_RDWR));
  Page first(kPage);
  ASSERT_EQ(read_at(outside.get(), offset(0), first).done, kPage);
  ASSERT_EQ(write_at(outside.get(), offset(2), first).done, kPage);
  EXPECT_THAT(reading(2), HasSubstr("page 2 of " + name() + " is corrupted"));
  EXPECT_EQ(reading(0), "");
}

TEST_P(PageFileErrors, AnEarlierVersionOfAPageIsCorrupted) {
  const Descriptor outside(open(name().c_str(), O_RDWR));
  Page earlier(kPage);
  ASSERT_EQ(read_at(outside.get(), offset(1), earlier).done, kPage);
  ASSERT_EQ(writing(1), "");
  ASSERT_EQ(write_at(outside.get(), offset(1), earlier).done, kPage);
  EXPECT_THAT(reading(1), HasSubstr("page 1 of " + name() + " is corrupted"));
}

TEST_P(PageFileErrors, NoSpaceLeft) {
  const test::Instead full(test::descriptor_of(name()), "/dev/full");
  EXPECT_EQ(writing(1), "page 1 of " + name() + ": cannot be written: No space left on device");
}

TEST_P(PageFileErrors, InputOutputError) {
  const test::Instead broken(test::descriptor_of(name()), "/proc/self/mem");
  EXPECT_EQ(reading(0), "page 0 of " + name() + ": cannot be read: Input/output error");
}

TEST_P(PageFileErrors, AShortWriteSaysHowShort) {
  const test::FileSizeLimit limit(static_cast<rlim_t>(offset(1) + 65536));
  EXPECT_EQ(writing(0), "");
  EXPECT_EQ(writing(1),
            "page 1 of " + name() + ": cannot be written: File too large, after 65,536 of 1,048,576 bytes");
}

TEST_P(PageFileErrors, WhatCouldNotBeWrittenCannotBeRead) {
  {
    const test::Instead full(test::descriptor_of(name()), "/dev/full");
    ASSERT_NE(writing(1), "");
  }
  Page page(kPage);
  EXPECT_THROW(file_->read(1, page.data()), InternalError);
  EXPECT_EQ(reading(0), "");
  EXPECT_EQ(writing(1), "");  // and there is a way back
  EXPECT_NO_THROW(file_->read(1, page.data()));
}

TEST_P(PageFileErrors, AFileCutShortEnds) {
  ASSERT_EQ(truncate(name().c_str(), offset(1) + 4096), 0);
  EXPECT_EQ(reading(0), "");
  EXPECT_EQ(reading(1),
            "page 1 of " + name() + ": cannot be read: the file ends, after 4,096 of 1,048,576 bytes");
  EXPECT_EQ(reading(2), "page 2 of " + name() + ": cannot be read: the file ends");
}

TEST_P(PageFileErrors, TwoRunsOnOneFile) {
  EXPECT_EQ(opening(name()), name() + ": is in use by another run");
  EXPECT_EQ(reading(0), "");  // unharmed
  EXPECT_TRUE(fs::exists(name()));
}

TEST(PageFileOpening, EncryptionMustHaveBeenBuiltIn) {
  if (can_encrypt()) GTEST_SKIP() << "it has been";
  const TemporaryFolder folder;
  EXPECT_THAT(page_diagnostic([&] { PageFile({.where = folder.file(""), .encrypt = true}, {Bytes(1)}); }),
              HasSubstr("POET_ENCRYPTION=OFF"));
}

TEST(PageFileOpening, NeedsAFolderThatExists) {
  const TemporaryFolder folder;
  const std::string name = folder.file("absent/pages");
  EXPECT_EQ(opening(name), name + ": cannot be opened for paging: No such file or directory");
}

TEST(PageFileOpening, NeedsAFolderThatCanBeWrittenTo) {
  // Not even root makes files here.
  EXPECT_THAT(opening("/proc/self"), HasSubstr("the page file in /proc/self: cannot be created: "));
  EXPECT_THAT(opening("/proc/self/pages"), HasSubstr("/proc/self/pages: cannot be opened for paging: "));
  if (geteuid() == 0) return;  // for whom modes do not count
  const TemporaryFolder folder;
  ASSERT_EQ(chmod(folder.file("").c_str(), 0500), 0);
  EXPECT_THAT(opening(folder.file("")), HasSubstr("cannot be created: Permission denied"));
  ASSERT_EQ(chmod(folder.file("").c_str(), 0700), 0);
}

TEST(PageFileOpening, NeedsARegularFile) {
  EXPECT_EQ(opening("/dev/full"), "/dev/full: must be a folder or a regular file to page to");
  const TemporaryFolder folder;
  const std::string pipe = folder.file("pipe");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(opening(pipe), pipe + ": must be a folder or a regular file to page to");
}

TEST(PageFileOpening, LeavesSomebodysFileAlone) {
  const TemporaryFolder folder;
  // The last begins as a page file does, and ends too early.
  for (const char* text : {"x", "a thesis, and its only copy\n", "poet page file"}) {
    const std::string name = folder.write("thesis", text);
    EXPECT_EQ(opening(name),
              name + ": is not a poet page file, and paging would overwrite it; name another file");
    EXPECT_EQ(test::file_text(name), text);
  }
  // As long as a page file, and of nothing but zeros.
  const std::string name = folder.write("thesis", std::string(100'000, '\0'));
  EXPECT_THAT(opening(name), HasSubstr("is not a poet page file"));
  EXPECT_EQ(test::file_text(name), std::string(100'000, '\0'));
}

TEST(PageFileOpening, SaysWhatItNeedsAndWhatIsFree) {
  const TemporaryFolder folder;
  const auto free = static_cast<std::int64_t>(fs::space(folder.file("")).available);
  // Others may be writing at this moment: twice what is free.
  EXPECT_THAT(opening(folder.file("pages"), 2 * free + (std::int64_t{1} << 30)),
              AllOf(HasSubstr(folder.file("pages") + ": needs "), HasSubstr(" bytes of storage and "),
                    HasSubstr(" are free")));
  EXPECT_THAT(names_in(folder.file("")), IsEmpty());  // and takes it back
}

TEST(PageFileOpening, SpaceThatIsRefused) {
  const TemporaryFolder folder;
  const test::FileSizeLimit limit(65536);
  EXPECT_EQ(opening(folder.file("pages"), 1'000'000),
            folder.file("pages") + ": cannot be given the 1,007,616 bytes that it needs: File too large");
  EXPECT_THAT(names_in(folder.file("")), IsEmpty());
}

/// In a process of its own: a storage of 1 MiB. 0 when the page file behaves, 77 where it cannot be mounted.
int pages_on_a_small_storage(const fs::path& folder) {
  if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
      mount("small", folder.c_str(), "tmpfs", 0, "size=1m") != 0)
    return 77;
  PageFile fits({.where = folder}, {Bytes(900'000)});
  const Page page = random_page(900'000, 1);
  fits.write(0, page.data());
  const std::string refusal = opening(folder, 900'000);
  return refusal.find("needs 905,216 bytes of storage and 143,360 are free") != std::string::npos ? 0 : 1;
}

TEST(PageFileOpening, AStorageThatIsReallySmall) {
  const TemporaryFolder folder;
  const pid_t child = fork();
  if (child == 0) _exit(pages_on_a_small_storage(folder.file("")));
  int status = 0;
  waitpid(child, &status, 0);
  ASSERT_TRUE(WIFEXITED(status));
  if (WEXITSTATUS(status) == 77) GTEST_SKIP() << "this user may not mount";
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace poet::runtime
