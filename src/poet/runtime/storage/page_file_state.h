#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "poet/base/error.h"
#include "poet/runtime/storage/backing_file.h"
#include "poet/runtime/storage/page_buffer.h"
#include "poet/runtime/storage/page_checksum.h"
#include "poet/runtime/storage/page_cipher.h"
#include "poet/runtime/storage/page_file.h"
#include "poet/runtime/storage/page_file_header.h"

namespace poet::runtime {

struct PageSlot {
  std::int64_t offset = 0;
  std::int64_t bytes = 0;
  bool written = false;
  std::uint64_t checksum = 0;  // of the bytes as they are stored
  PageSeal seal{};
};

/// The file as it is laid out: a block of its own, two records, a slot for each page, the tables' rows.
struct PageFile::State {
  State(const PageFileOptions& options, const std::vector<Bytes>& sizes, PageFileUse use, Bytes record,
        const std::vector<TableSize>& tables);

  [[nodiscard]] std::int64_t stored(std::int64_t bytes) const {
    return rounded_up(Bytes(bytes), file.block()).value();
  }

  PageSlot& slot(std::size_t number) {
    ensure(number < slots.size(), "a page has a slot");
    return slots[number];
  }

  /// Of a slot's page, for messages.
  [[nodiscard]] std::string place(std::size_t number) const;
  /// Throw InputError about it.
  [[noreturn]] void fail(std::size_t number, const std::string& rule) const;
  [[noreturn]] void fail_corrupted(std::size_t number) const;

  /// The header, which says how the file is laid out; check_header() throws InputError where the last run
  /// laid it out otherwise.
  void write_header();
  void check_header() const;
  /// The buffer's first bytes, with zeros to whole blocks, at a place of the file.
  void write_record_block(std::int64_t at, std::int64_t filled);

  /// A buffer's worth of a slot's page, through cipher and checksum, which have been started.
  void write_chunk(std::size_t number, std::int64_t at, std::span<const std::byte> data);
  void read_chunk(std::size_t number, std::int64_t at, std::span<std::byte> data);

  BackingFile file;
  std::vector<PageSlot> slots;
  std::int64_t size = 0;
  PageFileHeader header;
  std::function<std::string(std::size_t)> names;
  PageBuffer buffer;
  PageChecksum checksum;
  std::optional<PageCipher> cipher;
  std::optional<RowStore> rows;
};

}  // namespace poet::runtime
