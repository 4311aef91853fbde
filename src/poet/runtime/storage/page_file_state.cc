#include "poet/runtime/storage/page_file_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "poet/runtime/storage/step_record.h"

namespace poet::runtime {
namespace {

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

PageFile::State::State(const PageFileOptions& options, const std::vector<Bytes>& sizes, PageFileUse use,
                       Bytes record, const std::vector<TableSize>& tables)
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

std::string PageFile::State::place(std::size_t number) const {
  return fmt::format("page {} of {}{}", number, file.name(),
                     names ? fmt::format(" ({})", names(number)) : "");
}

void PageFile::State::fail(std::size_t number, const std::string& rule) const {
  throw InputError(place(number), rule);
}

void PageFile::State::fail_corrupted(std::size_t number) const {
  throw InputError(place(number) + " is corrupted",
                   "what the storage gave back is not what was written to it");
}

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

void PageFile::State::check_header() const {
  const std::optional<PageFileHeader> found = read_header(file.descriptor());
  if (!found || *found != header)
    throw InputError(file.name(), "has been laid out for other pages, or on a storage of other blocks");
}

void PageFile::State::write_record_block(std::int64_t at, std::int64_t filled) {
  const std::span<std::byte> block = buffer.first(stored(filled));
  std::fill(block.begin() + filled, block.end(), std::byte{0});
  const IoOutcome outcome = write_at(file.descriptor(), at, block);
  if (outcome.done < block.size())
    throw InputError("the record of a step in " + file.name(),
                     "cannot be written: " + explain(outcome, block.size()));
}

}  // namespace poet::runtime
