// poet run as a user has it: whatever the plan, the budget and the storage, the same training bit for bit;
// what it prints, writes and reads back.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "poet/runtime/storage/page_cipher.h"
#include "poet/runtime/weights/safetensors.h"
#include "tests/support/background.h"
#include "tests/support/program.h"
#include "tests/support/proto_model.h"
#include "tests/support/real_faults.h"
#include "tests/support/training.h"

namespace poet::test {
namespace {

using Json = nlohmann::ordered_json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

/// Plans of the small network, made once.
class Run : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    plans_ = std::make_unique<TemporaryFolder>();
    make_plan(kSmallCnn + kFastSearch + kPlenty, plan("all"));
    make_plan(kSmallCnn + kFastSearch + kScarce, plan("scarce"));
  }
  static void TearDownTestSuite() { plans_.reset(); }

  static std::string plan(const std::string& name) { return plans_->file(name); }
  [[nodiscard]] std::string file(const std::string& name) const { return folder_.file(name); }
  [[nodiscard]] std::string checkpoint(const std::string& name) const {
    return " --checkpoint " + folder_.file(name) + " ";
  }

  TemporaryFolder folder_;

 private:
  static std::unique_ptr<TemporaryFolder> plans_;
};
std::unique_ptr<TemporaryFolder> Run::plans_;

TEST_F(Run, SolvesFirstAndAnswersWithBoth) {
  const Json json = trained(kSmallCnn + kFastSearch + kScarce + "--steps 4");
  for (const char* field : {"format",
                            "energy_joules",
                            "bound_joules",
                            "gap",
                            "overhead",
                            "compute_joules",
                            "page_in_joules",
                            "page_out_joules",
                            "idle_joules",
                            "baseline_joules",
                            "runtime_seconds",
                            "peak_ram_bytes",
                            "ram_budget_bytes",
                            "persistent_bytes",
                            "recomputations",
                            "page_ins",
                            "page_outs",
                            "bytes_written",
                            "ops",
                            "values",
                            "solve_seconds",
                            "batch_size",
                            "arena_bytes",
                            "seed",
                            "first_step",
                            "steps"}) {
    EXPECT_TRUE(json.contains(field) && json[field].is_number()) << field;
  }
  EXPECT_THAT(json["status"], ::testing::AnyOf("optimal", "feasible"));
  EXPECT_EQ(json["model"], "resnet14_cifar");
  EXPECT_EQ(json["platform"], "a72");
  EXPECT_EQ(json["semantics"], "device");
  EXPECT_EQ(json["end"], "done");
  EXPECT_EQ(json["losses"].size(), 4U);
  const Json& measured = json["measured"];
  for (const char* field :
       {"step_seconds", "fastest_step_seconds", "slowest_step_seconds", "stalled_seconds", "wall_seconds",
        "arena_high_water_bytes", "persistent_bytes", "workspace_outside_plan_bytes", "excluded_bytes",
        "process_peak_bytes", "process_outside_plan_bytes", "bytes_written", "bytes_read", "writing_seconds",
        "reading_seconds"}) {
    EXPECT_TRUE(measured.contains(field) && measured[field].is_number()) << field;
  }
  EXPECT_GT(json["page_ins"], 0);
  EXPECT_GT(json["recomputations"], 0);
  // What was planned is what happened: bytes out per step, RAM, and every kernel's workspace within it.
  EXPECT_EQ(measured["bytes_written"], json["bytes_written"]);
  EXPECT_GE(measured["bytes_read"].get<std::int64_t>(), 1);
  EXPECT_EQ(measured["persistent_bytes"], json["persistent_bytes"]);
  EXPECT_EQ(measured["workspace_outside_plan_bytes"], 0);
  EXPECT_LE(measured["arena_high_water_bytes"], json["arena_bytes"]);
  EXPECT_LE(json["arena_bytes"].get<std::int64_t>() + json["persistent_bytes"].get<std::int64_t>(),
            2'200'000);
  int runs = 0;
  int again = 0;
  for (const Json& kind : measured["operators"]) {
    runs += kind["runs"].get<int>();
    again += kind["recomputations"].get<int>();
  }
  EXPECT_EQ(runs, json["ops"].get<int>() + again);
  EXPECT_EQ(again, json["recomputations"]);
}

