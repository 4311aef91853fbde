// What a spec of a sweep and a results store can be wrong in, and what poet says.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <filesystem>

#include "poet/study/store.h"
#include "poet/study/sweep_spec.h"
#include "tests/support/input_error.h"
#include "tests/support/program.h"

namespace poet::test {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

const std::string kRest = R"("ram": [0.5], "methods": ["poet"])";
const std::string kHead = R"("format": 1, "networks": ["linear"], "platforms": ["m4"])";

/// The diagnostic about a spec, without the file's name.
std::string sweep_diagnostic(const std::string& spec) {
  const TemporaryFolder folder;
  const std::string file = folder.write("s.json", spec);
  const std::string message = input_error([&] { (void)read_sweep_spec(file); });
  EXPECT_THAT(message, StartsWith(file + ": "));
  return message.substr(std::min(message.size(), file.size() + 2));
}

TEST(SweepSpecErrors, NameThePlaceAndTheRule) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"{" + kHead + ", " + kRest + R"(, "method": 1})",
       "/method: is not a field here; did you mean methods? known: format, "},
      {"{" + kHead + R"(, "methods": ["poet"]})", "/ram: must be present"},
      {"{" + kHead + R"(, "ram": [0.5]})", "/methods: must be present"},
      {R"({"networks": ["linear"], "platforms": ["m4"], )" + kRest + "}",
       "/format: must be present, as in \"format\": 1"},
      {R"({"format": 2, "networks": ["linear"], "platforms": ["m4"], )" + kRest + "}", "/format: must be 1"},
      {R"({"format": 1, "networks": ["linear"], )" + kRest + "}", "/platforms: is missing"},
      {R"({"format": 1, "networks": ["linear"], "platforms": ["m4"], "devices": ["m4"], )" + kRest + "}",
       "/devices: is another word for platforms: leave one of them out"},
      {R"({"format": 1, "networks": ["linear"], "devices": ["none.json"], )" + kRest + "}", "/devices/0: "},
      {R"({"format": 1, "networks": [], "platforms": ["m4"], )" + kRest + "}",
       "/networks: must not be empty"},
      {R"({"format": 1, "networks": "linear", "platforms": ["m4"], )" + kRest + "}", "/networks: must be"},
      {R"({"format": 1, "networks": [7], "platforms": ["m4"], )" + kRest + "}",
       "/networks/0: must be a name"},
      {R"({"format": 1, "networks": [{}], "platforms": ["m4"], )" + kRest + "}",
       "/networks/0: must have one"},
      {R"({"format": 1, "networks": [{"name": "a", "onnx": "b"}], "platforms": ["m4"], )" + kRest + "}",
       "/networks/0: must have one"},
      {R"({"format": 1, "networks": [{"name": "a", "loss": "mse"}], "platforms": ["m4"], )" + kRest + "}",
       "/networks/0/loss: is not a field here"},
      {R"({"format": 1, "networks": ["linear", {"onnx": "none.onnx"}], "platforms": ["m4"], )" + kRest + "}",
       "/networks/1/onnx: "},
      {R"({"format": 1, "networks": [{"instance": "none.json"}], )" + kRest + "}", "/networks/0/instance: "},
      {R"({"format": 1, "networks": ["linear"], "platforms": ["none.json"], )" + kRest + "}",
       "/platforms/0: "},
      {R"({"format": 1, "networks": ["linear"], "platforms": [""], )" + kRest + "}",
       "/platforms/0: must not be empty"},
      {"{" + kHead + R"(, "ram": [0], "methods": ["poet"]})", "/ram/0: a number must be in (0, 1]"},
      {"{" + kHead + R"(, "ram": [1, 1.5], "methods": ["poet"]})", "/ram/1: a number must be in (0, 1]"},
      {"{" + kHead + R"(, "ram": [300000], "methods": ["poet"]})", "/ram/0: a number must be in (0, 1]"},
      {"{" + kHead + R"(, "ram": ["12XB"], "methods": ["poet"]})", "/ram/0: \"12XB\" is not an amount"},
      {"{" + kHead + R"(, "ram": [null], "methods": ["poet"]})", "/ram/0: must be a number"},
      {"{" + kHead + R"(, "ram": ["0%"], "methods": ["poet"]})", "/ram/0: must be above 0%"},
      {"{" + kHead + R"(, "ram": ["101%"], "methods": ["poet"]})", "/ram/0: "},
      {"{" + kHead + R"(, "ram": ["x%"], "methods": ["poet"]})", "/ram/0: "},
      {"{" + kHead + R"(, "ram": ["1%", 0.5], "split": "auto", "methods": ["poet"]})",
       "/split: \"auto\" needs RAM in bytes or as"},
      {"{" + kHead + R"(, "deadlines": [0], )" + kRest + "}", "/deadlines/0: must be > 0"},
      {"{" + kHead + R"(, "deadlines": [null, "1 year"], )" + kRest + "}", "/deadlines/1: \"1 year\" is not"},
      {"{" + kHead + R"(, "deadlines": [true], )" + kRest + "}", "/deadlines/0: must be null, a factor"},
      {"{" + kHead + R"(, "ram": [0.5], "methods": ["poet", "gurobi"]})",
       "/methods/1: unknown method \"gurobi\" (known: "},
      {"{" + kHead + R"(, "ram": [0.5], "methods": ["poeet"]})",
       "/methods/0: unknown method \"poeet\"; did you mean poet? (known: "},
      {"{" + kHead + R"(, "gap": 2, )" + kRest + "}", "/gap: must be from 0 to 1"},
      {"{" + kHead + R"(, "gap": "x", )" + kRest + "}", "/gap: \"x\" is not a fraction"},
      {"{" + kHead + R"(, "time_limit": 0, )" + kRest + "}", "/time_limit: must be > 0"},
      {"{" + kHead + R"(, "batch_sizes": [0], )" + kRest + "}", "/batch_sizes/0: "},
      {"{" + kHead + R"(, "batch_sizes": [1.5], )" + kRest + "}", "/batch_sizes/0: "},
      {"{" + kHead + R"(, "optimizer": "lamb", )" + kRest + "}", "/optimizer: \"lamb\" is not one of sgd, "},
      {"{" + kHead + R"(, "accumulate": 0, )" + kRest + "}", "/accumulate: "},
      {"{" + kHead + R"(, "clip_norm": 0, )" + kRest + "}", "/clip_norm: must be > 0"},
      {"{" + kHead + R"(, "label_smoothing": 1, )" + kRest + "}", "/label_smoothing: must be below 1"},
      {"{" + kHead + R"(, "precision": "fp16", )" + kRest + "}",
       "/precision: \"fp16\" is not one of fp32, bf16-mixed"},
      {"{" + kHead + R"(, "semantics": "staged", "clip_norm": 1, )" + kRest + "}",
       "/clip_norm: with semantics staged"},
      {"{" + kHead + R"(, "persistent": "maybe", )" + kRest + "}", "/persistent: \"maybe\" is not one of"},
      {"{" + kHead + R"(, "semantics": "paper", )" + kRest + "}", "/semantics: must be published"},
      {"{" + kHead + R"(, "solver": "gurobi", )" + kRest + "}",
       "/solver: \"gurobi\" is not one of cbc, highs"},
      {"{" + kHead + R"(, "max_bytes_written": 7, )" + kRest + "}", "/max_bytes_written: "},
      {"{" + kHead + R"(, "semantics": "published", "optimizer": "adam", )" + kRest + "}",
       "/optimizer: with semantics published"},
      {"{" + kHead + R"(, "semantics": "staged", "batch_sizes": [1, 2], )" + kRest + "}",
       "/batch_sizes: with semantics staged"},
      {"[1]", "must be"},
      {"{", "line 1"},
  };
  for (const auto& [spec, expected] : cases)
    EXPECT_THAT(sweep_diagnostic(spec), StartsWith(expected)) << spec;
}

