// poet run when something is wrong: what was asked for, the files, the storage, the machine. One line on
// stderr, exit code 2, and what was there before is still there.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "apps/shared/training/options.h"
#include "poet/runtime/weights/safetensors.h"
#include "tests/support/background.h"
#include "tests/support/input_error.h"
#include "tests/support/program.h"
#include "tests/support/real_faults.h"
#include "tests/support/training.h"

namespace poet::test {
namespace {

namespace fs = std::filesystem;
using ::testing::AnyOf;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

/// The diagnostic of `poet run`, without "poet: " and the line's end. Checks that it is one line, that
/// nothing is on stdout, and the exit code.
std::string run_diagnostic(const std::string& options, int exit_code = 2) {
  const ProgramRun run = poet("run --quiet " + options);
  EXPECT_EQ(run.exit_code, exit_code) << options;
  EXPECT_EQ(run.out, "") << options;
  EXPECT_THAT(run.err, StartsWith("poet: ")) << options;
  EXPECT_EQ(std::count(run.err.begin(), run.err.end(), '\n'), 1) << options << "\n" << run.err;
  return run.err.size() < 7 ? run.err : run.err.substr(6, run.err.size() - 7);
}

/// A plan that keeps everything and one that pages, and a checkpoint of three steps, made once.
class RunErrors : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    made_ = std::make_unique<TemporaryFolder>();
    const auto solve = [](const std::string& name, const std::string& options) {
      const ProgramRun run = poet("solve " + options + kFastSearch + "--plan-out " + made_->file(name));
      ASSERT_EQ(run.exit_code, 0) << run.err;
    };
    solve("plan", kSmallCnn + kPlenty);
    solve("pages", kSmallCnn + " --no-remat --persistent resident" + kScarce);
    solve("plan.json", kSmallCnn + kPlenty);
    train(made_->file("plan") + " --steps 3 --checkpoint " + made_->file("three"));
  }
  static void TearDownTestSuite() { made_.reset(); }

  static std::string plan() { return made_->file("plan"); }
  static std::string paging_plan() { return made_->file("pages"); }
  static nlohmann::ordered_json plan_json() {
    return nlohmann::ordered_json::parse(file_text(made_->file("plan.json")));
  }
  /// Of the plan after three steps.
  static std::string three() { return made_->file("three"); }

  [[nodiscard]] std::string file(const std::string& name) const { return folder_.file(name); }
  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::string> names = names_in(folder_.file(""));
    std::sort(names.begin(), names.end());
    return names;
  }

  /// The checkpoint of three steps is there, and from there it goes on as if nothing had been.
  void expect_resumable(const std::string& checkpoint) const {
    EXPECT_EQ(file_text(checkpoint), file_text(three()));
    const auto json = trained(plan() + " --steps 4 --resume " + checkpoint);
    EXPECT_EQ(json["losses"].size(), 1U);
  }

  const TemporaryFolder folder_;

 private:
  static std::unique_ptr<TemporaryFolder> made_;
};
std::unique_ptr<TemporaryFolder> RunErrors::made_;

// What was asked for.

TEST_F(RunErrors, SomethingToRunAndOnlyOne) {
  EXPECT_EQ(run_diagnostic(""), "PLAN: is missing, or --model, --onnx or --instance to solve for");
  EXPECT_EQ(run_diagnostic(plan() + " --model linear --platform a72 --ram-budget 1MB"),
            "--model: is for solving; the given plan has already been solved for");
}

struct Wrong {
  const char* options;
  const char* message;
};