TEST_F(Run, NoBudgetDecidesBits) {
  const Json all = trained(plan("all") + " --steps 8" + checkpoint("all"));
  ASSERT_EQ(all["page_ins"], 0);
  ASSERT_EQ(all["recomputations"], 0);
  const std::string expected = file_text(file("all"));
  const auto expect_same = [&](const std::string& options, bool pages, bool recomputes) {
    SCOPED_TRACE(options);
    const Json json = trained(options + " --steps 8" + checkpoint("other"));
    EXPECT_EQ(json["page_ins"] > 0, pages) << json["page_ins"];
    EXPECT_EQ(json["recomputations"] > 0, recomputes) << json["recomputations"];
    EXPECT_EQ(json["losses"], all["losses"]);
    EXPECT_EQ(file_text(file("other")), expected);
    EXPECT_EQ(json["measured"]["storage"].is_null(), !pages);
  };
  expect_same(plan("scarce"), true, true);
  const std::string network = "--model resnet14_cifar --batch-size 2" + kFastSearch;
  expect_same(network + "--platform a72 --no-remat" + kScarce, true, false);
  expect_same(network + "--platform jetsontx2 --no-paging --ram-budget 2.8MB", false, true);
  expect_same(network + "--platform m4 --beyond-device-ram --no-remat --ram-budget 2.4MB", true, false);
}

TEST_F(Run, ThePlanThatWasSolvedForCanBeRunAgain) {
  const Json first = trained(kSmallCnn + kFastSearch + kScarce + "--steps 3 --plan-out " + file("p"));
  const Json second = trained(file("p") + " --steps 3");
  EXPECT_EQ(first["losses"], second["losses"]);
  for (const char* field : {"arena_bytes", "recomputations", "page_ins", "energy_joules", "peak_ram_bytes"})
    EXPECT_EQ(first[field], second[field]) << field;
  // A plan knows nothing of its search.
  EXPECT_FALSE(second.contains("status"));
}

TEST_F(Run, TheSeedDecidesAndNothingElse) {
  const std::string run = plan("all") + " --steps 4 ";
  const Json zero = trained(run);
  EXPECT_EQ(trained(run)["losses"], zero["losses"]);
  EXPECT_EQ(trained(run + "--seed 0")["losses"], zero["losses"]);
  EXPECT_EQ(trained(run + "--threads 1 --kernels fast")["losses"], zero["losses"]);
  const Json one = trained(run + "--seed 1");
  EXPECT_NE(one["losses"], zero["losses"]);
  EXPECT_EQ(one["seed"], 1);
  EXPECT_NE(one["losses"], trained(run + "--seed 18446744073709551615")["losses"]);
}

TEST_F(Run, EveryKindOfKernelTrains) {
  const Json fast = trained(plan("scarce") + " --steps 3");
  for (const char* kernels : {"lean", "reference"}) {
    const Json other = trained(plan("scarce") + " --steps 3 --kernels " + kernels);
    // Other bits, the same numbers.
    for (int step = 0; step < 3; ++step)
      EXPECT_NEAR(other["losses"][step].get<double>(), fast["losses"][step].get<double>(), 1e-3);
    EXPECT_NE(other["kernels"], fast["kernels"]);
  }
}

