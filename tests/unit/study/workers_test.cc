#include "poet/study/workers.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <map>
#include <set>
#include <stdexcept>
#include <thread>

#include "tests/support/background.h"

namespace poet::test {
namespace {

bool always() { return true; }

std::string work(const std::string& item) {
  if (item == "crash") raise(SIGSEGV);
  if (item == "killed") raise(SIGKILL);
  if (item == "throw") throw std::runtime_error("no work should");
  if (item == "who") return std::to_string(getpid());
  if (item == "long") return std::string(3'000'000, 'x');
  if (item == "sleep") std::this_thread::sleep_for(std::chrono::hours(24));
  return "<" + item + ">";
}

std::map<std::size_t, WorkAnswer> answers_of(WorkerPool& pool, const std::vector<std::string>& items) {
  std::map<std::size_t, WorkAnswer> answers;
  EXPECT_TRUE(pool.run(
      items,
      [&answers](const WorkAnswer& answer) { EXPECT_TRUE(answers.emplace(answer.item, answer).second); },
      always));
  return answers;
}

TEST(ProcessPool, AnswersEveryItem) {
  std::vector<std::string> items;
  for (int i = 0; i < 50; ++i) items.push_back(std::to_string(i));
  items.emplace_back("");
  items.emplace_back("long");
  for (const std::size_t workers : {1U, 3U, 60U}) {
    const auto pool = process_pool(workers, work);
    EXPECT_EQ(pool->size(), workers);
    for (int round = 0; round < 2; ++round) {
      const auto answers = answers_of(*pool, items);
      ASSERT_EQ(answers.size(), 52U);
      for (int i = 0; i < 50; ++i) EXPECT_EQ(answers.at(i).text, "<" + std::to_string(i) + ">");
      EXPECT_EQ(answers.at(50).text, "<>");
      EXPECT_EQ(answers.at(51).text.size(), 3'000'000U);
    }
  }
}

TEST(ProcessPool, ADeadWorkerCostsItsItemOnly) {
  for (const std::size_t workers : {1U, 2U}) {
    const auto pool = process_pool(workers, work);
    const auto answers = answers_of(*pool, {"1", "killed", "2", "throw", "crash", "3"});
    ASSERT_EQ(answers.size(), 6U);
    EXPECT_EQ(answers.at(1).death, "signal 9");
    EXPECT_EQ(answers.at(3).death, "exit code 1");
    EXPECT_EQ(answers.at(4).death, "signal 11");
    for (const std::size_t item : {0U, 2U, 5U}) EXPECT_EQ(answers.at(item).death, "");
    EXPECT_EQ(answers.at(5).text, "<3>");
  }
}

TEST(ProcessPool, AWorkerKilledWhileIdleCostsNothing) {
  const auto pool = process_pool(1, work);
  const pid_t worker = std::stoi(answers_of(*pool, {"who"}).at(0).text);
  EXPECT_EQ(children_of(getpid()), std::vector<pid_t>{worker});
  kill(worker, SIGKILL);
  ASSERT_TRUE(wait_until([] { return children_of(getpid()).empty(); }));
  const auto answers = answers_of(*pool, {"1"});
  EXPECT_EQ(answers.at(0).text, "<1>");
}

TEST(ProcessPool, WorkersLeaveSignalsToTheirParent) {
  const auto pool = process_pool(1, work);
  const std::string worker = answers_of(*pool, {"who"}).at(0).text;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) kill(std::stoi(worker), signal);
  EXPECT_EQ(answers_of(*pool, {"who"}).at(0).text, worker);
}

TEST(ProcessPool, StopsAtOnceAndLeavesNoProcess) {
  {
    const auto pool = process_pool(2, work);
    int answered = 0;
    const auto count = [&answered](const WorkAnswer&) { ++answered; };
    EXPECT_FALSE(pool->run({"1", "sleep", "sleep", "2"}, count, [&answered] { return answered == 0; }));
    EXPECT_EQ(answered, 1);
  }
  EXPECT_TRUE(children_of(getpid()).empty());
}

TEST(ProcessPool, WorkersEndWithTheirParent) {
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe(ends.data()), 0);
  const pid_t parent = fork();
  if (parent == 0) {
    const auto pool = process_pool(2, work);
    const std::vector<pid_t> workers = children_of(getpid());
    (void)!write(ends[1], workers.data(), workers.size() * sizeof(pid_t));
    const auto die = [] { return kill(getpid(), SIGKILL) == 0; };
    (void)pool->run(
        {"sleep", "sleep"}, [](const WorkAnswer&) {}, die);
    _exit(0);
  }
  std::array<pid_t, 2> workers{};
  EXPECT_EQ(read(ends[0], workers.data(), sizeof workers), static_cast<ssize_t>(sizeof workers));
  close(ends[0]);
  close(ends[1]);
  int status = 0;
  waitpid(parent, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status));
  for (const pid_t worker : workers) {
    ASSERT_GT(worker, 0);
    EXPECT_TRUE(wait_until([worker] { return is_gone(worker); })) << worker;
  }
}

TEST(MpiPool, KnowsMpirunByItsEnvironment) {
  unsetenv("OMPI_COMM_WORLD_SIZE");
  unsetenv("PMI_SIZE");
  EXPECT_EQ(mpi_processes(), 1);
  setenv("PMI_SIZE", "3", 1);
  EXPECT_EQ(mpi_processes(), 3);
  setenv("PMI_SIZE", "three", 1);
  EXPECT_EQ(mpi_processes(), 1);
  setenv("OMPI_COMM_WORLD_SIZE", "4", 1);
  EXPECT_EQ(mpi_processes(), 4);
  unsetenv("OMPI_COMM_WORLD_SIZE");
  unsetenv("PMI_SIZE");
}

}  // namespace
}  // namespace poet::test
