// The firmware's records and tables on a storage of which one reading gets a bit wrong: nothing that is
// damaged is taken for whole, and nothing damaged is written.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "firmware/engine/poet_engine.h"

namespace poet {
namespace {

constexpr std::uint32_t kBlocks = 64;
constexpr std::uint32_t kRamWords = 512;
constexpr std::uint32_t kResidentFirst = 1'536;  // byte
constexpr std::size_t kFlippedByte = 40;         // of what is read

struct Disk {
  std::array<std::uint8_t, std::size_t{kBlocks} * POET_BLOCK> bytes{};
  int reads = 0;
  int flipped_read = 0;  // from 1
};

Disk disk;

// Rows of one block; of three blocks; of two, of which the last has the trailer only.
constexpr std::array<poet_table_rows, 3> kTableRows = {{
    {.table = 10, .journal = 16, .row_bytes = 256, .row_blocks = 1, .first = 0, .count = 1},
    {.table = 20, .journal = 32, .row_bytes = 1'100, .row_blocks = 3, .first = 0, .count = 1},
    {.table = 40, .journal = 50, .row_bytes = 500, .row_blocks = 2, .first = 0, .count = 1},
}};

}  // namespace

extern "C" {
// What a plan and the channel give.
float poet_ram[kRamWords];
int32_t poet_row_numbers[1] = {3};
uint32_t poet_block[POET_BLOCK / 4];
uint32_t poet_bad_block;
extern const poet_plan_data poet_the_plan = [] {
  poet_plan_data plan{};
  plan.digest = 7;
  plan.ram_bytes = kRamWords * 4;
  plan.resident_first = kResidentFirst;
  plan.record = 1;
  plan.record_blocks = 2;
  plan.rows_count = kTableRows.size();
  plan.rows = kTableRows.data();
  return plan;
}();

int poet_read_blocks(uint32_t block, void* to, uint32_t count) {
  std::memcpy(to, disk.bytes.data() + std::size_t{block} * POET_BLOCK, std::size_t{count} * POET_BLOCK);
  if (++disk.reads == disk.flipped_read) static_cast<std::uint8_t*>(to)[kFlippedByte] ^= 1U;
  return POET_OK;
}

int poet_write_blocks(uint32_t block, const void* from, uint32_t count) {
  std::memcpy(disk.bytes.data() + std::size_t{block} * POET_BLOCK, from, std::size_t{count} * POET_BLOCK);
  return POET_OK;
}

void poet_channel_drop() {}

int poet_fetch(uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, void*) { return POET_OK; }
}

namespace {

class FirmwareStorage : public testing::Test {
 protected:
  void SetUp() override { disk = {}; }
};

class FirmwareRecords : public FirmwareStorage {};
class FirmwareTables : public FirmwareStorage {};

void set_residents(std::uint32_t step) {
  for (std::uint32_t i = kResidentFirst / 4; i < kRamWords; ++i)
    poet_ram[i] = static_cast<float>(step * 1'000 + i);
}

bool residents_are_of(std::uint32_t step) {
  for (std::uint32_t i = kResidentFirst / 4; i < kRamWords; ++i)
    if (poet_ram[i] != static_cast<float>(step * 1'000 + i)) return false;
  return true;
}

/// The readings of poet_find_record() with two records on the storage, of which step `last` wrote the later.
void expect_no_damaged_record_is_found(std::uint32_t last) {
  for (std::uint32_t step = 1; step <= last; ++step) {
    set_residents(step);
    ASSERT_EQ(poet_write_record(step, 1.0F), POET_OK);
  }
  std::uint32_t found = 0;
  disk.reads = 0;
  ASSERT_EQ(poet_find_record(&found), POET_OK);
  EXPECT_EQ(found, last);
  const int readings = disk.reads;
  for (int flipped = 1; flipped <= readings; ++flipped) {
    std::fill(std::begin(poet_ram), std::end(poet_ram), 0.0F);
    disk.reads = 0;
    disk.flipped_read = flipped;
    const int code = poet_find_record(&found);
    EXPECT_TRUE(code == POET_DAMAGED || (code == POET_OK && residents_are_of(found)))
        << code << " at reading " << flipped;
  }
}

TEST_F(FirmwareRecords, AreWholeWhereTheSecondIsTheLater) { expect_no_damaged_record_is_found(3); }

TEST_F(FirmwareRecords, AreWholeWhereTheFirstIsTheLaterAndIsReadTwice) {
  expect_no_damaged_record_is_found(2);
  disk.flipped_read = 6;  // the residents of the first, read again
  disk.reads = 0;
  std::uint32_t found = 0;
  EXPECT_EQ(poet_find_record(&found), POET_DAMAGED);
}

std::vector<float> row_of(std::uint32_t step, std::uint32_t bytes) {
  std::vector<float> row(bytes / 4);
  for (std::size_t i = 0; i < row.size(); ++i) row[i] = static_cast<float>(step * 1'000 + i);
  return row;
}

/// The steps' rows go into the journals, and the journals into the tables.
int write_step(std::uint32_t step) {
  for (std::uint32_t table = 0; table < kTableRows.size(); ++table) {
    const int code = poet_tables_write(table, row_of(step, kTableRows[table].row_bytes).data(), step);
    if (code != POET_OK) return code;
  }
  return poet_tables_commit(step);
}

void expect_rows_of(std::uint32_t step) {
  for (std::uint32_t table = 0; table < kTableRows.size(); ++table) {
    std::vector<float> row(kTableRows[table].row_bytes / 4);
    ASSERT_EQ(poet_tables_read(table, row.data(), step + 1), POET_OK) << table;
    EXPECT_EQ(row, row_of(step, kTableRows[table].row_bytes)) << table;
  }
}

TEST_F(FirmwareTables, CopyNoDamagedRowOutOfAJournal) {
  ASSERT_EQ(write_step(1), POET_OK);
  disk.reads = 0;
  ASSERT_EQ(write_step(2), POET_OK);
  const int readings = disk.reads;
  ASSERT_GE(readings, 3 * static_cast<int>(kTableRows.size()));
  expect_rows_of(2);
  for (int flipped = 1; flipped <= readings; ++flipped) {
    disk = {};
    ASSERT_EQ(write_step(1), POET_OK);
    disk.reads = 0;
    disk.flipped_read = flipped;
    const int code = write_step(2);
    EXPECT_TRUE(code == POET_OK || code == POET_DAMAGED) << code << " at reading " << flipped;
    disk.flipped_read = 0;
    ASSERT_EQ(poet_tables_commit(2), POET_OK) << "reading " << flipped;  // as after a restart
    expect_rows_of(2);
  }
}

TEST_F(FirmwareTables, LeaveTheOldRowWhereItsJournalIsDamaged) {
  ASSERT_EQ(write_step(1), POET_OK);
  for (std::uint32_t table = 0; table < kTableRows.size(); ++table)
    ASSERT_EQ(poet_tables_write(table, row_of(2, kTableRows[table].row_bytes).data(), 2), POET_OK);
  disk.bytes[std::size_t{kTableRows[0].journal} * POET_BLOCK + kFlippedByte] ^= 1U;  // step 2's: the even one
  EXPECT_EQ(poet_tables_commit(2), POET_DAMAGED);
  EXPECT_EQ(poet_bad_block, kTableRows[0].journal);
  expect_rows_of(1);
}

TEST_F(FirmwareTables, LeaveResidentValuesAlone) {
  set_residents(5);
  ASSERT_EQ(write_step(1), POET_OK);
  EXPECT_TRUE(residents_are_of(5));
}

}  // namespace
}  // namespace poet