TEST_F(RunErrors, EveryOptionIsChecked) {
  const Wrong wrong[] = {
      {"--steps 0", R"(--steps: "0" is not a whole number >= 1)"},
      {"--steps many", R"(--steps: "many" is not a whole number >= 1)"},
      {"--seed -1", R"(--seed: "-1" is not a whole number from 0 on)"},
      {"--seed 18446744073709551616", R"(--seed: "18446744073709551616" is not a whole number from 0 on)"},
      {"--data . --samples 8", "--samples: is for the synthetic data set, not for --data"},
      {"--samples 0", R"(--samples: "0" is not a whole number >= 1)"},
      {"--samples 1", "data set: has 1 sample, fewer than the 2 of one batch"},
      {"--weights a --resume b", "--weights: cannot be combined with --resume: a checkpoint has weights"},
      {"--checkpoint-every 3", "--checkpoint-every: needs --checkpoint FILE"},
      {"--checkpoint c --checkpoint-every 0", R"(--checkpoint-every: "0" is not a whole number >= 1)"},
      {"--validate-every 3", "--validate-every: needs --validate PATH"},
      {"--best b", "--best: needs --validate PATH"},
      {"--stop-after 3", "--stop-after: needs --validate PATH"},
      {"--validate . --validate-every 0", R"(--validate-every: "0" is not a whole number >= 1)"},
      {"--validate . --stop-after 0", R"(--stop-after: "0" is not a whole number >= 1)"},
      {"--validate . --best b.onnx",
       "--best: is a safetensors file; poet weights puts it into an ONNX file afterwards"},
      {"--checkpoint c.onnx",
       "--checkpoint: is a safetensors file; poet weights puts it into an ONNX file afterwards"},
      {"--onnx-out o.safetensors", "--onnx-out: is an ONNX file; --checkpoint writes safetensors"},
      {"--validate . --best b --checkpoint b", "--checkpoint: must name another file than --best"},
      {"--learning-rate fast", R"(--learning-rate: "fast" is not a number)"},
      {"--learning-rate 1e999", R"(--learning-rate: "1e999" is not a number)"},
      {"--learning-rate 0", "--learning-rate: must be > 0 and finite"},
      {"--learning-rate 1e99", "--learning-rate: must be > 0 and finite"},
      {"--learning-rate nan", "--learning-rate: must be > 0 and finite"},
      {"--learning-rate inf", "--learning-rate: must be > 0 and finite"},
      {"--momentum 1", "--momentum: must be at least 0 and below 1"},
      {"--weight-decay -1", "--weight-decay: must be at least 0 and finite"},
      {"--nesterov", "--nesterov: is for --optimizer momentum"},
      {"--loss mse", "--loss: is for solving; the given plan has already been solved for"},
      {"--lr-schedule linear", R"(--lr-schedule: "linear" is not one of constant, step, cosine)"},
      {"--lr-schedule step", "--lr-schedule: step needs --lr-step-size"},
      {"--lr-schedule cosine", "--lr-schedule: cosine needs --lr-length"},
      {"--lr-gamma 0.5", "--lr-gamma: is for --lr-schedule step"},
      {"--lr-least 0.5", "--lr-least: is for --lr-schedule cosine"},
      {"--lr-schedule step --lr-step-size 2 --lr-gamma 2", "--lr-gamma: must be above 0 and at most 1"},
      {"--momentum 0.9", "--momentum: the network's optimiser has none (--optimizer)"},
      {"--beta1 -0.1", "--beta1: must be at least 0 and below 1"},
      {"--beta1 0.9", "--beta1: the network's optimiser has none (--optimizer)"},
      {"--beta2 1", "--beta2: must be at least 0 and below 1"},
      {"--beta2 0.9", "--beta2: the network's optimiser has none (--optimizer)"},
      {"--eps 0", "--eps: must be > 0 and finite"},
      {"--eps 1e-8", "--eps: the network's optimiser has none (--optimizer)"},
      {"--kernels slow", R"(--kernels: "slow" is not one of fast, lean, reference)"},
      {"--threads 0", R"(--threads: "0" is not a whole number >= 1)"},
      {"--threads 1025", "--threads: must be at most 1024"},
      {"--checkpoint absent/c", "--checkpoint: no such folder: absent"},
      {"--checkpoint .", R"(--checkpoint: "." is not a regular file)"},
      {"--loss-out absent/c.csv", "--loss-out: no such folder: absent"},
      {"--loss-out loss.txt", R"(--loss-out: "loss.txt" must end in .csv, .svg, .png, .pdf or .gp)"},
      {"--plan-out absent/p", "--plan-out: no such folder: absent"},
      {"--onnx-out absent/p", "--onnx-out: no such folder: absent"},
      {"--data absent", "--data: \"absent\" does not exist"},
      {"--weights absent", "absent: cannot be opened: No such file or directory"},
      {"--weights absent.onnx", "absent.onnx: is no readable file"},
      {"--resume absent", "absent: cannot be opened: No such file or directory"},
  };
  for (const Wrong& w : wrong) EXPECT_EQ(run_diagnostic(plan() + " " + w.options), w.message) << w.options;
  EXPECT_THAT(run_diagnostic(plan() + " --isa abacus"),
              StartsWith("--isa: \"abacus\" is not one of sse41, "));
  EXPECT_THAT(run_diagnostic(plan() + " --data " + file("")), HasSubstr("is no data set: "));
  EXPECT_THAT(names(), IsEmpty());
}

