#include "poet/firmware/card_image.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "poet/base/error.h"
#include "poet/runtime/training/schedule_in_c.h"

namespace poet::firmware {
namespace {

// What only poet reads, in the header's block behind what the engine does; the text follows.
constexpr std::size_t kNotes = 64;
constexpr std::size_t kNumbers = 6;
struct NotesHead {
  std::uint64_t seed = 0;
  std::uint32_t text_bytes = 0;
  std::uint32_t hash = 0;   // of these and the text
  std::uint32_t given = 0;  // which of the numbers below, a bit each; then nesterov, and what it is
  std::uint32_t unused = 0;
  std::array<double, kNumbers> numbers{};
  poet_schedule schedule{};
};
static_assert(sizeof(NotesHead) == 24 + 8 * kNumbers + sizeof(poet_schedule));  // no bytes between

/// In the order of NotesHead::numbers.
template <class Chosen>
auto numbers_of(Chosen& h) {
  return std::array{&h.learning_rate, &h.momentum, &h.beta1, &h.beta2, &h.eps, &h.weight_decay};
}
constexpr std::uint32_t kNesterovGiven = 1U << kNumbers;
constexpr std::uint32_t kNesterov = 2U << kNumbers;

std::vector<char> bytes_of_notes(const Notes& notes) {
  NotesHead head;
  head.seed = notes.seed;
  if (notes.text.size() <= POET_BLOCK - kNotes - sizeof head)  // whole or not at all
    head.text_bytes = static_cast<std::uint32_t>(notes.text.size());
  const runtime::Hyperparameters& chosen = notes.optimizer.hyperparameters;
  const auto numbers = numbers_of(chosen);
  for (std::size_t i = 0; i < kNumbers; ++i) {
    if (!*numbers[i]) continue;
    head.given |= 1U << i;
    head.numbers[i] = **numbers[i];
  }
  if (chosen.nesterov) head.given |= *chosen.nesterov ? kNesterovGiven | kNesterov : kNesterovGiven;
  head.schedule = runtime::schedule_in_c(notes.optimizer.schedule);
  std::vector<char> bytes(sizeof head + head.text_bytes);
  std::memcpy(bytes.data(), &head, sizeof head);
  std::copy_n(notes.text.begin(), head.text_bytes, bytes.begin() + sizeof head);
  head.hash = hash_of(bytes.data(), bytes.size(), kNotes);  // its own place is 0 yet
  std::memcpy(bytes.data(), &head, sizeof head);
  return bytes;
}

std::optional<Notes> notes_in(const Words& block) {
  std::array<char, POET_BLOCK> all{};
  std::memcpy(all.data(), block.data(), sizeof all);
  NotesHead head;
  std::memcpy(&head, all.data() + kNotes, sizeof head);
  if (head.text_bytes > POET_BLOCK - kNotes - sizeof head) return std::nullopt;
  Notes notes{head.seed, std::string(all.data() + kNotes + sizeof head, head.text_bytes)};
  runtime::Hyperparameters& chosen = notes.optimizer.hyperparameters;
  const auto numbers = numbers_of(chosen);
  for (std::size_t i = 0; i < kNumbers; ++i)
    if ((head.given & 1U << i) != 0) *numbers[i] = head.numbers[i];
  if ((head.given & kNesterovGiven) != 0) chosen.nesterov = (head.given & kNesterov) != 0;
  notes.optimizer.schedule = runtime::schedule_from_c(head.schedule);
  const std::vector<char> wanted = bytes_of_notes(notes);
  if (!std::equal(wanted.begin(), wanted.end(), all.begin() + kNotes)) return std::nullopt;
  return notes;
}

}  // namespace

std::uint32_t hash_of(const void* bytes, std::size_t count, std::uint32_t seed) {
  return poet_hash(bytes, static_cast<std::uint32_t>(count), seed);
}

Image::Image(const std::filesystem::path& file, std::filesystem::path name, std::ios::openmode mode)
    : name_(std::move(name)), stream_(file, mode | std::ios::binary) {
  if (!stream_) throw InputError(name_.string(), "cannot be opened");
}

void Image::write(std::uint64_t block, std::uint64_t skipped, const void* from, std::size_t bytes) {
  stream_.seekp(static_cast<std::streamoff>(block * POET_BLOCK + skipped));
  stream_.write(static_cast<const char*>(from), static_cast<std::streamsize>(bytes));
  if (!stream_) throw InputError(name_.string(), "cannot be written");
}

void Image::read(std::uint64_t block, void* to, std::size_t bytes) {
  stream_.seekg(static_cast<std::streamoff>(block * POET_BLOCK));
  stream_.read(static_cast<char*>(to), static_cast<std::streamsize>(bytes));
  if (!stream_) throw InputError(name_.string(), "ends before what its header says is there");
}

void Image::close() {
  stream_.close();
  if (!stream_) throw InputError(name_.string(), "cannot be written");
}

void write_header(Image& image, const Header& header) {
  // In one write: where a second one fails, a card with training on it would have a header without its hash.
  std::array<std::uint32_t, kHeaderWords + 1> sealed{};
  std::copy(header.begin(), header.end(), sealed.begin());
  sealed.back() = hash_of(header.data(), sizeof header, 0);
  image.write(0, 0, sealed.data(), sizeof sealed);
}

void write_notes(Image& image, const Notes& notes) {
  const std::vector<char> bytes = bytes_of_notes(notes);
  image.write(0, kNotes, bytes.data(), bytes.size());
}

CardHeader read_header(const std::filesystem::path& file, Image& image) {
  Words block;
  image.read(0, block.data(), sizeof block);
  if (block[0] != POET_CARD_MAGIC) throw InputError(file.string(), "is not a poet card image");
  if (block[1] != POET_CARD_VERSION)
    throw InputError(file.string(), fmt::format("is a card of format {}, and this is poet for format {}",
                                                block[1], static_cast<int>(POET_CARD_VERSION)));
  CardHeader header;
  std::copy_n(block.begin(), kHeaderWords, header.words.begin());
  const std::optional<Notes> notes = notes_in(block);
  if (!notes || hash_of(header.words.data(), sizeof header.words, 0) != block[kHeaderWords])
    throw InputError(file.string(), "its header is damaged");
  header.notes = *notes;
  return header;
}

}  // namespace poet::firmware
