// Several plans in one file: solved at once, and a run that goes over between them when it is told to, or
// when the machine's memory gets scarce. Whatever it does, its checkpoint is that of a run by one plan.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <memory>
#include <set>

#include "poet/runtime/storage/left_run.h"
#include "tests/support/background.h"
#include "tests/support/paged_training.h"

namespace poet::test {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

const std::string kSolve =
    "solve --model linear --platform m0 --beyond-device-ram --optimizer momentum --gap 0.9 --time-limit 0.5s "
    "--quiet ";

class PlanFamilyRun : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    plans_ = std::make_unique<TemporaryFolder>();
    small_ = plan_of_linear_in_parts(*plans_);
    plan_ = plans_->file("several.plan");
    const ProgramRun run = poet(kSolve + "--ram-budget 100KiB,600KB,24KiB --json --plan-out " + plan_);
    ASSERT_EQ(run.exit_code, 0) << run.err;
    answer_ = run.json();
  }
  static void TearDownTestSuite() { plans_.reset(); }

  [[nodiscard]] std::string file(const std::string& name) const { return folder_.file(name); }
  void write(const std::string& name, const std::string& text) const {
    fs::create_directories(fs::path(file(name)).parent_path());
    std::ofstream(file(name) + ".new") << text;
    fs::rename(file(name) + ".new", file(name));
  }

  /// Bytes 0, 1... and again from `range` on.
  void write_numbers(const std::string& name, int count, int range) const {
    std::string bytes;
    for (int i = 0; i < count; ++i) bytes.push_back(static_cast<char>(i % range));
    write(name, bytes);
  }

  /// Trains by the plans; nothing but what `options` say watches the machine.
  [[nodiscard]] nlohmann::ordered_json by_plans(const std::string& options) const {
    return trained("--kernels reference --pressure off --cgroup off " + plan_ + " " + options);
  }
  [[nodiscard]] std::string checkpoint_after(std::int64_t steps, const std::string& plan,
                                             const std::string& options = {}) const {
    trained("--kernels reference " + plan + " --steps " + std::to_string(steps) + " --checkpoint " +
            file("expected") + options);
    return file_text(file("expected"));
  }

  /// A run that goes on until it is told to end; what it says is in `output`.
  [[nodiscard]] std::unique_ptr<Background> endless(const std::vector<std::string>& options) const {
    std::vector<std::string> arguments = {program().string(), "run",     plan_,     "--kernels",
                                          "reference",        "--steps", "1000000", "--json",
                                          "--checkpoint",     file("c")};
    arguments.insert(arguments.end(), options.begin(), options.end());
    return std::make_unique<Background>(arguments, file("output"));
  }

  /// Ends it; its checkpoint is that of as many steps by one plan. The budgets that it went over to.
  std::vector<std::int64_t> ended(Background& run) const {
    run.send(SIGINT);
    EXPECT_EQ(run.wait(), 1) << run.output();
    const std::string text = run.output();
    const auto json = nlohmann::ordered_json::parse(text.substr(text.find("\n{") + 1));
    EXPECT_EQ(json["end"], "interrupted");
    EXPECT_TRUE(file_text(file("c")) == checkpoint_after(json["steps"], plan_)) << text;
    std::vector<std::int64_t> budgets;
    for (const auto& change : json["changes"]) budgets.push_back(change["ram_budget_bytes"]);
    return budgets;
  }

  static std::vector<double> losses_of_validations(const nlohmann::ordered_json& json) {
    std::vector<double> losses;
    for (const auto& found : json["validations"]) losses.push_back(found["loss"]);
    return losses;
  }

  static bool says(const Background& run, const std::string& text) {
    const bool said = wait_until([&] { return run.output().find(text) != std::string::npos; }, 60);
    EXPECT_TRUE(said) << text << "\n" << run.output();
    return said;
  }

  TemporaryFolder folder_;
  static std::unique_ptr<TemporaryFolder> plans_;
  static std::string plan_, small_;
  static nlohmann::ordered_json answer_;
};
std::unique_ptr<TemporaryFolder> PlanFamilyRun::plans_;
std::string PlanFamilyRun::plan_, PlanFamilyRun::small_;
nlohmann::ordered_json PlanFamilyRun::answer_;