TEST_F(RunErrors, NoFileHasAnEmptyName) {
  cli::RunOptions run;
  run.data = "";
  EXPECT_EQ(input_error([&] { (void)cli::read_run_options(run, {}); }), "--data: must not be empty");
  cli::MachineOptions machine;
  machine.storage = "";
  EXPECT_EQ(input_error([&] { (void)cli::read_machine_options(machine); }), "--storage: must not be empty");
}

TEST_F(RunErrors, WrongOptionsAreFoundBeforeSolving) {
  // The plan would be written once it was solved for.
  const std::string search =
      "--model resnet18_cifar --platform m4 --ram-budget 1GB --beyond-device-ram --plan-out " +
      file("never") + " ";
  const std::string other_weights = file("other");
  train(plan() + " --steps 1 --checkpoint " + other_weights);
  for (const std::string& option :
       {std::string("--checkpoint absent/c"), std::string("--loss-out loss.txt"),
        std::string("--kernels slow"), std::string("--seed x"), std::string("--data absent"),
        std::string("--momentum 0.9"), std::string("--samples 1 --batch-size 4"),
        std::string("--storage absent/pages"), std::string("--weights absent"),
        std::string("--weights absent.onnx"), std::string("--resume absent"), "--resume " + other_weights})
    run_diagnostic(search + option);
  EXPECT_FALSE(fs::exists(file("never")));
  // Whether the plan pages or not.
  EXPECT_THAT(run_diagnostic(plan() + " --steps 1 --storage absent/pages"), HasSubstr("absent"));
}

TEST_F(RunErrors, WhatIsReadIsNotWrittenOver) {
  fs::copy_file(three(), file("c"));
  fs::copy_file(plan(), file("p"));
  const std::string linear = "--model linear --platform a72 --ram-budget 1MB ";
  EXPECT_EQ(run_diagnostic(linear + "--resume " + file("c") + " --plan-out " + file("c")),
            "--plan-out: must name another file than --resume");
  EXPECT_EQ(run_diagnostic(linear + "--weights " + file("c") + " --loss-out " + file("c") + " --plan-out x"),
            "--loss-out: \"" + file("c") + "\" must end in .csv, .svg, .png, .pdf or .gp");
  EXPECT_EQ(run_diagnostic("--instance " + file("p") + " --ram-budget 1MB --onnx-out " + file("p")),
            "--onnx-out: must name another file than --instance");
  EXPECT_EQ(run_diagnostic(file("p") + " --checkpoint " + file("p")),
            "--checkpoint: must name another file than the plan");
  EXPECT_EQ(file_text(file("c")), file_text(three()));
  EXPECT_EQ(file_text(file("p")), file_text(plan()));
  // What was trained may take the place of what it was trained from.
  train(plan() + " --steps 4 --resume " + file("c") + " --checkpoint " + file("c"));
  train(plan() + " --steps 1 --weights " + file("c") + " --checkpoint " + file("c"));
  EXPECT_NE(file_text(file("c")), file_text(three()));
}

