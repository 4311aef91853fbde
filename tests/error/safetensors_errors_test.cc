// Files that break a rule of the format, one by one, and storage that fails: an InputError of one line.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "poet/base/error.h"
#include "poet/runtime/weights/safetensors.h"
#include "tests/support/program.h"
#include "tests/support/real_faults.h"

namespace poet::runtime {
namespace {

using test::names_in;
using test::TemporaryFolder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

std::string length_of(std::uint64_t bytes) {
  std::string text;
  for (int i = 0; i < 8; ++i, bytes >>= 8) text += static_cast<char>(bytes & 0xff);
  return text;
}

template <class Action>
std::string safetensors_diagnostic(const Action& action) {
  try {
    action();
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), Not(HasSubstr("\n")));
    return error.what();
  }
  return "no error";
}

class SafetensorsErrors : public ::testing::Test {
 protected:
  std::string name() const { return folder_.file("f"); }

  /// What is said of a file with these bytes, without the file's name.
  std::string opening_bytes(const std::string& bytes) const {
    std::ofstream(name(), std::ios::binary) << bytes;
    const std::string text = safetensors_diagnostic([&] { SafetensorsFile file(name()); });
    EXPECT_THAT(text, StartsWith(name() + ": "));
    return text.substr(std::min(text.size(), name().size() + 2));
  }

  std::string opening(const std::string& header, const std::string& data = "") const {
    return opening_bytes(length_of(header.size()) + header + data);
  }

  /// With two tensors of two bytes, the fields of the second as given.
  std::string opening_with(const std::string& fields) const {
    return opening(R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},"b":{)" + fields + "}}", "1234");
  }

  const TemporaryFolder folder_;
};

TEST_F(SafetensorsErrors, TheFileMustBeOne) {
  const std::string absent = folder_.file("absent");
  EXPECT_EQ(safetensors_diagnostic([&] { SafetensorsFile file(absent); }),
            absent + ": cannot be opened: No such file or directory");
  EXPECT_THAT(safetensors_diagnostic([&] { SafetensorsFile file(folder_.file("")); }),
              HasSubstr("is not a regular file"));
  const std::string pipe = folder_.file("pipe");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(safetensors_diagnostic([&] { SafetensorsFile file(pipe); }), pipe + ": is not a regular file");
}

TEST_F(SafetensorsErrors, Length) {
  EXPECT_EQ(opening_bytes(""), "is too short for a safetensors file");
  EXPECT_EQ(opening_bytes("1234567"), "is too short for a safetensors file");
  EXPECT_EQ(opening_bytes(length_of(9) + "{}      "), "ends inside its header");
  EXPECT_EQ(opening_bytes(length_of(100'000'001) + "{}"),
            "is not a safetensors file, or has a header of more than 100,000,000 bytes");
  EXPECT_EQ(opening_bytes(length_of(~std::uint64_t{0}) + "{}"),
            "is not a safetensors file, or has a header of more than 100,000,000 bytes");
}

TEST_F(SafetensorsErrors, Json) {
  EXPECT_EQ(opening(""), "the header must begin with {");
  EXPECT_EQ(opening(" {}"), "the header must begin with {");
  EXPECT_EQ(opening("[]"), "the header must begin with {");
  EXPECT_EQ(opening("{"), "the header must be JSON in UTF-8");
  EXPECT_EQ(opening("{}{}"), "the header must be JSON in UTF-8");
  EXPECT_EQ(opening(std::string("{}\0{}", 5)), "the header must be JSON in UTF-8");
  EXPECT_EQ(opening("{\"__metadata__\":{\"a\":\"\xff\"}}"), "the header must be JSON in UTF-8");
  EXPECT_EQ(opening(R"({"__metadata__":{"a":"\ud800"}})"), "the header must be JSON in UTF-8");
  EXPECT_EQ(opening(R"({"a":1e999})"), "the header must be JSON in UTF-8");
  EXPECT_EQ(opening("{\"a\":" + std::string(1'000'000, '[')), "the header must not be nested this deeply");
  EXPECT_EQ(opening_with(R"("dtype":"U8","shape":[[2]],"data_offsets":[2,4])"),
            "the header must not be nested this deeply");
}

TEST_F(SafetensorsErrors, NamesOccurOnce) {
  const std::string tensor = R"("a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]})";
  EXPECT_EQ(opening("{" + tensor + "," + tensor + "}", "12"), "the header names \"a\" twice");
  EXPECT_EQ(opening_with(R"("dtype":"U8","shape":[2],"data_offsets":[2,4],"shape":[2])"),
            "the header names \"shape\" twice");
  EXPECT_EQ(opening(R"({"__metadata__":{"x":"1","x":"2"}})"), "the header names \"x\" twice");
  EXPECT_EQ(opening(R"({"__metadata__":{},"__metadata__":{}})"), "the header names \"__metadata__\" twice");
}

