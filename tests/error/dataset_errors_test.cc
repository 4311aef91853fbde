// Data that do not fit their format or the network: one line that names the file and the rule.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "poet/graph/nn.h"
#include "poet/runtime/data/dataset.h"
#include "tests/support/data_networks.h"
#include "tests/support/input_error.h"
#include "tests/support/scratch_folder.h"

namespace poet::runtime {
namespace {

using test::big_endian;
using test::bytes_of;
using test::classifier;
using test::input_error;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class DatasetErrors : public ::testing::Test {
 protected:
  [[nodiscard]] std::string message(const std::filesystem::path& path, const Graph& graph) const {
    return input_error([&] { (void)open_dataset(path, graph); });
  }
  [[nodiscard]] std::string message(const Graph& graph) const { return message(folder_.path(), graph); }

  void mnist(const std::string& images, const std::string& labels) const {
    folder_.write("train-images-idx3-ubyte", images);
    folder_.write("train-labels-idx1-ubyte", labels);
  }

  test::ScratchFolder folder_;
  Graph cifar_ = classifier({1, 3, 32, 32}, 10);
  Graph mnist_ = classifier({1, 784}, 10);
  std::string image_ =
      big_endian(0x803) + big_endian(1) + big_endian(28) + big_endian(28) + std::string(784, 'x');
  std::string label_ = big_endian(0x801) + big_endian(1) + std::string(1, '\3');
};

TEST_F(DatasetErrors, NoDataSet) {
  EXPECT_THAT(message(cifar_),
              AllOf(HasSubstr(folder_.path()), HasSubstr("is no data set"), HasSubstr("x.bin")));
  EXPECT_THAT(message(folder_.path() / "none", cifar_), HasSubstr("none\" does not exist"));
}

TEST_F(DatasetErrors, CifarCutOff) {
  folder_.write("data_batch_1.bin", std::string(3072, '\1'));
  EXPECT_THAT(message(cifar_),
              AllOf(HasSubstr("data_batch_1.bin: must be rows of 3073 bytes"), HasSubstr("3072")));
  folder_.write("data_batch_1.bin", "");
  EXPECT_THAT(message(cifar_), HasSubstr("but has 0 bytes"));
}

TEST_F(DatasetErrors, CifarLabels) {
  folder_.write("data_batch_1.bin", std::string(3073, '\1') + std::string(3073, '\12'));
  EXPECT_THAT(message(cifar_),
              HasSubstr("data_batch_1.bin: has the label 10 at sample 1; labels of CIFAR-10"));
  folder_.write("data_batch_1.bin", std::string(3073, '\5'));
  EXPECT_THAT(message(classifier({1, 3, 32, 32}, 5)),
              HasSubstr("has 5 at sample 0; the network takes 0 to 4 as 'targets'"));
}

TEST_F(DatasetErrors, OtherSizes) {
  folder_.write("data_batch_1.bin", std::string(3073, '\1'));
  EXPECT_THAT(message(classifier({1, 3, 224, 224}, 10)),
              HasSubstr("CIFAR-10: has images of 3x32x32, but 'x' takes 3x224x224"));
  // As many numbers, but in another order.
  EXPECT_THAT(message(classifier({1, 32, 32, 3}, 10)), HasSubstr("but 'x' takes 32x32x3"));
}

TEST_F(DatasetErrors, OtherTasks) {
  folder_.write("data_batch_1.bin", std::string(3073, '\1'));
  EXPECT_THAT(message(test::regression(1, 3072, 1)), HasSubstr("one of classes as targets"));
  EXPECT_THAT(message(test::language_model(1, 3, 10)), HasSubstr("one input of real numbers"));
}

TEST_F(DatasetErrors, MnistMagic) {
  mnist(label_ + image_, label_);
  EXPECT_THAT(message(mnist_),
              HasSubstr("train-images-idx3-ubyte: must begin with the number 0x803, not 0x801"));
  mnist(image_, image_);
  EXPECT_THAT(message(mnist_),
              HasSubstr("train-labels-idx1-ubyte: must begin with the number 0x801, not 0x803"));
}

TEST_F(DatasetErrors, MnistSizes) {
  mnist(image_.substr(0, 15), label_);
  EXPECT_THAT(message(mnist_), HasSubstr("is too short for a file of MNIST"));
  mnist(image_.substr(0, 799), label_);
  EXPECT_THAT(message(mnist_),
              HasSubstr("says that it has 1 of 784 bytes each after 16 bytes, but has 799 bytes"));
  mnist(image_ + "x", label_);
  EXPECT_THAT(message(mnist_), HasSubstr("but has 801 bytes"));
  // 2^32 - 1 each: no product of them may wrap round to something small.
  mnist(big_endian(0x803) + std::string(12, '\xff') + "x", label_);
  EXPECT_THAT(message(mnist_), HasSubstr("says that its images have 4294967295 x 4294967295 pixels"));
  mnist(big_endian(0x803) + std::string(12, '\0'), label_);
  EXPECT_THAT(message(mnist_), HasSubstr("says that it has 0 of 0"));
  mnist(image_, big_endian(0x801) + big_endian(2) + "\1\2");
  EXPECT_THAT(message(mnist_), HasSubstr("has 2 labels for the 1 images of"));
}

TEST_F(DatasetErrors, MnistFiles) {
  folder_.write("images-idx3-ubyte", image_);
  EXPECT_THAT(message(mnist_), HasSubstr("must have one labels file of MNIST"));
  folder_.write("labels-idx1-ubyte", label_);
  folder_.write("more-labels-idx1-ubyte", label_);
  EXPECT_THAT(message(mnist_), HasSubstr("but has 2"));
}

TEST_F(DatasetErrors, MnistLabels) {
  mnist(image_, big_endian(0x801) + big_endian(1) + "\12");
  EXPECT_THAT(message(mnist_), HasSubstr("has the label 10 at sample 0"));
}

TEST_F(DatasetErrors, RawTensors) {
  const Graph graph = classifier({2, 3}, 4);
  folder_.write("x.bin", bytes_of<float>({1, 2, 3, 4, 5, 6}));
  EXPECT_THAT(message(graph), HasSubstr("targets.bin: is missing"));
  folder_.write("targets.bin", bytes_of<std::int32_t>({1, 2, 3}));
  EXPECT_THAT(message(graph), AllOf(HasSubstr("targets.bin: has 3 samples"), HasSubstr("x.bin has 2")));
  folder_.write("targets.bin", bytes_of<std::int32_t>({1, 4}));
  EXPECT_THAT(message(graph), HasSubstr("targets.bin: has 4 at sample 1; the network takes 0 to 3"));
  folder_.write("targets.bin", bytes_of<std::int32_t>({1, -1}));
  EXPECT_THAT(message(graph), HasSubstr("has -1 at sample 1"));
  folder_.write("x.bin", "12345");
  EXPECT_THAT(message(graph), HasSubstr("x.bin: must be samples of 12 bytes, but has 5 bytes"));
}

TEST_F(DatasetErrors, RealNumbersOfTwiceTheWidth) {
  const Graph graph = test::regression(1, 2, 2);
  folder_.write("x.bin", bytes_of<float>({1, 2}));
  folder_.write("targets.bin", bytes_of<double>({1, 2}));
  EXPECT_THAT(message(graph), AllOf(HasSubstr("targets.bin: has 2 samples, but"),
                                    HasSubstr("x.bin has 1: float64 must be made float32")));
  folder_.write("x.bin", bytes_of<double>({1, 2}));
  folder_.write("targets.bin", bytes_of<float>({1, 2}));
  EXPECT_THAT(message(graph),
              AllOf(HasSubstr("targets.bin: has 1 sample, but"), HasSubstr("elements of 64 bits")));
}

TEST_F(DatasetErrors, TargetsAlongAnotherAxis) {
  const Graph graph = test::language_model(1, 3, 10);
  folder_.write("input_ids.bin", bytes_of<std::int32_t>({1, 2, 3}));
  folder_.write("targets.bin", bytes_of<std::int32_t>({1, 2, 3, 4, 5, 6, 7, 8, 9}));
  EXPECT_THAT(message(graph),
              HasSubstr("a sample has 3 targets of 10 classes, which lie along the output's last axis"));
}

TEST_F(DatasetErrors, OtherCountsAlongTheFirstAxis) {
  GraphBuilder g("counts");
  const ValueId x = nn::linear(g, "fc", g.input("x", {2, 3}), 3);
  const ValueId y = nn::add(g, "added", x, g.input("state", {3, 1, 3}));
  nn::mse_loss(g, "loss", nn::reshape(g, "rows", y, {9, 2}), g.input("targets", {9, 2}));
  EXPECT_THAT(message(g.finish()),
              AllOf(HasSubstr("'state': has 3 samples along its first axis, other inputs have 2"),
                    HasSubstr("state=0 makes a constant of one that no sample has")));

  GraphBuilder states("states");
  const ValueId seen = states.input("x", {2, 3});
  const ValueId sum = nn::add(states, "added", seen, states.input("state", {2, 3}));
  nn::mse_loss(states, "loss", nn::linear(states, "fc", sum, 3), states.input("targets", {2, 3}));
  folder_.write("x.bin", bytes_of<float>({1, 2, 3}));
  EXPECT_THAT(message(states.finish()),
              AllOf(HasSubstr("state.bin: is missing"), HasSubstr("state=0 makes zeros")));

  GraphBuilder turned("turned");
  const ValueId h = nn::linear(turned, "fc", turned.input("x", {2, 3}), 3);
  nn::mse_loss(turned, "loss", nn::transpose(turned, "turn", h, {1, 0}), turned.input("targets", {3, 2}));
  EXPECT_THAT(message(turned.finish()), HasSubstr("what the loss reads has the batch as another axis"));
}

// (time, batch, features), as nn.LSTM has it: read as samples, time steps would be shuffled.
TEST_F(DatasetErrors, TimeAlongTheFirstAxis) {
  const auto network = [](bool batch_first) {
    GraphBuilder g("sequences");
    ValueId x = g.input("x", {4, 4, 3});
    if (batch_first) x = nn::transpose(g, "turned", nn::permute(g, "seen", x, {1, 0, 2}), {0, 1, 2});
    const ValueId h = nn::gru(g, "gru", nn::relu(g, "relu", x), {.hidden_size = 5}, true);
    const ValueId last = nn::last_step(g, "last", h, nn::Direction::forward);
    const ValueId rows = nn::reshape(g, "rows", last, {4, 5});
    nn::softmax_cross_entropy(g, "loss", nn::linear(g, "fc", rows, 2), g.input("targets", {4}, DType::int32));
    return g.finish();
  };
  EXPECT_THAT(
      message(network(false)),
      AllOf(HasSubstr("input 'x': has time steps along its first axis, which must count samples: 'gru'"),
            HasSubstr("export with batch_first=True")));
  EXPECT_THAT(message(network(true)), Not(HasSubstr("time steps")));
}

TEST_F(DatasetErrors, IntegersOfOtherWidths) {
  const Graph graph = classifier({2, 3}, 4);
  folder_.write("x.bin", bytes_of<float>({1, 2, 3, 4, 5, 6}));
  folder_.write("targets.bin", bytes_of<std::int64_t>({1, 2}));
  EXPECT_THAT(message(graph), AllOf(HasSubstr("targets.bin: has 4 samples (int32;"), HasSubstr("x.bin has 2"),
                                    HasSubstr("int64 must be made int32")));
  folder_.write("targets.bin", "\1\2");
  EXPECT_THAT(message(graph),
              HasSubstr("samples of 4 bytes (int32; uint8 in targets.u8, uint16 in targets.u16), "
                        "but has 2 bytes"));
}

TEST_F(DatasetErrors, Text) {
  const auto file = folder_.write("a.u16", bytes_of<std::uint16_t>({1, 2, 3, 10}));
  EXPECT_THAT(message(file, test::language_model(1, 3, 10)), HasSubstr("has 10 at sample 0"));
  EXPECT_THAT(message(file, test::language_model(1, 4, 11)), HasSubstr("has 4 tokens, but one sequence and"));
  EXPECT_THAT(message(file, cifar_), HasSubstr("is a text, which has nothing for the input 'x'"));
  EXPECT_THAT(message(folder_.write("b.u16", "123"), test::language_model(1, 3, 10)),
              HasSubstr("has 3 bytes"));
}

TEST_F(DatasetErrors, MorePositionsThanTheTableHas) {
  const Graph graph = test::language_model(1, 3, 10, 2);
  EXPECT_THAT(input_error([&] { (void)synthetic_dataset(graph, 1, 0); }),
              HasSubstr("input 'position_ids': has 3 positions, but the table of positions has 2 rows"));
}

TEST_F(DatasetErrors, BatchesThatDoNotAgree) {
  GraphBuilder g("uneven");
  const ValueId a = g.input("a", {2, 3});
  const ValueId b = g.input("b", {4, 3});
  nn::mse_loss(g, "loss", nn::matmul(g, "ab", nn::permute(g, "t", a, {1, 0}), nn::reshape(g, "r", b, {2, 6})),
               g.input("c", {3, 6}));
  const Graph graph = g.finish();
  EXPECT_THAT(input_error([&] { (void)data_inputs(graph); }), HasSubstr("input 'b': has 4 samples"));
}

TEST_F(DatasetErrors, AFileThatShrinks) {
  const auto file = folder_.write("test.bin", std::string(2 * 3073, '\1'));
  const auto data = open_dataset(file, cifar_);
  std::filesystem::resize_file(file, 3073);
  std::vector<std::byte> image(3072 * sizeof(float));
  const std::int64_t last = 1;
  EXPECT_THAT(input_error([&] { data->read(0, {&last, 1}, image.data()); }), HasSubstr("has become shorter"));
}

TEST_F(DatasetErrors, FewerSamplesThanABatch) {
  std::vector<std::int64_t> batch(4);
  EXPECT_THAT(input_error([&] { batch_of_step(1, 3, 0, batch); }),
              HasSubstr("has 3 samples, fewer than the 4"));
  EXPECT_THAT(input_error([&] { (void)synthetic_dataset(cifar_, 0, 0); }), HasSubstr("one sample at least"));
}

}  // namespace
}  // namespace poet::runtime