TEST_F(RunErrors, WeightsOfOtherShapes) {
  // Another network that has parameters of these names. The plan would be written once it was solved for.
  EXPECT_THAT(
      run_diagnostic("--model resnet18_cifar --platform m4 --ram-budget 1GB --beyond-device-ram --plan-out " +
                     file("never") + " --weights " + three()),
      StartsWith(three() + ": tensor \""));
  EXPECT_FALSE(fs::exists(file("never")));
}

// Plan files.

TEST_F(RunErrors, NoPlanFile) {
  EXPECT_EQ(run_diagnostic(file("absent")), file("absent") + ": no such file");
  EXPECT_EQ(run_diagnostic(three()),
            three() + ": is no plan file: begins neither with POET nor, as JSON, with {");
  const std::string whole = file_text(plan());
  const std::string cut = folder_.write("cut", whole.substr(0, whole.size() / 2));
  EXPECT_THAT(run_diagnostic(cut), StartsWith(cut + ": "));
}

TEST_F(RunErrors, APlanThatForgetsAStep) {
  auto json = plan_json();
  json["steps"].erase(json["steps"].begin() + 40);
  EXPECT_THAT(run_diagnostic(folder_.write("p.json", json.dump())), StartsWith("the plan: is invalid: "));
}

TEST_F(RunErrors, APlanWhoseParametersAloneExceedItsBudget) {
  auto json = plan_json();
  json["ram_budget_bytes"] = 700'000;  // parameters and running statistics are 705.5 KB
  EXPECT_THAT(run_diagnostic(folder_.write("p.json", json.dump())), StartsWith("the plan: is invalid: "));
}

TEST_F(RunErrors, APlanOfAPublishedInstance) {
  EXPECT_THAT(run_diagnostic("--model linear --semantics published --platform a72 --ram-budget 1MB"),
              HasSubstr("is a published instance, which has the costs of its ops but not what they compute"));
}

// Checkpoints.

TEST_F(RunErrors, ACheckpointOfAnotherNetwork) {
  EXPECT_EQ(run_diagnostic("--model linear --platform a72 --ram-budget 1MB --resume " + three()),
            three() + ": tensor \"fc1.weight\": must be present");
  EXPECT_EQ(run_diagnostic("--model linear --platform a72 --ram-budget 1MB --weights " + three()),
            three() + ": holds no tensor with the name of one of the network's parameters");
  // Of the same network, but without the optimiser's state.
  EXPECT_THAT(run_diagnostic(kSmallCnn + kPlenty + "--optimizer momentum --resume " + three()),
              HasSubstr(".velocity\": must be present"));
}

TEST_F(RunErrors, ACheckpointThatHasDoneTheSteps) {
  EXPECT_EQ(run_diagnostic(plan() + " --steps 3 --resume " + three()),
            "--steps: must be above 3, the steps that " + three() + " has done");
  EXPECT_EQ(run_diagnostic(plan() + " --steps 4 --seed 5 --resume " + three()),
            "--seed: is 5, that of " + three() + " is 0");
}

