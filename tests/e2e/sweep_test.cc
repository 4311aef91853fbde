// poet sweep from beginning to end, and from the middle: interrupted, killed, over ranks. However a sweep
// came to its end, its table is the same but for the seconds that it took.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pty.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "poet/frontend/zoo.h"
#include "poet/study/workers.h"
#include "tests/support/background.h"
#include "tests/support/program.h"
#include "tests/support/to_onnx.h"

namespace poet::test {
namespace {

using testing::HasSubstr;
using testing::Not;
using Json = nlohmann::ordered_json;

// 2 networks x 2 platforms x 2 budgets x 3 methods: 24 points, some seconds together.
const std::string kSpec = R"({"format": 1, "networks": ["vgg16_cifar", "resnet18_cifar"],
    "platforms": ["a72", "m4"], "semantics": "published", "ram": [0.25, 0.4], "deadlines": [1.3],
    "methods": ["checkpoint-all", "poet-no-paging", "poet"], "time_limit": "60s"})";

// Three quick points, and a last one whose program keeps a solver busy for longer than anything here takes.
const std::string kHard = R"({"format": 1, "networks": ["linear", "resnet18_cifar"], "platforms": ["a72"],
    "semantics": "published", "ram": [0.1], "deadlines": [1.3], "methods": ["checkpoint-all", "poet-no-paging"],
    "gap": 0, "time_limit": "60s"})";

/// Without the column host_seconds, the fifth from the end.
std::string without_seconds(const std::string& csv) {
  std::istringstream lines(csv);
  std::string out;
  for (std::string line; std::getline(lines, line);) {
    std::size_t end = std::string::npos;  // of the column
    for (int i = 0; i < 4; ++i) end = line.rfind(',', end == std::string::npos ? end : end - 1);
    const std::size_t begin = line.rfind(',', end - 1);
    out += line.substr(0, begin) + line.substr(end) + "\n";
  }
  return out;
}

class SweepTest : public testing::Test {
 protected:
  [[nodiscard]] std::string arguments(const std::string& store, const std::string& more = "") const {
    return "sweep " + spec_ + " --store " + folder_.file(store) + " " + more;
  }

  /// The table of a sweep in one go, made once.
  const std::string& expected() {
    static const std::string table = [this] {
      const ProgramRun run = poet(arguments("all.sqlite", "--jobs 1 --csv " + folder_.file("all.csv")));
      EXPECT_EQ(run.exit_code, 0) << run.err;
      return without_seconds(file_text(folder_.file("all.csv")));
    }();
    return table;
  }

  /// As the table in one go; only the first line that differs is shown.
  void expect_same(const std::string& table) {
    std::istringstream lines(table);
    std::istringstream expected_lines(expected());
    std::string line;
    std::string expected_line;
    while (std::getline(expected_lines, expected_line)) {
      ASSERT_TRUE(std::getline(lines, line));
      ASSERT_EQ(line, expected_line);
    }
    EXPECT_FALSE(std::getline(lines, line)) << line;
  }

  /// Goes on with a store that has some points, and compares.
  void finish_and_compare(const std::string& store, const std::string& more = "") {
    const ProgramRun run = poet(arguments(store, "--csv " + folder_.file("end.csv") + " " + more));
    EXPECT_EQ(run.exit_code, 0) << run.err;
    EXPECT_THAT(run.err, HasSubstr("already"));
    EXPECT_THAT(run.out, Not(HasSubstr(" 0 there before")));
    expect_same(without_seconds(file_text(folder_.file("end.csv"))));
  }

  /// In the background, until the first point is there.
  [[nodiscard]] std::unique_ptr<Background> begun(const std::string& store,
                                                  std::vector<std::string> launcher = {}) const {
    std::vector<std::string> words = std::move(launcher);
    words.push_back(program().string());
    std::istringstream text(arguments(store));
    for (std::string word; text >> word;) words.push_back(word);
    auto process = std::make_unique<Background>(words, folder_.file(store + ".log"));
    EXPECT_TRUE(wait_until([&] { return process->output().find(" of 24 points") != std::string::npos; }, 60))
        << process->output();
    return process;
  }

