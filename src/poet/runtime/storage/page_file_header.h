#pragma once

// The first block of a page file with a name: a line of text that tells what it is, for people as well, and
// in one that a run can go on from where its records lie.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "poet/base/units.h"

namespace poet::runtime {

enum class PageFileKind {
  none,       // somebody's file
  transient,  // of no use when no run has it open
  resumable,  // has records of steps
};

/// Where what lies in a page file that can be resumed: the block, two records in whole blocks, pages.
struct PageFileHeader {
  Bytes block{};
  Bytes record{};  // of each, not rounded
  Bytes size{};    // of the file

  bool operator==(const PageFileHeader&) const = default;
};

inline constexpr std::size_t kFirstLineBytes = 50;

/// Reads the beginning of an open file.
[[nodiscard]] PageFileKind kind_of_page_file(int descriptor);
/// None where it is no resumable page file, or was killed before its header was whole.
[[nodiscard]] std::optional<PageFileHeader> read_header(int descriptor);

/// The first line alone. 0 or the errno.
[[nodiscard]] int write_first_line(int descriptor, PageFileKind kind);
/// The first block of a resumable file.
void encode(const PageFileHeader& header, std::span<std::byte> block);

/// Of records 0 and 1, from the file's first byte; pages follow them.
[[nodiscard]] inline Bytes record_offset(const PageFileHeader& header, std::uint64_t number) {
  const Bytes stored = rounded_up(header.record, header.block);
  return number % 2 == 0 ? header.block : header.block + stored;
}

}  // namespace poet::runtime