TEST_F(SafetensorsErrors, MetadataAreTexts) {
  EXPECT_EQ(opening(R"({"__metadata__":[]})"), "__metadata__ must be an object");
  EXPECT_EQ(opening(R"({"__metadata__":{"a\nb":1}})"), R"(__metadata__ must give "a\nb" a text)");
}

TEST_F(SafetensorsErrors, TensorsHaveThreeFields) {
  const std::string rule = "tensor \"b\": must have a dtype, a shape and data_offsets, and nothing else";
  EXPECT_EQ(opening(R"({"b":3})"), rule);
  EXPECT_EQ(opening(R"({"b":["dtype","shape","data_offsets"]})"), rule);
  EXPECT_EQ(opening_with(R"("shape":[2],"data_offsets":[2,4])"), rule);
  EXPECT_EQ(opening_with(R"("dtype":"U8","data_offsets":[2,4])"), rule);
  EXPECT_EQ(opening_with(R"("dtype":"U8","shape":[2])"), rule);
  EXPECT_EQ(opening_with(R"("dtype":"U8","shape":[2],"data_offsets":[2,4],"x":1)"), rule);
}

TEST_F(SafetensorsErrors, TypesAreTheFormats) {
  EXPECT_EQ(opening_with(R"("dtype":8,"shape":[2],"data_offsets":[2,4])"),
            "tensor \"b\": dtype must be a text");
  EXPECT_EQ(opening_with(R"("dtype":"u8","shape":[2],"data_offsets":[2,4])"),
            "tensor \"b\": dtype \"u8\" is not one of the format's");
}

TEST_F(SafetensorsErrors, ShapesAreCounts) {
  const std::string rule = "tensor \"b\": shape must be whole numbers from 0 to 9223372036854775807";
  for (const char* const shape : {"[-1]", "[2.0]", "[\"2\"]", "[null]", "[9223372036854775808]"})
    EXPECT_EQ(opening_with(std::string(R"("dtype":"U8","data_offsets":[2,4],"shape":)") + shape), rule)
        << shape;
  EXPECT_EQ(opening_with(R"("dtype":"U8","shape":2,"data_offsets":[2,4])"),
            "tensor \"b\": shape must be an array");
  EXPECT_EQ(opening_with(R"("dtype":"U8","shape":[4294967296,4294967296],"data_offsets":[2,4])"),
            "tensor \"b\": the shape has too many elements");
  EXPECT_EQ(opening_with(R"("dtype":"F4","shape":[3],"data_offsets":[2,4])"),
            "tensor \"b\": the elements must fill whole bytes");
}

TEST_F(SafetensorsErrors, OffsetsAgreeWithTypeAndShape) {
  EXPECT_EQ(opening_with(R"("dtype":"U8","shape":[2],"data_offsets":[2])"),
            "tensor \"b\": data_offsets must be a begin and an end");
  EXPECT_EQ(opening_with(R"("dtype":"U8","shape":[2],"data_offsets":[4,2])"),
            "tensor \"b\": data_offsets must be a begin and an end");
  EXPECT_EQ(opening_with(R"("dtype":"U8","shape":[3],"data_offsets":[2,5])"),
            "tensor \"b\": ends at byte 5 of 4 bytes of data");
  EXPECT_EQ(opening_with(R"("dtype":"U16","shape":[2],"data_offsets":[2,4])"),
            "tensor \"b\": has 2 bytes, and its dtype and shape say 4");
}

TEST_F(SafetensorsErrors, TensorsFillTheData) {
  EXPECT_EQ(opening_with(R"("dtype":"U8","shape":[2],"data_offsets":[1,3])"),
            "tensor \"b\": begins at byte 1, and the one before ends at 2");  // an overlap
  EXPECT_EQ(opening_with(R"("dtype":"U8","shape":[1],"data_offsets":[3,4])"),
            "tensor \"b\": begins at byte 3, and the one before ends at 2");  // a gap
  EXPECT_EQ(opening_with(R"("dtype":"U8","shape":[1],"data_offsets":[2,3])"),
            "has 4 bytes of data, and its tensors 3");
  EXPECT_EQ(opening("{}", "x"), "has 1 bytes of data, and its tensors 0");
  EXPECT_EQ(opening_with(R"("dtype":"U8","shape":[0],"data_offsets":[1,1])"),
            "tensor \"b\": begins at byte 1, and the one before ends at 2");  // inside another one
}