  /// Where a sweep of kHard tells of each point.
  [[nodiscard]] std::string progress_file() const { return folder_.file("progress"); }

  /// Whether a sweep of kHard has the hard point left only.
  [[nodiscard]] bool easy_points_are_done() const {
    const std::string lines = file_text(progress_file());
    return std::count(lines.begin(), lines.end(), '\n') == 3;
  }

  TemporaryFolder folder_;
  std::string spec_ = folder_.write("spec.json", kSpec);
};

TEST_F(SweepTest, RunsEveryPointOnce) {
  const ProgramRun first = poet(arguments("r.sqlite", "--jobs 2 --json"));
  ASSERT_EQ(first.exit_code, 0) << first.err;
  EXPECT_THAT(first.err, HasSubstr("poet: 24 points\npoet: 1 of 24 points"));
  EXPECT_THAT(first.err, HasSubstr("poet: 24 of 24 points\n"));
  const Json json = first.json();
  EXPECT_EQ(json["format"], 1);
  EXPECT_EQ(json["points"], 24);
  EXPECT_EQ(json["run"], 24);
  EXPECT_EQ(json["left"], 0);
  EXPECT_EQ(json["interrupted"], false);
  ASSERT_EQ(json["groups"].size(), 4U);
  for (const Json& group : json["groups"]) {
    EXPECT_EQ(group["points"], 6);
    EXPECT_EQ(group["holds"], 4);        // POET and its ablation, at both budgets
    EXPECT_EQ(group["over_limits"], 2);  // checkpoint-all
    EXPECT_EQ(group["failed"], 0);
  }
  ASSERT_EQ(json["results"].size(), 24U);
  int on_curves = 0;
  for (const Json& result : json["results"]) {
    const bool keeps_all = result["method"] == "checkpoint-all";
    EXPECT_EQ(result["verdict"], keeps_all ? "over limits" : "holds");
    EXPECT_EQ(result["peak_ram_bytes"].get<long>() <= result["ram_budget_bytes"].get<long>(), !keeps_all);
    // The budget is where it was asked for, to the byte.
    const double way =
        (result["ram_budget_bytes"].get<double>() - result["least_ram_bytes"].get<double>()) /
        (result["keep_all_peak_ram_bytes"].get<double>() - result["least_ram_bytes"].get<double>());
    EXPECT_NEAR(way, std::stod(result["ram"].get<std::string>()), 1e-4);
    EXPECT_NEAR(result["deadline_seconds"].get<double>(), 1.3 * result["baseline_seconds"].get<double>(),
                1e-12);
    EXPECT_NEAR(result["overhead"].get<double>(),
                result["energy_joules"].get<double>() / result["baseline_joules"].get<double>() - 1, 1e-12);
    EXPECT_LE(result["bound_joules"].is_null() ? 0 : result["bound_joules"].get<double>(),
              result["energy_joules"].get<double>());
    on_curves += result["pareto_energy_ram"].get<bool>() ? 1 : 0;
  }
  EXPECT_GE(on_curves, 4);  // each instance has a curve

  const ProgramRun again = poet(arguments("r.sqlite"));
  EXPECT_EQ(again.exit_code, 0);
  EXPECT_THAT(again.err, HasSubstr("24 points, 24 in " + folder_.file("r.sqlite") + " already"));
  EXPECT_THAT(again.out, HasSubstr("Points        0 run now, 24 there before"));
  EXPECT_THAT(again.out, HasSubstr("vgg16_cifar     m4             6      4            2"));
  const ProgramRun quiet = poet(arguments("r.sqlite", "--quiet"));
  EXPECT_EQ(quiet.err, "");
  EXPECT_EQ(quiet.out, again.out);
}

