// Data sets from files that the test writes byte by byte, and the synthetic one.

#include "poet/runtime/data/dataset.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <numeric>

#include "poet/frontend/zoo.h"
#include "poet/graph/nn.h"
#include "tests/support/data_networks.h"
#include "tests/support/scratch_folder.h"

namespace poet::runtime {
namespace {

using test::big_endian;
using test::bytes_of;
using test::classifier;
using test::ScratchFolder;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

template <class T>
std::vector<T> read(const Dataset& data, const Graph& graph, std::size_t input,
                    const std::vector<std::int64_t>& samples) {
  const DataInput into = data_inputs(graph).at(input);
  const auto each = static_cast<std::size_t>(element_count(into.sample));
  std::vector<T> out(samples.size() * each + 1, T(-77));
  data.read(input, samples, reinterpret_cast<std::byte*>(out.data()));
  EXPECT_EQ(out.back(), T(-77)) << "wrote beyond the batch";
  out.pop_back();
  return out;
}

// A row of CIFAR-10: the label, then 1024 pixels of each colour.
std::string row(int label, int red, int green, int blue) {
  return std::string(1, static_cast<char>(label)) + std::string(1024, static_cast<char>(red)) +
         std::string(1024, static_cast<char>(green)) + std::string(1024, static_cast<char>(blue));
}

TEST(Cifar, ReadsTheFilesOfAFolderInOrder) {
  const ScratchFolder folder;
  folder.write("data_batch_2.bin", row(7, 255, 0, 0));
  folder.write("data_batch_1.bin", row(3, 0, 0, 0) + row(9, 0, 51, 255));
  folder.write("test_batch.bin", row(1, 1, 1, 1));
  folder.write("readme.html", "not data");
  const Graph graph = classifier({2, 3, 32, 32}, 10);
  const auto data = open_dataset(folder.path(), graph);
  EXPECT_EQ(data->samples(), 3);
  EXPECT_EQ(data->description(), "CIFAR-10, 3 images of 3x32x32, 10 classes");
  EXPECT_THAT(read<std::int32_t>(*data, graph, 1, {2, 0, 1}), ElementsAre(7, 3, 9));
  const std::vector<float> images = read<float>(*data, graph, 0, {1, 2});
  // (pixel / 255 - mean) / deviation: red of sample 1 (0 - 0.4914) / 0.2470, green (51/255 - 0.4822) /
  // 0.2435, blue (1 - 0.4465) / 0.2616; red of sample 2 (1 - 0.4914) / 0.2470.
  EXPECT_FLOAT_EQ(images[0], -1.9894737F);
  EXPECT_FLOAT_EQ(images[1024], -1.1589322F);
  EXPECT_FLOAT_EQ(images[3071], 2.1158257F);
  EXPECT_FLOAT_EQ(images[3072 + 1023], 2.0591093F);
}

TEST(Cifar, OneFileWillDo) {
  const ScratchFolder folder;
  const auto file = folder.write("test_batch.bin", row(1, 1, 1, 1));
  EXPECT_EQ(open_dataset(file, classifier({1, 3, 32, 32}, 10))->samples(), 1);
}

// Every pixel has its own place: the buffer of 4096 bytes is smaller than a plane of 70x70.
std::string mnist_images(std::uint32_t samples, std::uint32_t height, std::uint32_t width) {
  std::string bytes = big_endian(0x803) + big_endian(samples) + big_endian(height) + big_endian(width);
  for (std::uint32_t i = 0; i < samples * height * width; ++i) bytes += static_cast<char>(i % 251);
  return bytes;
}

std::string mnist_labels(const std::string& labels) {
  return big_endian(0x801) + big_endian(static_cast<std::uint32_t>(labels.size())) + labels;
}

TEST(Mnist, PrefersTheTrainingFiles) {
  const ScratchFolder folder;
  folder.write("train-images-idx3-ubyte", mnist_images(2, 28, 28));
  folder.write("train-labels-idx1-ubyte", mnist_labels({4, 9}));
  folder.write("t10k-images-idx3-ubyte", mnist_images(1, 28, 28));
  folder.write("t10k-labels-idx1-ubyte", mnist_labels({1}));
  const Graph graph = build_network("linear", {.batch_size = 2, .sequence_length = {}});
  const auto data = open_dataset(folder.path(), graph);
  EXPECT_EQ(data->description(), "MNIST, 2 images of 1x28x28, 10 classes");
  EXPECT_THAT(read<std::int32_t>(*data, graph, 1, {1, 0}), ElementsAre(9, 4));
  const std::vector<float> images = read<float>(*data, graph, 0, {1});
  // Pixel 784 of all is 784 % 251 = 31: (31/255 - 0.1307) / 0.3081.
  EXPECT_FLOAT_EQ(images[0], -0.02963769F);
}

TEST(Mnist, LargerPlanesThanTheBufferAndOneChannelOrNone) {
  const ScratchFolder folder;
  folder.write("images.idx3-ubyte", mnist_images(2, 70, 70));
  folder.write("labels.idx1-ubyte", mnist_labels({0, 1}));
  for (const Shape& x : {Shape{1, 1, 70, 70}, Shape{1, 70, 70}, Shape{1, 4900}}) {
    const Graph graph = classifier(x, 2);
    const std::vector<float> image = read<float>(*open_dataset(folder.path(), graph), graph, 0, {1});
    for (std::size_t i = 0; i < image.size(); ++i) {
      const double pixel = static_cast<double>((4900 + i) % 251);
      ASSERT_FLOAT_EQ(image[i], static_cast<float>((pixel / 255 - 0.1307) / 0.3081)) << i;
    }
  }
}

TEST(RawTensors, AreReadAsTheyLie) {
  const ScratchFolder folder;
  folder.write("x.bin", bytes_of<float>({1, 2, 3, 4, 5, 6}));
  folder.write("targets.bin", bytes_of<float>({-1, -2, -3}));
  const Graph graph = test::regression(2, 2, 1);
  const auto data = open_dataset(folder.path(), graph);
  EXPECT_EQ(data->samples(), 3);
  EXPECT_EQ(data->description(), "3 samples of raw tensors (x.bin, targets.bin)");
  EXPECT_THAT(read<float>(*data, graph, 0, {2, 0}), ElementsAre(5, 6, 1, 2));
  EXPECT_THAT(read<float>(*data, graph, 1, {1}), ElementsAre(-2));
}

// What BERT is fed with besides its tokens follows from the sequence.
TEST(RawTensors, TokensAloneFeedATransformer) {
  const ScratchFolder folder;
  folder.write("input_ids.u16", bytes_of<std::uint16_t>({101, 30521, 102, 101, 7, 102}));
  folder.write("targets.u8", bytes_of<std::uint8_t>({1, 0}));
  const Graph graph = build_network("bert_tiny", {.batch_size = 2, .sequence_length = 3});
  const auto data = open_dataset(folder.path(), graph);
  EXPECT_THAT(read<std::int32_t>(*data, graph, 0, {1, 0}), ElementsAre(101, 7, 102, 101, 30521, 102));
  EXPECT_THAT(read<std::int32_t>(*data, graph, 1, {1, 0}), Each(0));
  EXPECT_THAT(read<std::int32_t>(*data, graph, 2, {1, 0}), ElementsAre(0, 1, 2, 0, 1, 2));
  EXPECT_THAT(read<std::int32_t>(*data, graph, 3, {0, 1}), ElementsAre(1, 0));
  folder.write("token_type_ids.bin", bytes_of<std::int32_t>({0, 1, 1, 0, 0, 1}));
  EXPECT_THAT(read<std::int32_t>(*open_dataset(folder.path(), graph), graph, 1, {0}), ElementsAre(0, 1, 1));
}

TEST(RawTensors, NamesBecomeFileNames) {
  GraphBuilder g("odd");
  const ValueId x = g.input("../x:0", {1, 2});
  nn::mse_loss(g, "loss", nn::linear(g, "fc", x, 1), g.input("targets", {1, 1}));
  const Graph graph = g.finish();
  const ScratchFolder folder;
  folder.write(".._x_0.bin", bytes_of<float>({1, 2}));
  folder.write("targets.bin", bytes_of<float>({3}));
  EXPECT_THAT(read<float>(*open_dataset(folder.path(), graph), graph, 0, {0}), ElementsAre(1, 2));
}

// 8 tokens are two sequences of 3 and what comes after each.
TEST(Text, TargetsAreTheNextTokens) {
  const ScratchFolder folder;
  const Graph graph = test::language_model(2, 3, 10);
  for (const auto& file : {folder.write("a.u16", bytes_of<std::uint16_t>({1, 2, 3, 4, 5, 6, 7, 8})),
                           folder.write("a.i32", bytes_of<std::int32_t>({1, 2, 3, 4, 5, 6, 7, 8}))}) {
    const auto data = open_dataset(file, graph);
    EXPECT_EQ(data->samples(), 2);
    EXPECT_EQ(data->description(), "a text of 8 tokens, 2 sequences of 3");
    EXPECT_THAT(read<std::int32_t>(*data, graph, 0, {0, 1}), ElementsAre(1, 2, 3, 4, 5, 6));
    EXPECT_THAT(read<std::int32_t>(*data, graph, 1, {0, 1}), ElementsAre(0, 1, 2, 0, 1, 2));
    EXPECT_THAT(read<std::int32_t>(*data, graph, 2, {0, 1}), ElementsAre(2, 3, 4, 5, 6, 7));
  }
}

TEST(DataInputs, RolesOfTheBuiltInTransformer) {
  const std::vector<DataInput> inputs =
      data_inputs(build_network("bert_tiny", {.batch_size = 2, .sequence_length = {}}));
  ASSERT_EQ(inputs.size(), 4U);
  EXPECT_EQ(inputs[0].role, InputRole::tokens);
  EXPECT_EQ(inputs[0].range, 30522);
  EXPECT_EQ(inputs[1].role, InputRole::token_types);
  EXPECT_EQ(inputs[2].role, InputRole::positions);
  EXPECT_EQ(inputs[2].range, 512);
  EXPECT_EQ(inputs[3].role, InputRole::class_targets);
  EXPECT_EQ(inputs[3].range, 2);
  EXPECT_EQ(inputs[3].sample, Shape{});
  EXPECT_EQ(samples_per_step(inputs), 2);
}

// Whatever the input is called, integers that index no table have any value: what is computed of them may.
TEST(DataInputs, IntegersThatIndexNoTableHaveAnyValue) {
  for (const char* name : {"counts", "mask"}) {
    GraphBuilder g("counts");
    const ValueId x = nn::cast(g, "real", g.input(name, {2, 3}, DType::int32), DType::float32);
    nn::softmax_cross_entropy(g, "loss", nn::linear(g, "fc", x, 4), g.input("targets", {2}, DType::int32));
    const Graph graph = g.finish();
    EXPECT_EQ(data_inputs(graph)[0].range, 0);
    const test::ScratchFolder folder;
    folder.write(std::string(name) + ".u8", bytes_of<std::uint8_t>({0, 4, 255, 7, 1, 2}));
    folder.write("targets.u8", bytes_of<std::uint8_t>({0, 3}));
    const auto data = open_dataset(folder.path(), graph);
    EXPECT_THAT(read<std::int32_t>(*data, graph, 0, {0, 1}), ElementsAre(0, 4, 255, 7, 1, 2));
    for (const std::int32_t made : read<std::int32_t>(*synthetic_dataset(graph, 2, 0), graph, 0, {0, 1}))
      EXPECT_TRUE(made == 0 || made == 1);
  }
}

TEST(DataInputs, TargetsMayHaveRowsPerSample) {
  const std::vector<DataInput> inputs = data_inputs(test::language_model(2, 3, 10));
  EXPECT_EQ(inputs[2].shape, Shape{6});
  EXPECT_EQ(inputs[2].sample, Shape{3});
}

TEST(Synthetic, IsAFunctionOfItsSeed) {
  const Graph graph = build_network("resnet14_cifar", {.batch_size = 2, .sequence_length = {}});
  const auto data = synthetic_dataset(graph, 100, 5);
  const std::vector<float> image = read<float>(*data, graph, 0, {42});
  EXPECT_EQ(image, read<float>(*synthetic_dataset(graph, 100, 5), graph, 0, {42}));
  EXPECT_NE(image, read<float>(*synthetic_dataset(graph, 100, 6), graph, 0, {42}));
  EXPECT_NE(image, read<float>(*data, graph, 0, {52}));
  EXPECT_THAT(read<std::int32_t>(*data, graph, 1, {0, 1, 9, 10, 42}), ElementsAre(0, 1, 9, 0, 2));
}

double distance(const std::vector<float>& a, const std::vector<float>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return sum / static_cast<double>(a.size());
}

// Mean square per element: within a class twice the noise, 2 · 0.25; between classes 2 more, from the
// patterns. 3 · 16 cells of an image, or 784 numbers, vary around that by some 2 · sqrt(2 / 48) and less.
TEST(Synthetic, SamplesOfAClassAreAlike) {
  for (const char* name : {"resnet14_cifar", "linear"}) {
    const Graph graph = build_network(name, {.batch_size = 2, .sequence_length = {}});
    const auto data = synthetic_dataset(graph, 100, 5);
    const std::vector<float> first = read<float>(*data, graph, 0, {3});
    EXPECT_NEAR(distance(first, read<float>(*data, graph, 0, {13})), 0.5, 0.15) << name;
    EXPECT_NEAR(distance(first, read<float>(*data, graph, 0, {14})), 2.5, 1.2) << name;
  }
}

TEST(Synthetic, TokensAreRowsOfTheirTables) {
  const Graph graph = build_network("bert_tiny", {.batch_size = 2, .sequence_length = 128});
  const auto data = synthetic_dataset(graph, 50, 1);
  std::vector<std::int64_t> all(50);
  std::iota(all.begin(), all.end(), 0);
  const std::vector<std::int32_t> ids = read<std::int32_t>(*data, graph, 0, all);
  for (const std::int32_t id : ids) {
    ASSERT_GE(id, 0);
    ASSERT_LT(id, 30522);
  }
  EXPECT_THAT(read<std::int32_t>(*data, graph, 1, {7}), Each(0));
  EXPECT_EQ(read<std::int32_t>(*data, graph, 2, {7}).back(), 127);
  // Half of a text is 16 favourites of its class, so two texts share tokens if they are of one class.
  const auto shared = [&](std::size_t a, std::size_t b) {
    int count = 0;
    for (std::size_t i = 0; i < 128; ++i) {
      const auto begin = ids.begin() + static_cast<std::ptrdiff_t>(b * 128);
      count += static_cast<int>(std::count(begin, begin + 128, ids[a * 128 + i]) > 0);
    }
    return count;
  };
  EXPECT_GT(shared(0, 2), 40);
  EXPECT_LT(shared(0, 1), 20);
}

TEST(Synthetic, RegressionHasTargetsOfTheClass) {
  const Graph graph = test::regression(2, 8, 3);
  const auto data = synthetic_dataset(graph, 100, 5);
  EXPECT_EQ(read<float>(*data, graph, 1, {4}), read<float>(*data, graph, 1, {14}));
  EXPECT_NE(read<float>(*data, graph, 1, {4}), read<float>(*data, graph, 1, {5}));
}

}  // namespace
}  // namespace poet::runtime