TEST_F(Run, MixedPrecisionIsPlannedForAndTold) {
  const std::string network = kSmallCnn + kFastSearch;
  const std::string mixed = network + "--precision bf16-mixed --kernels lean ";
  const Json roomy = trained(mixed + kPlenty + " --steps 6 --plan-out " + file("p") + checkpoint("roomy"));
  const Json whole = trained(network + "--kernels lean " + kPlenty + " --steps 6" + checkpoint("whole"));
  EXPECT_EQ(roomy["precision"], "bf16-mixed");
  EXPECT_EQ(whole["precision"], "fp32");
  EXPECT_LT(roomy["arena_bytes"].get<double>(), 0.8 * whole["arena_bytes"].get<double>());
  EXPECT_NE(roomy["losses"], whole["losses"]);
  for (int step = 0; step < 6; ++step)
    EXPECT_NEAR(roomy["losses"][step].get<double>(), whole["losses"][step].get<double>(), 0.05);

  // The same bits in less RAM.
  const auto less = static_cast<std::int64_t>(0.8 * roomy["peak_ram_bytes"].get<double>());
  const Json scarce = trained(mixed + fmt::format("--ram-budget {}B --steps 6", less) + checkpoint("scarce"));
  EXPECT_GT(scarce["page_ins"].get<int>() + scarce["recomputations"].get<int>(), 0);
  EXPECT_EQ(scarce["losses"], roomy["losses"]);
  EXPECT_EQ(file_text(file("scarce")), file_text(file("roomy")));

  // Masters are float32, so either kind of run goes on from the other's checkpoint, and says so.
  const ProgramRun on = poet("run " + file("p") + " --quiet --steps 8 --resume " + file("whole"));
  EXPECT_EQ(on.exit_code, 0) << on.err;
  EXPECT_THAT(on.out, HasSubstr("Precision     mixed: activations are stored as bfloat16"));
  EXPECT_THAT(on.out, HasSubstr("precision differs from the checkpoint's: bf16-mixed, before fp32"));

  const ProgramRun firmware = poet("codegen " + file("p") + " -o " + file("firmware"));
  EXPECT_EQ(firmware.exit_code, 0) << firmware.err;
}

TEST_F(Run, ResumingIsGoingOn) {
  const std::string adam = kSmallCnn + kFastSearch + "--ram-budget 3MB --optimizer adam --seed 3 ";
  const Json whole = trained(adam + "--steps 20 --plan-out " + file("p") + checkpoint("whole"));
  const Json half = trained(file("p") + " --seed 3 --steps 10" + checkpoint("half"));
  const Json rest = trained(file("p") + " --steps 20 --resume " + file("half") + checkpoint("rest"));
  EXPECT_EQ(rest["first_step"], 11);
  EXPECT_EQ(rest["seed"], 3);
  Json joined = half["losses"];
  for (const Json& loss : rest["losses"]) joined.push_back(loss);
  EXPECT_EQ(joined, whole["losses"]);
  EXPECT_EQ(file_text(file("rest")), file_text(file("whole")));
  // And onto itself.
  trained(file("p") + " --steps 20 --resume " + file("half") + checkpoint("half"));
  EXPECT_EQ(file_text(file("half")), file_text(file("whole")));
}

TEST_F(Run, ResumingGoesOnWithDropout) {
  const std::string bert =
      "--model bert_tiny --batch-size 2 --sequence-length 8 --platform a72" + kFastSearch;
  trained(bert + "--ram-budget 1GB --steps 6 --plan-out " + file("p") + checkpoint("whole"));
  trained(file("p") + " --steps 3" + checkpoint("half"));
  trained(file("p") + " --steps 6 --resume " + file("half") + checkpoint("half"));
  EXPECT_EQ(file_text(file("half")), file_text(file("whole")));
}

TEST_F(Run, LeanKernelsAreASuggestionThatWasTried) {
  const std::string arguments =
      "run --quiet --json --model linear --platform m4 --ram-budget 300KB --beyond-device-ram --steps 1";
  const ProgramRun fast = poet(arguments);
  if (fast.exit_code == 0) GTEST_SKIP() << "these kernels need no workspace";
  EXPECT_EQ(fast.exit_code, 1);
  const Json why = fast.json()["explanation"];
  EXPECT_THAT(why["reason"].get<std::string>(),
              HasSubstr(" of workspace beside parameters, its operands and results"));
  EXPECT_THAT(why["way_out"].dump(), HasSubstr("--kernels lean"));
  EXPECT_EQ(poet(arguments + " --kernels lean").exit_code, 0);
}

TEST_F(Run, CheckpointsAreWrittenOnTheWay) {
  trained(plan("all") + " --steps 6" + checkpoint("six"));
  // Every 4 and at the end: the last is the one of 6.
  trained(plan("all") + " --steps 6 --checkpoint-every 4" + checkpoint("every"));
  EXPECT_EQ(file_text(file("every")), file_text(file("six")));
  const runtime::SafetensorsFile opened(file("every"));
  EXPECT_EQ(opened.metadata().at("step"), "6");
  EXPECT_EQ(opened.metadata().at("format"), "poet checkpoint 1");
  EXPECT_THAT(names_in(folder_.file("")), ::testing::UnorderedElementsAre("six", "every"));
}

