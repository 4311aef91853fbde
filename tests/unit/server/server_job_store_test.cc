// The job store: equal orders are one job, clients take turns, limits hold, and what was stored stays.

#include "apps/server/jobs/job_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <thread>

#include "tests/support/input_error.h"
#include "tests/support/scratch_folder.h"

namespace poet::server {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Order order_named(const std::string& id, const std::string& client = "ann") {
  return {id, "solve", R"({"kind":"solve"})", client};
}

/// A store whose clock moves when the test says so.
class JobQueue : public testing::Test {
 protected:
  void submit(const std::string& id, const std::string& client = "ann") {
    now_ += 1;
    (void)store_.submit(order_named(id, client));
  }
  /// The clients of the next jobs, in turn.
  std::string turns(int count) {
    std::string clients;
    for (int i = 0; i < count; ++i) clients += store_.claim("worker", 10).value().order.client.front();
    return clients;
  }
  void complete(const std::string& id, const Outcome& outcome) {
    ASSERT_EQ(store_.claim("worker", 10).value().order.id, id);
    ASSERT_TRUE(store_.finish(id, "worker", outcome));
  }

  test::ScratchFolder folder_;
  double now_ = 1000;
  JobStore store_{folder_.path(), {30, 20}, [this] { return now_; }};
};

TEST_F(JobQueue, TakesEqualOrdersForOneJob) {
  const Job first = store_.submit(order_named("a", "ann"));
  EXPECT_EQ(first.state, JobState::queued);
  EXPECT_EQ(first.submitted, 1000);
  now_ = 1001;
  const Job second = store_.submit(order_named("a", "bob"));
  EXPECT_EQ(second.version, first.version);
  EXPECT_EQ(second.order.client, "ann");
  EXPECT_EQ(second.submitted, 1000);
  EXPECT_EQ(store_.load().queued, 1);

  complete("a", {JobState::done, R"({"x":1})", "", "", ""});
  EXPECT_EQ(store_.submit(order_named("a")).result, R"({"x":1})");
  EXPECT_EQ(store_.load().queued, 0);
}

TEST_F(JobQueue, OrdersWhatFailedOrWasCancelledAnew) {
  submit("a");
  complete("a", {JobState::failed, "", R"({"error":"died"})", "", ""});
  now_ = 2000;
  const Job again = store_.submit(order_named("a"));
  EXPECT_EQ(again.state, JobState::queued);
  EXPECT_EQ(again.error, "");
  EXPECT_EQ(again.attempts, 0);
  EXPECT_EQ(again.submitted, 2000);
  EXPECT_TRUE(store_.cancel("a"));
  EXPECT_EQ(store_.submit(order_named("a")).state, JobState::queued);
  EXPECT_TRUE(store_.claim("worker", 10));
  EXPECT_TRUE(store_.renew("a", "worker", 10)) << "an earlier cancel is forgotten";
}

TEST_F(JobQueue, AlternatesBetweenClients) {
  for (int i = 0; i < 10; ++i) submit("a" + std::to_string(i), "ann");
  EXPECT_EQ(turns(2), "aa");
  for (int i = 0; i < 3; ++i) submit("b" + std::to_string(i), "bob");
  for (int i = 0; i < 2; ++i) submit("c" + std::to_string(i), "cid");
  const std::string next = turns(8);
  EXPECT_EQ(std::count(next.begin(), next.end(), 'a'), 3)
      << next << ": nobody waits for a client's whole queue";
  EXPECT_EQ(next.find("aa"), std::string::npos) << next;
  EXPECT_EQ(turns(5), "aaaaa");
  EXPECT_FALSE(store_.claim("worker", 10));
}

TEST_F(JobQueue, LetsNobodyCatchUpOnTurnsThatHeDidNotTake) {
  for (int i = 0; i < 10; ++i) submit("a" + std::to_string(i), "ann");
  EXPECT_EQ(turns(8), "aaaaaaaa");
  for (int i = 0; i < 8; ++i) submit("b" + std::to_string(i), "bob");
  const std::string next = turns(4);
  EXPECT_EQ(std::count(next.begin(), next.end(), 'b'), 2) << next;
}

TEST_F(JobQueue, CountsTheJobsThatComeFirst) {
  for (int i = 0; i < 3; ++i) submit("a" + std::to_string(i), "ann");
  submit("b", "bob");
  EXPECT_EQ(store_.find("a0")->ahead, 0);
  EXPECT_EQ(store_.find("b")->ahead, 1);
  EXPECT_EQ(store_.find("a2")->ahead, 3);
  EXPECT_EQ(store_.list("ann", "", 1e12, 1).front().ahead, 3);
  (void)store_.claim("worker", 10);
  EXPECT_EQ(store_.find("a0")->ahead, 0);
  EXPECT_EQ(store_.list("bob", "", 1e12, 1).front().ahead, 0);
}

TEST_F(JobQueue, IsFullForOneClientBeforeItIsForAll) {
  for (int i = 0; i < 20; ++i) submit("a" + std::to_string(i), "ann");
  try {
    submit("one more", "ann");
    ADD_FAILURE() << "took on more than it is to";
  } catch (const QueueFull& full) {
    EXPECT_TRUE(full.of_client);
    EXPECT_EQ(full.queued, 20);
  }
  submit("a7", "ann");  // is there already
  for (int i = 0; i < 10; ++i) submit("b" + std::to_string(i), "bob");
  try {
    submit("one more", "bob");
    ADD_FAILURE() << "took on more than it is to";
  } catch (const QueueFull& full) {
    EXPECT_FALSE(full.of_client);
    EXPECT_EQ(full.queued, 30);
  }
  EXPECT_FALSE(store_.find("one more"));
  for (int i = 0; i < 30; ++i) submit("c" + std::to_string(i), "client " + std::to_string(i));
  EXPECT_THROW(submit("one more", "cid"), QueueFull);
  for (int i = 0; i < 31; ++i) EXPECT_TRUE(store_.claim("worker", 10));
  submit("one more", "bob");  // what runs is not queued
}

TEST_F(JobQueue, CancelsAQueuedJobAtOnceAndARunningOneWhenItsWorkerAsks) {
  submit("a");
  submit("b");
  EXPECT_TRUE(store_.cancel("a"));
  EXPECT_EQ(store_.find("a")->state, JobState::cancelled);
  EXPECT_EQ(store_.find("a")->finished, now_);
  EXPECT_FALSE(store_.cancel("a"));
  EXPECT_FALSE(store_.cancel("none"));

  EXPECT_EQ(store_.claim("worker", 10)->order.id, "b");
  EXPECT_TRUE(store_.renew("b", "worker", 10));
  EXPECT_TRUE(store_.cancel("b"));
  EXPECT_EQ(store_.find("b")->state, JobState::running);
  EXPECT_FALSE(store_.renew("b", "worker", 10));
  EXPECT_TRUE(store_.finish("b", "worker", {JobState::cancelled, "", "", "", ""}));
  EXPECT_EQ(store_.find("b")->state, JobState::cancelled);
}

TEST_F(JobQueue, TellsEachChangedJobOnce) {
  submit("a");
  submit("b");
  const std::int64_t before = store_.version();
  EXPECT_THAT(store_.changes_since(before), IsEmpty());
  (void)store_.claim("worker", 10);
  store_.progress("a", "worker", R"({"nodes":1})");
  store_.progress("a", "other", R"({"nodes":2})");
  submit("c");
  std::vector<std::string> changed;
  std::int64_t latest = before;
  for (const Change& change : store_.changes_since(before)) {
    EXPECT_GT(change.version, latest);
    latest = change.version;
    changed.push_back(change.id);
  }
  EXPECT_THAT(changed, ElementsAre("a", "c"));
  EXPECT_EQ(latest, store_.version());
  EXPECT_EQ(store_.find("a")->progress, R"({"nodes":1})");
}

TEST_F(JobQueue, ForgetsOnlyWhatHasEndedBefore) {
  for (const char* id : {"a", "b", "c", "d"}) submit(id);
  now_ = 2000;
  complete("a", {JobState::done, "{}", "", "plan", ""});
  complete("b", {JobState::failed, "", "{}", "", ""});
  now_ = 3000;
  complete("c", {JobState::done, "{}", "", "", ""});
  EXPECT_EQ(store_.forget(2500), 2);
  EXPECT_FALSE(store_.find("a"));
  EXPECT_EQ(store_.plan("a"), "");
  EXPECT_TRUE(store_.find("c") && store_.find("d"));
  EXPECT_EQ(store_.forget(1e12), 1);
  EXPECT_TRUE(store_.find("d")) << "it is queued still";
}

TEST_F(JobQueue, ListsTheLatestFirst) {
  submit("a", "ann");
  submit("b", "bob");
  submit("c", "ann");
  const auto ids = [](const std::vector<Job>& jobs) {
    std::vector<std::string> list;
    for (const Job& job : jobs) list.push_back(job.order.id);
    return list;
  };
  EXPECT_THAT(ids(store_.list("", "", 1e12, 9)), ElementsAre("c", "b", "a"));
  EXPECT_THAT(ids(store_.list("ann", "", 1e12, 1)), ElementsAre("c"));
  EXPECT_THAT(ids(store_.list("ann", "", 1003, 9)), ElementsAre("a"));
  EXPECT_TRUE(store_.cancel("b"));
  EXPECT_THAT(ids(store_.list("", "cancelled", 1e12, 9)), ElementsAre("b"));
  EXPECT_THAT(ids(store_.list("' OR 1=1 --", "", 1e12, 9)), IsEmpty());
}

TEST(JobStore, KeepsResultsAndPlansWhenItIsOpenedAgain) {
  const test::ScratchFolder folder;
  const std::string plan("plan\0with\xff bytes", 16);
  std::int64_t version = 0;
  {
    JobStore store(folder.path(), {}, [] { return 5.0; });
    for (const char* id : {"a", "b"}) (void)store.submit(order_named(id));
    (void)store.claim("worker", 10);
    EXPECT_TRUE(store.finish("a", "worker", {JobState::done, R"({"x":"µ"})", "", plan, "{}"}));
    version = store.version();
  }
  JobStore store(folder.path(), {}, [] { return 6.0; });
  EXPECT_EQ(store.find("a")->result, R"({"x":"µ"})");
  EXPECT_TRUE(store.find("a")->has_plan);
  EXPECT_EQ(store.plan("a"), plan);
  EXPECT_EQ(store.schedule("a"), "{}");
  EXPECT_EQ(store.plan("b"), "");
  EXPECT_EQ(store.version(), version);
  EXPECT_EQ(store.claim("worker", 10)->order.id, "b");
}

TEST(JobStore, RefusesAFileThatIsNotItsOwnAndNamesIt) {
  const test::ScratchFolder folder;
  const auto opened = [&] { const JobStore store(folder.path(), {}, [] { return 0.0; }); };
  sqlite3* other = nullptr;
  ASSERT_EQ(sqlite3_open((folder.path() / "jobs.sqlite").c_str(), &other), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(other, "PRAGMA user_version = 99", nullptr, nullptr, nullptr), SQLITE_OK);
  sqlite3_close(other);
  EXPECT_THAT(test::input_error(opened),
              HasSubstr((folder.path() / "jobs.sqlite").string() + ": is of another"));
  folder.write("jobs.sqlite", std::string(5000, 'x'));
  EXPECT_THAT(test::input_error(opened), HasSubstr("jobs.sqlite"));
  std::filesystem::remove(folder.path() / "jobs.sqlite");
  std::filesystem::create_directory(folder.path() / "jobs.sqlite");
  EXPECT_THAT(test::input_error(opened), HasSubstr("jobs.sqlite"));
}

TEST(JobStore, IsMadeOnceByServersThatStartTogether) {
  for (int round = 0; round < 10; ++round) {
    const test::ScratchFolder folder;
    std::vector<std::thread> servers;
    for (int i = 0; i < 6; ++i)
      servers.emplace_back([&, i] {
        try {
          JobStore store(folder.path(), {}, [] { return 1.0; });
          (void)store.submit(order_named(std::to_string(i)));
        } catch (const std::exception& error) {
          ADD_FAILURE() << error.what();
        }
      });
    for (std::thread& server : servers) server.join();
    JobStore store(folder.path(), {}, [] { return 1.0; });
    EXPECT_EQ(store.load().queued, 6);
  }
}

}  // namespace
}  // namespace poet::server