TEST_F(RunErrors, ACheckpointThatIsNone) {
  const std::string whole = file_text(three());
  for (const std::size_t size : {std::size_t{0}, std::size_t{7}, std::size_t{2000}, whole.size() - 1}) {
    const std::string cut = folder_.write("cut", whole.substr(0, size));
    EXPECT_THAT(run_diagnostic(plan() + " --steps 4 --resume " + cut), StartsWith(cut + ": ")) << size;
  }
  const std::string weights = file("weights");
  const float number = 0;
  runtime::write_safetensors(
      weights, {{"conv1.weight", DType::float32, {1}, reinterpret_cast<const std::byte*>(&number)}}, {});
  EXPECT_EQ(
      run_diagnostic(plan() + " --resume " + weights),
      weights +
          R"(: is not a poet checkpoint (metadata "format": "poet checkpoint 1" or "poet checkpoint 2"))");
  EXPECT_THAT(run_diagnostic(plan() + " --weights " + weights), HasSubstr("tensor \"conv1.weight\""));
}

// Storage.

TEST_F(RunErrors, AFolderToPageToThatIsNone) {
  EXPECT_EQ(run_diagnostic(paging_plan() + " --storage " + file("absent/pages")),
            file("absent/pages") + ": cannot be opened for paging: No such file or directory");
  EXPECT_THAT(run_diagnostic(paging_plan() + " --storage /proc/self"),
              StartsWith("the page file in /proc/self: cannot be created: "));
  EXPECT_EQ(run_diagnostic(paging_plan() + " --storage /dev/null"),
            "/dev/null: must be a folder or a regular file to page to");
}

TEST_F(RunErrors, SomebodysFileIsNotPagedTo) {
  const std::string thesis = folder_.write("thesis", "the only copy\n");
  EXPECT_THAT(run_diagnostic(paging_plan() + " --storage " + thesis),
              StartsWith(thesis + ": is not a poet page file"));
  EXPECT_EQ(file_text(thesis), "the only copy\n");
}

TEST_F(RunErrors, APageFileInUse) {
  const std::string pages = file("pages");
  Background first({program().string(), "run", paging_plan(), "--steps", "1000000", "--storage", pages},
                   file("output"));
  ASSERT_TRUE(wait_until([&] { return first.output().find("poet: step ") != std::string::npos; }));
  EXPECT_EQ(run_diagnostic(paging_plan() + " --storage " + pages), pages + ": is in use by another run");
  // The first goes on: it ends as it is told to, with its file.
  first.send(SIGINT);
  EXPECT_EQ(first.wait(), 1) << first.output();
  EXPECT_THAT(names(), ElementsAre("output"));
}

