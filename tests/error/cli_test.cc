// Bad input to the program: one clear line on stderr, exit 2, nothing on stdout, nothing written.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "poet/optimize/solvers/solver.h"
#include "tests/support/program.h"

namespace poet::test {
namespace {

const std::string kLinear = "--model linear --platform a72 ";

void expect_bad_input(const std::string& arguments, const std::string& message) {
  const ProgramRun run = poet(arguments);
  EXPECT_EQ(run.exit_code, 2) << arguments;
  EXPECT_EQ(run.out, "") << arguments;
  EXPECT_EQ(run.err, "poet: " + message + "\n") << arguments;
}

/// As expect_bad_input, where the rest of the line lists what there is.
void expect_bad_input_with(const std::string& arguments, const std::string& part) {
  const ProgramRun run = poet(arguments);
  EXPECT_EQ(run.exit_code, 2) << arguments;
  EXPECT_EQ(run.out, "") << arguments;
  EXPECT_EQ(std::count(run.err.begin(), run.err.end(), '\n'), 1) << run.err;
  EXPECT_TRUE(run.err.starts_with("poet: ")) << run.err;
  EXPECT_NE(run.err.find(part), std::string::npos) << run.err;
}

TEST(BadCommandLine, IsOneLine) {
  expect_bad_input(
      "",
      "a command is missing: solve, run, codegen, card, profile, verify, show, explain, compare, import, "
      "weights, sweep, serve, reproduce, pack, models, devices, completion or manual "
      "(poet --help describes them)");
  expect_bad_input("foo", "foo: unknown command (poet --help lists what there is)");
  expect_bad_input("manual foo", "foo: unknown command (poet --help lists them)");
  expect_bad_input("completion", "SHELL: is missing (poet completion --help lists what there is)");
  expect_bad_input_with("completion tcsh", "SHELL: \"tcsh\" is not one of bash, zsh, fish");
  expect_bad_input("solve --foo", "--foo: unknown option (poet solve --help lists what there is)");
  expect_bad_input("sovle", "sovle: unknown command; did you mean solve? (poet --help lists what there is)");
  expect_bad_input("help sovle",
                   "sovle: unknown command; did you mean solve? (poet --help lists what there is)");
  expect_bad_input("solve --modle=linear",
                   "--modle: unknown option; did you mean --model? (poet solve --help lists what there is)");
  expect_bad_input("verify a b", "b: unknown argument (poet verify --help lists what there is)");
  expect_bad_input_with("verify", "FILE: is missing");
  expect_bad_input_with("solve --model", "--model");
  expect_bad_input_with("solve --model linear --model vgg16", "--model");
}

TEST(BadAmounts, NameTheOption) {
  for (const std::string command : {"solve ", "explain "}) {
    expect_bad_input(
        command + kLinear + "--ram-budget 12XB",
        "--ram-budget: \"12XB\" is not an amount of RAM (try 300KiB, 2MB, 737719, 50% or least)");
    expect_bad_input(command + kLinear + "--ram-budget -5",
                     "--ram-budget: \"-5\" is not an amount of RAM (try 300KiB, 2MB, 737719, 50% or least)");
    expect_bad_input(command + kLinear + "--ram-budget 0%", "--ram-budget: \"0%\" is no percentage above 0");
    expect_bad_input(command + kLinear + "--ram-budget 150%",
                     "--ram-budget: \"150%\" is more than 100%, with which everything is kept");
  }
  const std::string budget = "solve " + kLinear + "--ram-budget 1MB ";
  expect_bad_input(budget + "--deadline soon",
                   "--deadline: \"soon\" is not a duration (try 50ms, 2s or 1.5min)");
  expect_bad_input(budget + "--runtime-budget nan",
                   "--runtime-budget: \"nan\" is not a factor (try 1.3; it must be finite and > 0)");
  expect_bad_input(budget + "--runtime-budget 1.3 --deadline 2s",
                   "--deadline: cannot be combined with --runtime-budget: give one of them");
  expect_bad_input(budget + "--steps 5", "--steps: needs --total-deadline: the time for all of them");
  expect_bad_input(budget + "--batch-size 0", "--batch-size: \"0\" is not a whole number >= 1");
  expect_bad_input(budget + "--gap 200%", "--gap: \"200%\" must be from 0 to 1, or 0% to 100%");
  expect_bad_input(budget + "--op-limit 10", "--op-limit: the training step has 45 ops, more than 10");
  expect_bad_input("solve --check " + kLinear + "--op-limit 10",
                   "--op-limit: the training step has 45 ops, more than 10");
  expect_bad_input(budget + "--time-limit 0", "--time-limit: \"0\" must be a finite time > 0");
  expect_bad_input(budget + "--threads 0", "--threads: \"0\" is not a whole number >= 1");
  expect_bad_input(budget + "--max-bytes-written x",
                   "--max-bytes-written: \"x\" is not an amount of bytes (try 300KiB, 2MB or 737719)");
}

TEST(BadComparison, NamesTheOption) {
  const std::string budget = "compare " + kLinear + "--ram-budget 1MB ";
  expect_bad_input(
      "compare " + kLinear + "--ram-budget 3GiB",
      "--ram-budget: 3 GiB is more than the 2 GiB of RAM that a72 has; --beyond-device-ram plans "
      "for it all the same");
  expect_bad_input_with(budget + "--methods lru",
                        "--methods: unknown method \"lru\" (known: checkpoint-all, ");
  expect_bad_input_with(budget + "--methods dtr,,pofo", "--methods: has an empty item");
  expect_bad_input_with(budget + "--methods chekmate", "unknown method \"chekmate\"; did you mean checkmate");
  expect_bad_input(budget + "--methods DTR,capuchin,dtr", "--methods: names dtr twice");
  expect_bad_input(budget + "--methods dtr,capuchin,dtr", "--methods: names dtr twice");
  expect_bad_input_with(budget + "--methods", "--methods");
  expect_bad_input(budget + "--csv /nonexistent/x.csv", "--csv: no such folder: /nonexistent");
  expect_bad_input(budget + "--deadline 0", "--deadline: \"0\" must be a finite time > 0");
}

TEST(BadNames, SayWhatMayBeMeant) {
  const std::string solve = "solve " + kLinear + "--ram-budget 1MB ";
  expect_bad_input(solve + "--optimizer adma",
                   "--optimizer: \"adma\" is not one of sgd, momentum, adam, adamw; did you mean adam?");
  expect_bad_input(solve + "--semantics devise",
                   "--semantics: \"devise\" is not one of device, staged, published; did you mean device?");
  expect_bad_input(solve + "--order bets", "--order: \"bets\" is not one of given, best; did you mean best?");
  expect_bad_input_with("manual sovle", "sovle: unknown command; did you mean solve? (");
  expect_bad_input_with("completion zhs", "did you mean zsh?");
  expect_bad_input_with("run " + kLinear + "--kernels leen", "did you mean lean?");
}

TEST(BadNames, NoNameIsBadForItsCase) {
  const std::string solve = "solve --quiet " + kLinear + "--ram-budget 1MB ";
  for (const char* options : {"--optimizer ADAM --semantics Device", "--solver CBC --order Given",
                              "--persistent Resident --split OFF", "--precision FP32"})
    EXPECT_EQ(poet(solve + options).exit_code, 0) << options;
  EXPECT_EQ(poet("manual SOLVE").exit_code, 0);
  EXPECT_EQ(poet("completion Bash").exit_code, 0);
  EXPECT_EQ(poet("compare --quiet " + kLinear + "--ram-budget 1MB --methods Checkpoint_All").exit_code, 0);
}

TEST(BadSizes, NameTheOption) {
  expect_bad_input_with("solve " + kLinear + "--ram-budget 1MB --batch-size 99999999999",
                        "--batch-size: 99999999999 is too large: op 0 \"input\"");
}

TEST(BadNames, ListWhatThereIs) {
  expect_bad_input_with("solve --model nonet --platform a72 --ram-budget 1MB", "resnet18_cifar");
  expect_bad_input_with("solve --model nonet --platform a72 --ram-budget 1MB", "nonet");
  expect_bad_input_with("solve --model linear --platform zx81 --ram-budget 1MB", "zx81");
  expect_bad_input_with("solve --model linear --platform zx81 --ram-budget 1MB", "jetsontx2");
  expect_bad_input_with("solve --model linear --platform none/x.json --ram-budget 1MB", "none/x.json");
  expect_bad_input_with("devices zx81", "jetsontx2");
  expect_bad_input("solve " + kLinear + "--ram-budget 1MB --semantics real",
                   "--semantics: \"real\" is not one of device, staged, published");
  expect_bad_input("solve " + kLinear + "--ram-budget 1MB --optimizer lion",
                   "--optimizer: \"lion\" is not one of sgd, momentum, adam, adamw");
  expect_bad_input("solve " + kLinear + "--ram-budget 1MB --persistent maybe",
                   "--persistent: \"maybe\" is not one of auto, resident, excluded");
  expect_bad_input("solve " + kLinear + "--ram-budget 1MB --solver gurobi",
                   "--solver: \"gurobi\" is not one of cbc, highs, file");
  if (!has_solver(Solver::highs))
    expect_bad_input_with("solve " + kLinear + "--ram-budget 1MB --solver highs",
                          "--solver: this build has no HiGHS");
  expect_bad_input("solve " + kLinear + "--ram-budget 1MB --formulation loose",
                   "--formulation: \"loose\" is not one of tight, published");
  expect_bad_input("solve " + kLinear + "--ram-budget 1MB --formulation published",
                   "--formulation: published is for --semantics published only");
  expect_bad_input_with("solve " + kLinear + "--ram-budget 1MB --trainable conv*",
                        "matches none of the 12 parameters");
  expect_bad_input("solve --ram-budget 1MB",
                   "--model: is missing, or --onnx or --instance with a file: there is nothing to schedule");
  expect_bad_input("solve --model linear --ram-budget 1MB",
                   "--platform: is needed with --model: which device (poet devices lists them)");
}

TEST(OnnxOptions, ContradictionsAndBadShapes) {
  const std::string budget = "solve --platform a72 --ram-budget 1MB ";
  expect_bad_input(budget + "--onnx x.onnx --model linear",
                   "--onnx: cannot be combined with --model: each names a network");
  expect_bad_input("solve --ram-budget 1MB --onnx x.onnx --instance x.json",
                   "--instance: cannot be combined with --onnx: an instance holds its graph");
  expect_bad_input("solve --ram-budget 1MB --onnx x.onnx",
                   "--platform: is needed with --onnx: which device (poet devices lists them)");
  expect_bad_input(
      budget + "--onnx x.onnx --semantics published",
      "--semantics: of an ONNX file only device: the paper's rules come with published instances");
  expect_bad_input(budget + "--onnx x.onnx --sequence-length 8",
                   "--sequence-length: is for built-in networks; --input-shape sets the inputs of --onnx");
  expect_bad_input(budget + "--model linear --input-shape x=1x3",
                   "--input-shape: is for the inputs of --onnx FILE");
  expect_bad_input(budget + "--onnx x.onnx --input-shape 1x3",
                   "--input-shape: \"1x3\" is not NAME=1x3x224x224");
  expect_bad_input(budget + "--onnx x.onnx --input-shape x=1x0",
                   "--input-shape: \"0\" is not a whole number >= 1");
  expect_bad_input(budget + "--onnx x.onnx --input-shape x=1 --input-shape x=2",
                   "--input-shape: two shapes for \"x\"");
  expect_bad_input("import none.onnx", "none.onnx: is no readable file");
  expect_bad_input("import none.onnx --platform a72", "--platform: is for the instance that -o writes");
}

TEST(FixedGraphs, RefuseOptionsThatWouldChangeThem) {
  for (const std::string semantics : {"published", "staged"}) {
    for (const std::string option :
         {"--batch-size 2", "--optimizer adam", "--trainable fc*", "--persistent excluded"}) {
      const std::string name = option.substr(0, option.find(' '));
      expect_bad_input(
          fmt::format("solve --semantics {} {} --ram-budget 1MB {}", semantics, kLinear, option),
          fmt::format("{}: {} semantics are for the published instances, whose graphs and costs are fixed "
                      "(batch 1, parameters not counted); leave this out or use device semantics",
                      name, semantics));
    }
  }
  expect_bad_input_with("solve --semantics published --model linear --platform jetsontx2 --ram-budget 1MB",
                        "no published instance of linear on jetsontx2");
  EXPECT_EQ(
      poet("solve --quiet --semantics published " + kLinear + "--ram-budget 1MB --batch-size 1").exit_code,
      0);
}

TEST(BadOutput, IsRefusedBeforeTheWork) {
  const TemporaryFolder folder;
  expect_bad_input("solve " + kLinear + "--ram-budget 1MB --schedule-out " + folder.file("no/such/s.json"),
                   "--schedule-out: no such folder: " + folder.file("no/such"));
  expect_bad_input("solve " + kLinear + "--ram-budget 1MB --schedule-out " + folder.file(""),
                   "--schedule-out: \"" + folder.file("") + "\" is not the name of a file");
  expect_bad_input("solve " + kLinear + "--ram-budget 1MB --schedule-out /dev/null",
                   "--schedule-out: \"/dev/null\" is not a regular file");
  EXPECT_TRUE(folder.empty());
}

/// An instance file of two ops; the arguments are JSON as it stands, right or wrong.
std::string two_ops(const std::string& deps_of_first, const std::string& bytes, const std::string& joules) {
  const auto node = [&](const std::string& name, const std::string& deps) {
    nlohmann::ordered_json json = nlohmann::ordered_json::object();
    json["name"] = name;
    json["backward"] = false;
    for (const std::string figure :
         {"runtime_seconds", "page_in_seconds", "page_out_seconds", "page_in_joules", "page_out_joules"}) {
      json[figure] = 1;
    }
    std::string text = json.dump();
    text.pop_back();  // the closing brace
    text += ", \"deps\": [" + deps + "], \"ram_bytes\": " + bytes;
    text += ", \"compute_joules\": " + joules + "}";
    return text;
  };
  return R"({"format": 1, "name": "two", "nodes": [)" + node("a", deps_of_first) + "," + node("b", "0") +
         "]}";
}

TEST(BadInstance, NamesFileAndPlace) {
  const TemporaryFolder input;
  const TemporaryFolder output;
  const auto expect_refused = [&](const std::string& name, const std::string& text, const std::string& part) {
    const std::string file = input.write(name, text);
    const std::string out = " --schedule-out " + output.file("s.json");
    expect_bad_input_with("solve --ram-budget 100 --instance " + file + out, file + ": " + part);
    expect_bad_input_with("explain --ram-budget 100 --instance " + file, file + ": " + part);
    EXPECT_TRUE(output.empty()) << "something was written";
  };
  expect_refused("malformed.json", R"({"format": 1, "nodes": [)", "line 1");
  expect_refused("empty.json", "", "line 1");
  expect_refused("cyclic.json", two_ops("1", "4", "1"), "/nodes/0/deps/0");
  expect_refused("negative.json", two_ops("", "-4", "1"), "/nodes/0/ram_bytes");
  expect_refused("nan.json", two_ops("", "4", "NaN"), "line 1");
  expect_refused("null.json", two_ops("", "4", "null"), "/nodes/0/compute_joules");
  expect_refused("huge.json", two_ops("", "4", "1e999"), "line 1");
  expect_bad_input_with("solve --ram-budget 100 --instance " + input.file("absent.json"),
                        "absent.json: no such file");
  expect_bad_input_with("verify " + input.file("absent.json"), "absent.json: no such file");
  expect_bad_input_with("verify " + input.file("malformed.json"), "malformed.json: line 1");

  const std::string good = input.write("good.json", two_ops("", "4", "1"));
  EXPECT_EQ(poet("solve --quiet --ram-budget 100 --instance " + good).exit_code, 0);
  expect_bad_input_with("solve --ram-budget 100 --platform a72 --instance " + good, "--platform");
  expect_bad_input_with("solve --ram-budget 100 --batch-size 1 --instance " + good, "--batch-size");
  expect_bad_input_with("solve --ram-budget 100 --model linear --instance " + good,
                        "--instance: cannot be combined with --model");
  expect_bad_input_with("verify " + good, good + ": ");  // an instance is no schedule
}

}  // namespace
}  // namespace poet::test