TEST_F(Run, WhereItPagesToDecidesNothing) {
  const Json plain = trained(plan("scarce") + " --steps 3" + checkpoint("plain"));
  std::filesystem::create_directory(file("pages"));
  const auto expect_same = [&](const std::string& options) {
    SCOPED_TRACE(options);
    const Json json = trained(plan("scarce") + " --steps 3" + options + checkpoint("other"));
    EXPECT_EQ(json["losses"], plain["losses"]);
    EXPECT_EQ(file_text(file("other")), file_text(file("plain")));
    EXPECT_THAT(names_in(file("pages")), IsEmpty());
    return json;
  };
  expect_same(" --storage " + file("pages"));
  expect_same(" --storage " + file("pages/named"));
  if (!runtime::can_encrypt()) return;
  const Json secret = expect_same(" --encrypt --storage " + file("pages/named"));
  EXPECT_THAT(secret["measured"]["storage"].get<std::string>(), HasSubstr("AES-256-GCM"));
}

TEST_F(Run, LossesAreWrittenAsTheyAreTold) {
  const Json json = trained(plan("all") + " --steps 5 --loss-out " + file("loss.csv"));
  std::istringstream csv(file_text(file("loss.csv")));
  std::string line;
  std::getline(csv, line);
  EXPECT_EQ(line, "step,loss,learning_rate,seconds");
  for (int step = 0; step < 5; ++step) {
    ASSERT_TRUE(std::getline(csv, line));
    EXPECT_THAT(line, StartsWith(fmt::format("{},", step + 1)));
    EXPECT_EQ(std::stof(line.substr(line.find(',') + 1)), json["losses"][step].get<float>());
    EXPECT_THAT(line, HasSubstr(",0.01,"));  // the rate of SGD
  }
  EXPECT_FALSE(std::getline(csv, line));
  trained(plan("all") + " --steps 2 --loss-out " + file("loss.svg"));
  EXPECT_THAT(file_text(file("loss.svg")), HasSubstr("<svg"));
}

TEST_F(Run, TheTextSaysWhatHappened) {
  const ProgramRun run = train(plan("scarce") + " --steps 12 --report" + checkpoint("c"));
  for (const char* part :
       {"resnet14_cifar, 183 ops, 175,258 parameters, batch 2", "synthetic, 1,024 samples", "12 steps in ",
        "(mean of the first and the last 1 step)", "▁", "a step (median of 11, ", "planned ",
        "2.2 MB allowed", " out and ", "XXH3 checksums", "Recomputed", "Energy", "Kernels"}) {
    EXPECT_THAT(run.out, HasSubstr(part));
  }
  // Side by side, and by operator.
  for (const char* part : {"planned", "measured", "RAM of the process", "time of a step", "written per step",
                           "conv2d_backward_weight", "again"}) {
    EXPECT_THAT(run.out, HasSubstr(part));
  }
  EXPECT_THAT(run.out, HasSubstr("Checkpoint    " + file("c")));
  EXPECT_EQ(run.err, "");
  EXPECT_THAT(train(plan("scarce") + " --steps 1").out, Not(HasSubstr("side by side")));
}

TEST_F(Run, TrainedWeightsGoOutAndComeBackAsOnnx) {
  trained(plan("all") + " --steps 5 --onnx-out " + file("net.onnx") + checkpoint("c"));
  const std::string begin = plan("all") + " --steps 2 --seed 9 --weights ";
  const Json by_checkpoint = trained(begin + file("c"));
  EXPECT_EQ(trained(begin + file("net.onnx"))["losses"], by_checkpoint["losses"]);
  EXPECT_NE(trained(plan("all") + " --steps 2 --seed 9")["losses"], by_checkpoint["losses"]);
  // And without a plan.
  const std::string onnx = "--onnx " + file("net.onnx") + " --platform a72 --batch-size 2 --steps 2 --seed 9";
  EXPECT_EQ(trained(onnx + kFastSearch + kPlenty)["losses"], by_checkpoint["losses"]);
}