TEST_F(SweepTest, AgreesWithSolve) {
  const ProgramRun run = poet(arguments("r.sqlite", "--json --quiet"));
  const Json results = run.json()["results"];
  const auto poet_point = std::find_if(results.begin(), results.end(),
                                       [](const Json& result) { return result["method"] == "poet"; });
  ASSERT_NE(poet_point, results.end());
  const Json solved = poet(
                          "solve --quiet --json --semantics published --model vgg16_cifar --platform a72 "
                          "--runtime-budget 1.3 --ram-budget " +
                          std::to_string((*poet_point)["ram_budget_bytes"].get<long>()))
                          .json();
  for (const char* name : {"energy_joules", "peak_ram_bytes", "runtime_seconds", "baseline_joules",
                           "deadline_seconds", "bytes_written", "recomputations", "page_ins"}) {
    EXPECT_EQ(solved[name], (*poet_point)[name]) << name;
  }
}

TEST_F(SweepTest, OneJobOrTwo) {
  const ProgramRun run = poet(arguments("two.sqlite", "--jobs 2 --csv " + folder_.file("two.csv")));
  EXPECT_EQ(run.exit_code, 0);
  expect_same(without_seconds(file_text(folder_.file("two.csv"))));
}

TEST_F(SweepTest, GoesOnAfterCtrlC) {
  const auto process = begun("r.sqlite");
  process->send(SIGINT);
  EXPECT_EQ(process->wait(), 1);
  EXPECT_THAT(process->output(), HasSubstr("poet: stopped; "));
  EXPECT_THAT(process->output(), HasSubstr(" left: rerun the same command to continue\n"));
  finish_and_compare("r.sqlite");
}

TEST_F(SweepTest, GoesOnAfterABatchSystemEndedIt) {
  // SIGTERM to every process that there is, as for the whole group.
  const auto process = begun("r.sqlite");
  for (const pid_t worker : children_of(process->id())) {
    for (const pid_t solver : children_of(worker)) kill(solver, SIGTERM);
    kill(worker, SIGTERM);
  }
  process->send(SIGTERM);
  EXPECT_EQ(process->wait(), 1);
  EXPECT_THAT(process->output(), Not(HasSubstr("failed,")));
  finish_and_compare("r.sqlite");
}

TEST_F(SweepTest, GoesOnAfterTheCoordinatorWasKilled) {
  const auto process = begun("r.sqlite");
  const std::vector<pid_t> workers = children_of(process->id());
  EXPECT_FALSE(workers.empty());
  process->send(SIGKILL);
  EXPECT_EQ(process->wait(), 128 + SIGKILL);
  for (const pid_t worker : workers) {
    EXPECT_TRUE(wait_until([worker] { return is_gone(worker); }, 120));
  }
  finish_and_compare("r.sqlite");
}

TEST_F(SweepTest, AKilledWorkerCostsOnePoint) {
  spec_ = folder_.write("hard.json", kHard);
  const std::vector<std::string> command = {
      program(), "sweep",          spec_,          "--store", folder_.file("r.sqlite"), "--jobs",
      "1",       "--progress-out", progress_file()};
  {
    Background process(command, folder_.file("log"));
    ASSERT_TRUE(wait_until([this] { return easy_points_are_done(); }, 60)) << process.output();
    // A worker with a process of its own is at work: that is a solver.
    pid_t busy = 0;
    const auto on_the_hard_point = [&] {
      for (const pid_t worker : children_of(process.id())) {
        if (!children_of(worker).empty()) busy = worker;
      }
      return busy != 0;
    };
    ASSERT_TRUE(wait_until(on_the_hard_point, 60)) << process.output();
    kill(busy, SIGKILL);
    EXPECT_EQ(process.wait(), 0);
    EXPECT_THAT(process.output(), HasSubstr("poet: 4 of 4 points, 1 failed\n"));
    EXPECT_THAT(process.output(), HasSubstr("1 x the worker died: signal 9\n"));
  }
  const Json json = poet(arguments("r.sqlite", "--json --quiet")).json();
  ASSERT_EQ(json["results"].size(), 4U);
  for (const Json& result : json["results"]) {
    const bool hard = result["network"] == "resnet18_cifar" && result["method"] == "poet-no-paging";
    EXPECT_EQ(result["verdict"] == "failed", hard) << result;
  }
}

