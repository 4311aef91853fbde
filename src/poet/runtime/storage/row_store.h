#pragma once

// Tables on a page file of which a step reads and writes single rows.
//
// Each row has two places, of whole blocks, so that the one is whole while the other is written; behind its
// bytes stand the training step that wrote it and a checksum. A step writes the places that do not hold the
// newest rows, and its commit makes them the newest: in this process by commit(), for another one because the
// record of the step is there, which newer rows are not of. The checksums of the newest rows are kept in RAM
// and compared when a row is read; all of a table's together are its digest, which records have.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "poet/base/units.h"
#include "poet/runtime/storage/backing_file.h"
#include "poet/runtime/storage/page_checksum.h"
#include "poet/runtime/storage/page_cipher.h"

namespace poet::runtime {

struct TableSize {
  std::int64_t rows = 0;
  Bytes row{};
};

/// Not thread-safe: of the page file. Nothing allocates after take_words(). Throws InputError naming file,
/// row and table.
class RowStore {
 public:
  /// `begin`: where on the file. `buffer`, of a multiple of two blocks, is the page file's; `cipher` may be
  /// null. All must outlive this.
  RowStore(BackingFile& file, const std::vector<TableSize>& tables, std::int64_t begin,
           std::span<std::byte> buffer, PageCipher* cipher);

  /// Once the file has room for the tables: RAM for what is known of each row.
  void take_words();

  /// On the file, behind the last table.
  [[nodiscard]] std::int64_t end() const { return end_; }
  /// RAM.
  [[nodiscard]] Bytes words() const;
  [[nodiscard]] Bytes row_bytes(std::size_t table) const { return tables_.at(table).size.row; }

  /// All rows, as of `step`, and the newest.
  void write_all(std::size_t table, const std::byte* data, std::int64_t step);
  void read_all(std::size_t table, std::byte* data);

  /// The newest row.
  void read(std::size_t table, std::int64_t row, std::byte* data);
  /// The row as `step` leaves it. It is the newest once it has been committed with the checksum that this
  /// gives; before that it may be written again.
  [[nodiscard]] std::uint64_t write(std::size_t table, std::int64_t row, const std::byte* data,
                                    std::int64_t step);
  void commit(std::size_t table, std::int64_t row, std::uint64_t checksum);

  /// Of the newest rows.
  [[nodiscard]] std::uint64_t digest(std::size_t table) const { return tables_.at(table).digest; }
  /// Another process has left the table with this digest after `step`. Reads all rows.
  void adopt(std::size_t table, std::int64_t step, std::uint64_t digest);

  /// What a table is called, for messages.
  void name_tables(std::function<std::string(std::size_t table)> names) { names_ = std::move(names); }

 private:
  struct Table {
    TableSize size;
    std::int64_t begin = 0;                  // of the first places, then come the second ones
    std::int64_t stride = 0;                 // of a row
    std::vector<char> place{};               // of the newest, 0 or 1
    std::vector<std::uint64_t> checksums{};  // of the newest
    std::vector<PageSeal> seals{};           // of both places, where rows are encrypted
    std::uint64_t digest = 0;
  };
  struct Mark {
    std::int64_t step = 0;
    std::uint64_t checksum = 0;
  };

  [[nodiscard]] static std::int64_t offset(const Table& table, std::int64_t row, int place);
  [[nodiscard]] PageSeal& seal(Table& table, std::int64_t row, int place);
  Mark encode(std::size_t table, std::int64_t row, int place, const std::byte* data, std::int64_t step,
              std::span<std::byte> block);
  [[nodiscard]] Mark mark_in(const Table& table, std::span<const std::byte> block) const;
  [[nodiscard]] std::uint64_t checksum_of(std::size_t table, std::int64_t row,
                                          std::span<const std::byte> block);
  void decode(std::size_t table, std::int64_t row, std::span<const std::byte> block, std::byte* data);
  void write_blocks(std::size_t table, std::int64_t row, std::int64_t at, std::span<const std::byte> blocks);
  void read_blocks(std::size_t table, std::int64_t row, std::int64_t at, std::span<std::byte> blocks);
  [[nodiscard]] std::string place_of(std::size_t table, std::int64_t row) const;
  [[noreturn]] void fail_corrupted(std::size_t table, std::int64_t row) const;

  BackingFile& file_;
  std::vector<Table> tables_;
  std::int64_t end_ = 0;
  std::span<std::byte> buffer_;
  PageCipher* cipher_;
  PageChecksum checksum_;
  std::function<std::string(std::size_t)> names_;
};

}  // namespace poet::runtime
