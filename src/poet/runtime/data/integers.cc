#include "poet/runtime/data/integers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <span>

namespace poet::runtime {
namespace {

template <class T>
std::int32_t widened(const std::byte* from) {
  T number;
  std::memcpy(&number, from, sizeof(number));
  return static_cast<std::int32_t>(number);
}

std::int32_t number_at(Stored stored, const std::byte* from) {
  switch (stored) {
    case Stored::uint8:
      return widened<std::uint8_t>(from);
    case Stored::uint16:
      return widened<std::uint16_t>(from);
    case Stored::int32:
      break;
  }
  return widened<std::int32_t>(from);
}

}  // namespace

void check_range(const DataFile& file, const DataInput& into, std::int64_t sample, std::int64_t number) {
  if (into.range == 0 || (number >= 0 && number < into.range)) return;
  file.fail(fmt::format("has {} at sample {}; the network takes 0 to {} as '{}'", number, sample,
                        into.range - 1, into.name));
}

void read_integers(const DataFile& file, Stored stored, std::int64_t offset, std::int64_t count,
                   const DataInput& into, std::int64_t sample, std::byte* to) {
  std::array<std::byte, 4096> buffer;
  const std::int64_t width = bytes_of(stored);
  const std::int64_t most = static_cast<std::int64_t>(buffer.size()) / width;
  while (count > 0) {
    const std::int64_t part = std::min(count, most);
    file.read(offset, std::span(buffer).first(static_cast<std::size_t>(part * width)));
    for (std::int64_t i = 0; i < part; ++i) {
      const std::int32_t number = number_at(stored, buffer.data() + i * width);
      check_range(file, into, sample, number);
      std::memcpy(to, &number, sizeof(number));
      to += sizeof(number);
    }
    offset += part * width;
    count -= part;
  }
}

}  // namespace poet::runtime
