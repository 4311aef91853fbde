#pragma once

// Tables on a page file of which a step reads and writes single rows.
//
// Each row has two places, of whole blocks, so that one is whole while the other is written. Behind the row's
// bytes are the training step that wrote it and a checksum. A step writes the places that do not hold the
// newest rows, and its commit makes them the newest. In this process commit() does so; another process takes
// the newest rows that are not newer than the last step with a record. The checksums of the newest rows are
// kept in RAM and compared when a row is read. All checksums of a table together are its digest, which
// records contain.

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

/// Part of a page file, and not thread-safe either. Nothing allocates after take_words(). Throws InputError
/// naming file, row and table.
class RowStore {
 public:
  /// `begin`: where the tables begin on the file. `buffer` is the page file's, and a multiple of two blocks
  /// long. `cipher` may be null. All must outlive this.
  RowStore(BackingFile& file, const std::vector<TableSize>& tables, std::int64_t begin,
           std::span<std::byte> buffer, PageCipher* cipher);

  /// Takes the RAM for what is known of each row. To be called once the file has room for the tables.
  void take_words();

  /// Returns where on the file the last table ends.
  [[nodiscard]] std::int64_t end() const { return end_; }
  /// Returns the RAM that take_words() takes.
  [[nodiscard]] Bytes words() const;
  [[nodiscard]] Bytes row_bytes(std::size_t table) const { return tables_.at(table).size.row; }

  /// Write all rows, which are then the newest and as of `step`, and read the newest rows.
  void write_all(std::size_t table, const std::byte* data, std::int64_t step);
  void read_all(std::size_t table, std::byte* data);

  /// Reads the newest row.
  void read(std::size_t table, std::int64_t row, std::byte* data);
  /// Writes the row as `step` leaves it, and returns its checksum. The row is the newest once it has been
  /// committed with that checksum; before that it may be written again.
  [[nodiscard]] std::uint64_t write(std::size_t table, std::int64_t row, const std::byte* data,
                                    std::int64_t step);
  void commit(std::size_t table, std::int64_t row, std::uint64_t checksum);

  /// Returns the digest of the newest rows.
  [[nodiscard]] std::uint64_t digest(std::size_t table) const { return tables_.at(table).digest; }
  /// Takes over a table that another process has left with this digest after `step`. Reads all rows.
  void adopt(std::size_t table, std::int64_t step, std::uint64_t digest);

  /// Sets what messages call a table.
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
