#include "poet/study/sweep_spec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "poet/baselines/method.h"
#include "tests/support/paths.h"
#include "tests/support/program.h"
#include "tests/support/tiny_instance.h"

namespace poet::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<SweepPoint> points_of(const std::string& spec) {
  const TemporaryFolder folder;
  return expand(read_sweep_spec(folder.write("s.json", spec)));
}

TEST(SweepSpec, IsTheProductOfItsListsInstanceByInstance) {
  // 2 networks x 1 platform x 2 batches x 2 RAM x 2 deadlines x 2 methods.
  const std::vector<SweepPoint> points = points_of(R"({"format": 1, "networks": ["linear", "vgg16"],
      "platforms": ["m4"], "batch_sizes": [1, 8], "ram": [0.25, "300KiB"], "deadlines": [null, 1.3],
      "methods": ["checkpoint-all", "poet"]})");
  ASSERT_EQ(points.size(), 32U);
  std::set<std::string> keys;
  for (const SweepPoint& point : points) keys.insert(key_of(point));
  EXPECT_EQ(keys.size(), points.size());
  // The first eight share an instance; the method changes fastest, then deadline, then RAM.
  for (std::size_t i = 1; i < 8; ++i) EXPECT_EQ(instance_key_of(points[i]), instance_key_of(points[0]));
  EXPECT_NE(instance_key_of(points[8]), instance_key_of(points[0]));
  EXPECT_EQ(points[1].method, "poet");
  EXPECT_EQ(points[2].deadline.factor, 1.3);
  EXPECT_EQ(points[4].ram, RamBudget(Bytes(300 * 1024)));
  EXPECT_EQ(points[8].batch_size, 8);
  EXPECT_EQ(points[16].network.name, "vgg16");
}

TEST(SweepSpec, PlatformsMayBeCalledDevices) {
  const auto keys = [](const std::string& word) {
    std::vector<std::string> found;
    for (const SweepPoint& point : points_of(R"({"format": 1, "networks": ["linear"], ")" + word +
                                             R"(": ["m0", "m4"], "ram": [0.5], "methods": ["poet"]})"))
      found.push_back(key_of(point));
    return found;
  };
  EXPECT_EQ(keys("devices").size(), 2U);
  EXPECT_EQ(keys("devices"), keys("platforms"));
}

TEST(SweepSpec, KeysSayEverythingAndNothingElse) {
  const auto key = [](const std::string& more) {
    return key_of(points_of(R"({"format": 1, "networks": ["linear"], "platforms": ["m4"], "ram": [0.5],
                               "methods": ["poet"])" +
                            more + "}")
                      .at(0));
  };
  EXPECT_EQ(key(""),
            R"({"batch_size":1,"gap":0.01,"method":"poet","network":"linear","optimizer":"sgd",)"
            R"("persistent":"counted","platform":"m4","ram":0.5,"semantics":"device","solver":"cbc",)"
            R"("time_limit_seconds":120.0})");
  // Writing a default out, or an amount another way, changes nothing.
  EXPECT_EQ(key(""), key(R"(, "semantics": "device", "batch_sizes": [1], "persistent": "counted",
                            "optimizer": "sgd", "deadlines": [null], "gap": "1%", "time_limit": "2min",
                            "solver": "cbc", "accumulate": 1, "label_smoothing": 0, "precision": "fp32")"));
  EXPECT_EQ(key(""), key(R"(, "persistent": "resident", "split": "off")"));
  EXPECT_EQ(key(R"(, "split": "16KiB")"), key(R"(, "split": "16384 B")"));
  EXPECT_EQ(key(R"(, "deadlines": ["50ms"])"), key(R"(, "deadlines": ["0.05 s"])"));
  const std::set<std::string> all = {key(""),
                                     key(R"(, "batch_sizes": [2])"),
                                     key(R"(, "sequence_lengths": [128])"),
                                     key(R"(, "persistent": "excluded")"),
                                     key(R"(, "persistent": "auto")"),
                                     key(R"(, "split": "16KiB")"),
                                     key(R"(, "optimizer": "adam")"),
                                     key(R"(, "accumulate": 4)"),
                                     key(R"(, "clip_norm": 0.5)"),
                                     key(R"(, "label_smoothing": 0.1)"),
                                     key(R"(, "precision": "bf16-mixed")"),
                                     key(R"(, "semantics": "published")"),
                                     key(R"(, "deadlines": [1.3])"),
                                     key(R"(, "deadlines": ["1.3s"])"),
                                     key(R"(, "max_bytes_written": "1MB")"),
                                     key(R"(, "gap": 0)"),
                                     key(R"(, "time_limit": 10)"),
                                     key(R"(, "solver": "highs")")};
  EXPECT_EQ(all.size(), 18U);
}