TEST(SweepSpecErrors, InstancesTakeNoOptionsOfNetworks) {
  const TemporaryFolder folder;
  folder.write("i.json", "{}");
  const std::string file = folder.write("s.json", R"({"format": 1, "networks": [{"instance": "i.json"}],
      "optimizer": "adam", "ram": [1], "methods": ["poet"]})");
  EXPECT_THAT(input_error([&] { (void)read_sweep_spec(file); }),
              HasSubstr("/optimizer: is without effect on instance files"));
}

void run_sql(const std::string& file, const char* sql) {
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open(file.c_str(), &database), SQLITE_OK);
  EXPECT_EQ(sqlite3_exec(database, sql, nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(database);
  sqlite3_close(database);
}

std::string store_diagnostic(const std::string& file) {
  return input_error([&] { const ResultsStore store(file); });
}

TEST(ResultsStoreErrors, OtherFilesAreLeftAlone) {
  const TemporaryFolder folder;
  const std::string text = folder.write("text", std::string(5000, 'x'));
  EXPECT_EQ(store_diagnostic(text), text + ": is not a results store (not an SQLite file)");
  EXPECT_EQ(std::filesystem::file_size(text), 5000U);

  const std::string foreign = folder.file("foreign.sqlite");
  run_sql(foreign, "CREATE TABLE t (a)");
  EXPECT_THAT(store_diagnostic(foreign),
              EndsWith("is an SQLite file of another program, not a results store"));

  const std::string newer = folder.file("newer.sqlite");
  { const ResultsStore store(newer); }
  run_sql(newer, "PRAGMA user_version = 5");
  EXPECT_THAT(store_diagnostic(newer), EndsWith("is a results store of format 5; this poet knows 4"));

  const std::string damaged = folder.file("damaged.sqlite");
  { const ResultsStore store(damaged); }
  run_sql(damaged, "ALTER TABLE points DROP COLUMN verdict");
  EXPECT_THAT(input_error([&] {
                ResultsStore store(damaged);
                (void)store.find("k");
              }),
              HasSubstr("no such column: verdict"));
}

TEST(ResultsStoreErrors, PlacesThatCannotBeWritten) {
  const TemporaryFolder folder;
  EXPECT_THAT(store_diagnostic(folder.file("none/r.sqlite")), HasSubstr("cannot be opened for writing: "));
  EXPECT_THAT(store_diagnostic(folder.file("")), HasSubstr("cannot be opened for writing: "));
  if (geteuid() != 0) {
    const std::string file = folder.write("r.sqlite", "");
    std::filesystem::permissions(file, std::filesystem::perms::owner_read);
    EXPECT_THAT(store_diagnostic(file), HasSubstr("cannot be opened for writing: "));
  }
}

TEST(SweepErrors, AreExitTwoBeforeAnythingRuns) {
  const TemporaryFolder folder;
  const std::string good = folder.write("s.json", "{" + kHead + ", " + kRest + "}");
  const std::string store = " --store " + folder.file("r.sqlite");
  const auto expect_diagnostic = [&](const std::string& arguments, const std::string& expected) {
    const ProgramRun run = poet("sweep " + arguments);
    EXPECT_EQ(run.exit_code, 2) << arguments;
    EXPECT_EQ(run.out, "");
    EXPECT_THAT(run.err, HasSubstr(expected)) << arguments;
    EXPECT_EQ(std::count(run.err.begin(), run.err.end(), '\n'), 1) << run.err;
    EXPECT_FALSE(std::filesystem::exists(folder.file("r.sqlite"))) << arguments;
  };
  expect_diagnostic(store, "SPEC.json: is missing");
  expect_diagnostic(good, "--store: is missing");
  expect_diagnostic(good + " --store " + folder.file("none/r.sqlite"), "--store: no such folder");
  expect_diagnostic(good + store + " --csv " + folder.file("none/r.csv"), "--csv: no such folder");
  expect_diagnostic(good + store + " --csv " + folder.file("r.sqlite"), "must name another file than");
  expect_diagnostic(good + store + " -o " + folder.file("none/r.html"), "-o: no such folder");
  expect_diagnostic(good + store + " -o " + folder.file("r.svg"), "must end in .html");
  expect_diagnostic(good + store + " -o " + folder.file("r.html") + " --csv " + folder.file("r.html"),
                    "must name another file than");
  expect_diagnostic(good + store + " --jobs 0", "--jobs: \"0\" is not a whole number >= 1");
  expect_diagnostic(folder.file("none.json") + store, "none.json");
  const auto spec = [&](const std::string& name, const std::string& text) {
    return folder.write(name, "{\"format\": 1, " + text + ", " + kRest + "}") + store;
  };
  expect_diagnostic(spec("a.json", R"("networks": ["linear", "lenet"], "platforms": ["m4"])"),
                    "/networks/1: unknown network \"lenet\"; the");
  expect_diagnostic(spec("b.json", R"("networks": ["linear"], "platforms": ["m4", "m9"])"), "/platforms/1: ");
  expect_diagnostic(spec("c.json", R"("networks": ["linear"], "platforms": ["m4"], "sequence_lengths": [7])"),
                    "/networks/0: ");
  expect_diagnostic(
      spec("d.json", R"("networks": ["linear"], "platforms": ["jetsontx2"], "semantics": "published")"),
      "/networks/0: no published instance of linear on jetsontx2");
}

}  // namespace
}  // namespace poet::test
