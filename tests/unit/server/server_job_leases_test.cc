// Jobs that run are leased: who holds a lease decides, who has lost it does not, and the queue is divided
// between servers.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <mutex>
#include <set>
#include <thread>

#include "apps/server/jobs/job_json.h"
#include "apps/server/jobs/job_store.h"
#include "tests/support/scratch_folder.h"

namespace poet::server {
namespace {

using testing::HasSubstr;

/// A store with one job, whose clock moves when the test says so.
class JobLeases : public testing::Test {
 protected:
  JobLeases() { (void)store_.submit({"a", "solve", "{}", "ann"}); }
  [[nodiscard]] Job job() { return store_.find("a").value(); }

  test::ScratchFolder folder_;
  double now_ = 1000;
  JobStore store_{folder_.path(), {}, [this] { return now_; }};
  const Outcome answer_{JobState::done, R"({"x":1})", "", "plan", ""};
};

TEST_F(JobLeases, GiveAJobToOneOwnerWhoFinishesIt) {
  now_ = 1005;
  const Job mine = store_.claim("me", 10).value();
  EXPECT_EQ(mine.state, JobState::running);
  EXPECT_EQ(mine.attempts, 1);
  EXPECT_EQ(mine.started, 1005);
  EXPECT_FALSE(store_.claim("you", 10));
  EXPECT_THAT(store_.owners(), testing::ElementsAre("me"));
  EXPECT_FALSE(store_.renew("a", "you", 10));
  EXPECT_FALSE(store_.finish("a", "you", answer_));
  now_ = 1010;
  EXPECT_TRUE(store_.finish("a", "me", answer_));
  EXPECT_EQ(job().state, JobState::done);
  EXPECT_EQ(job().finished, 1010);
  EXPECT_EQ(job().result, R"({"x":1})");
  EXPECT_TRUE(job().has_plan);
  EXPECT_FALSE(store_.finish("a", "me", {JobState::failed, "", "{}", "", ""}));
  EXPECT_EQ(job().state, JobState::done);
}

TEST_F(JobLeases, LastWhileTheyAreRenewed) {
  (void)store_.claim("me", 10);
  for (int i = 0; i < 5; ++i) {
    now_ += 9;
    EXPECT_EQ(store_.expire_leases(), 0);
    EXPECT_TRUE(store_.renew("a", "me", 10));
  }
  now_ += 10.5;
  EXPECT_EQ(store_.expire_leases(), 1);
  EXPECT_EQ(job().state, JobState::queued);
}

TEST_F(JobLeases, ThatAreLostChangeNothingAnyMore) {
  (void)store_.claim("me", 10);
  now_ += 11;
  EXPECT_EQ(store_.expire_leases(), 1);
  const std::int64_t version = job().version;
  store_.progress("a", "me", R"({"nodes":1})");
  store_.give_back("a", "me");
  EXPECT_FALSE(store_.renew("a", "me", 10));
  EXPECT_FALSE(store_.finish("a", "me", answer_));
  EXPECT_EQ(job().version, version);
  EXPECT_EQ(job().state, JobState::queued);

  (void)store_.claim("you", 10);
  EXPECT_FALSE(store_.renew("a", "me", 10));
  EXPECT_FALSE(store_.finish("a", "me", answer_));
  store_.give_back("a", "me");
  EXPECT_EQ(job().state, JobState::running);
  EXPECT_TRUE(store_.finish("a", "you", answer_));
}

TEST_F(JobLeases, ThatAreLostThreeTimesFailTheJob) {
  for (int i = 1; i <= 3; ++i) {
    ASSERT_TRUE(store_.claim("server " + std::to_string(i), 10)) << i;
    EXPECT_EQ(job().attempts, i);
    now_ += 11;
    EXPECT_EQ(store_.expire_leases(), 1);
  }
  EXPECT_EQ(job().state, JobState::failed);
  EXPECT_EQ(job().finished, now_);
  EXPECT_THAT(job().error, HasSubstr(R"("error":"died")"));
  EXPECT_FALSE(store_.claim("me", 10));
  EXPECT_EQ(store_.expire_leases(), 0);
}

TEST_F(JobLeases, ThatAreGivenBackCountAsNotTaken) {
  for (int i = 0; i < 5; ++i) {
    (void)store_.claim("me", 10);
    store_.progress("a", "me", R"({"nodes":1})");
    store_.give_back("a", "me");
    EXPECT_EQ(job().state, JobState::queued);
    EXPECT_EQ(job().attempts, 0);
    EXPECT_EQ(job().progress, "");
  }
  EXPECT_TRUE(store_.claim("you", 10));
}

TEST_F(JobLeases, LeaveNoTimesOfAnEarlierTryBehind) {
  (void)store_.claim("me", 10);
  store_.give_back("a", "me");
  EXPECT_EQ(job().started, 0);
  (void)store_.claim("me", 10);
  now_ += 11;
  (void)store_.expire_leases();
  EXPECT_EQ(job().started, 0);
  EXPECT_EQ(job().finished, 0);
  (void)store_.claim("me", 10);
  EXPECT_EQ(job().started, now_);
  EXPECT_EQ(job().finished, 0);
  EXPECT_THAT(event_text(job()), HasSubstr(R"("finished":null)"));
}

TEST_F(JobLeases, OfACancelledJobEndItWhateverBecomesOfItsServer) {
  (void)store_.claim("me", 10);
  EXPECT_TRUE(store_.cancel("a"));
  now_ += 11;
  EXPECT_EQ(store_.expire_leases(), 1);
  EXPECT_EQ(job().state, JobState::cancelled);

  (void)store_.submit({"b", "solve", "{}", "ann"});
  (void)store_.claim("me", 10);
  EXPECT_TRUE(store_.cancel("b"));
  store_.give_back("b", "me");
  EXPECT_EQ(store_.find("b")->state, JobState::cancelled) << "nobody is to begin it again";
}

TEST_F(JobLeases, ExpireTogetherAndEachChangeIsTold) {
  (void)store_.submit({"b", "solve", "{}", "bob"});
  (void)store_.claim("me", 10);
  (void)store_.claim("me", 10);
  const std::int64_t before = store_.version();
  now_ += 11;
  EXPECT_EQ(store_.expire_leases(), 2);
  EXPECT_EQ(store_.changes_since(before).size(), 2U);
}

TEST(JobStores, OfOneFolderDivideTheQueue) {
  const test::ScratchFolder folder;
  const auto clock = [] { return 1000.0; };
  constexpr int kJobs = 150;
  JobStore first(folder.path(), {}, clock), second(folder.path(), {}, clock);
  for (int i = 0; i < kJobs; ++i)
    (void)(i % 2 == 0 ? first : second).submit({std::to_string(i), "solve", "{}", "ann"});
  std::mutex mutex;
  std::multiset<std::string> claimed;
  std::vector<std::thread> workers;
  for (int i = 0; i < 4; ++i)
    workers.emplace_back([&, i] {
      JobStore& store = i % 2 == 0 ? first : second;
      const std::string owner = std::to_string(i);
      while (const std::optional<Job> job = store.claim(owner, 100)) {
        EXPECT_TRUE(store.renew(job->order.id, owner, 100));
        EXPECT_TRUE(store.finish(job->order.id, owner, {JobState::done, owner, "", "", ""}));
        const std::scoped_lock lock(mutex);
        claimed.insert(job->order.id);
      }
    });
  for (std::thread& worker : workers) worker.join();
  EXPECT_EQ(claimed.size(), static_cast<std::size_t>(kJobs));
  for (const std::string& id : claimed) EXPECT_EQ(claimed.count(id), 1U) << id;
  for (int i = 0; i < kJobs; ++i) EXPECT_EQ(second.find(std::to_string(i))->attempts, 1);
}

}  // namespace
}  // namespace poet::server
