#include "poet/runtime/storage/row_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "poet/base/error.h"
#include "poet/cost/cost_table.h"

namespace poet::runtime {
namespace {

constexpr std::int64_t kNoRow = -1;

std::size_t at(std::int64_t row) { return static_cast<std::size_t>(row); }

}  // namespace

RowStore::RowStore(BackingFile& file, const std::vector<TableSize>& tables, std::int64_t begin,
                   std::span<std::byte> buffer, PageCipher* cipher)
    : file_(file), end_(begin), buffer_(buffer), cipher_(cipher) {
  for (const TableSize& size : tables) {
    Table& table = tables_.emplace_back();
    table.size = size;
    table.begin = end_;
    table.stride = rounded_up(size.row + kRowMark, file.block()).value();
    ensure(2 * table.stride <= static_cast<std::int64_t>(buffer.size()), "two rows fit the buffer");
    std::int64_t bytes = 0;
    ensure(!__builtin_mul_overflow(2 * table.stride, size.rows, &bytes) &&
               bytes <= (std::int64_t{1} << 62) - end_,
           "the tables fit a file");
    end_ += bytes;
  }
}

void RowStore::take_words() {
  for (Table& table : tables_) {
    table.place.resize(at(table.size.rows));
    table.checksums.resize(at(table.size.rows));
    if (cipher_ != nullptr) table.seals.resize(2 * at(table.size.rows));
  }
}

Bytes RowStore::words() const {
  std::size_t sum = 0;
  for (const Table& table : tables_)
    sum += table.place.size() * (1 + sizeof(std::uint64_t)) + table.seals.size() * sizeof(PageSeal);
  return Bytes(static_cast<std::int64_t>(sum));
}

std::int64_t RowStore::offset(const Table& table, std::int64_t row, int place) {
  return table.begin + (place * table.size.rows + row) * table.stride;
}

PageSeal& RowStore::seal(Table& table, std::int64_t row, int place) {
  return table.seals[2 * at(row) + static_cast<std::size_t>(place)];
}

/// Of bytes as they are stored, of when they were, and of what row they are.
std::uint64_t RowStore::checksum_of(std::size_t table, std::int64_t row, std::span<const std::byte> block) {
  const std::array<std::int64_t, 2> where = {static_cast<std::int64_t>(table), row};
  checksum_.start();
  checksum_.add(std::as_bytes(std::span(where)));
  checksum_.add(block.first(at(tables_[table].size.row.value()) + sizeof(std::int64_t)));
  return checksum_.value();
}

RowStore::Mark RowStore::encode(std::size_t number, std::int64_t row, int place, const std::byte* data,
                                std::int64_t step, std::span<std::byte> block) {
  Table& table = tables_[number];
  const std::size_t bytes = at(table.size.row.value());
  if (cipher_ != nullptr) {
    cipher_->start_encrypting(seal(table, row, place));
    cipher_->encrypt({data, bytes}, block.data());
    cipher_->finish_encrypting(seal(table, row, place));
  } else {
    std::memcpy(block.data(), data, bytes);
  }
  Mark mark{step, 0};
  std::memcpy(block.data() + bytes, &mark.step, sizeof mark.step);
  mark.checksum = checksum_of(number, row, block);
  std::memcpy(block.data() + bytes + sizeof mark.step, &mark.checksum, sizeof mark.checksum);
  std::fill(block.begin() + static_cast<std::ptrdiff_t>(bytes + sizeof mark), block.end(), std::byte{0});
  return mark;
}

RowStore::Mark RowStore::mark_in(const Table& table, std::span<const std::byte> block) const {
  Mark mark;
  static_assert(sizeof mark == static_cast<std::size_t>(kRowMark.value()));
  std::memcpy(&mark, block.data() + table.size.row.value(), sizeof mark);
  return mark;
}

void RowStore::decode(std::size_t number, std::int64_t row, std::span<const std::byte> block,
                      std::byte* data) {
  Table& table = tables_[number];
  const Mark mark = mark_in(table, block);
  const bool is_newest = mark.checksum == table.checksums[at(row)];
  if (!is_newest || checksum_of(number, row, block) != mark.checksum) fail_corrupted(number, row);
  const std::size_t bytes = at(table.size.row.value());
  if (cipher_ == nullptr) {
    std::memcpy(data, block.data(), bytes);
    return;
  }
  const PageSeal& sealed = seal(table, row, table.place[at(row)]);
  cipher_->start_decrypting(sealed);
  cipher_->decrypt(block.first(bytes), data);
  if (!cipher_->finish_decrypting(sealed)) fail_corrupted(number, row);
}

void RowStore::write_all(std::size_t number, const std::byte* data, std::int64_t step) {
  Table& table = tables_.at(number);
  const std::int64_t in_buffer = static_cast<std::int64_t>(buffer_.size()) / table.stride;
  table.digest = 0;
  for (std::int64_t first = 0; first < table.size.rows; first += in_buffer) {
    const std::int64_t count = std::min(in_buffer, table.size.rows - first);
    const std::span<std::byte> blocks = buffer_.first(at(count * table.stride));
    for (std::int64_t row = first; row < first + count; ++row) {
      const auto block = blocks.subspan(at((row - first) * table.stride), at(table.stride));
      const Mark mark = encode(number, row, 0, data + row * table.size.row.value(), step, block);
      table.place[at(row)] = 0;
      table.checksums[at(row)] = mark.checksum;
      table.digest ^= mark.checksum;
    }
    write_blocks(number, first, offset(table, first, 0), blocks);
  }
}

void RowStore::read_all(std::size_t number, std::byte* data) {
  const Table& table = tables_.at(number);
  for (std::int64_t row = 0; row < table.size.rows; ++row)
    read(number, row, data + row * table.size.row.value());
}

void RowStore::read(std::size_t number, std::int64_t row, std::byte* data) {
  const Table& table = tables_.at(number);
  const std::span<std::byte> block = buffer_.first(at(table.stride));
  read_blocks(number, row, offset(table, row, table.place.at(at(row))), block);
  decode(number, row, block, data);
}

std::uint64_t RowStore::write(std::size_t number, std::int64_t row, const std::byte* data,
                              std::int64_t step) {
  const Table& table = tables_.at(number);
  const int place = 1 - table.place.at(at(row));
  const std::span<std::byte> block = buffer_.first(at(table.stride));
  const Mark mark = encode(number, row, place, data, step, block);
  write_blocks(number, row, offset(table, row, place), block);
  return mark.checksum;
}

void RowStore::commit(std::size_t number, std::int64_t row, std::uint64_t checksum) {
  Table& table = tables_.at(number);
  char& place = table.place.at(at(row));
  place = static_cast<char>(1 - place);
  table.digest ^= table.checksums[at(row)] ^ checksum;
  table.checksums[at(row)] = checksum;
}

// A row that a power cut has torn is one that the step after `step` was writing; its other place is whole. A
// row that is damaged may be either: with the older one in its stead the digest is another.
void RowStore::adopt(std::size_t number, std::int64_t step, std::uint64_t digest) {
  Table& table = tables_.at(number);
  const std::size_t half = buffer_.size() / 2;
  const std::int64_t in_half = static_cast<std::int64_t>(half) / table.stride;
  std::int64_t damaged = kNoRow;
  table.digest = 0;
  for (std::int64_t first = 0; first < table.size.rows; first += in_half) {
    const std::int64_t count = std::min(in_half, table.size.rows - first);
    const std::array<std::span<std::byte>, 2> halves = {buffer_.first(at(count * table.stride)),
                                                        buffer_.subspan(half, at(count * table.stride))};
    for (int place = 0; place < 2; ++place)
      read_blocks(number, first, offset(table, first, place), halves[static_cast<std::size_t>(place)]);
    for (std::int64_t row = first; row < first + count; ++row) {
      Mark newest{-1, 0};
      for (int place = 0; place < 2; ++place) {
        const auto block = halves[static_cast<std::size_t>(place)].subspan(at((row - first) * table.stride),
                                                                           at(table.stride));
        const Mark mark = mark_in(table, block);
        const bool empty = mark.step == 0 && mark.checksum == 0;
        const bool whole = !empty && checksum_of(number, row, block) == mark.checksum;
        if (!whole && !empty && damaged == kNoRow) damaged = row;
        if (!whole || mark.step > step || mark.step <= newest.step) continue;
        newest = mark;
        table.place[at(row)] = static_cast<char>(place);
      }
      if (newest.step < 0) fail_corrupted(number, row);
      table.checksums[at(row)] = newest.checksum;
      table.digest ^= newest.checksum;
    }
  }
  if (table.digest == digest) return;
  if (damaged != kNoRow) fail_corrupted(number, damaged);
  throw InputError(fmt::format("{}{} is corrupted", file_.name(), names_ ? " (" + names_(number) + ")" : ""),
                   "its rows are not those that the last step left");
}

void RowStore::write_blocks(std::size_t table, std::int64_t row, std::int64_t at,
                            std::span<const std::byte> blocks) {
  const IoOutcome outcome = write_at(file_.descriptor(), at, blocks);
  if (outcome.done < blocks.size())
    throw InputError(place_of(table, row), "cannot be written: " + explain(outcome, blocks.size()));
}

void RowStore::read_blocks(std::size_t table, std::int64_t row, std::int64_t at,
                           std::span<std::byte> blocks) {
  const IoOutcome outcome = read_at(file_.descriptor(), at, blocks);
  if (outcome.done < blocks.size())
    throw InputError(place_of(table, row), "cannot be read: " + explain(outcome, blocks.size()));
}

std::string RowStore::place_of(std::size_t table, std::int64_t row) const {
  return fmt::format("row {} of {}{}", row, file_.name(), names_ ? " (" + names_(table) + ")" : "");
}

void RowStore::fail_corrupted(std::size_t table, std::int64_t row) const {
  throw InputError(place_of(table, row) + " is corrupted",
                   "what the storage gave back is not what was written to it");
}

}  // namespace poet::runtime
