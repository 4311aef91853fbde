// Rows of tables on a page file: what a step writes is not read before it is committed, what is damaged is
// named, and another process finds the rows of the last complete step.

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <memory>
#include <vector>

#include "poet/cost/cost_table.h"
#include "poet/runtime/storage/page_cipher.h"
#include "poet/runtime/storage/page_file.h"
#include "tests/support/input_error.h"
#include "tests/support/program.h"

namespace poet::test {
namespace {

using ::testing::HasSubstr;
using namespace runtime;

constexpr std::int64_t kRows = 40;
constexpr std::size_t kWidth = 6;
using StoredRow = std::array<float, kWidth>;
using Rows = std::vector<StoredRow>;

StoredRow row_of(float first) { return {first, first + 0.25F, -first, 0, 1, first * first}; }
Rows first_rows() {
  Rows rows;
  for (std::int64_t i = 0; i < kRows; ++i) rows.push_back(row_of(static_cast<float>(i)));
  return rows;
}
std::byte* bytes(StoredRow& row) { return reinterpret_cast<std::byte*>(row.data()); }

class RowStores : public ::testing::TestWithParam<bool> {
 protected:
  std::unique_ptr<PageFile> opened(bool encrypt = false, PageFileUse use = PageFileUse::resumable) {
    if (encrypt) use = PageFileUse::transient;
    const Bytes record = encrypt ? Bytes(0) : Bytes(100);
    auto file = std::make_unique<PageFile>(
        PageFileOptions{.where = folder_.file("pages"), .encrypt = encrypt}, std::vector<Bytes>{Bytes(5000)},
        use, record, std::vector<TableSize>{{3, Bytes(4)}, {kRows, sizeof_row()}});
    file->rows().name_tables([](std::size_t table) { return table == 0 ? "small" : "words"; });
    return file;
  }
  static Bytes sizeof_row() { return Bytes(sizeof(StoredRow)); }

  static StoredRow read(PageFile& file, std::int64_t row) {
    StoredRow found{};
    file.rows().read(1, row, bytes(found));
    return found;
  }
  static void write_all(PageFile& file) {
    const Rows rows = first_rows();
    file.rows().write_all(1, reinterpret_cast<const std::byte*>(rows.data()), 0);
    const std::array<float, 3> small{1, 2, 3};
    file.rows().write_all(0, reinterpret_cast<const std::byte*>(small.data()), 0);
  }
  /// What step `step` makes of a row.
  static void change(PageFile& file, std::int64_t row, float first, std::int64_t step) {
    StoredRow next = row_of(first);
    file.rows().commit(1, row, file.rows().write(1, row, bytes(next), step));
  }

  /// Where a place of a row of the second table begins: behind the file's block, two records, a page of two
  /// blocks, two places for each of 3 rows.
  static std::int64_t offset(std::int64_t row, int place) {
    constexpr std::int64_t kBlock = 4096;
    return kBlock * (1 + 2 + 2 + 6 + place * kRows + row);
  }
  void flip(std::int64_t at) const {
    const int file = open(folder_.file("pages").c_str(), O_RDWR);
    char byte = 0;
    ASSERT_EQ(pread(file, &byte, 1, at), 1);
    byte = static_cast<char>(byte ^ 8);
    ASSERT_EQ(pwrite(file, &byte, 1, at), 1);
    close(file);
  }
  [[nodiscard]] std::string corrupted(std::int64_t row) const {
    return "row " + std::to_string(row) + " of " + folder_.file("pages") +
           " (words) is corrupted: what the storage gave back is not what was written to it";
  }

