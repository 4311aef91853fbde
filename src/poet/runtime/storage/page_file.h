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

/// Not thread-safe: one channel owns it. Throws InputError naming the file and what went wrong (no space, I/O
/// error, short write, corrupted page, locked by another run, somebody's file, read-only folder); the space
/// for all slots is reserved when it is opened.
///
/// One that is to outlive its process, under a name, also keeps records of steps (step_record.h): whoever
/// goes on from it opens it with the same slots and room for records, and has every page that the last record
/// names adopted.
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

  /// The slot's bytes, from and to any address. Do not allocate. A slot is read as it was written last; to
  /// read one that never was, or whose writing failed, is an InternalError. After an InputError of read()
  /// what lies at `data` is not to be used.
  void write(std::size_t slot, const std::byte* data);
  void read(std::size_t slot, std::byte* data);

  /// The tables' rows, behind the pages.
  [[nodiscard]] RowStore& rows();
  /// The rows that `transfer` names, one after the other, from and to memory with a place for each. Do not
  /// allocate. What is written is the newest once it has been committed.
  void write_rows(RowTransfer& transfer, const std::byte* data);
  void read_rows(const RowTransfer& transfer, std::byte* data);
  void commit_rows(RowTransfer& transfer);

  /// As read(), but for the data.
  void check(std::size_t slot);

  /// Whether the slot holds a page.
  [[nodiscard]] bool has(std::size_t slot) const;
  /// Of what the slot holds.
  [[nodiscard]] std::uint64_t checksum(std::size_t slot) const;
  /// The slot holds a page of this checksum since before the file was opened.
  void adopt(std::size_t slot, std::uint64_t checksum);
  /// Brings all pages to the storage, then these pieces of memory, of at most as many bytes as a record
  /// without its checksum has, in place of record `number` - 2: as a whole or, whenever the process is killed
  /// or the power cut, not at all. Does not allocate.
  void write_record(std::uint64_t number, std::span<const std::span<const std::byte>> pieces);
  /// Whether a file with a name outlives this, as it is.
  void keep(bool kept);

  /// Whose page a slot is, for messages.
  void name_slots(std::function<std::string(std::size_t slot)> names);

  /// Of a slot's contents. May be asked for while the channel is at work.
  [[nodiscard]] Bytes bytes(std::size_t slot) const;
  /// On the file, of its first byte.
  [[nodiscard]] Bytes offset(std::size_t slot) const;
  /// RAM besides the caller's: the buffer between the two, which is aligned as the device wants it, and some
  /// words per slot.
  [[nodiscard]] Bytes buffer() const;
  /// On the file, block sizes included.
  [[nodiscard]] Bytes size() const;
  /// "O_DIRECT, blocks of 4096 bytes, XXH3 checksums, AES-256-GCM" for people.
  [[nodiscard]] std::string description() const;
  /// The file is in RAM (tmpfs, ramfs): paging to it saves nothing.
  [[nodiscard]] bool in_ram() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace poet::runtime
