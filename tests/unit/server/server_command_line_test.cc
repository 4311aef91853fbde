// From an order to the program's command line: no text of a client becomes an option or a path.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "apps/server/jobs/command_line.h"
#include "apps/server/jobs/digest.h"
#include "apps/server/jobs/request.h"
#include "poet/base/error.h"
#include "poet/cost/json_reader.h"
#include "tests/support/scratch_folder.h"
#include "tests/support/server.h"

namespace poet::server {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;
using OrderJson = nlohmann::ordered_json;

const std::string kFile = digest("the file");

/// What a request's job is run as, in a folder of its own.
struct JobRun {
  test::ScratchFolder folder;
  Commandline line;

  explicit JobRun(const OrderJson& json) {
    const std::filesystem::path upload = folder.write("upload", "bytes");
    const Order order = read_request(json.dump(), {}, test::few_names(kFile, upload));
    line = command_line(order, folder.path(), [&](const std::string&) { return upload; });
  }
  [[nodiscard]] std::string in_folder(const std::string& name) const {
    return (folder.path() / name).string();
  }
};

OrderJson solve_of(const std::string& name = {}, const OrderJson& value = nullptr) {
  OrderJson json = {{"model", "linear"}, {"device", "m0"}, {"ram_budget", "24KiB"}};
  if (!name.empty()) json[name] = value;
  return json;
}

TEST(ServerCommandLine, HasEveryFieldAsOneArgument) {
  OrderJson json = solve_of("runtime_budget", 1.5);
  json["paging"] = false;
  json["remat"] = true;
  json["accumulate"] = 4;
  json["clip_norm"] = 0.5;
  json["label_smoothing"] = "10%";
  json["gap"] = "5%";
  json["time_limit"] = "10s";
  json["schedule"] = true;
  const JobRun run(json);
  EXPECT_THAT(
      run.line.arguments,
      ElementsAre("solve", "--model=linear", "--platform=m0", "--ram-budget=24576", "--runtime-budget=1.5",
                  "--accumulate=4", "--clip-norm=0.5", "--label-smoothing=0.1", "--no-paging", "--gap=0.05",
                  "--time-limit=10", "--threads=1", "--quiet", "--beyond-device-ram", "--op-limit=20000",
                  "--json", "--plan-out=" + run.in_folder("plan"),
                  "--progress-out=" + run.in_folder("progress"),
                  "--schedule-out=" + run.in_folder("schedule")));
  EXPECT_TRUE(run.line.has_plan && run.line.has_schedule);
  EXPECT_GT(run.line.most_seconds, 10);
  EXPECT_LT(run.line.most_seconds, 120);
}

TEST(ServerCommandLine, OfUploadsHasTheirFiles) {
  const std::string upload = JobRun({{"kind", "import"}, {"onnx", kFile}}).in_folder("upload");
  EXPECT_THAT(JobRun({{"kind", "import"}, {"onnx", kFile}}).line.arguments,
              ElementsAre("import", upload, "--op-limit=20000", "--json"));
  EXPECT_THAT(JobRun({{"kind", "verify"}, {"plan", kFile}}).line.arguments,
              ElementsAre("verify", upload, "--json"));
  EXPECT_THAT(JobRun({{"instance", kFile}, {"ram_budget", 1}}).line.arguments,
              Contains("--instance=" + upload));
  EXPECT_THAT(JobRun({{"kind", "import"},
                      {"onnx", kFile},
                      {"input_shapes", {{"tokens", {1, 16}}, {"image", {1, 3, 8, 8}}}}})
                  .line.arguments,
              testing::IsSupersetOf({"--input-shape=image=1x3x8x8", "--input-shape=tokens=1x16"}));
  EXPECT_THAT(JobRun({{"kind", "import"},
                      {"onnx", kFile},
                      {"input_values", {{"rate", 16000}, {"state", 0.5}}},
                      {"loss", "none"},
                      {"loss_output", "ctc,/head/aux:0"}})
                  .line.arguments,
              testing::IsSupersetOf(
                  {"--input-value=rate=16000", "--input-value=state=0.5", "--loss-output=ctc,/head/aux:0"}));
}

TEST(ServerCommandLine, OfComparisonsLastsAsLongAsItsMethods) {
  OrderJson json = solve_of("methods", {"keep-all", "chen"});
  json["kind"] = "compare";
  json["time_limit"] = 100;
  const JobRun run(json);
  EXPECT_THAT(run.line.arguments, Contains("--methods=keep-all,chen"));
  EXPECT_FALSE(run.line.has_plan);
  EXPECT_GT(run.line.most_seconds, 200);
  EXPECT_LT(run.line.most_seconds, 400);
}

TEST(ServerCommandLine, HasAProfileAsAFileOfItsFolder) {
  OrderJson profile = OrderJson::parse(read_text_file(test::repository() / "data" / "devices" / "m0.json"));
  profile["name"] = "-o../../my board\n";
  const auto taken = [&] { return JobRun(solve_of("device", profile)); };
  EXPECT_THROW((void)taken(), InputError);
  profile["name"] = "--json ../../my board";
  const JobRun run = taken();
  EXPECT_THAT(run.line.arguments, Contains("--platform=" + run.in_folder("device.json")));
  EXPECT_EQ(OrderJson::parse(read_text_file(run.folder.path() / "device.json"))["name"], profile["name"]);
}

TEST(ServerCommandLine, OfASweepHasItsFilesInItsFolder) {
  const OrderJson profile =
      OrderJson::parse(read_text_file(test::repository() / "data" / "devices" / "m0.json"));
  const JobRun other({{"kind", "sweep"},
                      {"networks", {"linear"}},
                      {"devices", {profile}},
                      {"ram", {0.5}},
                      {"methods", {"poet"}}});
  EXPECT_EQ(OrderJson::parse(read_text_file(other.folder.path() / "spec.json"))["devices"][0],
            other.in_folder("device0.json"));
  const JobRun run({{"kind", "sweep"},
                    {"networks", {"linear", {{"onnx", kFile}, {"input_shapes", {{"x", {1, 2}}}}}}},
                    {"platforms", {"m4", profile}},
                    {"ram", {0.5}},
                    {"methods", {"poet"}}});
  EXPECT_THAT(run.line.arguments,
              ElementsAre("sweep", "spec.json", "--jobs=1", "--quiet", "--json", "--store=points.sqlite",
                          "--progress-out=progress", "--op-limit=20000"));
  const OrderJson spec = OrderJson::parse(read_text_file(run.folder.path() / "spec.json"));
  EXPECT_EQ(spec["networks"][1]["onnx"], run.in_folder("upload"));
  EXPECT_EQ(spec["platforms"][1], run.in_folder("device1.json"));
  EXPECT_FALSE(spec.contains("points") || spec.contains("kind"));
  EXPECT_GT(run.line.most_seconds, 4 * 10);
}

TEST(ServerCommandLine, ChecksTheSizeOfEachFile) {
  const auto checks = [](const OrderJson& json) {
    const Order order = read_request(json.dump(), {}, test::few_names(kFile, __FILE__));
    return size_checks(order, "m0", [](const std::string& id) { return "/uploads/" + id; });
  };
  const std::string file = "/uploads/" + kFile;
  EXPECT_TRUE(checks(solve_of()).empty());
  EXPECT_TRUE(checks({{"kind", "verify"}, {"plan", kFile}}).empty());
  OrderJson onnx = solve_of("batch_size", 8);
  onnx.erase("model");
  onnx["onnx"] = kFile;
  onnx["allow_opaque"] = true;
  for (const char* kind : {"solve", "explain", "compare"}) {
    onnx["kind"] = kind;
    const std::vector<SizeCheck> found = checks(onnx);
    ASSERT_EQ(found.size(), 1);
    EXPECT_EQ(found[0].field, "/onnx");
    EXPECT_THAT(found[0].arguments, ElementsAre("solve", "--check", "--op-limit=20000", "--onnx=" + file,
                                                "--platform=m0", "--batch-size=8", "--allow-opaque"));
  }
  const std::vector<SizeCheck> of_import = checks({{"kind", "import"}, {"onnx", kFile}});
  ASSERT_EQ(of_import.size(), 1);
  EXPECT_EQ(of_import[0].field, "/onnx");
  const std::vector<SizeCheck> swept = checks(
      {{"kind", "sweep"},
       {"networks",
        {"linear", {{"onnx", kFile}, {"batch_sizes", {4, 2}}, {"loss", "mse"}}, {{"instance", kFile}}}},
       {"platforms", {"m4"}},
       {"optimizer", "adam"},
       {"batch_sizes", {16}},
       {"ram", {0.5}},
       {"methods", {"poet"}}});
  ASSERT_EQ(swept.size(), 2);
  EXPECT_EQ(swept[0].field, "/networks/1/onnx");
  EXPECT_THAT(swept[0].arguments,
              ElementsAre("solve", "--check", "--op-limit=20000", "--onnx=" + file, "--platform=m0",
                          "--batch-size=4", "--optimizer=adam", "--loss=mse"));
  EXPECT_EQ(swept[1].field, "/networks/2/instance");
  EXPECT_THAT(swept[1].arguments, ElementsAre("solve", "--check", "--op-limit=20000", "--instance=" + file));
}

/// Texts that would be something else as an argument or a file.
const std::vector<std::string>& hostile_texts() {
  static const std::vector<std::string> texts = {"--plan-out=/tmp/x",
                                                 "-o",
                                                 "--",
                                                 "..",
                                                 "../../etc/passwd",
                                                 "/etc/passwd",
                                                 "x --json",
                                                 "x\n--json",
                                                 std::string("linear\0--json", 13),
                                                 std::string(1, '\0'),
                                                 "\n",
                                                 "$(id)",
                                                 "`id`",
                                                 "a;b",
                                                 "%s%n",
                                                 std::string(100'000, 'a')};
  return texts;
}

TEST(ServerCommandLine, LetsNoTextOfAClientBeAnOptionOrAPath) {
  int taken = 0, refused = 0;
  for (const std::string& text : hostile_texts()) {
    for (const char* field :
         {"model",      "onnx",       "instance",    "device",          "ram_budget",  "runtime_budget",
          "deadline",   "batch_size", "optimizer",   "trainable",       "loss",        "persistent",
          "split",      "semantics",  "order",       "on_time",         "gap",         "time_limit",
          "threads",    "solver",     "formulation", "methods",         "kind",        "plan",
          "schedule",   "accumulate", "clip_norm",   "label_smoothing", "huber_delta", "precision",
          "loss_output"}) {
      for (const OrderJson& value : {OrderJson(text), OrderJson::array({text}), OrderJson{{"name", text}}}) {
        try {
          const JobRun run(solve_of(field, value));
          ++taken;
          const std::vector<std::string>& arguments = run.line.arguments;
          for (const std::string& each : arguments) EXPECT_EQ(each.find('\0'), std::string::npos) << field;
          // Patterns and outputs may have any names, and nothing else is taken.
          EXPECT_THAT(field, testing::AnyOf(testing::StrEq("trainable"), testing::StrEq("loss_output")))
              << text;
          EXPECT_THAT(
              arguments,
              Contains((field == std::string("trainable") ? "--trainable=" : "--loss-output=") + text));
          EXPECT_NE(text.front(), '-') << "it would do no harm, but is no name";
        } catch (const InputError& error) {
          EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << error.what();
          EXPECT_LT(std::string(error.what()).size(), 2000U) << field << " is repeated at length";
          ++refused;
        }
      }
    }
  }
  EXPECT_GT(refused, 1000);
  EXPECT_LE(taken, 6) << "of patterns and outputs";
}

TEST(ServerCommandLine, HasInputsByNamesThatAreNothingElse) {
  for (const std::string& text : hostile_texts()) {
    OrderJson json = {{"kind", "import"}, {"onnx", kFile}};
    json["input_shapes"][text] = {1, 2};
    const bool is_name = text.size() <= 256 && text.find('=') == std::string::npos &&
                         std::none_of(text.begin(), text.end(), [](char c) { return c >= 0 && c < ' '; });
    try {
      const JobRun run(json);
      EXPECT_TRUE(is_name) << text;
      EXPECT_THAT(run.line.arguments, Contains("--input-shape=" + text + "=1x2"));
    } catch (const InputError& error) {
      EXPECT_FALSE(is_name) << text << ": " << error.what();
      EXPECT_THAT(std::string(error.what()), HasSubstr("/input_shapes"));
    }
  }
}

}  // namespace
}  // namespace poet::server