  TemporaryFolder folder_;
};

TEST_P(RowStores, AreReadAsTheyWereCommitted) {
  if (GetParam() && !can_encrypt()) GTEST_SKIP();
  const auto file = opened(GetParam());
  write_all(*file);
  for (const std::int64_t row : {0, 7, 39}) EXPECT_EQ(read(*file, row), row_of(static_cast<float>(row)));
  StoredRow next = row_of(100);
  const std::uint64_t checksum = file->rows().write(1, 7, bytes(next), 1);
  EXPECT_EQ(read(*file, 7), row_of(7)) << "the step is not complete";
  next = row_of(101);
  EXPECT_NE(file->rows().write(1, 7, bytes(next), 1), checksum) << "it is done again";
  file->rows().commit(1, 7, file->rows().write(1, 7, bytes(next), 1));
  EXPECT_EQ(read(*file, 7), row_of(101));
  change(*file, 7, 102, 2);
  EXPECT_EQ(read(*file, 7), row_of(102));
  Rows all(kRows);
  file->rows().read_all(1, bytes(all.front()));
  Rows expected = first_rows();
  expected[7] = row_of(102);
  EXPECT_EQ(all, expected);
}

TEST_P(RowStores, TransferTheRowsThatAStepNamesOnce) {
  if (GetParam() && !can_encrypt()) GTEST_SKIP();
  const auto file = opened(GetParam());
  write_all(*file);
  const std::vector<std::int32_t> named = {5, kOtherRow, 39, 0};
  std::vector<std::uint64_t> checksums(named.size());
  RowTransfer transfer{1, sizeof_row(), named, checksums, 1};
  Rows rows(4, row_of(-1));
  file->read_rows(transfer, bytes(rows.front()));
  EXPECT_EQ(rows, (Rows{row_of(5), StoredRow{}, row_of(39), row_of(0)}));
  for (StoredRow& row : rows) row[0] += 0.5F;
  file->write_rows(transfer, bytes(rows.front()));
  EXPECT_EQ(read(*file, 39), row_of(39));
  file->commit_rows(transfer);
  EXPECT_EQ(read(*file, 39), rows[2]);
  EXPECT_EQ(read(*file, 0), rows[3]);
  EXPECT_EQ(read(*file, 1), row_of(1));
  file->commit_rows(transfer);  // what was not written since is left alone
  EXPECT_EQ(read(*file, 39), rows[2]);
}

TEST_P(RowStores, ADamagedRowIsNamed) {
  if (GetParam() && !can_encrypt()) GTEST_SKIP();
  const auto file = opened(GetParam());
  write_all(*file);
  if (GetParam()) return;                                    // another layout of the file
  for (const std::int64_t byte : {0, 23, 24, 31, 32, 39}) {  // the row, its step, its checksum
    flip(offset(7, 0) + byte);
    EXPECT_EQ(input_error([&] { (void)read(*file, 7); }), corrupted(7));
    EXPECT_EQ(read(*file, 8), row_of(8));
    flip(offset(7, 0) + byte);
    EXPECT_EQ(read(*file, 7), row_of(7));
  }
}

INSTANTIATE_TEST_SUITE_P(Plain, RowStores, ::testing::Values(false));
INSTANTIATE_TEST_SUITE_P(Encrypted, RowStores, ::testing::Values(true));

/// A file that a run has left, of which rows 3 and 7 were changed by step 1, 7 by step 2, 5 by step 3, which
/// was not complete.
class LeftRows : public RowStores {
 protected:
  void SetUp() override {
    const auto file = opened();
    write_all(*file);
    change(*file, 3, 30, 1);
    change(*file, 7, 70, 1);
    change(*file, 7, 71, 2);
    digest_ = file->rows().digest(1);
    StoredRow lost = row_of(50);
    (void)file->rows().write(1, 5, bytes(lost), 3);
    const std::array<std::byte, 92> record{};
    const std::array<std::span<const std::byte>, 1> pieces = {record};
    file->write_record(1, pieces);
    file->keep(true);
  }
  std::unique_ptr<PageFile> gone_on(std::int64_t step = 2) {
    auto file = opened(false, PageFileUse::go_on);
    file->keep(true);
    file->rows().adopt(1, step, digest_);
    return file;
  }
  std::uint64_t digest_ = 0;
};

TEST_F(LeftRows, AreThoseOfTheLastCompleteStep) {
  auto file = gone_on();
  EXPECT_EQ(read(*file, 3), row_of(30));
  EXPECT_EQ(read(*file, 7), row_of(71));
  EXPECT_EQ(read(*file, 5), row_of(5));
  EXPECT_EQ(read(*file, 39), row_of(39));
  change(*file, 5, 51, 3);
  EXPECT_EQ(read(*file, 5), row_of(51));
  digest_ = file->rows().digest(1);
  file.reset();
  EXPECT_EQ(read(*gone_on(3), 5), row_of(51));
}

TEST_F(LeftRows, OfWhichThePlaceThatIsNotTheNewestIsTornAreWhole) {
  flip(offset(5, 1));      // by the step that was not complete
  flip(offset(7, 1) + 1);  // older than the newest
  const auto file = gone_on();
  EXPECT_EQ(read(*file, 5), row_of(5));
  EXPECT_EQ(read(*file, 7), row_of(71));
}

TEST_F(LeftRows, ThatAreDamagedAreNamed) {
  flip(offset(9, 0));  // the only one
  EXPECT_EQ(input_error([&] { (void)gone_on(); }), corrupted(9));
  flip(offset(9, 0));
  flip(offset(7, 0));  // the older one is whole
  EXPECT_EQ(input_error([&] { (void)gone_on(); }), corrupted(7));
  flip(offset(7, 0));
  flip(offset(3, 1));
  EXPECT_EQ(input_error([&] { (void)gone_on(); }), corrupted(3));
  flip(offset(3, 1));
  (void)gone_on();
}

TEST_F(LeftRows, ThatWereNotWrittenAreMissed) {
  {
    const auto file = gone_on();
    StoredRow lost = row_of(60);
    file->rows().commit(1, 6, file->rows().write(1, 6, bytes(lost), 3));
    digest_ = file->rows().digest(1);
  }
  const int file = open(folder_.file("pages").c_str(), O_RDWR);
  const std::vector<char> zeros(4096, 0);
  ASSERT_EQ(pwrite(file, zeros.data(), zeros.size(), offset(6, 1)), 4096);
  close(file);
  EXPECT_THAT(input_error([&] { (void)gone_on(3); }),
              HasSubstr("(words) is corrupted: its rows are not those that the last step left"));
}

}  // namespace
}  // namespace poet::test