// Tables of which rows are transferred by index are at home by every plan.
TEST_F(PlanFamilyRun, SharesTablesTransferredByIndex) {
  const std::string network =
      "--model bert_tiny --sequence-length 16 --platform m4 --beyond-device-ram --time-limit 0.5s --quiet ";
  const std::string several = file("tables.plan");
  const ProgramRun solved =
      poet("solve " + network + "--gap 0.9 --json --ram-budget 1MiB,200KiB --plan-out " + several);
  ASSERT_EQ(solved.exit_code, 0) << solved.err;
  write("control", "200KiB from step 2\n1MiB from step 3\n");
  // Five samples: some name one row at several places.
  write_numbers("unseen/input_ids.u8", 80, 7);
  write_numbers("unseen/targets.u8", 5, 2);
  const std::string validation = " --validate-every 1 --validate " + file("unseen");
  const auto json =
      trained("--kernels reference --pressure off --cgroup off " + several + " --steps 3 --control " +
              file("control") + " --checkpoint " + file("c") + validation);
  EXPECT_EQ(json["changes"].size(), 2U);
  EXPECT_TRUE(file_text(file("c")) == checkpoint_after(3, several, validation));
  const std::string whole = file("whole.plan");
  ASSERT_EQ(poet("solve " + network + "--ram-budget 100MB --plan-out " + whole).exit_code, 0);
  const auto by_whole =
      trained("--kernels reference " + whole + " --steps 3 --checkpoint " + file("w") + validation);
  EXPECT_TRUE(file_text(file("c")) == file_text(file("w")));
  EXPECT_EQ(losses_of_validations(json), losses_of_validations(by_whole));
  const std::vector<double> losses = losses_of_validations(json);
  EXPECT_EQ(std::set<double>(losses.begin(), losses.end()).size(), 3U);
}

