// What of a file trains, and how its tensors are seen.

#include "poet/frontend/onnx/lower/roles.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "poet/frontend/onnx/import.h"
#include "poet/frontend/onnx/lower/generated_names.h"
#include "poet/frontend/onnx/read/read_model.h"
#include "tests/support/graph_text.h"
#include "tests/support/onnx_models.h"
#include "tests/support/onnx_training.h"
#include "tests/support/proto_model.h"

namespace poet {
namespace {

using test::onnx_integers;
using test::onnx_model;
using test::onnx_node;
using test::onnx_reals;
using test::ProtoModel;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

std::vector<std::string> trained(const ImportedModel& model) {
  std::vector<std::string> names;
  for (const Value& value : model.forward.values)
    if (value.persistence == Persistence::parameter && !value.alias_of.valid()) names.push_back(value.name);
  return names;
}

onnx::Node fill(const std::string& name, double number) {
  return onnx_node("ConstantOfShape", {"size"}, {name}, {{"value", onnx_reals({1}, {number})}});
}

// A file with weights means what it says; without any, fills stand for them.
TEST(OnnxRoles, FillsAreConstantsWhereTheFileHasWeights) {
  const auto added = [](bool with_weight) {
    std::map<std::string, onnx::Tensor> stored = {{"size", onnx_integers({3, 3})}};
    if (with_weight) stored["w"] = onnx_reals({3, 3});
    return import_model(onnx_model({3, 3}, stored,
                                   {fill("z", 1.5), fill("v", 0.5), onnx_node("Add", {"x", "z"}, {"a"}),
                                    onnx_node("MatMul", {"a", with_weight ? "w" : "v"}, {"y"})}));
  };
  const ImportedModel stated = added(true);
  EXPECT_THAT(trained(stated), ElementsAre("w"));
  EXPECT_EQ(stated.contents.at("z").fill, 1.5);
  EXPECT_EQ(stated.reasons.at("z"), "a ConstantOfShape node");
  const ImportedModel bare = added(false);
  EXPECT_THAT(trained(bare), ElementsAre("z", "v"));
  EXPECT_THAT(bare.contents, IsEmpty());
  EXPECT_THAT(bare.notices, Contains(HasSubstr("no weights")));
}

TEST(OnnxRoles, AConstantIsOneWhateverReadsIt) {
  const onnx::Model model = onnx_model(
      {2, 3}, {{"w", onnx_reals({3, 3})}},
      {onnx_node("Constant", {}, {"c"}, {{"value", onnx_reals({3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9})}}),
       onnx_node("MatMul", {"x", "c"}, {"h"}), onnx_node("MatMul", {"h", "w"}, {"y"})});
  EXPECT_THAT(trained(import_model(model)), ElementsAre("w"));
  ImportOptions options;
  options.trained = {"c"};
  EXPECT_THAT(trained(import_model(model, options)), ElementsAre("c", "w"));
}

// A number that is a bias somewhere is a weight everywhere; one that is only added is none.
TEST(OnnxRoles, ASingleNumberIsOneThing) {
  const ImportedModel bias =
      import_model(onnx_model({2, 4}, {{"w", onnx_reals({1, 4})}, {"b", onnx_reals({1}, {0.5})}},
                              {onnx_node("Gemm", {"x", "w", "b"}, {"h"}, {{"transB", std::int64_t{1}}}),
                               onnx_node("Add", {"x", "b"}, {"k"}),
                               onnx_node("Concat", {"h", "k"}, {"y"}, {{"axis", std::int64_t{1}}})}));
  EXPECT_THAT(trained(bias), ElementsAre("w", "b"));
  EXPECT_THAT(test::kinds(bias.forward), Contains("add"));
  const auto added = [](const std::string& producer, const std::string& name) {
    onnx::Model model = onnx_model({2, 4}, {{"w", onnx_reals({3, 4})}, {name, onnx_reals({}, {0.5})}},
                                   {onnx_node("Mul", {"x", name}, {"h"}),
                                    onnx_node("Gemm", {"h", "w"}, {"y"}, {{"transB", std::int64_t{1}}})});
    model.producer = producer;
    return trained(import_model(model));
  };
  EXPECT_THAT(added("", "gate"), ElementsAre("w"));
  EXPECT_THAT(added("pytorch", "gate"), ElementsAre("gate", "w"));
  EXPECT_THAT(added("pytorch", "val_3"), ElementsAre("w"));
}

TEST(OnnxRoles, OnesUnderAGeneratedNameDoNotTrain) {
  const auto scaled = [](const std::string& name) {
    onnx::Model model = onnx_model(
        {2, 3}, {{name, onnx_reals({3}, {1, 1, 1})}, {"w", onnx_reals({3, 3})}},
        {onnx_node("LayerNormalization", {"x", name}, {"n"}), onnx_node("MatMul", {"n", "w"}, {"y"})});
    model.producer = "pytorch";
    return trained(import_model(model));
  };
  EXPECT_THAT(scaled("val_5"), ElementsAre("w"));
  EXPECT_THAT(scaled("ones_like"), ElementsAre("w"));
  EXPECT_THAT(scaled("norm.weight"), ElementsAre("norm.weight", "w"));
}

// What a new network begins with looks like a formula's, but nobody computes a slope or a bias.
TEST(OnnxRoles, WhatOnlyLayersHaveTrainsWhateverItHolds) {
  const auto read = [](const std::string& name, onnx::Tensor tensor, onnx::Node node, bool older = false) {
    onnx::Model model = onnx_model({2, 8}, {{name, std::move(tensor)}, {"w", onnx_reals({8, 8})}},
                                   {onnx_node("MatMul", {"x", "w"}, {"h"}), std::move(node)});
    model.producer = "pytorch";
    model.has_scoped_names = older;
    return import_model(model);
  };
  const onnx::Tensor ones = onnx_reals({8}, std::vector<double>(8, 1.0));
  onnx::Tensor prior = onnx_reals({8});
  prior.patterned = true;
  const std::string computed = "onnx::Op_7";
  EXPECT_THAT(trained(read(computed, ones, onnx_node("PRelu", {"h", computed}, {"y"}))),
              UnorderedElementsAre(computed, "w"));
  // The newer exporter makes up biases of zeros.
  EXPECT_THAT(trained(read(computed, ones, onnx_node("Gemm", {"x", "w", computed}, {"y"}), true)),
              UnorderedElementsAre(computed, "w"));
  EXPECT_THAT(trained(read(computed, ones, onnx_node("Gemm", {"x", "w", computed}, {"y"}))),
              ElementsAre("w"));
  EXPECT_THAT(trained(read("f.bias", prior, onnx_node("Add", {"f.bias", "h"}, {"y"}))),
              UnorderedElementsAre("f.bias", "w"));
  // Others do not, and a notice says so.
  for (const auto& [name, tensor] : {std::pair(computed, ones), std::pair(std::string("mask"), prior)}) {
    const ImportedModel model = read(name, tensor, onnx_node("Mul", {name, "h"}, {"y"}));
    EXPECT_THAT(trained(model), ElementsAre("w"));
    EXPECT_THAT(model.notices, Contains(HasSubstr(name + " is not trained")));
  }
}

// torch.clamp(h, 0, alpha) of a parameter alpha.
TEST(OnnxRoles, BoundsMayTrain) {
  const auto clipped = [](const std::string& bound, bool is_parameter,
                          const std::string& producer = "pytorch") {
    onnx::Model model = onnx_model(
        {2, 3}, {{"w", onnx_reals({3, 4})}, {"zero", onnx_reals({}, {0})}, {bound, onnx_reals({}, {0.25})}},
        {onnx_node("MatMul", {"x", "w"}, {"h"}), onnx_node("Clip", {"h", "zero", bound}, {"y"})});
    model.producer = producer;
    model.origins["zero"] = onnx::Origin::buffer;
    if (is_parameter) model.origins[bound] = onnx::Origin::parameter;
    return model;
  };
  EXPECT_THAT(trained(import_model(clipped("alpha", true))), UnorderedElementsAre("alpha", "w"));
  EXPECT_THAT(trained(import_model(clipped("alpha", false))), UnorderedElementsAre("alpha", "w"));
  EXPECT_THAT(trained(import_model(clipped("alpha", false, "tf2onnx"))), ElementsAre("w"));
  EXPECT_THAT(trained(import_model(clipped("val_3", false))), ElementsAre("w"));
  ImportOptions named;
  named.trained = {"val_3"};
  EXPECT_THAT(trained(import_model(clipped("val_3", false), named)), UnorderedElementsAre("val_3", "w"));
  test::expect_true_onnx_gradients(clipped("alpha", true));
  onnx::Model older = clipped("onnx::Clip_10", false);
  older.has_scoped_names = true;
  EXPECT_THAT(import_model(older).notices, Contains(HasSubstr("onnx::Clip_10, zero are not trained")));
}

// As the older exporter of PyTorch writes nn.GroupNorm: with the scale of ones and shift of zeros that it
// begins with.
TEST(OnnxRoles, ANewGroupNormalisationTrains) {
  onnx::Model model =
      onnx_model({2, 4, 3},
                 {{"one", onnx_reals({2}, {1, 1})},
                  {"zero", onnx_reals({2}, {0, 0})},
                  {"onnx::Mul_21", onnx_reals({4, 1}, {1, 1, 1, 1})},
                  {"onnx::Add_22", onnx_reals({4, 1}, {0, 0, 0, 0})},
                  {"groups", onnx_integers({0, 2, -1})},
                  {"whole", onnx_integers({2, 4, 3})}},
                 {onnx_node("Reshape", {"x", "groups"}, {"g"}),
                  onnx_node("InstanceNormalization", {"g", "one", "zero"}, {"n"}),
                  onnx_node("Reshape", {"n", "whole"}, {"r"}), onnx_node("Mul", {"r", "onnx::Mul_21"}, {"m"}),
                  onnx_node("Add", {"m", "onnx::Add_22"}, {"y"})});
  model.producer = "pytorch";
  model.has_scoped_names = true;
  EXPECT_THAT(trained(import_model(model)), testing::IsSupersetOf({"onnx::Add_22", "onnx::Mul_21"}));
}

// A module's fixed matrix in a file that stores the parameters.
TEST(OnnxRoles, WeightsAreNotInNodesWhereTheFileStoresParameters) {
  std::vector<double> distinct(120);
  std::iota(distinct.begin(), distinct.end(), 1);
  onnx::Model model =
      onnx_model({2, 3}, {{"scale", onnx_reals({3})}},
                 {onnx_node("Constant", {}, {"c"}, {{"value", onnx_reals({3, 40}, distinct)}}),
                  onnx_node("Mul", {"x", "scale"}, {"h"}), onnx_node("MatMul", {"h", "c"}, {"y"})});
  model.producer = "pytorch";
  EXPECT_THAT(trained(import_model(model)), ElementsAre("scale"));
}

// One nn.Linear that the newer exporter has transposed for one of its two readers.
TEST(OnnxRoles, WhatWasComputedOfOneParameterTrainsWithIt) {
  const auto shared = [](std::vector<std::string> sources) {
    onnx::Model model =
        onnx_model({2, 3},
                   {{"f.weight", onnx_reals({3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 10})},
                    {"val_0", onnx_reals({3, 3}, {1, 4, 7, 2, 5, 8, 3, 6, 10})}},
                   {onnx_node("MatMul", {"x", "val_0"}, {"h"}),
                    onnx_node("Gemm", {"h", "f.weight"}, {"y"}, {{"transB", std::int64_t{1}}})});
    model.initializers["f.weight"].digest = {1, 2};
    model.initializers["val_0"].digest = {2, 1};
    model.producer = "pytorch";
    model.origins = {{"f.weight", onnx::Origin::parameter}, {"val_0", onnx::Origin::folded_of_parameter}};
    model.sources["val_0"] = std::move(sources);
    return trained(import_model(model));
  };
  EXPECT_THAT(shared({"f.weight"}), ElementsAre("f.weight"));
  EXPECT_THAT(shared({"g.weight"}), UnorderedElementsAre("f.weight", "val_0"));
  EXPECT_THAT(shared({"f.weight", "g.weight"}), UnorderedElementsAre("f.weight", "val_0"));
}

// What an unrolled nn.RNN adds in its first step: the initial state, zeros, times a parameter.
TEST(OnnxRoles, ZerosThatCameOfAParameterDoNotTrain) {
  const auto added = [](const std::string& name, std::vector<double> numbers) {
    onnx::Model model =
        onnx_model({2, 3}, {{name, onnx_reals({2, 4}, std::move(numbers))}, {"w", onnx_reals({3, 4})}},
                   {onnx_node("MatMul", {"x", "w"}, {"h"}), onnx_node("Add", {"h", name}, {"y"})});
    model.producer = "pytorch";
    model.origins[name] = onnx::Origin::folded_of_parameter;
    return trained(import_model(model));
  };
  const std::vector<double> zeros(8, 0.0), others = {1, 2, 3, 4, 5, 6, 7, 8};
  EXPECT_THAT(added("linear_1", zeros), ElementsAre("w"));
  EXPECT_THAT(added("linear_1", others), UnorderedElementsAre("linear_1", "w"));
  EXPECT_THAT(added("expand", zeros), UnorderedElementsAre("expand", "w"));  // a new class token
}

// Without metadata a rotary table that the exporter has computed is told from a transposed weight by its
// name.
TEST(OnnxRoles, FunctionsThatMakeTables) {
  const auto multiplied = [](const std::string& name, const std::string& producer,
                             bool is_parameter = false) {
    onnx::Model model =
        onnx_model({2, 3}, {{name, onnx_reals({3})}, {"w", onnx_reals({3, 2})}},
                   {onnx_node("Mul", {"x", name}, {"h"}), onnx_node("MatMul", {"h", "w"}, {"y"})});
    model.producer = producer;
    if (is_parameter) model.origins[name] = onnx::Origin::parameter;
    return trained(import_model(model));
  };
  EXPECT_THAT(multiplied("cos", "pytorch"), ElementsAre("w"));
  EXPECT_THAT(multiplied("sin_1", "pytorch"), ElementsAre("w"));
  EXPECT_THAT(multiplied("cos", "pytorch", true), ElementsAre("cos", "w"));
  EXPECT_THAT(multiplied("cos", "tf2onnx"), ElementsAre("cos", "w"));
  EXPECT_THAT(multiplied("unsqueeze_1", "pytorch"), ElementsAre("unsqueeze_1", "w"));
}

// A head that begins as zeros, as the exporters name its transpose.
TEST(OnnxRoles, ALayerOfZerosTrains) {
  for (const char* name : {"val_3", "onnx::MatMul_15"}) {
    onnx::Model model = onnx_model({2, 3}, {{name, onnx_reals({3, 2}, {0, 0, 0, 0, 0, 0})}},
                                   {onnx_node("MatMul", {"x", name}, {"y"})});
    model.producer = "pytorch";
    EXPECT_THAT(trained(import_model(model)), ElementsAre(name));
  }
}

// A threshold of which a gradient comes elsewhere trains; what is only compared cannot.
TEST(OnnxRoles, WhatIsComparedMayTrain) {
  const auto chosen = [](const std::string& otherwise) {
    return trained(import_model(
        onnx_model({2, 3}, {{"t", onnx_reals({3})}, {"w", onnx_reals({3, 3})}},
                   {onnx_node("MatMul", {"x", "w"}, {"h"}), onnx_node("Less", {"h", "t"}, {"below"}),
                    onnx_node("Where", {"below", otherwise, "h"}, {"y"})})));
  };
  EXPECT_THAT(chosen("t"), UnorderedElementsAre("t", "w"));
  EXPECT_THAT(chosen("x"), ElementsAre("w"));
}

// What the newer exporter writes for w.clone(), and the older one for a merged tensor.
TEST(OnnxRoles, AnIdentityPartsMergedTensorsOnly) {
  const auto copied = [](const std::string& name, bool says_origins) {
    onnx::Model model =
        onnx_model({2, 3}, {{"w", onnx_reals({3, 3})}},
                   {onnx_node("Identity", {"w"}, {name}), onnx_node("MatMul", {"x", "w"}, {"h"}),
                    onnx_node("MatMul", {"h", name}, {"y"})});
    model.producer = "pytorch";
    if (says_origins) model.origins["w"] = onnx::Origin::parameter;
    return trained(import_model(model));
  };
  EXPECT_THAT(copied("layer2.w", false), ElementsAre("w", "layer2.w"));
  EXPECT_THAT(copied("clone", false), ElementsAre("w"));
  EXPECT_THAT(copied("layer2.w", true), ElementsAre("w"));
}

TEST(OnnxRoles, GeneratedNames) {
  onnx::Model model;
  model.producer = "pytorch";
  for (const char* name :
       {"12", "val_5", "onnx::MatMul_7", "const_fold_opt__3", "/a/Constant_output_0", "mul_1", "t"})
    EXPECT_TRUE(onnx::is_generated(model, name)) << name;
  for (const char* name : {"fc.weight", "conv1_w_0", "gate", "h0", "layer_2", "mul.weight", "W"})
    EXPECT_FALSE(onnx::is_generated(model, name)) << name;
  model.origins = {{"t", onnx::Origin::parameter}, {"gate", onnx::Origin::folded}};
  model.has_scoped_names = true;  // the older exporter names nothing after functions
  EXPECT_FALSE(onnx::is_generated(model, "mul_1"));
  model.has_scoped_names = false;
  EXPECT_FALSE(onnx::is_generated(model, "t"));
  EXPECT_TRUE(onnx::is_generated(model, "gate"));
}

// What PyTorch writes beside its tensors, in a field that this libonnx does not know.
TEST(OnnxRoles, TheFileSaysWhatIsABuffer) {
  ProtoModel model({2, 3});
  model.floats("table", {3}, {1, 2, 4});
  model.floats("scale", {1}, {2});
  model.node("Add", {"x", "table"}, {"a"});
  model.node("Mul", {"a", "scale"}, {"y"});
  const auto say = [&](const std::string& name, const std::string& kind) {
    auto& info = *model.graph().add_value_info();
    info.set_name(name);
    ::onnx::StringStringEntryProto entry;
    entry.set_key("pkg.torch.export.graph_signature.InputSpec.kind");
    entry.set_value(kind);
    info.mutable_unknown_fields()->AddLengthDelimited(4)->assign(entry.SerializeAsString());
  };
  EXPECT_THAT(trained(import_model(onnx::parse_model(model.bytes(), "small"))), ElementsAre("table"));
  say("table", "BUFFER");
  say("scale", "PARAMETER");
  EXPECT_THAT(trained(import_model(onnx::parse_model(model.bytes(), "small"))), ElementsAre("scale"));
  // Of the module, too, what no tensor is.
  ::onnx::StringStringEntryProto signature;
  signature.set_key("pkg.torch.export.ExportedProgram.graph_signature");
  signature.set_value(
      "# inputs\np_scale: PARAMETER target='scale'\np_gone: PARAMETER target='gone'\n"
      "b_table: BUFFER target='table' persistent=True\nb_mean: BUFFER target='mean' persistent=True\n"
      "b_n: BUFFER target='bn.num_batches_tracked' persistent=True\n");
  model.graph().mutable_unknown_fields()->AddLengthDelimited(16)->assign(signature.SerializeAsString());
  onnx::Model parsed = onnx::parse_model(model.bytes(), "small");
  parsed.producer = "pytorch";
  EXPECT_THAT(parsed.missing_parameters, ElementsAre("gone"));
  EXPECT_THAT(parsed.missing_buffers, ElementsAre("bn.num_batches_tracked", "mean"));
  EXPECT_THAT(import_model(parsed).notices, AllOf(Contains(HasSubstr("parameters (gone)")),
                                                  Contains(HasSubstr("the module's buffer mean:"))));
}

// The optimiser of the newer exporter keeps one tensor of equal numbers, in which a constant then trains.
TEST(OnnxRoles, OnesThatMayBeMergedAreSaid) {
  const auto notices = [](std::vector<onnx::Node> nodes) {
    onnx::Model model = onnx_model(
        {2, 3}, {{"n.weight", onnx_reals({3}, {1, 1, 1})}, {"w", onnx_reals({3, 3})}}, std::move(nodes));
    model.producer = "pytorch";
    model.origins = {{"n.weight", onnx::Origin::parameter}, {"w", onnx::Origin::parameter}};
    return import_model(model).notices;
  };
  const onnx::Node first = onnx_node("LayerNormalization", {"x", "n.weight"}, {"a"});
  const onnx::Node product = onnx_node("MatMul", {"a", "w"}, {"b"});
  const auto said = Contains(HasSubstr("n.weight has one number everywhere"));
  EXPECT_THAT(notices({first, product, onnx_node("LayerNormalization", {"b", "n.weight"}, {"y"})}), said);
  EXPECT_THAT(notices({first, product}), Not(said));
  const onnx::Node constant = onnx_node("Constant", {}, {"c"}, {{"value", onnx_reals({}, {2})}});
  EXPECT_THAT(notices({constant, first, product, onnx_node("LayerNormalization", {"b", "n.weight"}, {"n"}),
                       onnx_node("Mul", {"n", "c"}, {"y"})}),
              Not(said));
}

/// x W^T + 2 x V, where V has W's numbers, transposed or not.
ImportedModel with_copy(bool turned, bool read_alike) {
  ProtoModel model({2, 3});
  model.floats("w", {3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9});
  if (turned)
    model.floats("wt", {3, 3}, {1, 4, 7, 2, 5, 8, 3, 6, 9});
  else
    model.floats("wt", {3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9});
  model.node("MatMul", {"x", "w"}, {"a"});
  if (read_alike) {
    model.node("MatMul", {"a", "wt"}, {"y"});
  } else {
    model.integers("ids", {0, 2});
    model.node("Gather", {"wt", "ids"}, {"b"});
    model.node("Add", {"a", "b"}, {"y"});
  }
  return import_model(onnx::parse_model(model.bytes(), "small"));
}

TEST(OnnxRoles, CopiesThatOthersReadAreTied) {
  const ImportedModel turned = with_copy(true, true);
  EXPECT_THAT(trained(turned), ElementsAre("w"));
  ASSERT_EQ(turned.copies.size(), 1U);
  EXPECT_TRUE(turned.copies.front().transposed);
  EXPECT_THAT(turned.notices, Contains(AllOf(HasSubstr("'wt'"), HasSubstr("transposed"))));
  EXPECT_THAT(trained(with_copy(false, false)), ElementsAre("w"));  // a head and its embedding
  // Layers made as copies of one another are alike, and apart.
  const ImportedModel alike = with_copy(false, true);
  EXPECT_THAT(trained(alike), ElementsAre("w", "wt"));
  EXPECT_THAT(alike.notices, Contains(HasSubstr("equal numbers")));
}

// The file stores a parameter once: two of equal numbers are two, whatever reads them.
TEST(OnnxRoles, ParametersByTheFilesOwnWordAreNotTied) {
  for (const bool said : {false, true}) {
    ProtoModel proto({2, 3});
    proto.floats("w", {3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9});
    proto.floats("head", {3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9});
    proto.integers("ids", {0, 2});
    proto.node("Gather", {"w", "ids"}, {"a"});
    proto.node("MatMul", {"x", "head"}, {"b"});
    proto.node("Add", {"a", "b"}, {"y"});
    onnx::Model model = onnx::parse_model(proto.bytes(), "small");
    if (said) model.origins = {{"w", onnx::Origin::parameter}, {"head", onnx::Origin::parameter}};
    EXPECT_EQ(trained(import_model(model)).size(), said ? 2U : 1U);
  }
}

TEST(OnnxRoles, MatricesOfGemmAndMatMulAreReadAlike) {
  ProtoModel model({2, 3});
  model.floats("w", {3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9});
  model.floats("w2", {3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9});
  model.node("MatMul", {"x", "w"}, {"h"});
  model.node("Gemm", {"h", "w2"}, {"y"});
  EXPECT_THAT(trained(import_model(onnx::parse_model(model.bytes(), "small"))), ElementsAre("w", "w2"));
}

// Two readers of one matrix by other shapes and ways round: y = x w' + (x w'')^T and so on, against slopes.
TEST(OnnxRoles, AMatrixSeenInSeveralWaysIsOne) {
  const std::int64_t one = 1;
  const auto check = [&](std::vector<onnx::Node> nodes, const Shape& stored) {
    const onnx::Model model = onnx_model({2, 4},
                                         {{"w", onnx_reals(stored)},
                                          {"s", onnx_integers({4, 6})},
                                          {"t", onnx_integers({6, 4})},
                                          {"zero", onnx_integers({0})}},
                                         std::move(nodes));
    const ImportedModel imported = test::import_as_numbers(model);
    EXPECT_THAT(trained(imported), ElementsAre("w"));
    test::expect_true_onnx_gradients(model);
  };
  check({onnx_node("Reshape", {"w", "s"}, {"a"}), onnx_node("MatMul", {"x", "a"}, {"y"})}, {6, 4});
  check({onnx_node("Reshape", {"w", "s"}, {"a"}), onnx_node("MatMul", {"x", "a"}, {"b"}),
         onnx_node("MatMul", {"b", "w"}, {"y"})},
        {6, 4});
  check({onnx_node("MatMul", {"x", "w"}, {"a"}), onnx_node("Reshape", {"w", "t"}, {"c"}),
         onnx_node("MatMul", {"a", "c"}, {"b"}), onnx_node("Gemm", {"b", "c"}, {"y"}, {{"transB", one}})},
        {4, 6});
  check({onnx_node("Reshape", {"w", "s"}, {"a"}), onnx_node("MatMul", {"x", "a"}, {"b"}),
         onnx_node("Reshape", {"w", "t"}, {"c"}), onnx_node("MatMul", {"b", "c"}, {"y"})},
        {2, 3, 4});
}

}  // namespace
}  // namespace poet
