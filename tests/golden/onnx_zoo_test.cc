// The built-in networks imported from ONNX files of themselves train as the built-in ones do: the same
// training graph up to names.

#include <gtest/gtest.h>

#include <string>
#include <tuple>

#include "poet/autodiff/differentiate.h"
#include "poet/frontend/onnx/import.h"
#include "poet/frontend/onnx/read/read_model.h"
#include "poet/frontend/zoo.h"
#include "tests/support/graph_text.h"
#include "tests/support/same_graph.h"
#include "tests/support/to_onnx.h"

namespace poet {
namespace {

using test::first_difference;

constexpr std::int64_t kBatch = 4;

ZooOptions options_of(const std::string& name) {
  ZooOptions options;
  options.batch_size = kBatch;
  if (name.starts_with("bert") || name == "transformer") options.sequence_length = 64;
  return options;
}

class OnnxZoo : public ::testing::TestWithParam<std::tuple<std::string, std::int64_t>> {};

TEST_P(OnnxZoo, TrainsAsTheBuiltInNetwork) {
  const auto& [name, opset] = GetParam();
  const Graph built_in = build_network(name, options_of(name));
  const onnx::Model file = onnx::parse_model(test::to_onnx(built_in, opset), name + ".onnx");
  ImportOptions options;
  options.batch_size = kBatch;
  const Graph imported = import_model(file, options).forward;
  EXPECT_EQ(first_difference(built_in, imported), "");
  for (const Optimizer optimizer : {Optimizer::sgd, Optimizer::momentum, Optimizer::adam}) {
    TrainingOptions training;
    training.optimizer = optimizer;
    EXPECT_EQ(first_difference(differentiate(built_in, training), differentiate(imported, training)), "");
  }
}

std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const ZooEntry& entry : zoo()) all.push_back(entry.name);
  return all;
}

INSTANTIATE_TEST_SUITE_P(Networks, OnnxZoo,
                         ::testing::Combine(::testing::ValuesIn(names()),
                                            ::testing::Values(std::int64_t{13}, std::int64_t{17})),
                         [](const auto& test) {
                           return std::get<0>(test.param) + "_opset" +
                                  std::to_string(std::get<1>(test.param));
                         });

// The comparison itself: every change of one kind is seen, new names are not.
class GraphDifference : public ::testing::Test {
 protected:
  void SetUp() override {
    changed_ = training_ = differentiate(build_network("transformer", options_of("transformer")));
  }
  [[nodiscard]] std::string difference() const { return first_difference(training_, changed_); }
  Op& op(const char* name) { return changed_.ops[test::find_op(changed_, name)]; }
  Value& value(const char* name) { return changed_.values[test::find_value(changed_, name)]; }
  Graph training_;
  Graph changed_;
};

TEST_F(GraphDifference, NamesOfActivationsAndOpsDoNotCount) {
  for (Op& each : changed_.ops) each.name += "_renamed";
  for (Value& each : changed_.values) {
    if (!is_persistent(each.persistence)) each.name += "_renamed";
  }
  EXPECT_EQ(difference(), "");
}

TEST_F(GraphDifference, NamesOfParametersCount) {
  value("head.classifier.bias").name = "b";
  EXPECT_NE(difference().find("name of a parameter"), std::string::npos) << difference();
}

TEST_F(GraphDifference, AttributesCount) {
  op("encoder.attention.self.dropout").attributes["p"] = 0.2;
  EXPECT_NE(difference().find("attribute 'p'"), std::string::npos) << difference();
}

TEST_F(GraphDifference, EdgesCount) {
  std::swap(op("encoder.output.add").inputs[0], op("encoder.output.add").inputs[1]);
  EXPECT_NE(difference().find("stands for another value"), std::string::npos) << difference();
}

TEST_F(GraphDifference, BytesAndStridesCount) {
  value("encoder.attention.self.dropout.mask").bytes += Bytes(1);
  EXPECT_NE(difference().find("bytes"), std::string::npos) << difference();
  changed_ = training_;
  value("encoder.attention.self.key_heads").strides.front() += 1;
  EXPECT_NE(difference().find("strides"), std::string::npos) << difference();
}

TEST_F(GraphDifference, MissingOpsCount) {
  Graph shorter;
  shorter.values = training_.values;
  for (const Op& each : training_.ops) {
    if (shorter.ops.size() + 1 < training_.ops.size()) shorter.ops.push_back(each);
  }
  changed_ = shorter;
  EXPECT_NE(difference().find("ops"), std::string::npos) << difference();
}

}  // namespace
}  // namespace poet
