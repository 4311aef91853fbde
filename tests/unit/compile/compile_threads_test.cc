// compile() from several threads at once, and what it leaves behind in the process that calls it.

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "poet/compile.h"
#include "poet/plan/file/plan_file.h"
#include "tests/support/background.h"
#include "tests/support/effort.h"
#include "tests/support/random_instance.h"

namespace poet {
namespace {

/// A small problem that is solved to the end, so that no clock decides; sanitized, to any gap.
CompileRequest random_request(std::uint64_t seed) {
  test::Rng rng(seed);
  test::RandomInstanceOptions options;
  options.ops = test::pick(rng, 8, 14);
  options.multi_output = test::chance(rng, 0.5);
  options.updates = test::chance(rng, 0.5);
  CompileRequest request;
  request.semantics = test::chance(rng, 0.5) ? Semantics::device : Semantics::published;
  options.device = request.semantics == Semantics::device;
  request.instance = test::random_instance(rng, options);
  const Report all = replay_keep_all(request.instance, request.semantics);
  request.limits.ram_budget = Bytes(all.peak_ram.value() * test::pick(rng, 50, 95) / 100);
  request.limits.deadline = Seconds(1.5 * all.runtime.value());
  request.options.gap = test::kSanitized ? 1 : 0;
  request.options.time_limit_seconds = 300;
  return request;
}

/// Everything but how long it took.
std::string text_of(const CompileRequest& request, const CompileResult& result) {
  const PlanFile file{request.instance, request.semantics, request.limits, result.plan, result.layout};
  const Certificate& certificate = result.certificate;
  return fmt::format("{} {:a} {:a} {:a} {:a} {} {} {} ", to_string(certificate.status),
                     certificate.bounds.every_plan.value(), certificate.bounds.of_staged().value(),
                     result.report.energy.value(), certificate.gap, result.outcome.nodes, result.solves,
                     result.outcome.explanation.reason) +
         (result.plan.steps.empty() ? "" : to_json(file).dump());
}

/// Problems to be solved by several threads at a time. GCC 12's sanitizers do not free their allocators for a
/// forked child: where another thread was allocating, the child waits for ever. With them these are problems
/// that take no solver, and so no process.
std::vector<CompileRequest> requests_for_threads() {
  std::vector<CompileRequest> requests;
  for (std::uint64_t seed = 0; requests.size() < 12; ++seed) {
    CompileRequest request = random_request(seed);
    if (!test::kSanitized || compile(request).outcome.solver.starts_with("none"))
      requests.push_back(std::move(request));
  }
  return requests;
}

TEST(CompileThreads, GiveWhatOneThreadGives) {
  constexpr std::size_t kThreads = 4;
  const std::vector<CompileRequest> requests = requests_for_threads();
  std::vector<std::string> expected;
  std::size_t with_plan = 0;
  for (const CompileRequest& request : requests) {
    const CompileResult result = compile(request);
    with_plan += result.plan.steps.empty() ? 0 : 1;
    expected.push_back(text_of(request, result));
  }
  EXPECT_GE(with_plan, 4U);
  std::vector<std::vector<std::string>> got(kThreads, std::vector<std::string>(requests.size()));
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (std::size_t i = 0; i < requests.size(); ++i) {
        const std::size_t r = (i + 3 * t) % requests.size();  // not all the same at the same time
        got[t][r] = text_of(requests[r], compile(requests[r]));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (std::size_t t = 0; t < kThreads; ++t)
    for (std::size_t r = 0; r < requests.size(); ++r) EXPECT_EQ(got[t][r], expected[r]) << t << " " << r;
}

TEST(CompileThreads, SearchSideBySideWithTheSameResult) {
  for (CompileRequest& request : requests_for_threads()) {
    request.choose_paged = request.semantics == Semantics::device;
    const std::string expected = text_of(request, compile(request));
    for (const int threads : {2, 5}) {
      request.options.threads = threads;
      EXPECT_EQ(text_of(request, compile(request)), expected) << threads;
    }
  }
}

TEST(CompileThreads, OneThatIsStoppedDisturbsNoOther) {
  const CompileRequest request = requests_for_threads().at(1);
  const std::string expected = text_of(request, compile(request));
  CompileRequest stopped = request;
  stopped.options.interrupted = [] { return true; };
  std::string got;
  std::thread other([&] { got = text_of(request, compile(request)); });
  for (int i = 0; i < 5; ++i) (void)compile(stopped);
  other.join();
  EXPECT_EQ(got, expected);
}

TEST(CompileThreads, CallbacksAreCalledByTheCaller) {
  CompileRequest request = random_request(1);
  request.choose_paged = true;
  request.options.threads = 3;
  const std::thread::id caller = std::this_thread::get_id();
  int calls = 0;
  request.options.on_progress = [&](const Progress&) {
    ++calls;
    EXPECT_EQ(std::this_thread::get_id(), caller);
  };
  request.options.interrupted = [&] {
    EXPECT_EQ(std::this_thread::get_id(), caller);
    return false;
  };
  (void)compile(request);
  EXPECT_GT(calls, 0);
}

TEST(Compile, LeavesNoProcessHandlerOrMask) {
  const auto handler = [](int) {};
  const auto previous = std::signal(SIGINT, handler);
  sigset_t mine;
  sigset_t before;
  sigset_t after;
  sigemptyset(&mine);
  sigaddset(&mine, SIGUSR2);
  pthread_sigmask(SIG_SETMASK, &mine, &before);
  CompileRequest request = random_request(1);
  request.options.threads = 3;
  (void)compile(request);
  pthread_sigmask(SIG_SETMASK, &before, &after);
  for (int signal = 1; signal < SIGRTMIN; ++signal)
    EXPECT_EQ(sigismember(&after, signal), signal == SIGUSR2 ? 1 : 0) << signal;
  EXPECT_EQ(std::signal(SIGINT, previous), static_cast<sighandler_t>(handler));
  EXPECT_TRUE(test::children_of(getpid()).empty());
}

}  // namespace
}  // namespace poet
