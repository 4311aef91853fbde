#include "poet/runtime/storage/left_run.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <vector>

#include "poet/base/error.h"
#include "poet/runtime/storage/page_checksum.h"

namespace poet::runtime {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kChunk = 65536;

Descriptor opened(const fs::path& file) {
  return Descriptor(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
}

std::int64_t size_of_file(int descriptor) {
  struct stat facts {};
  return ::fstat(descriptor, &facts) == 0 && S_ISREG(facts.st_mode) ? facts.st_size : 0;
}

/// Whether the bytes at `offset` end in the checksum of those before.
bool is_whole(int descriptor, std::int64_t offset, std::int64_t bytes) {
  PageChecksum checksum;
  std::vector<std::byte> chunk(kChunk);
  const std::int64_t end = bytes - kRecordChecksum.value();
  for (std::int64_t at = 0; at < end; at += kChunk) {
    const auto piece = std::span(chunk).first(static_cast<std::size_t>(std::min(kChunk, end - at)));
    if (read_at(descriptor, offset + at, piece).done < piece.size()) return false;
    checksum.add(piece);
  }
  std::uint64_t stored = 0;
  const auto last = std::as_writable_bytes(std::span(&stored, 1));
  return read_at(descriptor, offset + end, last).done == last.size() && stored == checksum.value();
}

std::optional<StepRecord> record_at(int descriptor, std::int64_t offset, Bytes room) {
  std::array<std::byte, kRecordSizeBytes> start{};
  if (read_at(descriptor, offset, start).done < start.size()) return std::nullopt;
  const std::optional<Bytes> stated = record_size(start, room);
  if (!stated) return std::nullopt;
  const std::int64_t bytes = stated->value();
  if (!is_whole(descriptor, offset, bytes)) return std::nullopt;
  // Of all but the values in RAM, which come last, no more is read than there is to decode.
  for (std::int64_t size = std::min(kChunk, bytes);; size = std::min(8 * size, bytes)) {
    std::vector<std::byte> beginning(static_cast<std::size_t>(size));
    if (read_at(descriptor, offset, beginning).done < beginning.size()) return std::nullopt;
    std::optional<StepRecord> record = decode(beginning);
    if (record || size == bytes) return record;
  }
}

bool is_sound(const PageFileHeader& header, std::int64_t size) {
  return header.block.value() >= 512 && header.block.value() <= size && header.record.value() <= size &&
         header.record > kRecordChecksum &&
         header.block + 2 * rounded_up(header.record, header.block) <= header.size;
}

struct Found {
  PageFileHeader header;
  StepRecord record;
};

std::optional<Found> find_last(int descriptor) {
  const std::optional<PageFileHeader> header = read_header(descriptor);
  if (!header || !is_sound(*header, size_of_file(descriptor))) return std::nullopt;
  std::optional<StepRecord> last;
  for (const std::uint64_t which : {0U, 1U}) {
    auto record = record_at(descriptor, record_offset(*header, which).value(), header->record);
    if (record && record->number % 2 == which && (!last || record->number > last->number))
      last = std::move(record);
  }
  if (!last) return std::nullopt;
  return Found{*header, std::move(*last)};
}

}  // namespace

bool is_page_file(const fs::path& file) {
  const Descriptor descriptor = opened(file);
  return descriptor.valid() && size_of_file(descriptor.get()) > 0 &&
         kind_of_page_file(descriptor.get()) != PageFileKind::none;
}

std::optional<StepRecord> last_record(int descriptor) {
  std::optional<Found> found = find_last(descriptor);
  if (!found) return std::nullopt;
  return std::move(found->record);
}

LeftRun::LeftRun(const fs::path& file) : file_(file), descriptor_(opened(file)) {
  if (!descriptor_.valid()) throw InputError(file.string(), "cannot be opened: " + error_text(errno));
  std::optional<Found> found = find_last(descriptor_.get());
  if (!found) throw InputError(file.string(), "holds no complete step to go on from; start without `resume`");
  header_ = found->header;
  if (const std::int64_t size = size_of_file(descriptor_.get()); size < header_.size.value())
    throw InputError(file.string(),
                     fmt::format("has {} bytes, its run wrote {}: pages are lost, and there is "
                                 "nothing to go on from",
                                 size, header_.size.value()));
  record_ = std::move(found->record);
  const Bytes before = encoded_size(record_);
  resident_at_ = record_offset(header_, record_.number) + before;
  resident_ = (record_.size > Bytes(0) ? record_.size : header_.record) - before - kRecordChecksum;
  if (resident_ < Bytes(0))
    throw InputError(file.string(), "holds no complete step to go on from; start without `resume`");
}

void LeftRun::read_resident(std::span<const std::span<std::byte>> pieces) const {
  std::int64_t at = resident_at_.value();
  for (const std::span<std::byte> piece : pieces) {
    const IoOutcome outcome = read_at(descriptor_.get(), at, piece);
    if (outcome.done < piece.size())
      throw InputError(file_.string(), "cannot be read: " + explain(outcome, piece.size()));
    at += static_cast<std::int64_t>(piece.size());
  }
}

LeftRun look_at_left_run(const fs::path& file) {
  const Descriptor lock = opened(file);
  if (lock.valid() && ::flock(lock.get(), LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK)
    throw InputError(file.string(), "is in use by another run");
  return LeftRun(file);
}

}  // namespace poet::runtime
