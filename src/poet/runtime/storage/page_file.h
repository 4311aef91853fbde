#pragma once

// The file that values are paged to: fixed slots, whole blocks, every page checked when it comes back.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "poet/base/units.h"
#include "poet/runtime/storage/page_file_options.h"
#include "poet/runtime/storage/row_store.h"
#include "poet/runtime/storage/row_transfer.h"

namespace poet::runtime {

/// Not thread-safe: one channel owns it. Reserves the space for all slots when it is opened. Throws
/// InputError naming the file and what went wrong: no space, I/O error, short write, corrupted page, locked
/// by another run, somebody's file, read-only folder.
///
/// A page file that is to outlive its process has a name and keeps records of steps (step_record.h). A run
/// that goes on from it opens it with the same slots and room for records, and adopts every page that the
/// last record names.
class PageFile {
 public:
  PageFile(const PageFileOptions& options, const std::vector<Bytes>& slots,
           PageFileUse use = PageFileUse::transient, Bytes record = {},
           const std::vector<TableSize>& tables = {});
  ~PageFile();
  PageFile(const PageFile&) = delete;
  PageFile& operator=(const PageFile&) = delete;
  PageFile(PageFile&&) = delete;
  PageFile& operator=(PageFile&&) = delete;

  /// Transfer the slot's bytes from and to any address, without allocating. A slot is read as it was written
  /// last. Reading one that never was written, or whose writing failed, throws InternalError. After an
  /// InputError of read() what lies at `data` must not be used.
  void write(std::size_t slot, const std::byte* data);
  void read(std::size_t slot, std::byte* data);

  /// Returns the tables' rows, which lie behind the pages.
  [[nodiscard]] RowStore& rows();
  /// Transfer the rows that `transfer` names, one after the other, from and to memory with a place for each,
  /// without allocating. Rows that were written are the newest once they have been committed.
  void write_rows(RowTransfer& transfer, const std::byte* data);
  void read_rows(const RowTransfer& transfer, std::byte* data);
  void commit_rows(RowTransfer& transfer);

  /// Throws as read() would.
  void check(std::size_t slot);

  /// Returns whether the slot holds a page.
  [[nodiscard]] bool has(std::size_t slot) const;
  /// Returns the checksum of what the slot holds.
  [[nodiscard]] std::uint64_t checksum(std::size_t slot) const;
  /// Declares that the slot has held a page of this checksum since before the file was opened.
  void adopt(std::size_t slot, std::uint64_t checksum);
  /// Brings all pages to the storage, then writes record `number` from these pieces of memory in place of
  /// record `number` - 2. The pieces have at most as many bytes as a record without its checksum. If the
  /// process is killed or the power cut, the record is there as a whole or not at all. Does not allocate.
  void write_record(std::uint64_t number, std::span<const std::span<const std::byte>> pieces);
  /// Sets whether a file with a name outlives this, as it is.
  void keep(bool kept);

  /// Sets what messages call a slot: the value whose page it is.
  void name_slots(std::function<std::string(std::size_t slot)> names);

  /// Returns the size of a slot's contents. May be called while the channel is at work.
  [[nodiscard]] Bytes bytes(std::size_t slot) const;
  /// Returns where on the file the slot's first byte is.
  [[nodiscard]] Bytes offset(std::size_t slot) const;
  /// Returns the RAM that this takes: the buffer between the caller's memory and the file, which is aligned
  /// as the device wants it, and some words per slot.
  [[nodiscard]] Bytes buffer() const;
  /// Returns the size of the file, in whole blocks.
  [[nodiscard]] Bytes size() const;
  /// Returns a description for people: "O_DIRECT, blocks of 4096 bytes, XXH3 checksums, AES-256-GCM".
  [[nodiscard]] std::string description() const;
  /// Returns whether the file is in RAM (tmpfs, ramfs), so that paging to it saves nothing.
  [[nodiscard]] bool in_ram() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace poet::runtime