TEST_F(RunErrors, StorageThatIsTooSmallForThePages) {
  const FileSizeLimit limit(50'000);
  EXPECT_THAT(
      run_diagnostic(paging_plan() + " --storage " + file("pages")),
      ::testing::AllOf(StartsWith(file("pages") + ": cannot be given the "), HasSubstr("File too large")));
  EXPECT_THAT(names(), IsEmpty());
}

/// In a process of its own: `test` with `folder` on a storage of so many bytes. Skips where it may not mount.
template <class Test>
void on_a_small_storage(const fs::path& folder, std::int64_t bytes, const Test& test) {
  const pid_t child = fork();
  if (child == 0) {
    const std::string size = fmt::format("size={}", bytes);
    if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        mount("small", folder.c_str(), "tmpfs", 0, size.c_str()) != 0)
      _exit(77);
    test();
    _exit(::testing::Test::HasFailure() ? 1 : 0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  ASSERT_TRUE(WIFEXITED(status));
  if (WEXITSTATUS(status) == 77) GTEST_SKIP() << "this user may not mount";
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST_F(RunErrors, StorageThatIsFull) {
  on_a_small_storage(file(""), 65536, [this] {
    EXPECT_THAT(
        run_diagnostic(paging_plan() + " --storage " + file("")),
        ::testing::ContainsRegex("the page file in .*: needs [0-9,]* bytes of storage and 65,536 are free"));
    EXPECT_THAT(names(), IsEmpty());
  });
}

TEST_F(RunErrors, ACheckpointIntoAFullStorageKeepsTheEarlierOne) {
  // Room for one checkpoint (706 KB) and half.
  on_a_small_storage(file(""), 1'100'000, [this] {
    fs::copy_file(three(), file("c"));
    EXPECT_THAT(
        run_diagnostic(plan() + " --steps 5 --checkpoint " + file("c")),
        ::testing::AllOf(StartsWith(file("c") + ": cannot be written: "), HasSubstr("No space left")));
    EXPECT_THAT(names(), ElementsAre("c"));
    expect_resumable(file("c"));
  });
}

TEST_F(RunErrors, ABestCheckpointIntoAFullStorageKeepsTheRun) {
  const TemporaryFolder other;
  other.write("input.bin", std::string(784 * sizeof(float), '\0'));
  other.write("targets.u8", "\3");
  const std::string linear = "--model linear --platform a72 --ram-budget 1MB --batch-size 2 --steps 4 ";
  on_a_small_storage(file(""), 65536, [&] {
    EXPECT_THAT(run_diagnostic(linear + "--validate-every 2 --validate " + other.file("") + " --best " +
                               file("b") + " --checkpoint " + other.file("c")),
                ::testing::AllOf(StartsWith(file("b") + ": cannot be written: No space left on device"),
                                 EndsWith("(the run up to step 2 is in " + other.file("c") + ")")));
  });
  if (IsSkipped()) return;
  EXPECT_EQ(trained(linear + "--resume " + other.file("c"))["first_step"], 3);
  // It does not count on a best one that is not there.
  EXPECT_FALSE(runtime::SafetensorsFile(other.file("c")).metadata().contains("best validation step"));
}

TEST_F(RunErrors, ACheckpointCutShortKeepsTheEarlierOne) {
  fs::copy_file(three(), file("c"));
  {
    const FileSizeLimit limit(300'000);
    EXPECT_THAT(
        run_diagnostic(plan() + " --steps 5 --checkpoint " + file("c")),
        ::testing::AllOf(StartsWith(file("c") + ": cannot be written: "), HasSubstr("File too large")));
  }
  EXPECT_THAT(names(), ElementsAre("c"));
  expect_resumable(file("c"));
}

TEST_F(RunErrors, AFolderThatCannotBeWritten) {
  if (geteuid() == 0) GTEST_SKIP() << "modes do not count for root";
  ASSERT_EQ(chmod(file("").c_str(), 0500), 0);
  EXPECT_THAT(run_diagnostic(plan() + " --checkpoint " + file("c")),
              HasSubstr("cannot be written: Permission denied"));
  ASSERT_EQ(chmod(file("").c_str(), 0700), 0);
}

// The end of the process.

TEST_F(RunErrors, AKilledRunLeavesTheCheckpointAndNoPages) {
  fs::create_directory(file("storage"));
  Background run({program().string(), "run", paging_plan(), "--steps", "1000000", "--storage",
                  file("storage"), "--checkpoint", file("c"), "--checkpoint-every", "3"},
                 file("output"));
  ASSERT_TRUE(wait_until([&] { return fs::exists(file("c")); }));
  run.send(SIGKILL);
  EXPECT_EQ(run.wait(), 128 + SIGKILL);
  EXPECT_THAT(names_in(file("storage")), IsEmpty());
  // Whole, of a multiple of three steps, and the very state that so many steps lead to.
  const runtime::SafetensorsFile opened(file("c"));
  const std::int64_t steps = std::stoll(opened.metadata().at("step"));
  EXPECT_EQ(steps % 3, 0);
  EXPECT_GE(steps, 3);
  train(plan() + fmt::format(" --steps {} --checkpoint ", steps) + file("same"));
  EXPECT_EQ(file_text(file("c")), file_text(file("same")));
  train(plan() + fmt::format(" --steps {} --resume ", steps + 2) + file("c") + " --checkpoint " + file("c"));
  // If it was killed while it wrote, the next checkpoint has removed the half of one.
  EXPECT_THAT(names(), ElementsAre("c", "output", "same", "storage"));
}

TEST_F(RunErrors, WhatAKilledRunLeftOfItsCheckpointGoes) {
  folder_.write("c.1234567.tmp", "half of a checkpoint");
  folder_.write("c.mine.tmp", "mine");
  folder_.write("other.1234567.tmp", "another's");
  train(plan() + " --steps 1 --checkpoint " + file("c"));
  EXPECT_THAT(names(), ElementsAre("c", "c.mine.tmp", "other.1234567.tmp"));
}

TEST_F(RunErrors, WhatAKilledRunLeftOfItsPagesIsTakenOver) {
  const std::string pages = file("pages");
  {
    Background run({program().string(), "run", paging_plan(), "--steps", "1000000", "--storage", pages},
                   file("output"));
    ASSERT_TRUE(wait_until([&] { return run.output().find("poet: step ") != std::string::npos; }));
    run.send(SIGKILL);
    run.wait();
  }
  ASSERT_THAT(names(), ElementsAre("output", "pages"));
  train(paging_plan() + " --steps 2 --storage " + pages);
  EXPECT_THAT(names(), ElementsAre("output"));
}

/// A search that would take its two minutes, under way.
class RunErrorsWhileSolving : public RunErrors {
 protected:
  RunErrorsWhileSolving()
      : run_({program().string(), "run", "--model", "resnet18_cifar", "--platform", "m4",
              "--beyond-device-ram", "--ram-budget", "66MB", "--gap", "0", "--time-limit", "2min", "--steps",
              "1"},
             file("output")) {}

  /// The process that solves.
  pid_t solver() {
    std::vector<pid_t> children;
    EXPECT_TRUE(wait_until([&] {
      children = children_of(run_.id());
      return !children.empty() && !run_.output().empty();
    }));
    return children.empty() ? 0 : children.front();
  }

  Background run_;
};

TEST_F(RunErrorsWhileSolving, TheSolverIsKilledAsWhenMemoryRunsOut) {
  const pid_t child = solver();
  ASSERT_NE(child, 0);
  kill(child, SIGKILL);
  EXPECT_EQ(run_.wait(), 3);
  EXPECT_THAT(run_.output(),
              HasSubstr("poet: internal error: what solves for the plan was ended by a signal: Killed\n"));
}

TEST_F(RunErrorsWhileSolving, ARequestToStopEndsBoth) {
  const pid_t child = solver();
  ASSERT_NE(child, 0);
  run_.send(SIGTERM);
  EXPECT_EQ(run_.wait(), 128 + SIGTERM);
  EXPECT_TRUE(wait_until([child] { return is_gone(child); }));
}

TEST_F(RunErrorsWhileSolving, CtrlCSaysThatTrainingFollows) {
  ASSERT_NE(solver(), 0);
  run_.send(SIGINT);
  EXPECT_TRUE(wait_until([this] {
    return run_.output().find("training by the best plan found so far") != std::string::npos;
  })) << run_.output();
  EXPECT_THAT(run_.wait(), AnyOf(0, 1)) << "a plan had been found, or none yet";
}

TEST_F(RunErrors, TheSecondCtrlCQuitsAtOnce) {
  Background run({program().string(), "run", "--model", "resnet18_cifar", "--platform", "a72", "--batch-size",
                  "64", "--ram-budget", "1GB", "--steps", "1000", "--checkpoint", file("c")},
                 file("output"));
  ASSERT_TRUE(wait_until([&] { return run.output().find("poet: step ") != std::string::npos; }));
  run.send(SIGINT);
  ASSERT_TRUE(wait_until([&] { return run.output().find("Ctrl-C again quits") != std::string::npos; }));
  run.send(SIGINT);
  EXPECT_EQ(run.wait(), 128 + SIGINT);
  EXPECT_THAT(names(), ElementsAre("output"));
}

}  // namespace
}  // namespace poet::test
