#include "tests/support/sd_card_model.h"

#include <algorithm>
#include <utility>

extern "C" {
#include "firmware/cortex-m/poet_spi.h"
}

namespace poet::test {
namespace {

constexpr std::uint8_t kNothing = 0xFF;
constexpr std::uint8_t kDataToken = 0xFE;
constexpr std::uint8_t kWriteToken = 0xFC;
constexpr std::uint8_t kStopToken = 0xFD;
constexpr std::uint8_t kErrorToken = 0x04;
constexpr std::uint8_t kRangeToken = 0x08;

// The upper bits of what a card says of a written block mean nothing.
constexpr std::uint8_t kAccepted = 0xE5;
constexpr std::uint8_t kWrongChecksum = 0xEB;
constexpr std::uint8_t kNotWritten = 0xED;

// Bits of an answer.
constexpr unsigned kIdle = 0x01;
constexpr unsigned kIllegal = 0x04;
constexpr unsigned kChecksum = 0x08;
constexpr unsigned kAddress = 0x20;
constexpr unsigned kParameter = 0x40;

constexpr unsigned kStopCommand = 12;
constexpr std::uint32_t kTakesLargeCards = 0x40000000U;
constexpr unsigned kBytesToWakeUp = 10;  // 74 cycles of the clock

/// The remainder by x^7 + x^3 + 1, bit by bit as the specification has it; below it a bit that is always set.
std::uint8_t checksum_of_command(std::span<const std::uint8_t> bytes) {
  unsigned sum = 0;
  for (const std::uint8_t byte : bytes)
    for (int bit = 7; bit >= 0; --bit) {
      const unsigned over = ((byte >> bit) ^ (sum >> 6)) & 1U;
      sum = ((sum << 1) & 0x7FU) ^ (over * 0x09U);
    }
  return static_cast<std::uint8_t>((sum << 1) | 1U);
}

/// The remainder by x^16 + x^12 + x^5 + 1.
unsigned checksum_of_data(std::span<const std::uint8_t> bytes) {
  unsigned sum = 0;
  for (const std::uint8_t byte : bytes)
    for (int bit = 7; bit >= 0; --bit) {
      const unsigned over = ((byte >> bit) ^ (sum >> 15)) & 1U;
      sum = ((sum << 1) & 0xFFFFU) ^ (over * 0x1021U);
    }
  return sum;
}

/// Whether it goes wrong here; it will not do so again.
template <class T>
bool strikes(std::optional<T>& fault, T place) {
  if (fault != place) return false;
  fault.reset();
  return true;
}

bool is_known_to_idle_cards(unsigned number) {
  constexpr std::array kKnown = {0U, 8U, 41U, 55U, 58U, 59U};
  return std::find(kKnown.begin(), kKnown.end(), number) != kKnown.end();
}

}  // namespace

// ---- bytes

std::uint8_t SdCard::exchange(std::uint8_t in, bool is_selected) {
  if (!is_selected) {
    ++unselected_bytes_;
    return kNothing;
  }
  if (unselected_bytes_ < kBytesToWakeUp) return kNothing;
  const std::uint8_t out = next_out();
  take(in);
  has_paused_ = in == kNothing && out == kNothing && out_.empty() && busy_ == 0;
  return out;
}

std::span<std::uint8_t> SdCard::block(std::uint32_t number) {
  return std::span(bytes_).subspan(std::size_t{number} * POET_BLOCK, POET_BLOCK);
}

std::uint8_t SdCard::next_out() {
  if (out_.empty() && busy_ > 0) {
    --busy_;
    return 0;
  }
  if (out_.empty() && transfer_ == Transfer::kRead) send_next_block();
  if (out_.empty()) return kNothing;
  const std::uint8_t out = out_.front();
  out_.pop_front();
  return out;
}

void SdCard::send_next_block() {
  if (at_ >= kBlocks || strikes(faults.unreadable_block, at_)) {
    out_.push_back(kNothing);
    out_.push_back(at_ >= kBlocks ? kRangeToken : kErrorToken);
    return;
  }
  send_block(block(at_));
  ++at_;
}

void SdCard::send_block(std::span<const std::uint8_t> bytes) {
  out_.insert(out_.end(), kind.block_delay, kNothing);
  out_.push_back(kDataToken);
  out_.insert(out_.end(), bytes.begin(), bytes.end());
  const unsigned sum = checksum_of_data(bytes);
  out_.push_back(static_cast<std::uint8_t>(sum >> 8));
  out_.push_back(static_cast<std::uint8_t>(sum));
}

void SdCard::answer(unsigned first) {
  out_.insert(out_.end(), kind.answer_delay, kNothing);
  out_.push_back(static_cast<std::uint8_t>(first));
}

// ---- what comes in

void SdCard::take(std::uint8_t in) {
  if (is_in_block_)
    take_of_block(in);
  else if (!command_.empty())
    take_of_command(in);
  else if (has_paused_ || transfer_ == Transfer::kRead)
    take_first(in);
}

void SdCard::take_first(std::uint8_t in) {
  const bool is_writing = transfer_ == Transfer::kWrite;
  if ((in & 0xC0U) == 0x40U) {
    command_ = {in};
  } else if (is_writing && in == kWriteToken) {
    is_in_block_ = true;
    written_.clear();
  } else if (is_writing && in == kStopToken) {
    transfer_ = Transfer::kNone;
    out_.push_back(kNothing);  // it is busy only a byte later
    busy_ = kind.busy;
  }
}

void SdCard::take_of_command(std::uint8_t in) {
  const bool is_middle = command_.size() == 3;
  const unsigned number = command_[0] & 0x3FU;
  command_.push_back(is_middle && strikes(faults.flipped_command, number) ? in ^ 1U : in);
  if (command_.size() < 6) return;
  run_command();
  command_.clear();
}

void SdCard::take_of_block(std::uint8_t in) {
  const bool is_flipped = strikes(faults.flipped_block, at_);
  written_.push_back(is_flipped ? in ^ 1U : in);
  if (written_.size() < POET_BLOCK + 2) return;
  is_in_block_ = false;
  finish_block();
}

bool SdCard::has_right_checksum() const {
  const unsigned said = (unsigned{written_[POET_BLOCK]} << 8) | written_[POET_BLOCK + 1];
  return said == checksum_of_data(std::span(written_).first(POET_BLOCK));
}

void SdCard::finish_block() {
  if (checks_checksums_ && !has_right_checksum()) {
    ++wrong_checksums_;
    out_.push_back(kWrongChecksum);
    return;
  }
  if (at_ >= kBlocks || strikes(faults.unwritable_block, at_)) {
    out_.push_back(kNotWritten);
    return;
  }
  std::copy_n(written_.begin(), POET_BLOCK, block(at_).begin());
  out_.push_back(kAccepted);
  busy_ = strikes(faults.slow_block, at_) ? faults.slow_busy : kind.busy;
  ++at_;
}

// ---- commands

/// In a transfer nothing but its end.
bool SdCard::is_allowed(unsigned number) const {
  if (is_idle_) return is_known_to_idle_cards(number);
  return is_at_rest() || number == kStopCommand;
}

void SdCard::run_command() {
  const unsigned number = command_[0] & 0x3FU;
  std::uint32_t argument = 0;
  for (std::size_t i = 1; i < 5; ++i) argument = (argument << 8) | command_[i];
  const bool is_application = std::exchange(is_application_command_, false);
  if (!is_in_spi_mode_ && number != 0) return;

  out_.clear();
  if (number == kStopCommand) out_.push_back(0x3F);  // means nothing, though it looks like an answer
  const unsigned idle = is_idle_ ? kIdle : 0U;
  const bool is_checked = checks_checksums_ || number == 0 || number == 8;
  if (is_checked && command_[5] != checksum_of_command(std::span(command_).first(5))) {
    ++wrong_checksums_;
    answer(idle | kChecksum);
  } else if ((command_[5] & 1U) == 0 || !is_allowed(number)) {
    answer(idle | kIllegal);
  } else if (strikes(faults.refused_command, number)) {
    answer(idle | kAddress);
  } else if (is_known_to_idle_cards(number)) {
    run_initialisation(number, argument, is_application);
  } else {
    run_transfer(number, argument);
  }
}

void SdCard::run_initialisation(unsigned number, std::uint32_t argument, bool is_application) {
  const unsigned idle = is_idle_ ? kIdle : 0U;
  switch (number) {
    case 0:
      return be_reset();
    case 8:
      return tell_conditions();
    case 41:
      return is_application ? get_ready(argument) : answer(idle | kIllegal);
    case 55:
      is_application_command_ = true;
      return answer(idle);
    case 58:
      return tell_addressing();
    default:  // 59
      checks_checksums_ = (argument & 1U) != 0;
      return answer(idle);
  }
}

void SdCard::run_transfer(unsigned number, std::uint32_t argument) {
  switch (number) {
    case 9:
      answer(0);
      return send_block(description());
    case kStopCommand:
      return stop_transfer();
    case 13:
      return tell_status();
    case 16:
      return answer(argument == POET_BLOCK ? 0 : kParameter);
    case 18:
      return begin_transfer(Transfer::kRead, argument);
    case 25:
      return begin_transfer(Transfer::kWrite, argument);
    default:
      return answer(kIllegal);
  }
}

void SdCard::be_reset() {
  is_in_spi_mode_ = true;
  is_idle_ = true;
  knows_host_ = false;
  checks_checksums_ = false;
  tries_ = 0;
  answer(kIdle);
}

void SdCard::tell_conditions() {
  if (kind.is_version_1) return answer(kIdle | kIllegal);
  knows_host_ = true;
  answer(is_idle_ ? kIdle : 0U);
  const auto echo = static_cast<std::uint8_t>(faults.has_wrong_echo ? 0x55U : command_[4]);
  out_.insert(out_.end(), {0, 0, 1, echo});
}

/// A large card gets ready only for who knows of large cards.
void SdCard::get_ready(std::uint32_t argument) {
  const bool is_known = kind.is_version_1 || (knows_host_ && (argument & kTakesLargeCards) != 0);
  if (is_known && !faults.is_never_ready && ++tries_ >= kind.tries_until_ready) is_idle_ = false;
  answer(is_idle_ ? kIdle : 0U);
}

void SdCard::tell_addressing() {
  answer(is_idle_ ? kIdle : 0U);
  const auto first = static_cast<std::uint8_t>(kind.is_version_1 ? 0x80 : 0xC0);
  out_.insert(out_.end(), {first, 0xFF, 0x80, 0});
}

void SdCard::tell_status() {
  const auto status = faults.status.value_or(std::array<std::uint8_t, 2>{});
  faults.status.reset();
  answer(status[0]);
  out_.push_back(status[1]);
}

void SdCard::begin_transfer(Transfer transfer, std::uint32_t address) {
  const std::uint32_t unit = kind.is_version_1 ? POET_BLOCK : 1;
  if (address % unit != 0) return answer(kAddress);
  if (address / unit >= kBlocks) return answer(kParameter);
  at_ = address / unit;
  transfer_ = transfer;
  answer(0);
}

void SdCard::stop_transfer() {
  const bool awaits_token = transfer_ == Transfer::kWrite && kind.ends_writing_by_token_only;
  if (is_at_rest() || awaits_token) return answer(kIllegal);
  transfer_ = Transfer::kNone;
  answer(0);
  busy_ = 5;
}

/// What command 9 tells: above all how large the card is.
std::array<std::uint8_t, 16> SdCard::description() const {
  constexpr unsigned kFactor = 2;  // its binary logarithm is two more
  std::array<std::uint8_t, 16> d{};
  const auto set = [&](std::size_t place, std::uint32_t bits) { d[place] = static_cast<std::uint8_t>(bits); };
  set(0, kind.description_version << 6);
  if (kind.description_version == 0) {
    const std::uint32_t size = (kBlocks * POET_BLOCK >> (kind.description_length + kFactor + 2)) - 1;
    set(5, 0x50U | kind.description_length);
    set(6, size >> 10);
    set(7, size >> 2);
    set(8, size << 6);
    set(9, kFactor >> 1);
    set(10, kFactor << 7);
  } else {
    set(9, kBlocks / 1024 - 1);
  }
  set(15, checksum_of_command(std::span(d).first(15)));
  return d;
}

// ---- the bus

SdBus& sd_bus() {
  static SdBus bus;
  return bus;
}

namespace {

constexpr int kPollsOfTransfer = 3;   // what is on its way is asked for so often
constexpr std::uint32_t kAtOnce = 8;  // bytes that the processor moves

void complain(const char* what) {
  if (sd_bus().complaint.empty()) sd_bus().complaint = what;
}

std::uint8_t exchange_with_card(std::uint8_t out) {
  SdBus& bus = sd_bus();
  if (bus.reset_at == bus.bytes) throw ProcessorReset{};
  ++bus.bytes;
  if (bus.stands_still) return kNothing;
  if (bus.card == nullptr) return bus.without_card;
  if (bus.is_fast && bus.card->is_idle()) complain("the clock is fast before the card is ready");
  return bus.card->exchange(out, bus.is_selected);
}

void carry_bytes() {
  SdBus& bus = sd_bus();
  for (; bus.count > 0; --bus.count) {
    const std::uint8_t in = exchange_with_card(bus.from != nullptr ? *bus.from++ : kNothing);
    if (bus.to != nullptr) *bus.to++ = in;
  }
}

}  // namespace

extern "C" {

alignas(8) std::uint32_t poet_window[kWindowWords];

void poet_spi_open() {
  sd_bus().is_fast = false;
  sd_bus().count = 0;
}

void poet_spi_full_speed() { sd_bus().is_fast = true; }

void poet_spi_select(int on) { sd_bus().is_selected = on != 0; }

std::uint8_t poet_spi_exchange(std::uint8_t out) {
  if (sd_bus().count > 0) complain("a byte is exchanged while others are on their way");
  return exchange_with_card(out);
}

std::uint32_t poet_spi_start(std::uint8_t* to, const std::uint8_t* from, std::uint32_t count,
                             std::uint32_t budget) {
  SdBus& bus = sd_bus();
  if (bus.count > 0) complain("bytes are started while others are on their way");
  bus.to = to;
  bus.from = from;
  bus.count = bus.has_dma ? count : std::min({count, budget, kAtOnce});
  bus.polls_left = kPollsOfTransfer;
  const std::uint32_t moved = bus.count;
  if (!bus.has_dma) carry_bytes();
  return moved;
}

int poet_spi_busy() {
  SdBus& bus = sd_bus();
  if (bus.stands_still) return 1;
  if (bus.count == 0) return 0;
  if (--bus.polls_left > 0) return 1;
  carry_bytes();
  return 0;
}

}  // extern "C"

}  // namespace poet::test