TEST_F(SweepTest, FailedPointsAreRunAgainWhenAskedFor) {
  // An instance file that is none: known by its content, so that mending it makes new points.
  folder_.write("i.json", "{}");
  spec_ = folder_.write("s.json", R"({"format": 1, "networks": [{"instance": "i.json"}, "linear"],
      "platforms": ["m4"], "ram": [1], "methods": ["checkpoint-all"]})");
  const ProgramRun first = poet(arguments("r.sqlite"));
  EXPECT_EQ(first.exit_code, 0);
  EXPECT_THAT(first.out, HasSubstr("Failed (--retry reruns these):\n  1 x "));
  EXPECT_THAT(first.out, HasSubstr("i.json"));
  const ProgramRun second = poet(arguments("r.sqlite"));
  EXPECT_THAT(second.err, HasSubstr("2 points, 2 in"));
  EXPECT_THAT(second.err, HasSubstr("already (1 failed: --retry reruns them)"));
  EXPECT_THAT(second.out, HasSubstr("0 run now, 2 there before"));
  const ProgramRun retry = poet(arguments("r.sqlite", "--retry"));
  EXPECT_EQ(retry.exit_code, 0);
  EXPECT_THAT(retry.out, HasSubstr("1 run now, 1 there before"));
}

TEST_F(SweepTest, TakesInstancesAndProfiles) {
  folder_.write("mine.json", file_text(repository() / "data" / "devices" / "m4.json"));
  folder_.write("linear.json", file_text(repository() / "data" / "published" / "linear.a72.json"));
  spec_ = folder_.write("s.json", R"({"format": 1,
      "networks": [{"instance": "linear.json"}, {"name": "linear", "trainable": "*", "batch_sizes": [1, 4]}],
      "platforms": ["m4", "mine.json"], "persistent": "excluded", "optimizer": "adam", "ram": [0.5, "1GB"],
      "deadlines": [null, "10min"], "methods": ["poet"], "max_bytes_written": "1MB"})");
  const ProgramRun run = poet(arguments("r.sqlite", "--json --quiet"));
  ASSERT_EQ(run.exit_code, 0);
  const Json json = run.json();
  ASSERT_EQ(json["results"].size(), 4U + 2 * 2 * 4U);
  for (const Json& result : json["results"]) {
    EXPECT_EQ(result["verdict"], "holds") << result;
    EXPECT_LE(result["bytes_written"].get<long>(), 1'000'000);
  }
  EXPECT_EQ(json["results"][0]["semantics"], "staged");  // as the file's form says
  EXPECT_EQ(json["results"][4]["semantics"], "device");
  EXPECT_EQ(json["results"][19]["batch_size"], 4);
  // The same profile by name and by file: the same figures.
  EXPECT_EQ(json["results"][4]["energy_joules"], json["results"][12]["energy_joules"]);
}

TEST_F(SweepTest, TakesOnnxFiles) {
  folder_.write("linear.onnx", to_onnx(build_network("linear"), 13));
  spec_ = folder_.write("s.json", R"({"format": 1,
      "networks": [{"onnx": "linear.onnx", "batch_sizes": [2]}, {"onnx": "linear.onnx", "loss": "mse"},
                   {"name": "linear", "batch_sizes": [2]}],
      "platforms": ["m4"], "ram": [1], "methods": ["checkpoint-all"]})");
  const ProgramRun run = poet(arguments("r.sqlite", "--json --quiet"));
  ASSERT_EQ(run.exit_code, 0);
  const Json results = run.json()["results"];
  ASSERT_EQ(results.size(), 3U);
  for (const Json& result : results) EXPECT_EQ(result["verdict"], "holds") << result;
  EXPECT_EQ(results[0]["batch_size"], 2);
  EXPECT_EQ(results[0]["keep_all_peak_ram_bytes"], results[2]["keep_all_peak_ram_bytes"]);
  EXPECT_NE(results[0]["keep_all_peak_ram_bytes"], results[1]["keep_all_peak_ram_bytes"]);
}