TEST_F(PlanFamilyRun, HasAnAnswerPerBudget) {
  const auto& answers = answer_["answers"];
  ASSERT_EQ(answers.size(), 3U);
  double energy = 0;
  std::int64_t budget = 600'001;
  for (const auto& answer : answers) {
    EXPECT_LT(answer["ram_budget_bytes"].get<std::int64_t>(), budget);
    budget = answer["ram_budget_bytes"];
    EXPECT_LE(answer["peak_ram_bytes"].get<std::int64_t>(), budget);
    EXPECT_GE(answer["energy_joules"].get<double>(), energy) << "less RAM, no less energy";
    energy = answer["energy_joules"];
    EXPECT_EQ(answer["ops"], answers[0]["ops"]);
    EXPECT_LE(answer["bound_joules"].get<double>(), energy * (1 + 1e-9));
  }
  EXPECT_EQ(answers[0]["paged_persistent_values"], 0);
  EXPECT_GT(answers[2]["paged_persistent_values"], answers[1]["paged_persistent_values"]);
  const ProgramRun verified = poet("verify --json " + plan_);
  EXPECT_EQ(verified.exit_code, 0);
  ASSERT_EQ(verified.json()["plans"].size(), 3U);
  for (std::size_t i = 0; i < 3; ++i)
    EXPECT_EQ(verified.json()["plans"][i]["energy_joules"], answers[i]["energy_joules"]);
  const ProgramRun one = poet("verify --json --ram-budget 200KB " + plan_);
  EXPECT_EQ(one.json()["ram_budget_bytes"], 102'400);
  const ProgramRun shown = poet("show " + plan_);
  EXPECT_EQ(shown.exit_code, 0);
  for (const char* budget_text : {", 585.9 KiB", ", 100 KiB", ", 24 KiB"})  // as two were given in KiB
    EXPECT_THAT(shown.out, HasSubstr("several.plan" + std::string(budget_text)));
  EXPECT_EQ(poet("show " + plan_ + " -o " + file("page.html")).exit_code, 0);
  EXPECT_EQ(poet("show --ram-budget 24KiB " + plan_ + " -o " + file("figure.gp")).exit_code, 0);
}

TEST_F(PlanFamilyRun, ChangesAtTheStepsOfAControlFile) {
  write("control", "# at once\n100KiB\n24KiB from step 4\nall from step 7\n30KB from step 9\n");
  const std::string expected = checkpoint_after(12, small_);
  for (const std::string storage : {"", "pages"}) {
    const auto json = by_plans("--steps 12 --control " + file("control") + " --checkpoint " + file("c") +
                               (storage.empty() ? "" : " --storage " + file(storage)));
    EXPECT_TRUE(file_text(file("c")) == expected) << "the bits of the plan for 24 KiB alone";
    EXPECT_FALSE(fs::exists(file("pages")));
    ASSERT_EQ(json["changes"].size(), 3U);
    std::vector<std::int64_t> steps, budgets;
    for (const auto& change : json["changes"]) {
      steps.push_back(change["step"]);
      budgets.push_back(change["ram_budget_bytes"]);
      EXPECT_THAT(change["reason"].get<std::string>(), StartsWith(file("control") + ": "));
    }
    EXPECT_THAT(steps, ElementsAre(4, 7, 9));
    EXPECT_THAT(budgets, ElementsAre(24'576, 600'000, 24'576));
    ASSERT_EQ(json["stretches"].size(), 4U);
    EXPECT_EQ(json["stretches"][0]["ram_budget_bytes"], 102'400) << "it begins with what the file says";
    for (const auto& stretch : json["stretches"]) {
      EXPECT_LE(stretch["ram_bytes"], stretch["ram_budget_bytes"]);
      EXPECT_LE(stretch["arena_high_water_bytes"].get<std::int64_t>() +
                    stretch["persistent_bytes"].get<std::int64_t>(),
                stretch["ram_budget_bytes"].get<std::int64_t>());
    }
    EXPECT_EQ(json["losses"].size(), 12U);
  }
}

TEST_F(PlanFamilyRun, SaysOfWhichPlanItsFiguresAre) {
  write("control", "all\n24KiB from step 2\n");
  const ProgramRun run =
      poet("run --kernels reference --pressure off --cgroup off --steps 3 --report --quiet " + plan_ +
           " --control " + file("control"));
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("From step 2 on, by the plan for 24 KiB:\n"));
  EXPECT_THAT(run.out, HasSubstr("3 plans; by that for 585.9 KiB from step 1 on, 24 KiB from step 2 on"));
}

// A run that is left by one plan goes on by it, and then as it is told.
TEST_F(PlanFamilyRun, GoesOnFromAnyPlan) {
  write("control", "24KiB from step 3\nall from step 6\n");
  const std::string control = " --control " + file("control");
  for (const int steps : {2, 4, 6, 8}) {
    Background first(
        {program().string(), "run", plan_, "--kernels", "reference", "--pressure", "off", "--cgroup", "off",
         "--steps", "1000000", "--storage", file("pages"), "--control", file("control")},
        file("output" + std::to_string(steps)));
    // Killed at any instant after its first steps.
    ASSERT_TRUE(says(first, steps < 3 ? "step 1 of" : steps < 6 ? "step 3: switches" : "step 6: switches"));
    first.send(SIGKILL);
    EXPECT_EQ(first.wait(), 128 + SIGKILL);
    ASSERT_TRUE(fs::exists(file("pages")));
    const ProgramRun other =
        poet("run --quiet --kernels reference --steps 1000000 " + small_ + " --resume " + file("pages"));
    EXPECT_EQ(other.exit_code, 2);
    EXPECT_THAT(other.err, HasSubstr(": holds a run by another plan"));
    const std::int64_t left = runtime::look_at_left_run(file("pages")).record().step;
    ASSERT_GE(left, 0);
    const auto json = by_plans("--steps " + std::to_string(left + 7) + " --resume " + file("pages") +
                               control + " --checkpoint " + file("c"));
    EXPECT_EQ(json["first_step"], left + 1);
    EXPECT_TRUE(file_text(file("c")) == checkpoint_after(left + 7, plan_)) << left;
    fs::remove(file("c"));
  }
}

TEST_F(PlanFamilyRun, ChangesAtSignals) {
  const auto run = endless({"--pressure", "off", "--cgroup", "off"});
  ASSERT_TRUE(says(*run, "step 1 of"));
  run->send(SIGUSR1);
  ASSERT_TRUE(says(*run, "switches to the plan for 100 KiB (SIGUSR1)"));
  run->send(SIGUSR1);
  ASSERT_TRUE(says(*run, "switches to the plan for 24 KiB (SIGUSR1)"));
  run->send(SIGUSR2);
  ASSERT_TRUE(says(*run, "switches to the plan for 100 KiB (SIGUSR2)"));
  run->send(SIGUSR2);
  ASSERT_TRUE(says(*run, "switches to the plan for 585.9 KiB (SIGUSR2)"));
  EXPECT_THAT(ended(*run), ElementsAre(102'400, 24'576, 102'400, 600'000));
}

// The machine's memory gets scarce, and is given back.
TEST_F(PlanFamilyRun, IsSqueezedAndGetsItsMemoryBack) {
  const std::string rest =
      " avg60=0.00 avg300=0.00 total=0\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\n";
  write("pressure", "some avg10=0.00" + rest);
  const auto run = endless({"--pressure", file("pressure"), "--cgroup", "off", "--calm", "50ms"});
  ASSERT_TRUE(says(*run, "step 1 of"));
  write("pressure", "some avg10=25.50" + rest);
  ASSERT_TRUE(says(*run, "switches to the plan for 100 KiB (memory pressure: 25.5% of the last 10 s)"));
  ASSERT_TRUE(says(*run, "switches to the plan for 24 KiB (memory pressure: 25.5% of the last 10 s)"));
  write("pressure", "some avg10=0.00" + rest);
  ASSERT_TRUE(says(*run, "switches to the plan for 100 KiB (no memory pressure for 50 ms)"));
  ASSERT_TRUE(says(*run, "switches to the plan for 585.9 KiB (no memory pressure for 50 ms)"));
  EXPECT_THAT(ended(*run), ElementsAre(102'400, 24'576, 102'400, 600'000));
}

TEST_F(PlanFamilyRun, KeepsTheLimitOfItsControlGroup) {
  write("group/memory.high", "max\n");
  write("group/memory.max", "max\n");
  const auto run = endless({"--pressure", "off", "--cgroup", file("group"), "--calm", "50ms"});
  ASSERT_TRUE(says(*run, "step 1 of"));
  write("group/memory.high", "1000000\n");  // less than the program itself takes
  ASSERT_TRUE(says(*run, "switches to the plan for 24 KiB (limit of the control group: 976.6 KiB"));
  ASSERT_TRUE(says(*run, "the control group's limit of 976.6 KiB is too little for any plan"));
  write("group/memory.high", "max\n");
  ASSERT_TRUE(says(*run, "switches to the plan for 585.9 KiB (the control group has no limit any more)"));
  EXPECT_THAT(ended(*run), ElementsAre(24'576, 600'000));
}

TEST_F(PlanFamilyRun, SaysWhyItBeginsByASmallerPlan) {
  const auto begun = [](const std::string& options, int steps = 1) {
    const ProgramRun run =
        poet(fmt::format("run --kernels reference --steps {} {} {}", steps, plan_, options));
    EXPECT_EQ(run.exit_code, 0) << run.err;
    return run.err;
  };
  write("pressure", "some avg10=25.50 avg60=0.00 avg300=0.00 total=0\n");
  EXPECT_THAT(
      begun("--cgroup off --pressure " + file("pressure")),
      HasSubstr("poet: step 1: starts with the plan for 100 KiB (memory pressure: 25.5% of the last 10 "
                "s)\n"));
  write("group/memory.max", "1000000\n");
  EXPECT_THAT(
      begun("--pressure off --cgroup " + file("group")),
      HasSubstr("poet: step 1: starts with the plan for 24 KiB (limit of the control group: 976.6 KiB, "));
  write("control", "100KiB\n24KiB from step 2\n");
  const std::string control = "--pressure off --cgroup off --control " + file("control");
  EXPECT_THAT(
      begun(control + " --checkpoint " + file("c")),
      HasSubstr("poet: step 1: starts with the plan for 100 KiB (" + file("control") + ": 100 KiB)\n"));
  // What the file says of the step that is gone on from.
  EXPECT_THAT(begun(control + " --resume " + file("c"), 2),
              HasSubstr("poet: step 2: starts with the plan for 24 KiB ("));
  EXPECT_THAT(begun("--pressure off --cgroup off"), ::testing::Not(HasSubstr("starts with")));
}

TEST_F(PlanFamilyRun, IsSolvedForByTheRunItself) {
  write("control", "150KB from step 2\nall from step 3\n");
  const std::string solve =
      "--model linear --platform m0 --beyond-device-ram --optimizer momentum --gap 0.9 --time-limit 0.5s "
      "--kernels reference "
      "--pressure off --cgroup off --ram-budget 600KB,140KB ";
  const auto json = trained(solve + "--steps 4 --checkpoint " + file("c") + " --plan-out " + file("p") +
                            " --control " + file("control"));
  ASSERT_EQ(json["answers"].size(), 2U);
  EXPECT_EQ(json["changes"].size(), 2U);
  EXPECT_EQ(poet("verify " + file("p")).exit_code, 0);
  EXPECT_TRUE(file_text(file("c")) == checkpoint_after(4, file("p")));
}

TEST_F(PlanFamilyRun, WritesNothingUnlessEachBudgetHasAPlan) {
  const ProgramRun run = poet(kSolve + "--split off --ram-budget 600KB,3KB --plan-out " + file("p"));
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_FALSE(fs::exists(file("p")));
  EXPECT_THAT(run.out, HasSubstr("For 3,000 B:\n"));
  EXPECT_THAT(run.out, HasSubstr("infeasible: "));
  EXPECT_THAT(run.out, HasSubstr("not written: not every budget has a plan"));
  const auto json = poet(kSolve + "--split off --ram-budget 600KB,3KB --json --plan-out " + file("p")).json();
  EXPECT_EQ(json["answers"][0]["status"], "optimal");
  EXPECT_EQ(json["answers"][1]["status"], "infeasible");
  EXPECT_FALSE(fs::exists(file("p")));
}

TEST_F(PlanFamilyRun, RefusesWhatMakesNoSense) {
  const auto refused = [](const std::string& command) {
    const ProgramRun run = poet(command);
    EXPECT_EQ(run.exit_code, 2) << command;
    EXPECT_EQ(run.out, "");
    return run.err;
  };
  EXPECT_EQ(refused(kSolve + "--ram-budget 1MB,1000KB"), "poet: --ram-budget: names 1 MB twice\n");
  EXPECT_THAT(refused(kSolve + "--ram-budget 1MB,"), HasSubstr("--ram-budget: has an empty item"));
  EXPECT_THAT(refused(kSolve + "--ram-budget 1MB,some"), HasSubstr("--ram-budget: \"some\" is not an"));
  EXPECT_EQ(refused(kSolve + "--ram-budget 1MB,2MB --image-out " + file("i")),
            "poet: --image-out: holds one plan; --ram-budget names several\n");
  EXPECT_EQ(refused(kSolve + "--ram-budget 1MB,2MB --schedule-out " + file("s.json")),
            "poet: --schedule-out: holds one schedule; --ram-budget names several\n");
  EXPECT_EQ(refused(kSolve + "--ram-budget 1MB,2MB --solver file --mps " + file("m.mps")),
            "poet: --solver: file solves for one RAM budget; --ram-budget names several\n");
  for (const char* command : {"explain", "compare"})
    EXPECT_EQ(refused(std::string(command) +
                      " --model linear --platform m0 --beyond-device-ram --ram-budget 1MB,2MB"),
              "poet: --ram-budget: takes one amount here; several are for poet solve and poet run\n");
  for (const char* option : {"--control c", "--pressure off", "--cgroup off", "--calm 1s"})
    EXPECT_THAT(refused("run --quiet " + small_ + " " + option), HasSubstr("is for a file of several plans"));
  EXPECT_THAT(refused("run --model linear --platform m0 --beyond-device-ram --ram-budget 600KB --control c"),
              HasSubstr("--control: is for a file of several plans"));
  EXPECT_THAT(refused("run " + plan_ + " --pressure " + file("none")), HasSubstr("does not tell"));
  EXPECT_THAT(refused("run " + plan_ + " --cgroup " + file("none")), HasSubstr("is not a folder"));
  EXPECT_EQ(refused("run " + plan_ + " --cgroup " + file("")),
            "poet: --cgroup: \"" + file("") +
                "\" is no control group: neither memory.high nor memory.max tells a limit\n");
  EXPECT_THAT(refused("run " + plan_ + " --calm 0"), HasSubstr("--calm"));
  write("control", "a lot\n");
  EXPECT_THAT(refused("run --quiet " + plan_ + " --control " + file("control")),
              HasSubstr("line 1: \"a lot\""));
  EXPECT_EQ(refused("run " + plan_ + " --control /dev/zero"), "poet: /dev/zero: is not a regular file\n");
  EXPECT_EQ(refused("run " + plan_ + " --control " + file("x") + " --checkpoint " + file("x")),
            "poet: --checkpoint: must name another file than --control\n");
  EXPECT_EQ(refused("verify --ram-budget 10KB " + plan_),
            "poet: --ram-budget: 10 KB is less than any plan of " + plan_ +
                " is for: 600 KB, 102.4 KB and 24.58 KB\n");
  EXPECT_THAT(refused("show " + plan_ + " -o " + file("f.gp")), HasSubstr("a figure shows one plan, not 3"));
}

}  // namespace
}  // namespace poet::test