TEST(SweepSpec, ParametersAndPartsTravelToTheWorker) {
  const std::string spec = R"({"format": 1, "networks": ["linear"], "platforms": ["m0"], "ram": ["24KiB"],
                               "methods": ["poet"], "persistent": "auto", "split": "auto"})";
  const SweepPoint point = point_from_text(to_text(points_of(spec).at(0)));
  EXPECT_EQ(point.persistent, "auto");
  EXPECT_EQ(point.split, "auto");
  const SweepPoint resident = point_from_text(to_text(points_of(R"({"format": 1, "networks": ["linear"],
      "platforms": ["m0"], "ram": [1], "methods": ["poet"]})")
                                                          .at(0)));
  EXPECT_EQ(resident.persistent, "resident");
  EXPECT_EQ(resident.split, std::nullopt);
}

TEST(SweepSpec, RamIsAPartOfTheWayOrOfKeepAllOrAnAmount) {
  const std::vector<SweepPoint> points = points_of(R"({"format": 1, "networks": ["linear"],
      "platforms": ["m4"], "split": "auto", "ram": ["1%", "12.5%", "100%", "1KiB"], "methods": ["poet"]})");
  ASSERT_EQ(points.size(), 4U);
  EXPECT_EQ(points[0].ram, RamBudget(RamOfKeepAll{0.01}));
  EXPECT_EQ(describe(points[0].ram), "1%");
  EXPECT_EQ(describe(points[1].ram), "12.5%");
  EXPECT_EQ(describe(points[2].ram), "100%");
  EXPECT_FALSE(std::holds_alternative<RamOfKeepAll>(points[3].ram));
  EXPECT_NE(parse_ram_budget("ram", "57%", BudgetSource::sweep), parse_ram_budget("ram", "57%"));  // by a bit
  for (const SweepPoint& point : points) EXPECT_EQ(key_of(point_from_text(to_text(point))), key_of(point));
  // Budgets in parts of the way say something else.
  const auto way = points_of(R"({"format": 1, "networks": ["linear"], "platforms": ["m4"],
                                 "ram": [0.01, "1%"], "methods": ["poet"]})");
  EXPECT_NE(key_of(way.at(0)), key_of(way.at(1)));
  EXPECT_EQ(instance_key_of(way.at(0)), instance_key_of(way.at(1)));
}

TEST(SweepSpec, RepeatedPointsCountOnce) {
  EXPECT_EQ(points_of(R"({"format": 1, "networks": ["linear", "linear"], "platforms": ["m4"],
                          "ram": [0.5, 0.5, "512", "512 B"], "methods": ["poet", "poet"]})")
                .size(),
            2U);
}

TEST(SweepSpec, AllMeansEveryMethod) {
  const std::vector<SweepPoint> points = points_of(
      R"({"format": 1, "networks": ["linear"], "platforms": ["m4"], "ram": [1], "methods": ["all"]})");
  ASSERT_EQ(points.size(), methods().size());
  for (std::size_t i = 0; i < points.size(); ++i) EXPECT_EQ(points[i].method, methods()[i].name);
}

