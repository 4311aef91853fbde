#include "poet/runtime/storage/page_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>
#include <optional>
#include <utility>

#include "poet/base/error.h"
#include "poet/runtime/storage/backing_file.h"
#include "poet/runtime/storage/page_checksum.h"
#include "poet/runtime/storage/page_cipher.h"
#include "poet/runtime/storage/page_file_header.h"
#include "poet/runtime/storage/step_record.h"

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

/// Behind the first block, which is the file's own, and two records.
std::vector<PageSlot> lay_out(const std::vector<Bytes>& sizes, Bytes block, Bytes record) {
  std::vector<PageSlot> slots;
  slots.reserve(sizes.size());
  std::int64_t end = (block + 2 * rounded_up(record, block)).value();
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
  State(const PageFileOptions& options, const std::vector<Bytes>& sizes, PageFileUse use, Bytes record,
        const std::vector<TableSize>& tables)
      : file(options.where.empty() ? default_page_folder() : options.where, use),
        slots(lay_out(sizes, file.block(), record)) {
    if (options.encrypt) cipher.emplace();
    if (!slots.empty()) size = slots.back().offset + stored(slots.back().bytes);
    if (!tables.empty()) {
      if (slots.empty()) size = (file.block() + 2 * rounded_up(record, file.block())).value();
      rows.emplace(file, tables, size, buffer.first(kBufferBytes), cipher ? &*cipher : nullptr);
      size = rows->end();
    }
    header = {file.block(), record, Bytes(size)};
    if (use != PageFileUse::go_on) file.reserve(Bytes(size), buffer.first(kBufferBytes));
    if (use == PageFileUse::resumable) write_header();
    if (use == PageFileUse::go_on) check_header();
    if (rows) rows->take_words();
    if (options.direct && size > 0) file.bypass_cache(buffer.first(file.block().value()));
  }

  [[nodiscard]] std::int64_t stored(std::int64_t bytes) const {
    return rounded_up(Bytes(bytes), file.block()).value();
  }

  PageSlot& slot(std::size_t number) {
    ensure(number < slots.size(), "a page has a slot");
    return slots[number];
  }

  [[nodiscard]] std::string place(std::size_t number) const {
    return fmt::format("page {} of {}{}", number, file.name(),
                       names ? fmt::format(" ({})", names(number)) : "");
  }
  [[noreturn]] void fail(std::size_t number, const std::string& rule) const {
    throw InputError(place(number), rule);
  }

  [[noreturn]] void fail_corrupted(std::size_t number) const {
    throw InputError(place(number) + " is corrupted",
                     "what the storage gave back is not what was written to it");
  }

  void write_header();
  void check_header() const;
  void write_record_block(std::int64_t at, std::int64_t filled);

  void write_chunk(std::size_t number, std::int64_t at, std::span<const std::byte> data);
  void read_chunk(std::size_t number, std::int64_t at, std::span<std::byte> data);

  BackingFile file;
  std::vector<PageSlot> slots;
  std::int64_t size = 0;
  PageFileHeader header;
  std::function<std::string(std::size_t)> names;
  AlignedBuffer buffer;
  PageChecksum checksum;
  std::optional<PageCipher> cipher;
  std::optional<RowStore> rows;
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

void PageFile::State::write_header() {
  const std::span<std::byte> block = buffer.first(file.block().value());
  encode(header, block);
  const IoOutcome outcome = write_at(file.descriptor(), 0, block);
  if (outcome.done < block.size())
    throw InputError(file.name(), "cannot be written: " + explain(outcome, block.size()));
}

/// As the last run's, whose pages and records are where this one's would be.
void PageFile::State::check_header() const {
  const std::optional<PageFileHeader> found = read_header(file.descriptor());
  if (!found || *found != header)
    throw InputError(file.name(), "has been laid out for other pages, or on a storage of other blocks");
}

/// The buffer's first bytes, with zeros to whole blocks, at a place of the file.
void PageFile::State::write_record_block(std::int64_t at, std::int64_t filled) {
  const std::span<std::byte> block = buffer.first(stored(filled));
  std::fill(block.begin() + filled, block.end(), std::byte{0});
  const IoOutcome outcome = write_at(file.descriptor(), at, block);
  if (outcome.done < block.size())
    throw InputError("the record of a step in " + file.name(),
                     "cannot be written: " + explain(outcome, block.size()));
}

PageFile::PageFile(const PageFileOptions& options, const std::vector<Bytes>& slots, PageFileUse use,
                   Bytes record, const std::vector<TableSize>& tables)
    : state_(std::make_unique<State>(options, slots, use, record, tables)) {
  ensure(use == PageFileUse::transient || (record > kRecordChecksum && !options.encrypt),
         "a page file that outlives its process has records, and pages that another can read");
}

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
  if (!authentic || s.checksum.value() != page.checksum) s.fail_corrupted(slot);
}

