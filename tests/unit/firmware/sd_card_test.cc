// The firmware's driver of SD cards against a strict card: transfers, what may go wrong in them, and the
// start.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <ostream>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "tests/support/sd_card_model.h"

extern "C" {
#include "firmware/cortex-m/storage_window.h"
}

namespace poet {
namespace {

using test::ProcessorReset;
using test::sd_bus;
using test::SdCard;
using test::SdCardKind;

using Octets = std::vector<std::uint8_t>;

constexpr std::uint32_t kWindowBytes = test::kWindowWords * 4;
constexpr std::uint32_t kMostBlocks = 8;
constexpr int kUnending = -1;

/// In the part of RAM that a DMA reaches.
std::uint8_t* window() { return reinterpret_cast<std::uint8_t*>(test::poet_window); }

Octets random_bytes(std::uint32_t blocks) {
  static std::mt19937 random(1);
  Octets bytes(std::size_t{blocks} * POET_BLOCK);
  for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random());
  return bytes;
}

int finish(int started, std::uint32_t budget) {
  if (started != POET_OK) return started;
  for (int polls = 0; polls < 10'000'000; ++polls) {
    const int result = poet_storage_poll(budget);
    if (result != POET_BUSY) return result;
  }
  return kUnending;
}

int read(std::uint32_t block, std::uint32_t count) {
  std::fill_n(window(), count * POET_BLOCK, std::uint8_t{0xA5});
  return finish(poet_storage_start_read(block, window(), count), 64);
}

Octets what_was_read(std::uint32_t count) { return {window(), window() + count * POET_BLOCK}; }

int write(std::uint32_t block, const Octets& bytes) {
  std::copy(bytes.begin(), bytes.end(), window());
  const auto count = static_cast<std::uint32_t>(bytes.size() / POET_BLOCK);
  return finish(poet_storage_start_write(block, window(), count), 13);
}

int opened_card() {
  std::uint32_t blocks = 0;
  return poet_storage_open(&blocks);
}

struct Slot {
  const char* name;
  SdCardKind kind;
  bool has_dma = false;
};
void PrintTo(const Slot& slot, std::ostream* out) { *out << slot.name; }

class SdCardDriver : public testing::TestWithParam<Slot> {
 protected:
  SdCardDriver() : card(GetParam().kind) {
    sd_bus() = {};
    sd_bus().card = &card;
    sd_bus().has_dma = GetParam().has_dma;
  }
  void TearDown() override {
    EXPECT_EQ(sd_bus().complaint, "");
    sd_bus() = {};
  }

  Octets on_card(std::uint32_t block, std::uint32_t count) {
    Octets bytes;
    for (std::uint32_t i = 0; i < count; ++i) {
      const auto more = card.block(block + i);
      bytes.insert(bytes.end(), more.begin(), more.end());
    }
    return bytes;
  }

  void expect_transfers(std::uint32_t block, std::uint32_t count) {
    const Octets bytes = random_bytes(count);
    ASSERT_EQ(write(block, bytes), POET_OK) << block;
    ASSERT_EQ(on_card(block, count), bytes) << block;
    ASSERT_TRUE(card.is_at_rest());
    ASSERT_EQ(read(block, count), POET_OK) << block;
    ASSERT_EQ(what_was_read(count), bytes) << block;
    ASSERT_TRUE(card.is_at_rest());
  }

  /// What failed is over: the card has been told, and nothing of it is left.
  void expect_error_is_over(int result) {
    EXPECT_EQ(result, POET_IO_ERROR);
    EXPECT_TRUE(card.is_at_rest());
    expect_transfers(100, 3);
  }

