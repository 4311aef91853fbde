// What `poet run --tensorboard` writes, read back by the formats' specifications: TFRecord's framing, with
// CRC-32C bit by bit, and protobuf's encoding.

#include "apps/shared/training/event_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "tests/support/paths.h"
#include "tests/support/program.h"

namespace poet::test {
namespace {

std::uint32_t crc_by_bits(const std::string& bytes) {
  std::uint32_t crc = 0xFFFFFFFFU;
  for (const char c : bytes) {
    crc ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit) crc = (crc & 1U) != 0 ? (crc >> 1U) ^ 0x82F63B78U : crc >> 1U;
  }
  return crc ^ 0xFFFFFFFFU;
}

std::uint32_t unmasked(std::uint32_t masked) {
  const std::uint32_t rotated = masked - 0xA282EAD8U;
  return rotated >> 17U | rotated << 15U;
}

template <class T>
T number_at(const std::string& bytes, std::size_t at) {
  T number{};
  std::memcpy(&number, bytes.substr(at, sizeof number).data(), sizeof number);
  return number;
}

/// The records' contents. Failures are GoogleTest's.
std::vector<std::string> records(const std::string& bytes) {
  std::vector<std::string> found;
  for (std::size_t at = 0; at + 16 <= bytes.size();) {
    const auto size = static_cast<std::size_t>(number_at<std::uint64_t>(bytes, at));
    EXPECT_EQ(unmasked(number_at<std::uint32_t>(bytes, at + 8)), crc_by_bits(bytes.substr(at, 8)));
    if (at + 16 + size > bytes.size()) {
      ADD_FAILURE() << "a record is cut short";
      return found;
    }
    found.push_back(bytes.substr(at + 12, size));
    EXPECT_EQ(unmasked(number_at<std::uint32_t>(bytes, at + 12 + size)), crc_by_bits(found.back()));
    at += 16 + size;
  }
  return found;
}

std::uint64_t varint(const std::string& bytes, std::size_t& at) {
  std::uint64_t number = 0;
  for (unsigned shift = 0;; shift += 7) {
    const auto byte = static_cast<unsigned char>(bytes.at(at++));
    number |= static_cast<std::uint64_t>(byte & 0x7FU) << shift;
    if (byte < 0x80U) return number;
  }
}

/// A message's fields by number; contents as they are, varints as 8 bytes.
std::multimap<std::uint64_t, std::string> fields(const std::string& message) {
  std::multimap<std::uint64_t, std::string> found;
  for (std::size_t at = 0; at < message.size();) {
    const std::uint64_t key = varint(message, at);
    std::size_t size = 0;
    std::string contents;
    switch (key & 7U) {
      case 0: {
        const std::uint64_t number = varint(message, at);
        contents.assign(reinterpret_cast<const char*>(&number), sizeof number);
        break;
      }
      case 1:
        size = 8;
        break;
      case 2:
        size = static_cast<std::size_t>(varint(message, at));
        break;
      case 5:
        size = 4;
        break;
      default:
        ADD_FAILURE() << "wire type " << (key & 7U);
        return found;
    }
    if (size > 0 || (key & 7U) == 2) contents = message.substr(at, size);
    at += size;
    found.emplace(key >> 3U, contents);
  }
  return found;
}

struct Event {
  std::int64_t step = 0;
  std::string version;
  std::map<std::string, float> scalars;
};

std::vector<Event> events_in(const std::filesystem::path& folder) {
  std::vector<Event> events;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    EXPECT_THAT(entry.path().filename().string(), testing::StartsWith("events.out.tfevents."));
    std::ifstream file(entry.path(), std::ios::binary);
    for (const std::string& record : records({std::istreambuf_iterator<char>(file), {}})) {
      const auto event = fields(record);
      Event& found = events.emplace_back();
      EXPECT_GT(number_at<double>(event.find(1)->second, 0), 1.6e9);  // seconds since 1970
      found.step = number_at<std::int64_t>(event.find(2)->second, 0);
      if (const auto version = event.find(3); version != event.end()) found.version = version->second;
      const auto summary = event.find(5);
      if (summary == event.end()) continue;
      for (const auto& [field, contents] : fields(summary->second)) {
        EXPECT_EQ(field, 1U);
        const auto value = fields(contents);
        found.scalars[value.find(1)->second] = number_at<float>(value.find(2)->second, 0);
      }
    }
  }
  return events;
}

TEST(EventFile, HasTheChecksumOfTheStandard) {
  EXPECT_EQ(cli::crc32c("123456789"), 0xE3069283U);
  EXPECT_EQ(cli::crc32c(""), 0U);
  EXPECT_EQ(cli::crc32c(std::string(32, '\0')), 0x8A9136AAU);  // RFC 3720, B.4
}

TEST(EventFile, HasLossAndRateOfEveryStep) {
  const TemporaryFolder folder;
  const std::string logs = folder.file("logs");
  const ProgramRun run = poet(
      "run --model linear --platform a72 --ram-budget 1GB --steps 300 --quiet --json --lr-warmup 2 "
      "--tensorboard " +
      logs);
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const std::vector<Event> events = events_in(logs);
  ASSERT_EQ(events.size(), 301U);
  EXPECT_EQ(events[0].version, "brain.Event:2");
  const auto losses = run.json()["losses"];
  for (std::size_t i = 1; i < events.size(); ++i) {
    EXPECT_EQ(events[i].step, static_cast<std::int64_t>(i));
    EXPECT_EQ(events[i].scalars.at("loss/train"), losses[i - 1].get<float>());
    EXPECT_FLOAT_EQ(events[i].scalars.at("learning_rate"), i == 1 ? 0.005F : 0.01F);
  }
}

TEST(EventFile, OfALaterRunIsAnotherOne) {
  const TemporaryFolder folder;
  cli::EventFile first(folder.file(""));
  cli::EventFile second(folder.file(""));
  EXPECT_NE(first.path(), second.path());
  first.add(7, {{"a", 1.5F}, {"b", -2.0F}});
  second.add(8, {{"a", NAN}});
  int scalars = 0;
  for (const Event& event : events_in(folder.file(""))) scalars += static_cast<int>(event.scalars.size());
  EXPECT_EQ(scalars, 3);
}

TEST(EventFile, IsRefusedWhereThereIsNoFolder) {
  const ProgramRun run =
      poet("run --model linear --platform a72 --ram-budget 1GB --steps 1 --tensorboard /nowhere/at/all");
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.err, testing::HasSubstr("--tensorboard"));
}

}  // namespace
}  // namespace poet::test
