#include "poet/runtime/storage/step_record.h"

#include <array>
#include <bit>
#include <cstring>
#include <string_view>

#include "poet/base/error.h"

namespace poet::runtime {
namespace {

constexpr std::string_view kRecordBegin = "POETSTEP";
constexpr std::uint32_t kRecordVersion = 2;  // 1 has no size: all that there is room for

static_assert(std::endian::native == std::endian::little, "numbers are stored as they lie in memory");

class Out {
 public:
  explicit Out(std::span<std::byte> to) : to_(to) {}

  template <class Number>
  void number(Number value) {
    bytes(&value, sizeof value);
  }
  void text(std::string_view text) {
    number(static_cast<std::uint32_t>(text.size()));
    bytes(text.data(), text.size());
  }
  void bytes(const void* from, std::size_t size) {
    ensure(size <= to_.size(), "a record has room for what is in it");
    std::memcpy(to_.data(), from, size);
    to_ = to_.subspan(size);
  }

 private:
  std::span<std::byte> to_;
};

/// Zeros behind the end, which `ok` tells.
class In {
 public:
  explicit In(std::span<const std::byte> from) : from_(from) {}

  template <class Number>
  Number number() {
    Number value{};
    if (from_.size() < sizeof value) {
      ok = false;
      return value;
    }
    std::memcpy(&value, from_.data(), sizeof value);
    from_ = from_.subspan(sizeof value);
    return value;
  }
  std::string text() {
    const auto size = number<std::uint32_t>();
    if (from_.size() < size) ok = false;
    if (!ok) return {};
    std::string found(reinterpret_cast<const char*>(from_.data()), size);
    from_ = from_.subspan(size);
    return found;
  }
  [[nodiscard]] std::size_t left() const { return from_.size(); }

  bool ok = true;

 private:
  std::span<const std::byte> from_;
};

constexpr std::int64_t kHomeBytes = sizeof(std::uint32_t) + sizeof(std::uint64_t);

}  // namespace

Bytes encoded_size(const StepRecord& record) {
  std::int64_t size =
      kRecordBegin.size() + 3 * sizeof(std::uint32_t) + 5 * sizeof(std::uint64_t) + sizeof(float);
  if (record.size > Bytes(0)) size += sizeof(std::int64_t);
  for (const auto& [name, value] : record.circumstances)
    size += static_cast<std::int64_t>(2 * sizeof(std::uint32_t) + name.size() + value.size());
  return Bytes(size + static_cast<std::int64_t>(record.homes.size()) * kHomeBytes);
}

void encode(const StepRecord& record, std::span<std::byte> to) {
  Out out(to);
  out.bytes(kRecordBegin.data(), kRecordBegin.size());
  out.number(record.size > Bytes(0) ? kRecordVersion : std::uint32_t{1});
  if (record.size > Bytes(0)) out.number(record.size.value());
  out.number(record.number);
  out.number(record.step);
  out.number(record.seed);
  out.number(record.loss);
  out.number(record.network);
  out.number(record.plan);
  out.number(static_cast<std::uint32_t>(record.circumstances.size()));
  out.number(static_cast<std::uint32_t>(record.homes.size()));
  for (const auto& [name, value] : record.circumstances) {
    out.text(name);
    out.text(value);
  }
  for (const HomeRecord& home : record.homes) {
    out.number(home.slot);
    out.number(home.checksum);
  }
}

std::optional<Bytes> record_size(std::span<const std::byte> bytes, Bytes room) {
  if (bytes.size() < kRecordBegin.size() ||
      std::memcmp(bytes.data(), kRecordBegin.data(), kRecordBegin.size()) != 0)
    return std::nullopt;
  In in(bytes.subspan(kRecordBegin.size()));
  if (in.number<std::uint32_t>() == 1) return room;
  const Bytes size(in.number<std::int64_t>());
  if (!in.ok || size <= kRecordChecksum || size > room) return std::nullopt;
  return size;
}

std::optional<StepRecord> decode(std::span<const std::byte> bytes) {
  if (bytes.size() < kRecordBegin.size() ||
      std::memcmp(bytes.data(), kRecordBegin.data(), kRecordBegin.size()) != 0)
    return std::nullopt;
  In in(bytes.subspan(kRecordBegin.size()));
  const auto version = in.number<std::uint32_t>();
  if (version < 1 || version > kRecordVersion) return std::nullopt;
  StepRecord record;
  if (version > 1) {
    record.size = Bytes(in.number<std::int64_t>());
    if (record.size <= kRecordChecksum) return std::nullopt;
  }
  record.number = in.number<std::uint64_t>();
  record.step = in.number<std::int64_t>();
  record.seed = in.number<std::uint64_t>();
  record.loss = in.number<float>();
  record.network = in.number<std::uint64_t>();
  record.plan = in.number<std::uint64_t>();
  const auto circumstances = in.number<std::uint32_t>();
  const auto homes = in.number<std::uint32_t>();
  for (std::uint32_t i = 0; i < circumstances && in.ok; ++i) {
    std::string name = in.text();
    record.circumstances[name] = in.text();
  }
  if (!in.ok || in.left() / kHomeBytes < homes) return std::nullopt;
  record.homes.reserve(homes);
  for (std::uint32_t i = 0; i < homes; ++i) {
    const auto slot = in.number<std::uint32_t>();
    record.homes.push_back({slot, in.number<std::uint64_t>()});
  }
  return record;
}

}  // namespace poet::runtime
