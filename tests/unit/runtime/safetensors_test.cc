// Files that are right: byte for byte as the format's description has them, and there and back.

#include "poet/runtime/weights/safetensors.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <bit>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>

#include "poet/base/error.h"
#include "poet/runtime/storage/file_io.h"
#include "tests/support/program.h"
#include "tests/support/real_faults.h"

namespace poet::runtime {
namespace {

namespace fs = std::filesystem;
using test::TemporaryFolder;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

std::string file_contents(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

template <class T>
const std::byte* bytes_of(const std::vector<T>& numbers) {
  return reinterpret_cast<const std::byte*>(numbers.data());
}

TEST(Safetensors, WritesWhatTheFormatDescribes) {
  const TemporaryFolder folder;
  const std::vector<float> numbers = {1, -2};
  write_safetensors(folder.file("f"), {{"ab", DType::float32, {1, 2}, bytes_of(numbers)}}, {});
  // The header, {"ab":{"dtype":"F32","shape":[1,2],"data_offsets":[0,8]}}, has 6 + 15 + 14 + 20 + 2 = 57
  // characters: seven spaces make it 64 = 0x40. Then 1 = 0x3f800000 and -2 = 0xc0000000, little-endian.
  const std::string expected = std::string("\x40\0\0\0\0\0\0\0", 8) +
                               R"({"ab":{"dtype":"F32","shape":[1,2],"data_offsets":[0,8]}}       )" +
                               std::string("\0\0\x80\x3f\0\0\0\xc0", 8);
  EXPECT_EQ(file_contents(folder.file("f")), expected);
}

TEST(Safetensors, OrdersTensorsAsTheReferenceDoes) {
  const TemporaryFolder folder;
  const std::vector<std::int64_t> eight = {0};
  const std::byte* const data = bytes_of(eight);
  write_safetensors(folder.file("f"),
                    {{"u", DType::uint8, {1}, data},
                     {"b", DType::float32, {}, data},
                     {"i", DType::int32, {1}, data},
                     {"a", DType::float32, {1}, data},
                     {"l", DType::int64, {1}, data}},
                    {{"step", "7"}, {"by", "poet"}});
  // Large elements first, among those of four bytes the float ones; then by name. 8 + 4 + 4 + 4 + 1 bytes.
  const std::string text = file_contents(folder.file("f"));
  const std::string expected = R"({"__metadata__":{"by":"poet","step":"7"},)"
                               R"("l":{"dtype":"I64","shape":[1],"data_offsets":[0,8]},)"
                               R"("a":{"dtype":"F32","shape":[1],"data_offsets":[8,12]},)"
                               R"("b":{"dtype":"F32","shape":[],"data_offsets":[12,16]},)"
                               R"("i":{"dtype":"I32","shape":[1],"data_offsets":[16,20]},)"
                               R"("u":{"dtype":"U8","shape":[1],"data_offsets":[20,21]}})";
  EXPECT_EQ(text.substr(8, expected.size()), expected);
  EXPECT_EQ((text.size() - 21) % 8, 0U);  // where the data begin
}

TEST(Safetensors, NothingIsAFileToo) {
  const TemporaryFolder folder;
  write_safetensors(folder.file("f"), {}, {});
  EXPECT_EQ(file_contents(folder.file("f")), std::string("\x08\0\0\0\0\0\0\0{}      ", 16));
  EXPECT_THAT(SafetensorsFile(folder.file("f")).names(), IsEmpty());
}

TEST(Safetensors, GivesBackEveryBit) {
  const TemporaryFolder folder;
  const std::vector<float> floats = {0.0F,
                                     -0.0F,
                                     std::bit_cast<float>(0x7fa00001U),  // a signalling NaN, with its payload
                                     std::numeric_limits<float>::denorm_min(),
                                     -std::numeric_limits<float>::infinity(),
                                     3.1F};
  const std::vector<std::int64_t> longs = {std::numeric_limits<std::int64_t>::min(), -1};
  const std::vector<std::uint8_t> bytes = {0, 255, 10};
  const std::string name = "couche \"1\"/\xc3\xa9\n";
  write_safetensors(folder.file("f"),
                    {{name, DType::float32, {2, 3}, bytes_of(floats)},
                     {"l", DType::int64, {2}, bytes_of(longs)},
                     {"u", DType::uint8, {3, 1, 1}, bytes_of(bytes)},
                     {"none", DType::float32, {4, 0}, nullptr}},
                    {{"k\t", "v\xe2\x82\xac"}});
  const SafetensorsFile file(folder.file("f"));
  EXPECT_THAT(file.names(), UnorderedElementsAre(name, "l", "u", "none"));
  EXPECT_TRUE(file.has("none"));
  EXPECT_FALSE(file.has("k\t"));
  EXPECT_THAT(file.metadata(),
              ElementsAre(std::pair<const std::string, std::string>("k\t", "v\xe2\x82\xac")));

  std::vector<float> floats_back(6);
  std::vector<std::int64_t> longs_back(2);
  std::vector<std::uint8_t> bytes_back(3);
  file.read(name, DType::float32, {2, 3}, reinterpret_cast<std::byte*>(floats_back.data()));
  file.read("l", DType::int64, {2}, reinterpret_cast<std::byte*>(longs_back.data()));
  file.read("u", DType::uint8, {3, 1, 1}, reinterpret_cast<std::byte*>(bytes_back.data()));
  file.read("none", DType::float32, {4, 0}, nullptr);
  EXPECT_EQ(std::memcmp(floats_back.data(), floats.data(), 24), 0);  // NOLINT: bits
  EXPECT_EQ(longs_back, longs);
  EXPECT_EQ(bytes_back, bytes);
}

TEST(Safetensors, TakesFilesOfOtherPrograms) {
  const TemporaryFolder folder;
  // Tensors in any order, spaces, no padding, types that nobody here asks for, elements of less than a byte.
  const std::string header = R"({ "b": {"shape": [2], "data_offsets": [2, 6], "dtype": "BF16"},)"
                             R"( "q": {"dtype": "F4", "shape": [3, 2], "data_offsets": [6, 9]},)"
                             R"( "a": {"dtype": "U8", "data_offsets": [0, 2], "shape": [2]} } )";
  ASSERT_LT(header.size(), 256U);
  folder.write("f", static_cast<char>(header.size()) + std::string(7, '\0') + header + "xy4444qqq");
  const SafetensorsFile file(folder.file("f"));
  EXPECT_THAT(file.names(), ElementsAre("a", "b", "q"));
  std::vector<std::byte> back(2);
  file.read("a", DType::uint8, {2}, back.data());
  EXPECT_THAT(back, ElementsAre(std::byte{'x'}, std::byte{'y'}));
}

// A scale of a normalisation over two axes is one row of numbers in a graph, two-dimensional in ONNX files.
TEST(Safetensors, TakesEitherShapeOfATensorThatIsNotTransposed) {
  const TemporaryFolder folder;
  const std::vector<float> numbers = {1, 2, 3, 4, 5, 6};
  Value value;
  value.name = "scale";
  value.shape = {6};
  value.bytes = Bytes(24);
  value.persistence = Persistence::parameter;
  value.in_file = FileLayout{{2, 3}, false};
  for (const Shape& shape : {Shape{6}, Shape{2, 3}, Shape{1, 6}}) {
    for (const char* format : {kCheckpointInMemory, kCheckpointAsInFile}) {
      write_safetensors(folder.file("f"), {{"scale", DType::float32, shape, bytes_of(numbers)}},
                        {{"format", format}});
      std::vector<float> got(6);
      SafetensorsFile(folder.file("f")).read(value, reinterpret_cast<std::byte*>(got.data()));
      EXPECT_EQ(got, numbers);
    }
  }
}

TEST(Safetensors, WidensHalves) {
  const TemporaryFolder folder;
  const std::string header = R"({"b":{"dtype":"BF16","shape":[2],"data_offsets":[0,4]},)"
                             R"("h":{"dtype":"F16","shape":[5],"data_offsets":[4,14]}})";
  ASSERT_LT(header.size(), 256U);
  // 1, -3.5; 1, -2, the least subnormal, the largest number, minus infinity.
  const std::vector<std::uint16_t> halves = {0x3f80, 0xc060, 0x3c00, 0xc000, 0x0001, 0x7bff, 0xfc00};
  folder.write("f", static_cast<char>(header.size()) + std::string(7, '\0') + header +
                        std::string(reinterpret_cast<const char*>(halves.data()), 14));
  const SafetensorsFile file(folder.file("f"));
  EXPECT_THAT(file.notes(), IsEmpty());
  std::vector<float> b(2), h(5);
  file.read("b", DType::float32, {2}, reinterpret_cast<std::byte*>(b.data()));
  file.read("h", DType::float32, {5}, reinterpret_cast<std::byte*>(h.data()));
  EXPECT_THAT(b, ElementsAre(1.0F, -3.5F));
  EXPECT_THAT(h, ElementsAre(1.0F, -2.0F, 0x1p-24F, 65504.0F, -std::numeric_limits<float>::infinity()));
  EXPECT_THAT(file.notes(), ElementsAre("BF16 and F16 weights are taken as float32"));
}

TEST(Safetensors, ReplacesTheEarlierFileAtOnce) {
  const TemporaryFolder folder;
  const std::vector<std::uint8_t> one = {1};
  const std::vector<std::uint8_t> two = {2};
  write_safetensors(folder.file("f"), {{"a", DType::uint8, {1}, bytes_of(one)}}, {});
  fs::create_symlink("f", folder.file("latest"));
  const SafetensorsFile earlier(folder.file("f"));
  write_safetensors(folder.file("latest"), {{"a", DType::uint8, {1}, bytes_of(two)}}, {});
  EXPECT_TRUE(fs::is_symlink(folder.file("latest")));
  EXPECT_THAT(test::names_in(folder.file("")), UnorderedElementsAre("f", "latest"));
  // Who had it open still has the earlier one, whole.
  std::byte a{};
  earlier.read("a", DType::uint8, {1}, &a);
  EXPECT_EQ(a, std::byte{1});
  SafetensorsFile(folder.file("f")).read("a", DType::uint8, {1}, &a);
  EXPECT_EQ(a, std::byte{2});
}

TEST(Safetensors, DraftsThatNobodyHasLockedAreRemoved) {
  const TemporaryFolder folder;
  for (const char* name : {"f.1.tmp", "f.22.tmp", "f.3x.tmp", "f..tmp", "f.tmp", "f.4.tmp.5", "g.6.tmp"})
    folder.write(name, "what a killed process had written");
  const Descriptor alive(open(folder.file("f.22.tmp").c_str(), O_RDWR));
  ASSERT_EQ(flock(alive.get(), LOCK_EX), 0);
  fs::create_symlink("g.6.tmp", folder.file("f.7.tmp"));
  write_safetensors(folder.file("f"), {}, {});
  EXPECT_THAT(test::names_in(folder.file("")),
              UnorderedElementsAre("f", "f.22.tmp", "f.3x.tmp", "f..tmp", "f.tmp", "f.4.tmp.5", "g.6.tmp",
                                   "f.7.tmp"));
}

TEST(Safetensors, OthersMayReadTheFile) {
  const TemporaryFolder folder;
  const mode_t before = umask(022);
  write_safetensors(folder.file("f"), {}, {});
  umask(before);
  struct stat facts {};
  ASSERT_EQ(stat(folder.file("f").c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777U, 0644U);
}

}  // namespace
}  // namespace poet::runtime
