#pragma once

// An SD card in SPI mode and the bus that it hangs on, for firmware/cortex-m/sd_card.c on the host. The card
// takes nothing that the specification does not promise to be taken: what comes too early is lost, what is
// wrong is refused.

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "firmware/engine/poet_engine.h"

namespace poet::test {

inline constexpr std::uint32_t kWindowWords = 16'384;

// The RAM that a DMA may reach. On a board the linker script says where it is; see unit_sd_card in
// tests/CMakeLists.txt.
extern "C" {
extern std::uint32_t poet_window[kWindowWords];
extern std::uint32_t poet_window_end[];
}

/// What a card may be; the driver has to find out.
struct SdCardKind {
  bool is_version_1 = false;                // does not know command 8, counts addresses in bytes
  bool ends_writing_by_token_only = false;  // command 12 does not end it; that is for errors
  unsigned description_version = 1;         // 0: up to 2 GB, 1: more; others do not exist yet
  unsigned description_length = 9;  // of the old description: the binary logarithm of its unit of length
  unsigned answer_delay = 1;        // bytes before an answer, at most 8
  unsigned block_delay = 2;         // bytes before a block that is read
  unsigned busy = 20;               // bytes that it takes to write a block
  unsigned tries_until_ready = 3;   // how often it is asked
};

/// What goes wrong, and where. What has a place goes wrong once.
struct SdCardFaults {
  bool is_never_ready = false;
  bool has_wrong_echo = false;                    // of command 8
  std::optional<std::uint32_t> unreadable_block;  // an error token comes instead
  std::optional<std::uint32_t> unwritable_block;  // is refused
  std::optional<std::uint32_t> flipped_block;     // a bit of it flips on the way to the card
  std::optional<std::uint32_t> slow_block;        // keeps the card busy for `slow_busy`
  std::uint32_t slow_busy = 0;
  std::optional<unsigned> flipped_command;  // a bit of its argument flips on the way to the card
  std::optional<unsigned> refused_command;
  std::optional<std::array<std::uint8_t, 2>> status;  // what command 13 says
};

class SdCard {
 public:
  static constexpr std::uint32_t kBlocks = 4096;

  explicit SdCard(const SdCardKind& what) : kind(what), bytes_(std::size_t{kBlocks} * POET_BLOCK) {}

  /// What happens in the time of one byte, which goes both ways.
  std::uint8_t exchange(std::uint8_t in, bool is_selected);

  [[nodiscard]] std::span<std::uint8_t> block(std::uint32_t number);
  [[nodiscard]] bool is_at_rest() const { return transfer_ == Transfer::kNone; }
  [[nodiscard]] bool is_idle() const { return is_idle_; }
  [[nodiscard]] bool checks_checksums() const { return checks_checksums_; }
  /// Of commands and blocks, among those that it has checked.
  [[nodiscard]] int wrong_checksums() const { return wrong_checksums_; }
  void stay_busy(std::uint32_t bytes) { busy_ = bytes; }

  SdCardKind kind;
  SdCardFaults faults;

 private:
  enum class Transfer { kNone, kRead, kWrite };

  std::uint8_t next_out();
  void send_next_block();
  void send_block(std::span<const std::uint8_t> bytes);
  void answer(unsigned first);

  void take(std::uint8_t in);
  void take_of_command(std::uint8_t in);
  void take_of_block(std::uint8_t in);
  void take_first(std::uint8_t in);
  [[nodiscard]] bool has_right_checksum() const;
  void finish_block();

  [[nodiscard]] bool is_allowed(unsigned number) const;
  void run_command();
  void run_initialisation(unsigned number, std::uint32_t argument, bool is_application);
  void run_transfer(unsigned number, std::uint32_t argument);
  void be_reset();
  void tell_conditions();
  void get_ready(std::uint32_t argument);
  void tell_addressing();
  void tell_status();
  void begin_transfer(Transfer transfer, std::uint32_t address);
  void stop_transfer();
  [[nodiscard]] std::array<std::uint8_t, 16> description() const;

  std::vector<std::uint8_t> bytes_;
  std::deque<std::uint8_t> out_;
  std::vector<std::uint8_t> command_;  // as far as it has come
  std::vector<std::uint8_t> written_;  // the block that comes, and its checksum
  bool is_in_block_ = false;           // that comes
  bool has_paused_ = false;            // a byte has gone by in which nobody said anything
  Transfer transfer_ = Transfer::kNone;
  std::uint32_t at_ = 0;  // block of the transfer
  std::uint32_t busy_ = 0;
  unsigned unselected_bytes_ = 0;
  bool is_in_spi_mode_ = false;
  bool is_idle_ = true;
  bool knows_host_ = false;  // command 8 has come
  bool is_application_command_ = false;
  bool checks_checksums_ = false;
  int wrong_checksums_ = 0;
  unsigned tries_ = 0;
};

/// Thrown out of the driver where SdBus says so; the card does not notice.
struct ProcessorReset {};

/// What poet_spi.h promises, by a processor or by a DMA.
struct SdBus {
  SdCard* card = nullptr;
  std::uint8_t without_card = 0xFF;       // what is read then
  bool has_dma = false;                   // else the processor moves as many bytes as it is given time for
  bool stands_still = false;              // what is started never ends
  std::optional<std::uint64_t> reset_at;  // in `bytes`: the processor is reset before this one

  bool is_selected = false;
  bool is_fast = false;
  std::uint64_t bytes = 0;  // that have been exchanged
  std::string complaint;    // the first thing that the driver may not do

  // The bytes that are on their way: they arrive only in the end.
  std::uint8_t* to = nullptr;
  const std::uint8_t* from = nullptr;
  std::uint32_t count = 0;
  int polls_left = 0;
};
[[nodiscard]] SdBus& sd_bus();

}  // namespace poet::test
