// Workers run a program for each job: what becomes of its answers, its failures and its server's end. The
// program here is a script that does what the job's uploaded file says.

#include "apps/server/jobs/workers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <nlohmann/json.hpp>

#include "tests/support/background.h"
#include "tests/support/scratch_folder.h"

namespace poet::server {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char* kProgram = R"(#!/bin/sh
for each; do case $each in
  --instance=*) script=${each#*=} ;;
  --plan-out=*) plan=${each#*=} ;;
  --progress-out=*) progress=${each#*=} ;;
esac; done
. "$script"
)";

const std::string kWait = R"(while ! [ -e "$script.go" ]; do sleep 0.05; done; )";

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

/// A store, and workers on it once they are started.
class ServerWorkers : public testing::Test {
 protected:
  ServerWorkers() { std::filesystem::permissions(program_, std::filesystem::perms::owner_all); }
  /// A job that is to do this; its id.
  std::string submit(const std::string& script) {
    const std::string upload = uploads_.add(script + "\n#" + std::to_string(++jobs_)).value();
    const nlohmann::json request = {
        {"kind", "solve"}, {"instance", upload}, {"ram_budget", 1}, {"time_limit", 1}};
    return store_.submit({std::to_string(jobs_), "solve", request.dump(), "ann"}).order.id;
  }
  /// Ends kWait in a job's script.
  void let_go(const std::string& id) {
    const auto request = nlohmann::json::parse(store_.find(id)->order.request);
    (void)folder_.write("uploads/" + request["instance"].get<std::string>() + ".go", "");
  }
  void start(std::size_t workers) {
    workers_.emplace(store_, uploads_,
                     WorkSettings{program_, folder_.path() / "work", workers, std::int64_t{1} << 30, 10});
  }
  /// The job once it is so, or as it then is.
  Job once(const std::string& id, JobState state) {
    (void)test::wait_until([&] { return store_.find(id)->state == state; });
    return store_.find(id).value();
  }

  test::ScratchFolder folder_;
  std::filesystem::path program_ = folder_.write("program", kProgram);
  JobStore store_{folder_.path(), {}, seconds_now};
  Uploads uploads_{folder_.path() / "uploads", 1 << 20};
  int jobs_ = 0;
  std::optional<Workers> workers_;  // the first to go
};

TEST_F(ServerWorkers, KeepAnswerPlanAndProgress) {
  const std::string id =
      submit(R"(echo '{"nodes":1}' >"$progress"; )" + kWait + R"(echo a plan >"$plan"; echo '{"x":1}')");
  const std::string nothing = submit(R"(echo '{"status":"infeasible"}'; exit 1)");
  start(1);
  EXPECT_TRUE(test::wait_until([&] { return !store_.find(id)->progress.empty(); }));
  let_go(id);
  const Job job = once(id, JobState::done);
  EXPECT_EQ(job.state, JobState::done) << job.error;
  EXPECT_EQ(job.result, R"({"x":1})");
  EXPECT_EQ(job.progress, R"({"nodes":1})");
  EXPECT_EQ(store_.plan(id), "a plan\n");
  EXPECT_EQ(once(nothing, JobState::done).state, JobState::done) << "that there is no plan is an answer";
  EXPECT_FALSE(store_.find(nothing)->has_plan);
}

TEST_F(ServerWorkers, TellWhyAJobFailed) {
  const std::string wrong = submit("echo 'poet: --ram-budget: must be more' >&2; exit 2");
  const std::string broken = submit("echo 'poet: a promise is broken' >&2; exit 3");
  const std::string crashed = submit("kill -SEGV $$");
  const std::string silent = submit("exit 0");
  start(2);
  EXPECT_EQ(once(wrong, JobState::failed).error,
            R"({"error":"invalid","message":"must be more","field":"ram_budget"})");
  EXPECT_EQ(once(broken, JobState::failed).error, R"({"error":"internal","message":"a promise is broken"})");
  EXPECT_THAT(once(crashed, JobState::failed).error, HasSubstr("died"));
  EXPECT_THAT(once(silent, JobState::failed).error, HasSubstr("died"));
}