RowStore& PageFile::rows() {
  ensure(state_->rows.has_value(), "a page file with tables has rows");
  return *state_->rows;
}

void PageFile::write_rows(RowTransfer& transfer, const std::byte* data) {
  RowStore& store = rows();
  for (std::size_t i = 0; i < transfer.rows.size(); ++i, data += transfer.row.value())
    if (transfer.rows[i] != kOtherRow)
      transfer.checksums[i] = store.write(transfer.table, transfer.rows[i], data, transfer.step);
  transfer.written = true;
}

void PageFile::read_rows(const RowTransfer& transfer, std::byte* data) {
  RowStore& store = rows();
  for (const std::int32_t row : transfer.rows) {
    if (row != kOtherRow)
      store.read(transfer.table, row, data);
    else
      std::fill_n(data, transfer.row.value(), std::byte{0});
    data += transfer.row.value();
  }
}

void PageFile::commit_rows(RowTransfer& transfer) {
  for (std::size_t i = 0; i < transfer.rows.size() && transfer.written; ++i)
    if (transfer.rows[i] != kOtherRow) rows().commit(transfer.table, transfer.rows[i], transfer.checksums[i]);
  transfer.written = false;
}

void PageFile::check(std::size_t slot) {
  State& s = *state_;
  const PageSlot& page = s.slot(slot);
  ensure(page.written && !s.cipher, "a page is checked that was written, and is not encrypted");
  s.checksum.start();
  for (std::int64_t at = 0; at < page.bytes; at += kBufferBytes) {
    const std::span<std::byte> block = s.buffer.first(s.stored(std::min(kBufferBytes, page.bytes - at)));
    const IoOutcome outcome = read_at(s.file.descriptor(), page.offset + at, block);
    if (outcome.done < block.size()) s.fail(slot, "cannot be read: " + explain(outcome, block.size()));
    s.checksum.add(block);
  }
  if (s.checksum.value() != page.checksum) s.fail_corrupted(slot);
}

bool PageFile::has(std::size_t slot) const { return state_->slot(slot).written; }

std::uint64_t PageFile::checksum(std::size_t slot) const {
  const PageSlot& page = state_->slot(slot);
  ensure(page.written, "a page that was written has a checksum");
  return page.checksum;
}

void PageFile::adopt(std::size_t slot, std::uint64_t checksum) {
  PageSlot& page = state_->slot(slot);
  page.checksum = checksum;
  page.written = true;
}

void PageFile::write_record(std::uint64_t number, std::span<const std::span<const std::byte>> pieces) {
  State& s = *state_;
  s.file.sync();  // what a record names is there before the record
  std::int64_t at = record_offset(s.header, number).value();
  std::int64_t filled = 0;
  std::int64_t written = 0;
  const auto append = [&](std::span<const std::byte> piece) {
    written += static_cast<std::int64_t>(piece.size());
    while (!piece.empty()) {
      const std::size_t count = std::min(piece.size(), static_cast<std::size_t>(kBufferBytes - filled));
      std::memcpy(s.buffer.first(kBufferBytes).data() + filled, piece.data(), count);
      piece = piece.subspan(count);
      filled += static_cast<std::int64_t>(count);
      if (filled < kBufferBytes) continue;
      s.write_record_block(at, filled);
      at += filled;
      filled = 0;
    }
  };
  s.checksum.start();
  for (const std::span<const std::byte> piece : pieces) {
    s.checksum.add(piece);
    append(piece);
  }
  const std::uint64_t checksum = s.checksum.value();
  append(std::as_bytes(std::span(&checksum, 1)));
  ensure(Bytes(written) <= s.header.record, "a record has the room of all records");
  if (filled > 0) s.write_record_block(at, filled);
  s.file.sync();
}

void PageFile::keep(bool kept) { state_->file.keep(kept); }

void PageFile::name_slots(std::function<std::string(std::size_t slot)> names) {
  state_->names = std::move(names);
}

Bytes PageFile::bytes(std::size_t slot) const { return Bytes(state_->slot(slot).bytes); }

Bytes PageFile::offset(std::size_t slot) const { return Bytes(state_->slot(slot).offset); }

Bytes PageFile::buffer() const {
  const Bytes slots(static_cast<std::int64_t>(state_->slots.size() * sizeof(PageSlot)));
  return Bytes(kBufferBytes) + slots + (state_->rows ? state_->rows->words() : Bytes(0));
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
