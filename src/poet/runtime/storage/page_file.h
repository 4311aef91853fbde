#pragma once

// The file that values are paged to: fixed slots, whole blocks, every page checked when it comes back.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "poet/base/units.h"
#include "poet/runtime/storage/page_file_options.h"

namespace poet::runtime {

/// Not thread-safe: one channel owns it. Throws InputError naming the file and what went wrong (no space, I/O
/// error, short write, corrupted page, locked by another run, somebody's file, read-only folder); the space
/// for all slots is reserved when it is opened.
class PageFile {
 public:
  PageFile(const PageFileOptions& options, const std::vector<Bytes>& slots);
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