TEST_F(ServerWorkers, SayFieldsInPlaceOfOptions) {
  const std::string shapes =
      submit("echo 'poet: --input-shape: is for the inputs of --onnx FILE' >&2; exit 2");
  const std::string threads = submit("echo 'poet: --threads: must be less' >&2; exit 2");
  const std::string paging = submit(
      "echo 'poet: --no-paging: leaves no plan with --allow-opaque, --no-remat and --other' >&2; exit 2");
  const std::string device = submit("echo 'poet: --platform: is missing; --ram-budget, too' >&2; exit 2");
  const std::string limit = submit("echo 'poet: --op-limit: has too many ops' >&2; exit 2");
  start(2);
  const auto error = [&](const std::string& id) { return once(id, JobState::failed).error; };
  EXPECT_EQ(error(shapes),
            R"({"error":"invalid","message":"is for the inputs of onnx","field":"input_shapes"})");
  EXPECT_EQ(error(threads), R"({"error":"invalid","message":"must be less","field":"threads"})");
  EXPECT_EQ(error(paging), R"({"error":"invalid","message":"leaves no plan with allow_opaque: true, )"
                           R"(remat: false and --other","field":"paging"})");
  EXPECT_EQ(error(device), R"({"error":"invalid","message":"is missing; ram_budget, too","field":"device"})");
  EXPECT_EQ(error(limit), R"({"error":"invalid","message":"has too many ops"})") << "it is no field's";
}

TEST_F(ServerWorkers, DoNotTellWhereFilesAre) {
  const std::string done = submit(R"(echo "{\"model\":\"$script\",\"in\":\"$PWD/device.json\"}")");
  const std::string failed = submit("echo \"poet: $script: is no network in $PWD/x\" >&2; exit 2");
  start(1);
  EXPECT_THAT(once(done, JobState::done).result, Not(HasSubstr(folder_.path().string())));
  EXPECT_THAT(store_.find(done)->result, HasSubstr(R"("in":"device.json")"));
  EXPECT_THAT(once(failed, JobState::failed).error, Not(HasSubstr(folder_.path().string())));
}

TEST_F(ServerWorkers, FailAJobWhoseFileIsGone) {
  const std::string id = submit("echo '{}'");
  uploads_.forget(-1);
  start(1);
  EXPECT_THAT(once(id, JobState::failed).error, HasSubstr("upload it again"));
}

TEST_F(ServerWorkers, EndTheProcessOfACancelledJob) {
  const std::string file = (folder_.path() / "started").string();
  const std::string id = submit("sleep 100000 & echo $! > " + file + "; wait");
  start(1);
  ASSERT_TRUE(test::wait_until([&] { return test::file_text(file).ends_with('\n'); }));
  EXPECT_EQ(store_.find(id)->state, JobState::running);
  EXPECT_TRUE(store_.cancel(id));
  EXPECT_EQ(once(id, JobState::cancelled).state, JobState::cancelled);
  const pid_t started = std::stoi(test::file_text(file));
  EXPECT_TRUE(test::wait_until([started] { return test::is_gone(started); }))
      << "what it had started goes on";
}

TEST_F(ServerWorkers, GiveBackWhatTheyWereDoingWhenTheyStop) {
  const std::string id = submit("sleep 100000");
  start(1);
  EXPECT_EQ(once(id, JobState::running).state, JobState::running);
  workers_.reset();
  EXPECT_EQ(store_.find(id)->state, JobState::queued);
  EXPECT_EQ(store_.find(id)->attempts, 0);
  EXPECT_TRUE(std::filesystem::is_empty(folder_.path() / "work"));
}

TEST_F(ServerWorkers, RemoveWhatAKilledServerHasLeftAndNothingElse) {
  const std::string id = submit(kWait + R"(echo '{"x":1}')");
  const std::filesystem::path work = folder_.path() / "work";
  for (const char* name : {"1-gone", "2-shares"}) {
    std::filesystem::create_directories(work / name / "deep");
    (void)folder_.write("work/" + std::string(name) + "/deep/file", "bytes");
  }
  (void)store_.submit({"other", "solve", "{}", "bob"});
  start(1);
  EXPECT_EQ(once(id, JobState::running).state, JobState::running);
  EXPECT_EQ(store_.claim("2-shares", 1000)->order.id, "other");
  workers_->remove_leftovers();
  EXPECT_FALSE(std::filesystem::exists(work / "1-gone"));
  EXPECT_TRUE(std::filesystem::exists(work / "2-shares" / "deep" / "file"));
  let_go(id);
  EXPECT_EQ(once(id, JobState::done).result, R"({"x":1})");
}

TEST_F(ServerWorkers, TakeOnJobsOfServersThatAreGoneThoughMostAreBusy) {
  const std::string lost = submit("echo '{}'");
  EXPECT_TRUE(store_.claim("a server that is gone", 0.5));
  std::vector<std::string> busy;
  for (int i = 0; i < 5; ++i) busy.push_back(submit("sleep 100000"));
  start(6);
  for (const std::string& id : busy) EXPECT_EQ(once(id, JobState::running).state, JobState::running);
  const Job job = once(lost, JobState::done);
  EXPECT_EQ(job.state, JobState::done);
  EXPECT_EQ(job.attempts, 2);
}

}  // namespace
}  // namespace poet::server