  SdCard card;
};

/// A card that has been opened.
class SdCardTransfers : public SdCardDriver {
 protected:
  void SetUp() override { ASSERT_EQ(opened_card(), POET_OK); }
};

std::vector<Slot> slots() {
  return {
      {.name = "Large", .kind = {}},
      {.name = "LargeByDma", .kind = {}, .has_dma = true},
      {.name = "LargeAndSlow",
       .kind = {.answer_delay = 8, .block_delay = 300, .busy = 2'000, .tries_until_ready = 40}},
      {.name = "Small", .kind = {.is_version_1 = true, .description_version = 0}},
      {.name = "SmallByDma",
       .kind = {.is_version_1 = true, .description_version = 0, .description_length = 10, .busy = 0},
       .has_dma = true},
      {.name = "SmallOfTwoGigabytes",
       .kind = {.is_version_1 = true, .description_version = 0, .description_length = 11}},
  };
}

std::string name_of(const testing::TestParamInfo<Slot>& info) { return info.param.name; }

INSTANTIATE_TEST_SUITE_P(Cards, SdCardDriver, testing::ValuesIn(slots()), name_of);
INSTANTIATE_TEST_SUITE_P(Cards, SdCardTransfers, testing::ValuesIn(slots()), name_of);

// ---- start

TEST_P(SdCardDriver, OpensSlowlyAndIsFastAfterwards) {
  std::uint32_t blocks = 0;
  EXPECT_EQ(poet_storage_open(&blocks), POET_OK);
  EXPECT_EQ(blocks, SdCard::kBlocks);
  EXPECT_TRUE(sd_bus().is_fast);
  EXPECT_TRUE(card.checks_checksums());
  EXPECT_EQ(card.wrong_checksums(), 0);
}

TEST_P(SdCardDriver, TakesNoCardThatNeverGetsReady) {
  card.faults.is_never_ready = true;
  EXPECT_EQ(opened_card(), POET_NO_CARD);
  EXPECT_LT(sd_bus().bytes, 60'000U);
  EXPECT_FALSE(sd_bus().is_fast);
  card.faults = {};
  EXPECT_EQ(opened_card(), POET_OK);
  expect_transfers(0, 2);
}

TEST_P(SdCardDriver, TakesNoCardThatDescribesItselfUnknowably) {
  card.kind.description_version = 2;
  EXPECT_EQ(opened_card(), POET_NO_CARD);
  card.kind.description_version = 0;
  for (const unsigned length : {8U, 12U}) {
    card.kind.description_length = length;
    EXPECT_EQ(opened_card(), POET_NO_CARD) << length;
  }
  EXPECT_FALSE(sd_bus().is_fast);
}

TEST_P(SdCardDriver, TakesNoCardThatRefusesACommand) {
  for (const unsigned command : {9U, 16U, 58U, 59U}) {
    card.faults.refused_command = command;
    EXPECT_EQ(opened_card(), POET_NO_CARD) << command;
    EXPECT_FALSE(card.faults.refused_command) << command;
  }
  EXPECT_EQ(opened_card(), POET_OK);
}

TEST_P(SdCardDriver, TakesNoCardThatMisunderstandsTheVoltage) {
  card.kind.is_version_1 = false;  // older ones are not asked
  card.faults.has_wrong_echo = true;
  EXPECT_EQ(opened_card(), POET_NO_CARD);
  EXPECT_FALSE(sd_bus().is_fast);
}

TEST_P(SdCardDriver, FindsNoCardInAnEmptySlot) {
  sd_bus().card = nullptr;
  for (const std::uint8_t line : Octets{0xFF, 0x00}) {
    sd_bus().without_card = line;
    sd_bus().bytes = 0;
    EXPECT_EQ(opened_card(), POET_NO_CARD);
    EXPECT_LT(sd_bus().bytes, 250'000U);
    EXPECT_FALSE(sd_bus().is_fast);
  }
}

TEST_P(SdCardDriver, WaitsForACardThatIsStillBusy) {
  ASSERT_EQ(opened_card(), POET_OK);
  card.stay_busy(20'000);
  ASSERT_EQ(opened_card(), POET_OK);
  expect_transfers(1, 2);
}

// ---- transfers

TEST_P(SdCardTransfers, KeepWhatIsWritten) {
  std::mt19937 random(2);
  for (int i = 0; i < 100; ++i) {
    const auto count = static_cast<std::uint32_t>(1 + random() % kMostBlocks);
    expect_transfers(static_cast<std::uint32_t>(random() % (SdCard::kBlocks - kMostBlocks)), count);
  }
  EXPECT_EQ(card.wrong_checksums(), 0);
}

TEST_P(SdCardTransfers, ReachTheLastBlockAndNoneBehindIt) {
  expect_transfers(SdCard::kBlocks - 2, 2);
  expect_error_is_over(read(SdCard::kBlocks - 2, 4));
  expect_error_is_over(write(SdCard::kBlocks - 2, random_bytes(4)));
  expect_error_is_over(read(SdCard::kBlocks, 1));
}

TEST_P(SdCardTransfers, SayThatABlockCannotBeRead) {
  card.faults.unreadable_block = 302;
  expect_error_is_over(read(300, 8));
}

TEST_P(SdCardTransfers, SayThatABlockCannotBeWritten) {
  card.faults.unwritable_block = 302;
  expect_error_is_over(write(300, random_bytes(8)));
}

TEST_P(SdCardTransfers, SayThatABlockArrivedDamagedAndLeaveTheOldOne) {
  const Octets old = on_card(303, 1);
  card.faults.flipped_block = 303;
  expect_error_is_over(write(300, random_bytes(8)));
  EXPECT_EQ(card.wrong_checksums(), 1);
  EXPECT_EQ(on_card(303, 1), old);
}

TEST_P(SdCardTransfers, SayThatACommandArrivedDamaged) {
  card.faults.flipped_command = 18;
  expect_error_is_over(read(300, 8));
  card.faults.flipped_command = 25;
  expect_error_is_over(write(300, random_bytes(8)));
  EXPECT_EQ(card.wrong_checksums(), 2);
}

TEST_P(SdCardTransfers, SayThatACommandIsRefused) {
  card.faults.refused_command = 18;
  expect_error_is_over(read(300, 8));
  card.faults.refused_command = 25;
  expect_error_is_over(write(300, random_bytes(8)));
}

TEST_P(SdCardTransfers, AskWhetherAllWasWritten) {
  card.faults.status = {0x00, 0x04};
  expect_error_is_over(write(300, random_bytes(8)));
  card.faults.status = {0x40, 0x00};
  expect_error_is_over(write(300, random_bytes(8)));
}

TEST_P(SdCardTransfers, GiveUpACardThatStaysBusy) {
  card.faults.slow_block = 301;
  card.faults.slow_busy = 1'500'000;
  EXPECT_EQ(write(300, random_bytes(3)), POET_IO_ERROR);
  EXPECT_EQ(read(300, 1),
            POET_IO_ERROR);  // while it was busy it could not be told that the transfer had ended
  expect_transfers(300, 3);
}

TEST_P(SdCardTransfers, GiveUpACardThatStaysBusyForEver) {
  card.faults.slow_block = 301;
  card.faults.slow_busy = 100'000'000;
  sd_bus().bytes = 0;
  EXPECT_EQ(write(300, random_bytes(3)), POET_IO_ERROR);
  EXPECT_LT(sd_bus().bytes, 2'100'000U);
  card.stay_busy(0);  // as with the power off
  ASSERT_EQ(opened_card(), POET_OK);
  expect_transfers(300, 3);
}

TEST_P(SdCardTransfers, GiveUpABusThatStandsStill) {
  sd_bus().stands_still = true;
  expect_error_is_over([&] {
    const int result = read(300, 1);
    sd_bus().stands_still = false;
    return result;
  }());
}

// Of the storage that is a file, too. 2^23 blocks are 2^32 bytes.
TEST(Window, HasNoBlocksThatWrapAround) {
  const auto first = reinterpret_cast<std::uintptr_t>(window());
  for (const std::uint32_t count : {0x800000U, 0x800001U, 0xFFFFFFFFU}) {
    EXPECT_FALSE(poet_in_window(first, count)) << count;
    EXPECT_FALSE(poet_in_window(first + kWindowBytes - 512, count)) << count;
  }
  EXPECT_FALSE(poet_in_window(first - 512, 1));
  EXPECT_FALSE(poet_in_window(first + kWindowBytes + 512, 0));
  EXPECT_TRUE(poet_in_window(first, kWindowBytes / 512));
  EXPECT_FALSE(poet_in_window(first + 4, kWindowBytes / 512));
}

TEST_P(SdCardTransfers, StayWithinTheWindow) {
  const auto first = reinterpret_cast<std::uintptr_t>(window());
  const std::uintptr_t end = first + kWindowBytes;
  ASSERT_EQ(reinterpret_cast<std::uintptr_t>(test::poet_window_end), end);
  struct Place {
    std::uintptr_t at;
    std::uint32_t count;
  };
  sd_bus().bytes = 0;
  for (const auto& [at, count] : std::vector<Place>{{first + 2, 1},
                                                    {first - 4, 1},
                                                    {end - 512, 2},
                                                    {end - 508, 1},
                                                    {end, 1},
                                                    {end + 512, 1},
                                                    {first, kWindowBytes / 512 + 1},
                                                    {first, 0x800001}}) {
    void* place = reinterpret_cast<void*>(at);
    EXPECT_EQ(poet_storage_start_read(1, place, count), POET_IO_ERROR) << at - first;
    EXPECT_EQ(poet_storage_start_write(1, place, count), POET_IO_ERROR) << at - first;
  }
  EXPECT_EQ(sd_bus().bytes, 0U) << "the card has been told";
  EXPECT_EQ(finish(poet_storage_start_read(1, window() + kWindowBytes - 512, 1), 64), POET_OK);
  EXPECT_EQ(finish(poet_storage_start_read(1, window(), kWindowBytes / 512), 64), POET_OK);
}

// ---- reset of the processor alone

/// Runs `work` until it ends (false), or until the processor is reset `bytes` later.
template <class F>
bool is_reset_within(const F& work, std::uint64_t bytes) {
  sd_bus().reset_at = sd_bus().bytes + bytes;
  bool is_reset = false;
  try {
    work();
  } catch (const ProcessorReset&) {
    is_reset = true;
  }
  sd_bus().reset_at.reset();
  return is_reset;
}

TEST_P(SdCardTransfers, CanBeCutOffAtAnyByteOfReading) {
  for (std::uint64_t bytes = 0; is_reset_within([] { read(40, 3); }, bytes); bytes += bytes < 100 ? 1 : 37) {
    ASSERT_EQ(opened_card(), POET_OK) << bytes;
    ASSERT_TRUE(card.is_at_rest()) << bytes;
    if (bytes % 8 == 0) expect_transfers(40, 3);
  }
}

TEST_P(SdCardTransfers, CanBeCutOffAtAnyByteOfWriting) {
  card.kind.ends_writing_by_token_only = true;
  bool is_under_way = true;
  for (std::uint64_t bytes = 0; is_under_way; bytes += bytes < 100 ? 1 : 37) {
    const Octets old = on_card(40, 3);
    const Octets made = random_bytes(3);
    is_under_way = is_reset_within([&] { write(40, made); }, bytes);
    ASSERT_EQ(opened_card(), POET_OK) << bytes;
    ASSERT_TRUE(card.is_at_rest()) << bytes;
    const Octets now = on_card(40, 3);
    for (std::size_t at = 0; at < now.size(); at += POET_BLOCK) {
      const auto is_as_in = [&](const Octets& bytes_then) {
        return std::equal(now.begin() + static_cast<std::ptrdiff_t>(at),
                          now.begin() + static_cast<std::ptrdiff_t>(at + POET_BLOCK),
                          bytes_then.begin() + static_cast<std::ptrdiff_t>(at));
      };
      ASSERT_TRUE(is_as_in(old) || is_as_in(made)) << "half a block has been written, reset at " << bytes;
    }
  }
  expect_transfers(40, 3);
}

TEST_P(SdCardTransfers, CanBeCutOffAtAnyByteOfOpening) {
  for (std::uint64_t bytes = 0; is_reset_within(opened_card, bytes); bytes += 7)
    ASSERT_EQ(opened_card(), POET_OK) << bytes;
  expect_transfers(40, 3);
}

}  // namespace
}  // namespace poet
