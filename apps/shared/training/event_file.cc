#include "apps/shared/training/event_file.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <bit>
#include <cerrno>
#include <chrono>
#include <system_error>

#include "poet/base/error.h"

namespace poet::cli {
namespace {

constexpr std::array<std::uint32_t, 256> kCrcTable = [] {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t crc = i;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1U) ^ ((crc & 1U) != 0 ? 0x82F63B78U : 0U);
    table[i] = crc;
  }
  return table;
}();

/// So that a CRC of bytes with CRCs among them is no special case.
std::uint32_t masked(std::uint32_t crc) { return std::rotr(crc, 15) + 0xA282EAD8U; }

void append_fixed(std::string& to, std::uint64_t number, int bytes) {
  for (int i = 0; i < bytes; ++i) to += static_cast<char>((number >> (8 * i)) & 0xFFU);
}

void append_varint(std::string& to, std::uint64_t number) {
  for (; number >= 0x80U; number >>= 7U) to += static_cast<char>((number & 0x7FU) | 0x80U);
  to += static_cast<char>(number);
}

// Fields of messages: their number, and how what follows is encoded.
enum class Wire : unsigned { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };
void append_key(std::string& to, unsigned field, Wire wire) {
  append_varint(to, field << 3U | static_cast<unsigned>(wire));
}
void append_bytes_field(std::string& to, unsigned field, const std::string& contents) {
  append_key(to, field, Wire::bytes);
  append_varint(to, contents.size());
  to += contents;
}

/// Event: 1 wall time, 2 step.
std::string event_at(std::int64_t step) {
  const std::chrono::duration<double> now = std::chrono::system_clock::now().time_since_epoch();
  std::string event;
  append_key(event, 1, Wire::fixed64);
  append_fixed(event, std::bit_cast<std::uint64_t>(now.count()), 8);
  append_key(event, 2, Wire::varint);
  append_varint(event, static_cast<std::uint64_t>(step));
  return event;
}

std::string host() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 && name[0] != '\0' ? name.data() : "localhost";
}

/// A name that is not taken.
std::filesystem::path new_file_in(const std::filesystem::path& folder) {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(now).count();
  const std::string name = fmt::format("events.out.tfevents.{:010}.{}.{}", seconds, host(), getpid());
  std::filesystem::path path = folder / name;
  for (int i = 1; std::filesystem::exists(std::filesystem::symlink_status(path)); ++i)
    path = folder / fmt::format("{}.{}", name, i);
  return path;
}

}  // namespace

std::uint32_t crc32c(std::string_view bytes) {
  std::uint32_t crc = 0xFFFFFFFFU;
  for (const char c : bytes) crc = (crc >> 8U) ^ kCrcTable[(crc ^ static_cast<unsigned char>(c)) & 0xFFU];
  return ~crc;
}

std::string event_record(std::string_view contents) {
  std::string record;
  append_fixed(record, contents.size(), 8);
  append_fixed(record, masked(crc32c(record)), 4);
  record += contents;
  append_fixed(record, masked(crc32c(contents)), 4);
  return record;
}

void check_event_folder(const char* option, const std::filesystem::path& folder) {
  std::error_code ignored;
  const std::filesystem::path whole = std::filesystem::absolute(folder).lexically_normal();
  const bool exists = std::filesystem::exists(whole, ignored);
  const std::filesystem::path written = exists ? whole : (whole / "").parent_path().parent_path();
  if (!std::filesystem::is_directory(written, ignored) || access(written.c_str(), W_OK | X_OK) != 0)
    throw InputError(option, fmt::format("\"{}\" is not a folder that can be written to", folder.string()));
}

EventFile::EventFile(const std::filesystem::path& folder) {
  std::error_code failed;
  std::filesystem::create_directory(folder, failed);
  if (!std::filesystem::is_directory(folder))
    throw InputError(folder.string(), "is not a folder and cannot be created");
  path_ = new_file_in(folder);
  file_.open(path_, std::ios::binary);
  std::string event = event_at(0);
  append_bytes_field(event, 3, "brain.Event:2");  // the version of what follows
  write(event);
}

void EventFile::add(std::int64_t step, const Scalars& scalars) {
  std::string summary;
  for (const auto& [tag, value] : scalars) {
    std::string entry;
    append_bytes_field(entry, 1, tag);
    append_key(entry, 2, Wire::fixed32);
    append_fixed(entry, std::bit_cast<std::uint32_t>(value), 4);
    append_bytes_field(summary, 1, entry);
  }
  std::string event = event_at(step);
  append_bytes_field(event, 5, summary);
  write(event);
}

void EventFile::write(const std::string& event) {
  const std::string record = event_record(event);
  errno = 0;
  file_.write(record.data(), static_cast<std::streamsize>(record.size())).flush();
  if (!file_) {
    const int reason = errno;
    std::error_code ignored;
    file_.close();                                        // else what it still holds would be written later
    std::filesystem::resize_file(path_, size_, ignored);  // without the record that is cut short
    throw InputError(path_.string(),
                     "cannot be written: " + (reason != 0 ? std::generic_category().message(reason)
                                                          : "the system does not say why"));
  }
  size_ += record.size();
}

}  // namespace poet::cli