TEST_F(SweepTest, ImportsOnnxFilesAsTheSpecSays) {
  folder_.write("linear.onnx", to_onnx(build_network("linear"), 13));
  spec_ = folder_.write("s.json", R"({"format": 1,
      "networks": [{"onnx": "linear.onnx", "loss": "huber", "huber_delta": 2},
                   {"onnx": "linear.onnx", "huber_delta": 2}, {"onnx": "linear.onnx", "loss_output": "head"},
                   {"onnx": "linear.onnx", "input_values": {"state": 1}}],
      "platforms": ["m4"], "ram": [1], "methods": ["checkpoint-all"]})");
  const Json results = poet(arguments("r.sqlite", "--json --quiet")).json()["results"];
  ASSERT_EQ(results.size(), 4U);
  EXPECT_EQ(results[0]["verdict"], "holds") << results[0];
  EXPECT_THAT(results[1]["reason"], HasSubstr("is for `loss` huber"));
  EXPECT_THAT(results[2]["reason"], HasSubstr("\"head\" is not one of the outputs"));
  EXPECT_THAT(results[3]["reason"], HasSubstr("no input 'state'"));
}

TEST_F(SweepTest, ASecondSweepOnTheStoreIsToldSo) {
  const auto process = begun("r.sqlite");
  const ProgramRun second = poet(arguments("r.sqlite"));
  EXPECT_EQ(second.exit_code, 2);
  EXPECT_THAT(second.err, HasSubstr("r.sqlite: is in use by another sweep"));
  process->send(SIGINT);
  EXPECT_EQ(process->wait(), 1);
}

TEST_F(SweepTest, ShowsALiveLineOnATerminal) {
  int terminal = -1;
  const std::string store = folder_.file("r.sqlite");
  const pid_t child = forkpty(&terminal, nullptr, nullptr, nullptr);
  if (child < 0) GTEST_SKIP() << "no terminal can be had here";
  if (child == 0) {
    setenv("TERM", "xterm", 1);
    execl(program().c_str(), "poet", "sweep", spec_.c_str(), "--store", store.c_str(), nullptr);
    _exit(127);
  }
  std::string screen;
  std::array<char, 4096> buffer{};
  for (ssize_t count = 0; (count = read(terminal, buffer.data(), buffer.size())) > 0;)
    screen.append(buffer.data(), static_cast<std::size_t>(count));
  int status = 0;
  waitpid(child, &status, 0);
  close(terminal);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_THAT(screen, HasSubstr("\r\x1b[K"));
  EXPECT_THAT(screen, HasSubstr(" left"));
  EXPECT_THAT(screen, Not(HasSubstr("poet: 1 of 24")));
}

class SweepMpi : public SweepTest {
 protected:
  void SetUp() override {
    if (!has_mpi()) GTEST_SKIP() << "this build has no MPI";
    if (run_command({"sh", "-c", "command -v mpirun"}).exit_code != 0)
      GTEST_SKIP() << "mpirun is not installed";
    setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 1);
    setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 1);
    if (run_command({"mpirun", "--oversubscribe", "-n", "2", "true"}).exit_code != 0)
      GTEST_SKIP() << "mpirun starts nothing here";
  }

  const std::vector<std::string> launcher_ = {"mpirun", "--oversubscribe", "-n", "4"};
};

TEST_F(SweepMpi, FourRanksGiveTheSameTable) {
  std::vector<std::string> command = launcher_;
  for (const std::string& word : {program().string(), std::string("sweep"), spec_, std::string("--store"),
                                  folder_.file("mpi.sqlite"), std::string("--csv"), folder_.file("mpi.csv")})
    command.push_back(word);
  const ProgramRun run = run_command(command);
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("Points        24 run now, 0 there before"));
  expect_same(without_seconds(file_text(folder_.file("mpi.csv"))));
}

