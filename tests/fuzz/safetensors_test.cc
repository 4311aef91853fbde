// Damaged safetensors files: an InputError of one line, or tensors that lie inside the file; nothing else,
// whatever the bytes.

#include "poet/runtime/weights/safetensors.h"

#include <gtest/gtest.h>

#include <fstream>
#include <random>

#include "poet/base/error.h"
#include "poet/runtime/weights/safetensors_header.h"
#include "tests/support/effort.h"
#include "tests/support/program.h"

namespace poet::runtime {
namespace {

struct FileOutcomes {
  int refused = 0;
  int taken = 0;
};

class Damage {
 public:
  explicit Damage(std::uint64_t seed) : random_(seed) {}

  std::string one_of_many(std::string text) {
    for (std::size_t n = 1 + below(3); n > 0 && !text.empty(); --n) once(text);
    return text;
  }

  std::size_t below(std::size_t limit) {
    return std::uniform_int_distribution<std::size_t>(0, limit - 1)(random_);
  }

 private:
  void once(std::string& text) {
    static constexpr const char* kTokens[] = {"{",
                                              "}",
                                              "[",
                                              "]",
                                              ",",
                                              "\"",
                                              "-1",
                                              "0",
                                              "4294967296",
                                              "1e3",
                                              "\"__metadata__\":{}",
                                              "null",
                                              "F4",
                                              "I8",
                                              "data_offsets",
                                              " ",
                                              "\\u0000",
                                              "\xff"};
    const std::size_t at = below(text.size());
    const std::size_t digit = text.find_first_of("0123456789", at);
    switch (below(6)) {
      case 0:
        text[at] = static_cast<char>(below(256));
        break;
      case 1:
        text.erase(at, 1 + below(9));
        break;
      case 2:
        text.insert(at, kTokens[below(std::size(kTokens))]);
        break;
      case 3: {  // a piece of the same again
        const std::size_t from = below(text.size());
        text.insert(at, text.substr(from, 1 + below(60)));
        break;
      }
      default:  // a digit for a digit: files that can still be read
        if (digit != std::string::npos) text[digit] = static_cast<char>('0' + below(10));
    }
  }

  std::mt19937_64 random_;
};

std::string valid_file(const test::TemporaryFolder& folder) {
  const std::vector<std::byte> data(64, std::byte{1});
  write_safetensors(folder.file("valid"),
                    {{"conv.weight", DType::float32, {2, 3}, data.data()},
                     {"conv.bias", DType::float32, {2}, data.data()},
                     {"count", DType::int64, {}, data.data()},
                     {"mask", DType::uint8, {3}, data.data()},
                     {"none", DType::int32, {0, 5}, data.data()}},
                    {{"step", "12"}, {"note", "\xc3\xa9"}});
  std::ifstream in(folder.file("valid"), std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// What a file of these bytes is: every tensor that it has can be read, into memory of its own size.
void expect_refused_or_read(const std::string& file, const std::string& bytes, FileOutcomes& outcomes) {
  std::ofstream(file, std::ios::binary | std::ios::trunc) << bytes;
  try {
    const SafetensorsFile tensors(file);
    ++outcomes.taken;
    for (const std::string& name : tensors.names()) {
      std::byte no_room{};
      // Of a shape that damage does not come to, in sizes and not only in axes of length 1.
      EXPECT_THROW(tensors.read(name, DType::int64, {97, 89, 83}, &no_room), InputError);
    }
  } catch (const InputError& error) {
    ++outcomes.refused;
    const std::string text = error.what();
    EXPECT_EQ(text.find('\n'), std::string::npos) << text;
    EXPECT_LT(text.size(), 500U) << text;
  }
}

TEST(SafetensorsFuzz, EveryTruncationIsRefused) {
  const test::TemporaryFolder folder;
  const std::string whole = valid_file(folder);
  FileOutcomes outcomes;
  for (std::size_t size = 0; size < whole.size(); ++size)
    expect_refused_or_read(folder.file("f"), whole.substr(0, size), outcomes);
  EXPECT_EQ(outcomes.taken, 0);
  expect_refused_or_read(folder.file("f"), whole, outcomes);
  EXPECT_EQ(outcomes.taken, 1);
}

TEST(SafetensorsFuzz, DamagedFilesAreRefusedOrRead) {
  const test::TemporaryFolder folder;
  const std::string whole = valid_file(folder);
  FileOutcomes outcomes;
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    SCOPED_TRACE(seed);
    expect_refused_or_read(folder.file("f"), Damage(seed).one_of_many(whole), outcomes);
    if (HasFailure()) return;
  }
  EXPECT_GT(outcomes.refused, 1000);
  EXPECT_GT(outcomes.taken, 100);
}

// The header alone, of which far more cases can be tried: what is taken keeps the promises that read()
// trusts.
TEST(SafetensorsFuzz, DamagedHeadersAreRefusedOrSound) {
  const test::TemporaryFolder folder;
  const std::string whole = valid_file(folder);
  const std::size_t header_end = whole.rfind('}') + 1;
  const std::string header = whole.substr(8, header_end - 8);
  constexpr std::int64_t kData = 24 + 8 + 8 + 3;
  const int inputs = test::effort(100'000, 5);
  FileOutcomes outcomes;
  for (int n = 0; n < inputs; ++n) {
    const auto seed = static_cast<std::uint64_t>(n);
    try {
      const SafetensorsHeader read = parse_safetensors_header(Damage(seed).one_of_many(header), kData, "f");
      ++outcomes.taken;
      std::int64_t sum = 0;
      for (const auto& tensor : read.tensors) {
        ASSERT_GE(tensor.second.begin, 0) << seed;
        ASSERT_LE(tensor.second.begin, tensor.second.end) << seed;
        ASSERT_LE(tensor.second.end, kData) << seed;
        sum += tensor.second.end - tensor.second.begin;
      }
      ASSERT_EQ(sum, kData) << seed;
    } catch (const InputError& error) {
      ++outcomes.refused;
      ASSERT_EQ(std::string(error.what()).find('\n'), std::string::npos) << error.what();
    }
  }
  EXPECT_GT(outcomes.refused, inputs / 2);
  EXPECT_GT(outcomes.taken, inputs / 100);
}

}  // namespace
}  // namespace poet::runtime
