#include "poet/runtime/storage/page_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>
#include <optional>
#include <span>

#include "poet/base/error.h"
#include "poet/runtime/storage/backing_file.h"
#include "poet/runtime/storage/page_checksum.h"
#include "poet/runtime/storage/page_cipher.h"

namespace poet::runtime {
namespace {

/// Large enough that a device is busy with the bytes and not with the requests, and a multiple of any block.
constexpr std::int64_t kBufferBytes = std::int64_t{1} << 20;

/// Zeros at first, aligned to any block.
class AlignedBuffer {
 public:
  AlignedBuffer() : bytes_(static_cast<std::byte*>(::operator new(kBufferBytes, kAlignment))) {
    std::memset(bytes_, 0, kBufferBytes);
  }
  ~AlignedBuffer() { ::operator delete(bytes_, kAlignment); }
  AlignedBuffer(const AlignedBuffer&) = delete;
  AlignedBuffer& operator=(const AlignedBuffer&) = delete;
  AlignedBuffer(AlignedBuffer&&) = delete;
  AlignedBuffer& operator=(AlignedBuffer&&) = delete;

  [[nodiscard]] std::span<std::byte> first(std::int64_t size) {
    return {bytes_, static_cast<std::size_t>(size)};
  }

 private:
  static constexpr std::align_val_t kAlignment{65536};
  std::byte* bytes_;
};

struct PageSlot {
  std::int64_t offset = 0;
  std::int64_t bytes = 0;
  bool written = false;
  std::uint64_t checksum = 0;  // of the bytes as they are stored
  PageSeal seal{};
};

std::vector<PageSlot> lay_out(const std::vector<Bytes>& sizes, Bytes block) {
  std::vector<PageSlot> slots;
  slots.reserve(sizes.size());
  std::int64_t end = block.value();  // the first is the file's own
  for (const Bytes size : sizes) {
    ensure(size.value() >= 0 && size.value() <= (std::int64_t{1} << 62) - end, "the pages fit a file");
    slots.push_back(PageSlot{.offset = end, .bytes = size.value()});
    end += rounded_up(size, block).value();
  }
  return slots;
}

}  // namespace

std::filesystem::path default_page_folder() {
  const char* chosen = std::getenv("TMPDIR");
  return chosen != nullptr && *chosen != '\0' ? chosen : "/var/tmp";
}

struct PageFile::State {
  State(const PageFileOptions& options, const std::vector<Bytes>& sizes)
      : file(options.where.empty() ? default_page_folder() : options.where),
        slots(lay_out(sizes, file.block())) {
    if (options.encrypt) cipher.emplace();
    if (!slots.empty()) size = slots.back().offset + stored(slots.back().bytes);
    file.reserve(Bytes(size), buffer.first(kBufferBytes));
    if (options.direct && size > 0) file.bypass_cache(buffer.first(file.block().value()));
  }

  [[nodiscard]] std::int64_t stored(std::int64_t bytes) const {
    return rounded_up(Bytes(bytes), file.block()).value();
  }

  PageSlot& slot(std::size_t number) {
    ensure(number < slots.size(), "a page has a slot");
    return slots[number];
  }

  [[noreturn]] void fail(std::size_t number, const std::string& rule) const {
    throw InputError(fmt::format("page {} of {}", number, file.name()), rule);
  }

  void write_chunk(std::size_t number, std::int64_t at, std::span<const std::byte> data);
  void read_chunk(std::size_t number, std::int64_t at, std::span<std::byte> data);

  BackingFile file;
  std::vector<PageSlot> slots;
  std::int64_t size = 0;
  AlignedBuffer buffer;
  PageChecksum checksum;
  std::optional<PageCipher> cipher;
};

void PageFile::State::write_chunk(std::size_t number, std::int64_t at, std::span<const std::byte> data) {
  const std::span<std::byte> block = buffer.first(stored(static_cast<std::int64_t>(data.size())));
  if (cipher)
    cipher->encrypt(data, block.data());
  else
    std::memcpy(block.data(), data.data(), data.size());
  // Not what an earlier page left there: the file's bytes are a function of the page's alone.
  std::fill(block.begin() + static_cast<std::ptrdiff_t>(data.size()), block.end(), std::byte{0});
  checksum.add(block);
  const IoOutcome outcome = write_at(file.descriptor(), slots[number].offset + at, block);
  if (outcome.done < block.size()) fail(number, "cannot be written: " + explain(outcome, block.size()));
}

void PageFile::State::read_chunk(std::size_t number, std::int64_t at, std::span<std::byte> data) {
  const std::span<std::byte> block = buffer.first(stored(static_cast<std::int64_t>(data.size())));
  const IoOutcome outcome = read_at(file.descriptor(), slots[number].offset + at, block);
  if (outcome.done < block.size()) fail(number, "cannot be read: " + explain(outcome, block.size()));
  checksum.add(block);
  if (cipher)
    cipher->decrypt(block.first(data.size()), data.data());
  else
    std::memcpy(data.data(), block.data(), data.size());
}

PageFile::PageFile(const PageFileOptions& options, const std::vector<Bytes>& slots)
    : state_(std::make_unique<State>(options, slots)) {}

PageFile::~PageFile() = default;

void PageFile::write(std::size_t slot, const std::byte* data) {
  State& s = *state_;
  PageSlot& page = s.slot(slot);
  page.written = false;
  s.checksum.start();
  if (s.cipher) s.cipher->start_encrypting(page.seal);
  for (std::int64_t at = 0; at < page.bytes; at += kBufferBytes)
    s.write_chunk(slot, at, {data + at, static_cast<std::size_t>(std::min(kBufferBytes, page.bytes - at))});
  if (s.cipher) s.cipher->finish_encrypting(page.seal);
  page.checksum = s.checksum.value();
  page.written = true;
}

void PageFile::read(std::size_t slot, std::byte* data) {
  State& s = *state_;
  const PageSlot& page = s.slot(slot);
  ensure(page.written, "a page is written before it is read");
  s.checksum.start();
  if (s.cipher) s.cipher->start_decrypting(page.seal);
  for (std::int64_t at = 0; at < page.bytes; at += kBufferBytes)
    s.read_chunk(slot, at, {data + at, static_cast<std::size_t>(std::min(kBufferBytes, page.bytes - at))});
  // Both, whatever the first says: the cipher's page has to be finished.
  const bool authentic = !s.cipher || s.cipher->finish_decrypting(page.seal);
  if (!authentic || s.checksum.value() != page.checksum)
    throw InputError(fmt::format("page {} of {} is corrupted", slot, s.file.name()),
                     "what the storage gave back is not what was written to it");
}

Bytes PageFile::bytes(std::size_t slot) const { return Bytes(state_->slot(slot).bytes); }

Bytes PageFile::offset(std::size_t slot) const { return Bytes(state_->slot(slot).offset); }

Bytes PageFile::buffer() const {
  return Bytes(kBufferBytes + static_cast<std::int64_t>(state_->slots.size() * sizeof(PageSlot)));
}

Bytes PageFile::size() const { return Bytes(state_->size); }

std::string PageFile::description() const {
  const BackingFile& file = state_->file;
  const char* const way = file.in_ram() ? "in RAM" : file.direct() ? "O_DIRECT" : "through the page cache";
  return fmt::format("{}, blocks of {} bytes, XXH3 checksums{}", way, file.block().value(),
                     state_->cipher ? ", AES-256-GCM" : "");
}

bool PageFile::in_ram() const { return state_->file.in_ram(); }

}  // namespace poet::runtime