// W of x @ W, whose square shape would not tell: through the plan into the checkpoint, and on from there.
TEST_F(Run, CheckpointsHaveTheMatricesOfTheOnnxFile) {
  ProtoModel model({2, 2});
  model.floats("w", {2, 2}, {0.1F, 0.2F, 0.3F, 0.4F});
  model.node("MatMul", {"x", "w"}, {"y"});
  folder_.write("square.onnx", model.bytes());
  const std::string solved =
      "--onnx " + file("square.onnx") + " --platform a72 --ram-budget 1MB --plan-out " + file("square.plan");
  trained(solved + " --steps 1 --learning-rate 1e-12" + checkpoint("one"));
  const runtime::SafetensorsFile one(file("one"));
  EXPECT_EQ(one.metadata().at("format"), "poet checkpoint 2");
  std::vector<float> w(4);
  one.read("w", DType::float32, {2, 2}, reinterpret_cast<std::byte*>(w.data()));
  EXPECT_THAT(w, ElementsAre(0.1F, 0.2F, 0.3F, 0.4F));

  const std::string run = file("square.plan") + " --learning-rate 0.5 ";
  const std::string start = run + "--weights " + file("square.onnx");
  trained(start + " --steps 2" + checkpoint("two"));
  trained(start + " --steps 1" + checkpoint("half"));
  trained(run + "--steps 2 --resume " + file("half") + checkpoint("resumed"));
  EXPECT_EQ(file_text(file("resumed")), file_text(file("two")));
  trained(run + "--steps 2 --weights " + file("one") + checkpoint("from_one"));
  const runtime::SafetensorsFile two(file("two")), from_one(file("from_one"));
  std::vector<float> expected(4);
  two.read("w", DType::float32, {2, 2}, reinterpret_cast<std::byte*>(expected.data()));
  from_one.read("w", DType::float32, {2, 2}, reinterpret_cast<std::byte*>(w.data()));
  EXPECT_EQ(w, expected);
}

// A state dict has no constants, and may be a part of the network: the ONNX file has the rest.
TEST_F(Run, SafetensorsComeFirstThenTheOnnxFile) {
  ProtoModel model({2, 3});
  const std::vector<float> w = {0.1F, 0.2F, 0.3F, 0.4F, 0.5F, 0.6F, 0.7F, 0.8F, 0.9F};
  const std::vector<float> other = {1, -1, 0.5F, 0.25F, 2, -2, 0, 0.125F, 3};
  model.floats("w", {3, 3}, w);
  model.floats("v", {3, 2}, {0.3F, -0.2F, 0.1F, 0.4F, -0.5F, 0.6F});
  model.constant("c", {3}, {5, 6, 7});
  model.node("MatMul", {"x", "w"}, {"h"});
  model.node("Mul", {"h", "c"}, {"m"});
  model.node("MatMul", {"m", "v"}, {"y"});
  folder_.write("part.onnx", model.bytes());
  model.graph().mutable_initializer(0)->mutable_raw_data()->assign(
      reinterpret_cast<const char*>(other.data()), other.size() * sizeof(float));
  folder_.write("whole.onnx", model.bytes());
  runtime::write_safetensors(
      file("w.safetensors"),
      {{"w", DType::float32, {3, 3}, reinterpret_cast<const std::byte*>(other.data())}}, {});
  const std::string rest = " --platform a72 --ram-budget 1MB --steps 2 --checkpoint ";
  trained("--onnx " + file("whole.onnx") + rest + file("whole"));
  const Json json =
      trained("--onnx " + file("part.onnx") + " --weights " + file("w.safetensors") + rest + file("part"));
  EXPECT_THAT(json["notices"].dump(),
              HasSubstr("1 of " + file("w.safetensors") + ", 1 of " + file("part.onnx") + ", 0 seeded"));
  for (const char* name : {"w", "v"}) {
    std::vector<float> found(9), expected(9);
    const runtime::SafetensorsFile part(file("part")), whole(file("whole"));
    const Shape shape = {3, name == std::string("w") ? 3 : 2};
    part.read(name, DType::float32, shape, reinterpret_cast<std::byte*>(found.data()));
    whole.read(name, DType::float32, shape, reinterpret_cast<std::byte*>(expected.data()));
    EXPECT_EQ(found, expected) << name;
  }
}

