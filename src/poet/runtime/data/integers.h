#pragma once

// Labels and ids of a file. Private to runtime/data.

#include <cstddef>
#include <cstdint>

#include "poet/runtime/data/data_file.h"
#include "poet/runtime/data/data_input.h"

namespace poet::runtime {

/// As a file holds them, little-endian.
enum class Stored { uint8, uint16, int32 };

[[nodiscard]] constexpr std::int64_t bytes_of(Stored stored) {
  return stored == Stored::uint8 ? 1 : stored == Stored::uint16 ? 2 : 4;
}

/// Throws InputError naming the file, the sample and the range when the network has no class or row for
/// `number`: a kernel would read beyond its table.
void check_range(const DataFile& file, const DataInput& into, std::int64_t sample, std::int64_t number);

/// `count` numbers of a sample from `offset` on, widened to int32 and checked, through a buffer of fixed
/// size.
void read_integers(const DataFile& file, Stored stored, std::int64_t offset, std::int64_t count,
                   const DataInput& into, std::int64_t sample, std::byte* to);

}  // namespace poet::runtime
