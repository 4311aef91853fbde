#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
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

TEST(SweepResult, JsonKeepsEveryField) {
  const nlohmann::ordered_json json = to_json(full());
  EXPECT_EQ(to_json(result_from_json(nlohmann::ordered_json::parse(json.dump()))), json);
  const nlohmann::ordered_json empty = to_json(SweepResult{});
  EXPECT_EQ(to_json(result_from_json(nlohmann::ordered_json::parse(empty.dump()))), empty);
  EXPECT_TRUE(empty.at("energy_joules").is_null());
}

TEST(SweepResult, HoldsNoNumbersThatAreNone) {
  Judged judged;
  judged.plan.steps.emplace_back();
  judged.bound = Joules(-std::numeric_limits<double>::infinity());
  judged.gap = std::nan("");
  SweepResult result;
  add_verdict(result, judged);
  EXPECT_FALSE(result.bound_joules || result.gap);
  EXPECT_TRUE(result.energy_joules);
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
  {
    ResultsStore first(file);
    EXPECT_THAT(input_error([&] { ResultsStore second(file); }), HasSubstr("is in use by another sweep"));
  }
  ResultsStore next(file);  // free again
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
