#include "poet/runtime/storage/page_file_header.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

#include "poet/runtime/storage/file_io.h"
#include "poet/runtime/storage/page_checksum.h"

namespace poet::runtime {
namespace {

constexpr std::string_view kTransient = "poet page file: of no use when no run has it open\n";
constexpr std::string_view kResumable = "poet page file: poet run --resume goes on from it\n";
static_assert(kTransient.size() == kFirstLineBytes && kResumable.size() == kFirstLineBytes);

// Behind the line, little-endian: version, block, bytes of a record, of the file, XXH3-64 of all before.
constexpr std::size_t kNumbersAt = 64;
constexpr std::int64_t kHeaderVersion = 1;
struct Numbers {
  std::int64_t version = kHeaderVersion;
  std::int64_t block = 0;
  std::int64_t record = 0;
  std::int64_t size = 0;
};
constexpr std::size_t kNumbersEnd = kNumbersAt + sizeof(Numbers);
using HeaderBytes = std::array<std::byte, kNumbersEnd + sizeof(std::uint64_t)>;

std::string_view line_of(PageFileKind kind) {
  return kind == PageFileKind::resumable ? kResumable : kTransient;
}

bool begins_with(std::span<const std::byte> bytes, std::string_view text) {
  return std::ranges::equal(bytes.first(text.size()), std::as_bytes(std::span(text)));
}

std::uint64_t checksum_of(std::span<const std::byte> bytes) {
  PageChecksum checksum;
  checksum.add(bytes);
  return checksum.value();
}

}  // namespace

PageFileKind kind_of_page_file(int descriptor) {
  std::array<std::byte, kTransient.size()> line{};
  if (read_at(descriptor, 0, line).done < line.size()) return PageFileKind::none;
  if (begins_with(line, kTransient)) return PageFileKind::transient;
  return begins_with(line, kResumable) ? PageFileKind::resumable : PageFileKind::none;
}

std::optional<PageFileHeader> read_header(int descriptor) {
  HeaderBytes header{};
  if (read_at(descriptor, 0, header).done < header.size() || !begins_with(header, kResumable))
    return std::nullopt;
  std::uint64_t checksum = 0;
  std::memcpy(&checksum, header.data() + kNumbersEnd, sizeof checksum);
  if (checksum != checksum_of(std::span(header).first(kNumbersEnd))) return std::nullopt;
  Numbers numbers;
  std::memcpy(&numbers, header.data() + kNumbersAt, sizeof numbers);
  if (numbers.version != kHeaderVersion) return std::nullopt;
  return PageFileHeader{Bytes(numbers.block), Bytes(numbers.record), Bytes(numbers.size)};
}

int write_first_line(int descriptor, PageFileKind kind) {
  return write_at(descriptor, 0, std::as_bytes(std::span(line_of(kind)))).error;
}

void encode(const PageFileHeader& header, std::span<std::byte> block) {
  std::fill(block.begin(), block.end(), std::byte{0});
  std::memcpy(block.data(), kResumable.data(), kResumable.size());
  const Numbers numbers{kHeaderVersion, header.block.value(), header.record.value(), header.size.value()};
  std::memcpy(block.data() + kNumbersAt, &numbers, sizeof numbers);
  const std::uint64_t checksum = checksum_of(block.first(kNumbersEnd));
  std::memcpy(block.data() + kNumbersEnd, &checksum, sizeof checksum);
}

}  // namespace poet::runtime