// A ConvTranspose is something that poet reads and has no node of its own for.
TEST_F(Run, APlanOfAnOnnxNetworkTakesItsWeightsAndGoesOutByItsNodes) {
  ProtoModel model({2, 3, 8, 8});
  std::vector<float> filters(3 * 4 * 2 * 2), weight(4 * 16 * 16 * 5);
  for (std::size_t i = 0; i < filters.size(); ++i) filters[i] = 0.01F * static_cast<float>(i % 7) - 0.02F;
  for (std::size_t i = 0; i < weight.size(); ++i) weight[i] = 0.001F * static_cast<float>(i % 11) - 0.004F;
  model.floats("up.weight", {3, 4, 2, 2}, filters);
  model.floats("up.bias", {4}, {0.1F, 0.2F, -0.1F, 0});
  model.floats("fc.weight", {5, 4 * 16 * 16}, weight);
  ::onnx::AttributeProto& strides =
      *model.node("ConvTranspose", {"x", "up.weight", "up.bias"}, {"u"}).add_attribute();
  strides.set_name("strides");
  strides.set_type(::onnx::AttributeProto::INTS);
  strides.add_ints(2);
  strides.add_ints(2);
  model.node("Relu", {"u"}, {"r"});
  model.node("Flatten", {"r"}, {"f"});
  ProtoModel::set(model.node("Gemm", {"f", "fc.weight"}, {"y"}), "transB", 1);
  auto& shape = *model.graph().mutable_output(0)->mutable_type()->mutable_tensor_type()->mutable_shape();
  shape.mutable_dim()->DeleteSubrange(2, 2);
  folder_.write("up.onnx", model.bytes());
  const std::string network = "--onnx " + file("up.onnx");
  const std::string from_network =
      network + " --platform a72 --ram-budget 1MB" + kFastSearch + "--plan-out " + file("up.plan");

  const std::string go_on = " --steps 3 --seed 9 ";
  const Json direct = trained(from_network + go_on + "--onnx-out " + file("direct.onnx"));
  const Json by_weights =
      trained(file("up.plan") + go_on + "--weights " + file("up.onnx") + " --onnx-out " + file("w.onnx"));
  const Json by_network = trained(file("up.plan") + go_on + network + " --onnx-out " + file("n.onnx"));
  EXPECT_EQ(by_weights["losses"], direct["losses"]);
  EXPECT_EQ(by_network["losses"], direct["losses"]);
  EXPECT_EQ(file_text(file("w.onnx")), file_text(file("direct.onnx")));
  EXPECT_EQ(file_text(file("n.onnx")), file_text(file("direct.onnx")));
  EXPECT_NE(file_text(file("n.onnx")), file_text(file("up.onnx")));

  // A resumed run names the file for its nodes alone.
  trained(file("up.plan") + " --steps 2 --seed 9 " + network + checkpoint("c"));
  trained(file("up.plan") + " --steps 3 --resume " + file("c") + " " + network + " --onnx-out " +
          file("r.onnx"));
  EXPECT_EQ(file_text(file("r.onnx")), file_text(file("direct.onnx")));

  // Without the file there are no nodes to write; another network's file is none of this plan's.
  const ProgramRun nameless =
      poet("run --quiet " + file("up.plan") + " --steps 1 --onnx-out " + file("x.onnx"));
  EXPECT_EQ(nameless.exit_code, 2);
  EXPECT_THAT(nameless.err, HasSubstr("is a conv_transpose2d, which poet cannot write as ONNX"));
  const ProgramRun other = poet("run --quiet " + plan("all") + " --steps 1 " + network);
  EXPECT_EQ(other.exit_code, 2);
  EXPECT_THAT(other.err,
              HasSubstr("up.onnx: is not the file that the plan was made for: the plan has a parameter"));
  EXPECT_EQ(poet("run --quiet " + file("up.plan") + " --steps 1 --loss mse").exit_code, 2);
}

