#include "poet/runtime/storage/page_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "poet/base/error.h"
#include "poet/runtime/storage/page_file_state.h"
#include "poet/runtime/storage/step_record.h"

namespace poet::runtime {

std::filesystem::path default_page_folder() {
  const char* chosen = std::getenv("TMPDIR");
  return chosen != nullptr && *chosen != '\0' ? chosen : "/var/tmp";
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
  std::size_t size = sizeof(std::uint64_t);  // the checksum
  for (const std::span<const std::byte> piece : pieces) size += piece.size();
  ensure(Bytes(static_cast<std::int64_t>(size)) <= s.header.record, "a record has the room of all records");
  s.file.sync();  // what a record names is there before the record
  std::int64_t at = record_offset(s.header, number).value();
  std::int64_t filled = 0;
  const auto append = [&](std::span<const std::byte> piece) {
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
