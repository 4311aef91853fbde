#pragma once

// Numbers as bytes, as in plan files: the lowest byte first.

#include <cstdint>
#include <vector>

namespace poet {

struct BytesOut {
  std::vector<std::uint8_t> bytes;

  void number(std::uint64_t value, int width) {
    for (int i = 0; i < width; ++i) bytes.push_back(static_cast<std::uint8_t>(value >> (8 * i)));
  }

  /// Seven bits per byte; the upper bit says that more follow.
  void varint(std::uint64_t value) {
    for (; value >= 128; value >>= 7) number((value & 127) | 128, 1);
    number(value, 1);
  }

  void append(const std::vector<std::uint8_t>& more) { bytes.insert(bytes.end(), more.begin(), more.end()); }
};

}  // namespace poet