TEST_F(Run, AProfileOfPartsIsForPlansOfParts) {
  const auto measured = [&](const std::string& profile, const std::string& options) {
    const ProgramRun run = poet("profile --model linear --seconds 0.1 -o " + file(profile) + options);
    EXPECT_EQ(run.exit_code, 0) << run.err;
    std::set<std::string> shapes;
    const Json measurements = Json::parse(file_text(file(profile)));
    for (const Json& op : measurements.at("overrides"))
      shapes.insert(op.at("shape_class").get<std::string>());
    return shapes;
  };
  const std::set<std::string> whole = measured("whole.json", "");
  const std::set<std::string> parts = measured("parts.json", " --split 16KiB");
  const std::string largest = "1x100,200x100,200->1x200";
  EXPECT_TRUE(whole.contains(largest)) << Json(whole);
  EXPECT_FALSE(parts.contains(largest)) << Json(parts);
  const ProgramRun solved =
      poet("solve --model linear --split 16KiB --ram-budget 128KiB --gap 1 --platform " + file("parts.json"));
  EXPECT_EQ(solved.exit_code, 0) << solved.err;
  EXPECT_THAT(poet("profile --model linear --split auto -o " + file("p.json")).err, HasSubstr("--split"));
}

TEST_F(Run, ALossThatIsNotFiniteEndsTheRun) {
  // Without a normalisation: the second step's products overflow.
  const std::string linear = "--model linear --platform a72 --ram-budget 1MB ";
  trained(linear + "--steps 1" + checkpoint("c"));
  const std::string before = file_text(file("c"));
  const std::string diverges = "run --quiet " + linear + "--learning-rate 1e30 --steps 9";
  const ProgramRun run =
      poet(diverges + checkpoint("c") + " --onnx-out " + file("n.onnx") + " --loss-out " + file("l.gp"));
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_THAT(run.out, HasSubstr("; try a smaller --learning-rate"));
  // Neither is written, so neither is named.
  EXPECT_THAT(run.out, Not(HasSubstr("Checkpoint")));
  EXPECT_THAT(run.out, Not(HasSubstr("ONNX")));
  EXPECT_FALSE(std::filesystem::exists(file("n.onnx")));
  EXPECT_TRUE(std::filesystem::exists(file("l.gp")));
  EXPECT_EQ(file_text(file("c")), before);
  const Json json = poet(diverges + " --json").json();
  EXPECT_EQ(json["end"], "not_finite");
  EXPECT_LT(json["losses"].size(), 9U);
  EXPECT_TRUE(json["losses"].back().is_null());
}

TEST_F(Run, CtrlCStopsAfterTheStepAndSavesIt) {
  const ProgramRun run = run_command({program().string(), "run", plan("scarce"), "--steps", "1000000",
                                      "--checkpoint", file("c"), "--storage", file("pages"), "--json"},
                                     "poet: step ");
  EXPECT_EQ(run.exit_code, 1) << run.err;
  EXPECT_THAT(run.err, HasSubstr("poet: stopping after this step; Ctrl-C again quits at once\n"));
  const Json json = run.json();
  EXPECT_EQ(json["end"], "interrupted");
  const auto steps = json["steps"].get<std::int64_t>();
  EXPECT_GE(steps, 1);
  EXPECT_LT(steps, 1'000'000);
  EXPECT_THAT(names_in(folder_.file("")), ElementsAre("c"));
  // The very state that a run of so many steps ends with.
  trained(plan("all") + fmt::format(" --steps {}", steps) + checkpoint("same"));
  EXPECT_EQ(file_text(file("c")), file_text(file("same")));
}

TEST_F(Run, CtrlCInTheTextToo) {
  const ProgramRun run =
      run_command({program().string(), "run", plan("all"), "--steps", "1000000"}, "poet: step ");
  EXPECT_EQ(run.exit_code, 1) << run.err;
  EXPECT_THAT(run.out, HasSubstr("by Ctrl-C after step "));
}

// From its first schedule on this problem has a plan, and is searched for much longer.
TEST_F(Run, CtrlCWhileSolvingTrainsByTheBestPlanSoFar) {
  const ProgramRun run = run_command({program().string(),
                                      "run",
                                      "--model",
                                      "resnet18_cifar",
                                      "--batch-size",
                                      "16",
                                      "--platform",
                                      "a72",
                                      "--persistent",
                                      "resident",
                                      "--split",
                                      "off",
                                      "--ram-budget",
                                      "75MB",
                                      "--gap",
                                      "0",
                                      "--time-limit",
                                      "1h",
                                      "--steps",
                                      "1",
                                      "--json"},
                                     "schedule ");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const Json json = run.json();
  EXPECT_EQ(json["losses"].size(), 1U);
  EXPECT_EQ(json["interrupted"], true);
}

}  // namespace
}  // namespace poet::test