TEST(SweepSpec, FilesAreRelativeToTheSpecAndKnownByContent) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder.file("in"));
  const std::string spec = folder.write("in/s.json", R"({"format": 1, "networks": [
      {"onnx": "net.onnx", "input_shapes": {"y": [1, 2], "a": [3]}, "input_values": {"rate": 16000},
       "loss": "huber", "huber_delta": 0.5, "loss_output": "y", "allow_opaque": true,
       "trainable": "fc.*", "batch_sizes": [4]},
      {"instance": "i.json"}, {"name": "bert", "sequence_lengths": [64, 128]}],
      "platforms": ["board.json"], "ram": [0.5], "methods": ["poet"]})");
  folder.write("in/net.onnx", "net");
  folder.write("in/i.json", "{}");
  folder.write("in/board.json", "{}");
  const std::vector<SweepPoint> points = expand(read_sweep_spec(spec));
  ASSERT_EQ(points.size(), 4U);
  EXPECT_EQ(points[0].network.file->path, folder.file("in/net.onnx"));
  EXPECT_THAT(points[0].network.input_shapes, ElementsAre("a=3", "y=1x2"));
  EXPECT_THAT(points[0].network.input_values, ElementsAre("rate=16000"));
  EXPECT_EQ(points[0].network.huber_delta, 0.5);
  EXPECT_EQ(points[0].network.loss_output, "y");
  EXPECT_EQ(points[0].batch_size, 4);
  EXPECT_EQ(points[0].platform->file->path, folder.file("in/board.json"));
  // An instance holds its costs and says whose rules apply.
  EXPECT_FALSE(points[1].platform || points[1].semantics || points[1].batch_size);
  EXPECT_EQ(points[2].sequence_length, 64);
  EXPECT_EQ(points[3].sequence_length, 128);

  folder.write("in/net.onnx", "other");
  const std::vector<SweepPoint> later = expand(read_sweep_spec(spec));
  EXPECT_NE(key_of(later[0]), key_of(points[0]));
  EXPECT_EQ(key_of(later[1]), key_of(points[1]));
  // FNV-1a of nothing is its offset basis, of "a" the published test vector.
  EXPECT_EQ(fingerprinted(folder.write("e", "")).fingerprint, "cbf29ce484222325");
  EXPECT_EQ(fingerprinted(folder.write("a", "a")).fingerprint, "af63dc4c8601ec8c");
}

TEST(SweepPoint, SurvivesTheWayToAWorker) {
  const TemporaryFolder folder;
  folder.write("net.onnx", "net");
  folder.write("board.json", "{}");
  const std::string spec = folder.write("s.json", R"({"format": 1, "networks": ["linear",
      {"onnx": "net.onnx", "input_shapes": {"a": [3]}, "input_values": {"b": 0.5}, "loss": "mse", "huber_delta": 2,
       "loss_output": "y", "allow_opaque": true, "trainable": "*"}],
      "platforms": ["m4", "board.json"], "batch_sizes": [3], "ram": [0.3, "1MB"],
      "deadlines": [null, 1.1, "7ms"], "methods": ["poet"], "gap": 0.003, "time_limit": 7,
      "max_bytes_written": "2KB", "solver": "highs", "persistent": "excluded", "optimizer": "momentum",
      "accumulate": 4, "clip_norm": 0.5, "label_smoothing": 0.1, "precision": "bf16-mixed"})");
  for (const SweepPoint& point : expand(read_sweep_spec(spec))) {
    const std::string text = to_text(point);
    EXPECT_EQ(text.find('\n'), std::string::npos);
    const SweepPoint back = point_from_text(text);
    EXPECT_EQ(key_of(back), key_of(point));
    EXPECT_EQ(instance_key_of(back), instance_key_of(point));
    EXPECT_EQ(to_text(back), text);  // paths included
  }
}

}  // namespace
}  // namespace poet::test