TEST_F(SweepMpi, AKilledRankLosesNoFinishedPoint) {
  const auto process = begun("mpi.sqlite", launcher_);
  pid_t victim = 0;
  for (const pid_t rank : children_of(process->id())) {
    const std::string environment = file_text("/proc/" + std::to_string(rank) + "/environ");
    if (environment.find(std::string("OMPI_COMM_WORLD_RANK=2") + '\0') != std::string::npos) victim = rank;
  }
  ASSERT_NE(victim, 0);
  kill(victim, SIGKILL);
  EXPECT_NE(process->wait(), 0);  // Open MPI ends the job
  finish_and_compare("mpi.sqlite");
}

TEST_F(SweepMpi, AKilledWorkerCostsOnePoint) {
  spec_ = folder_.write("hard.json", kHard);
  std::vector<std::string> command = {"mpirun",
                                      "--oversubscribe",
                                      "-n",
                                      "2",
                                      program().string(),
                                      "sweep",
                                      spec_,
                                      "--store",
                                      folder_.file("mpi.sqlite"),
                                      "--progress-out",
                                      progress_file()};
  Background process(command, folder_.file("log"));
  ASSERT_TRUE(wait_until([this] { return easy_points_are_done(); }, 60)) << process.output();
  pid_t busy = 0;
  const auto on_the_hard_point = [&] {
    busy = 0;
    for (const pid_t rank : children_of(process.id())) {
      for (const pid_t worker : children_of(rank)) {
        if (!children_of(worker).empty()) busy = worker;
      }
    }
    return busy != 0;
  };
  ASSERT_TRUE(wait_until(on_the_hard_point, 60)) << process.output();
  kill(busy, SIGKILL);
  EXPECT_EQ(process.wait(), 0);
  EXPECT_THAT(process.output(), HasSubstr("poet: 4 of 4 points, 1 failed\n"));
}

TEST_F(SweepMpi, BadInputIsExitTwo) {
  const ProgramRun run = run_command({"mpirun", "--oversubscribe", "-n", "3", program().string(), "sweep",
                                      folder_.file("none.json"), "--store", folder_.file("r.sqlite")});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.err, HasSubstr("none.json"));
}

// In 5% of keep-all RAM linear's parameters are on storage: what its plan moves is no less than what any
// must, and what it writes wears the card out.
TEST(SweepTransfers, AreNextToWhatNoPlanCanDoWithout) {
  const TemporaryFolder folder;
  const auto results = [&](const std::string& persistent) {
    const std::string spec = folder.write(persistent + ".json", R"({"format": 1, "networks": ["linear"],
      "platforms": ["m4"], "split": "auto", "ram": ["5%", "100%"], "time_limit": "2s", "methods": ["poet"],
      "persistent": ")" + persistent + "\"}");
    return poet("sweep " + spec + " --quiet --json --store " + folder.file("r.sqlite")).json()["results"];
  };
  const Json paged = results("auto");
  ASSERT_EQ(paged.size(), 2U);
  for (const Json& result : paged) {
    ASSERT_EQ(result["verdict"], "holds");
    const auto bytes = [&](const char* name) { return result[name].get<long>(); };
    EXPECT_LE(bytes("least_bytes_read"), bytes("bytes_read"));
    EXPECT_LE(bytes("least_bytes_written"), bytes("bytes_written"));
    EXPECT_LE(bytes("least_bytes_moved"), bytes("bytes_read") + bytes("bytes_written"));
  }
  const Json& in_little = paged[0];
  EXPECT_EQ(in_little["ram"], "5%");
  EXPECT_LE(in_little["ram_budget_bytes"], 0.05 * paged[1]["ram_budget_bytes"].get<double>() + 1);
  EXPECT_GT(in_little["least_bytes_moved"],
            400'000);  // 174,360 B, read twice and written once, less what stays
  EXPECT_GT(in_little["part_bytes"], 0);
  EXPECT_NEAR(in_little["endurance_steps"].get<double>(), 32e12 / in_little["bytes_written"].get<double>(),
              1);
  EXPECT_EQ(paged[1]["least_bytes_moved"], 0);
  EXPECT_TRUE(paged[1]["endurance_steps"].is_null());
  for (const Json& result : results("resident")) EXPECT_TRUE(result["least_bytes_moved"].is_null());
}

}  // namespace
}  // namespace poet::test
