#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "poet/frontend/zoo.h"
#include "tests/support/input_error.h"

namespace poet {
namespace {

using test::input_error;
using testing::HasSubstr;

TEST(ZooErrors, UnknownNetworkListsTheKnownOnes) {
  EXPECT_EQ(
      input_error([] { (void)build_network("resnet19"); }),
      "model: unknown network \"resnet19\"; did you mean resnet18? the built-in networks are linear, vgg16, "
      "vgg16_cifar, "
      "resnet14_cifar, resnet18, "
      "resnet18_cifar, resnet50, bert, bert_tiny, transformer");
  EXPECT_THAT(input_error([] { (void)build_network(""); }),
              HasSubstr("model: unknown network \"\"; the built-in"));
}

TEST(ZooErrors, BatchSizeBelowOne) {
  for (const ZooEntry& entry : zoo()) {
    EXPECT_EQ(input_error([&] { (void)entry.build({.batch_size = 0, .sequence_length = std::nullopt}); }),
              "batch size: must be >= 1, not 0");
    EXPECT_EQ(input_error([&] { (void)entry.build({.batch_size = -7, .sequence_length = std::nullopt}); }),
              "batch size: must be >= 1, not -7");
  }
}

TEST(ZooErrors, BatchSizeThatOverflows) {
  for (const ZooEntry& entry : zoo()) {
    const auto build = [&](std::int64_t batch) {
      return input_error([&] { (void)entry.build({.batch_size = batch, .sequence_length = std::nullopt}); });
    };
    // Already the input is too large.
    EXPECT_THAT(build(std::numeric_limits<std::int64_t>::max()), HasSubstr("than 64 bits can count"))
        << entry.name;
    // 64 bits count the bytes of some networks' inputs, but no value has as many.
    EXPECT_THAT(
        build(std::int64_t{1} << 51),
        testing::AnyOf(HasSubstr("than 64 bits can count"), HasSubstr("output 0 of at most 281474976710656")))
        << entry.name;
  }
}

TEST(ZooErrors, SequenceLengthOutOfRange) {
  EXPECT_EQ(input_error([] { (void)build_network("bert", {.batch_size = 1, .sequence_length = 0}); }),
            "sequence_length: must be >= 1, not 0");
  EXPECT_EQ(input_error([] { (void)build_network("bert", {.batch_size = 1, .sequence_length = 513}); }),
            "sequence_length: must be <= 512, the positions this network knows, not 513");
  EXPECT_EQ(input_error([] { (void)build_network("transformer", {.batch_size = 1, .sequence_length = -1}); }),
            "sequence_length: must be >= 1, not -1");
  EXPECT_THAT(
      input_error([] {
        (void)build_network("transformer", {.batch_size = 1, .sequence_length = std::int64_t{1} << 62});
      }),
      HasSubstr("op 'input': shape (1, 4611686018427387904, 768): more elements than 64 bits can count"));
}

TEST(ZooErrors, SequenceLengthOfANetworkWithoutOne) {
  EXPECT_EQ(input_error([] { (void)build_network("resnet18", {.batch_size = 1, .sequence_length = 128}); }),
            "sequence_length: this network has none; only bert, bert_tiny and transformer do");
}

}  // namespace
}  // namespace poet
