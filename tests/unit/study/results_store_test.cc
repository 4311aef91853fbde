#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>

#include "poet/study/store.h"
#include "tests/support/input_error.h"
#include "tests/support/program.h"

namespace poet::test {
namespace {

using testing::HasSubstr;

/// Every field with a value of its own.
SweepResult full() {
  SweepResult result;
  int next = 0;
  struct Fill {
    int& next;
    void operator()(const char* name, std::string& field) const { field = name + std::string(" 'µ\""); }
    void operator()(const char*, double& field) const { field = ++next / 3.0; }
    void operator()(const char*, std::optional<double>& field) const { field = ++next * 1e-300 / 7; }
    void operator()(const char*, std::optional<std::int64_t>& field) const {
      field = (std::int64_t{1} << 53) + ++next;
    }
    void operator()(const char* name, std::optional<std::string>& field) const { field = name; }
  };
  visit_fields(result, Fill{next});
  return result;
}

TEST(StoredResult, JsonKeepsEveryField) {
  const nlohmann::ordered_json json = to_json(full());
  EXPECT_EQ(to_json(result_from_json(nlohmann::ordered_json::parse(json.dump()))), json);
  const nlohmann::ordered_json empty = to_json(SweepResult{});
  EXPECT_EQ(to_json(result_from_json(nlohmann::ordered_json::parse(empty.dump()))), empty);
  EXPECT_TRUE(empty.at("energy_joules").is_null());
}

TEST(StoredResult, HoldsNoNumbersThatAreNone) {
  Judged judged;
  judged.plan.steps.emplace_back();
  judged.bound = Joules(-std::numeric_limits<double>::infinity());
  judged.gap = std::nan("");
  SweepResult result;
  add_verdict(result, judged, Bytes(100));
  EXPECT_FALSE(result.bound_joules || result.gap);
  EXPECT_TRUE(result.energy_joules);
}

TEST(ResultsStore, KeepsPlansBesideTheirPoints) {
  const TemporaryFolder folder;
  const std::string file = folder.file("r.sqlite");
  const std::string plan("POET\0\1 a plan", 13);
  SweepResult with;
  with.key = "with";
  SweepResult without;
  without.key = "without";
  {
    ResultsStore store(file);
    store.put(without);
    EXPECT_FALSE(store.has_plan("without"));  // and there is no table for any
    store.put(with, plan);
  }
  ResultsStore store(file);
  EXPECT_EQ(store.size(), 2U);
  EXPECT_EQ(store.plan("with"), plan);
  EXPECT_TRUE(store.has_plan("with"));
  EXPECT_EQ(store.plan("without"), "");
  // The plan of a point that was run again is the new one's, or none.
  store.put(with, "POET another");
  EXPECT_EQ(store.plan("with"), "POET another");
  store.put(with);
  EXPECT_FALSE(store.has_plan("with"));
}

TEST(ResultsStore, RemembersEveryFieldAcrossOpenings) {
  const TemporaryFolder folder;
  const std::string file = folder.file("r.sqlite");
  SweepResult sparse;
  sparse.key = "sparse";
  {
    ResultsStore store(file);
    EXPECT_EQ(store.size(), 0U);
    store.put(full());
    store.put(sparse);
  }
  ResultsStore store(file);
  EXPECT_EQ(store.size(), 2U);
  EXPECT_FALSE(store.find("else"));
  const std::optional<SweepResult> found = store.find(full().key);
  ASSERT_TRUE(found);
  EXPECT_EQ(to_json(*found), to_json(full()));
  ASSERT_TRUE(store.find("sparse"));
  EXPECT_EQ(to_json(*store.find("sparse")), to_json(sparse));
}

// What format 1 did not have is empty.
TEST(ResultsStore, TakesOverOlderFiles) {
  const TemporaryFolder folder;
  const std::string file = folder.file("r.sqlite");
  SweepResult old;
  old.key = "old";
  old.split = "auto";
  ResultsStore(file).put(old);
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open(file.c_str(), &database), SQLITE_OK);
  for (const char* sql :
       {"ALTER TABLE points DROP COLUMN split", "ALTER TABLE points DROP COLUMN paged_persistent_values",
        "ALTER TABLE points DROP COLUMN part_bytes", "ALTER TABLE points DROP COLUMN ops",
        "ALTER TABLE points DROP COLUMN bytes_read", "ALTER TABLE points DROP COLUMN least_bytes_read",
        "ALTER TABLE points DROP COLUMN least_bytes_written",
        "ALTER TABLE points DROP COLUMN least_bytes_moved", "ALTER TABLE points DROP COLUMN endurance_steps",
        "ALTER TABLE points DROP COLUMN accumulate", "ALTER TABLE points DROP COLUMN clip_norm",
        "ALTER TABLE points DROP COLUMN label_smoothing", "ALTER TABLE points DROP COLUMN precision",
        "PRAGMA user_version = 1"})
    EXPECT_EQ(sqlite3_exec(database, sql, nullptr, nullptr, nullptr), SQLITE_OK) << sql;
  sqlite3_close(database);
  {
    ResultsStore store(file);
    ASSERT_TRUE(store.find("old").has_value());
    EXPECT_EQ(store.find("old")->split, std::nullopt);
    SweepResult next = full();
    store.put(next);
    EXPECT_EQ(to_json(*store.find(next.key)), to_json(next));
  }
  EXPECT_TRUE(ResultsStore(file).find("old").has_value());
}

TEST(ResultsStore, ReplacesARowOfTheSameKey) {
  const TemporaryFolder folder;
  ResultsStore store(folder.file("r.sqlite"));
  SweepResult result;
  result.key = "k";
  result.verdict = kFailed;
  store.put(result);
  result.verdict = "holds";
  store.put(result);
  EXPECT_EQ(store.size(), 1U);
  EXPECT_EQ(store.find("k")->verdict, "holds");
}

TEST(ResultsStore, HasOneWriter) {
  const TemporaryFolder folder;
  const std::string file = folder.file("r.sqlite");
  std::filesystem::create_symlink("r.sqlite", folder.file("link"));
  {
    ResultsStore first(file);
    for (const std::string& name : {file, folder.file("link")})
      EXPECT_THAT(input_error([&] { ResultsStore second(name); }), HasSubstr("is in use by another sweep"));
  }
  EXPECT_FALSE(std::filesystem::exists(file + "-lock"));
  ResultsStore next(file);  // free again
}

// Closing any descriptor of a file releases all POSIX locks that the process holds on it: those by which
// SQLite keeps other processes from writing in the middle of a transaction.
TEST(ResultsStore, ARefusedOpeningLeavesTheLocksOfTheFirst) {
  const TemporaryFolder folder;
  const std::string file = folder.file("r.sqlite");
  ResultsStore store(file);
  sqlite3* writer = nullptr;
  ASSERT_EQ(sqlite3_open(file.c_str(), &writer), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(writer, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr), SQLITE_OK);
  EXPECT_THAT(input_error([&] { ResultsStore second(file); }), HasSubstr("is in use by another sweep"));
  const pid_t child = fork();
  if (child == 0) {
    struct flock lock {};
    lock.l_type = F_WRLCK;  // of the whole file
    if (fcntl(open(file.c_str(), O_RDWR), F_GETLK, &lock) != 0) _exit(1);
    _exit(lock.l_type == F_UNLCK ? 2 : 0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  sqlite3_close(writer);
}

TEST(ResultsStore, LosesNothingWithItsProcess) {
  const TemporaryFolder folder;
  const std::string file = folder.file("r.sqlite");
  const pid_t child = fork();
  if (child == 0) {
    ResultsStore store(file);
    for (const std::string key : {"a", "b", "c"}) {
      SweepResult result;
      result.key = key;
      store.put(result);
    }
    kill(getpid(), SIGKILL);
  }
  int status = 0;
  waitpid(child, &status, 0);
  ASSERT_TRUE(WIFSIGNALED(status));
  ResultsStore store(file);
  EXPECT_EQ(store.size(), 3U);
}

}  // namespace
}  // namespace poet::test