TEST_F(SafetensorsErrors, WeightsOfALaterFormat) {
  write_safetensors(name(), {}, {{kWeightsFormatKey, "3"}});
  EXPECT_EQ(safetensors_diagnostic([&] { const SafetensorsFile opened(name()); }),
            name() + ": its metadata have \"poet.format\": \"3\", and this version reads \"2\"");
}

TEST_F(SafetensorsErrors, AskedForAnotherTensor) {
  const std::vector<float> numbers = {1, 2};
  const auto* const data = reinterpret_cast<const std::byte*>(numbers.data());
  write_safetensors(name(), {{"w", DType::float32, {1, 2}, data}}, {});
  const SafetensorsFile file(name());
  std::byte back[8];
  const std::string here = name() + ": tensor \"w\"";
  EXPECT_EQ(safetensors_diagnostic([&] { file.read("x\n", DType::float32, {2}, back); }),
            name() + ": tensor \"x\\n\": must be present");
  EXPECT_EQ(safetensors_diagnostic([&] {
              file.read("w", DType::float32, {2, 2}, back);
            }),
            here + ": is F32[1,2], and F32[2,2] is needed");
  EXPECT_EQ(safetensors_diagnostic([&] {
              file.read("w", DType::int32, {1, 2}, back);
            }),
            here + ": is F32[1,2], and I32[1,2] is needed");
  const auto size = static_cast<off_t>(std::filesystem::file_size(name()));
  ASSERT_EQ(truncate(name().c_str(), size - 2), 0);
  EXPECT_EQ(safetensors_diagnostic([&] {
              file.read("w", DType::float32, {1, 2}, back);
            }),
            here + ": cannot be read: the file ends, after 6 of 8 bytes");
}

TEST_F(SafetensorsErrors, WhatHasNoPlaceInAFile) {
  std::byte byte{};
  const std::string place = name() + ": cannot be written: ";
  const auto writing = [&](const std::vector<TensorEntry>& tensors,
                           const std::map<std::string, std::string>& metadata) {
    return safetensors_diagnostic([&] { write_safetensors(name(), tensors, metadata); });
  };
  const TensorEntry tensor{"a", DType::uint8, {1}, &byte};
  TensorEntry reserved = tensor;
  reserved.name = "__metadata__";
  TensorEntry foreign = tensor;
  foreign.name = "\xff";
  EXPECT_EQ(writing({tensor, tensor}, {}), place + "two tensors cannot be called \"a\"");
  EXPECT_EQ(writing({reserved}, {}), place + "two tensors cannot be called \"__metadata__\"");
  EXPECT_EQ(writing({foreign}, {}), place + "names and metadata must be UTF-8");
  EXPECT_EQ(writing({tensor}, {{"k", "\xff"}}), place + "names and metadata must be UTF-8");
  EXPECT_EQ(writing({}, {{"k", std::string(100'000'000, 'x')}}),
            place + "the header would have 100,000,032 bytes, and 100,000,000 are the most");
  EXPECT_THAT(names_in(folder_.file("")), IsEmpty());
}

TEST_F(SafetensorsErrors, AFailedWriteLeavesTheEarlierFile) {
  std::byte byte{7};
  const std::vector<std::byte> large(100'000);
  write_safetensors(name(), {{"a", DType::uint8, {1}, &byte}}, {});
  {
    const test::FileSizeLimit limit(65536);
    EXPECT_EQ(safetensors_diagnostic([&] {
                write_safetensors(name(), {{"a", DType::uint8, {100'000}, large.data()}}, {});
              }),
              // 65536 less 8 + 64 bytes of header.
              name() + ": cannot be written: File too large, after 65,464 of 100,000 bytes");
  }
  EXPECT_THAT(names_in(folder_.file("")), ElementsAre("f"));
  std::byte back{};
  SafetensorsFile(name()).read("a", DType::uint8, {1}, &back);
  EXPECT_EQ(back, byte);
}

TEST_F(SafetensorsErrors, NowhereToWrite) {
  const std::string absent = folder_.file("absent/f");
  EXPECT_EQ(safetensors_diagnostic([&] { write_safetensors(absent, {}, {}); }),
            absent + ": cannot be written: No such file or directory");
  EXPECT_THAT(safetensors_diagnostic([&] { write_safetensors("/proc/self/f", {}, {}); }),
              StartsWith("/proc/self/f: cannot be written: "));
  EXPECT_EQ(safetensors_diagnostic([&] { write_safetensors("/dev/full", {}, {}); }),
            "/dev/full: cannot be written: it is not a regular file");
}

}  // namespace
}  // namespace poet::runtime
