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
#include "tests/support/random_instance.h"

namespace poet {
namespace {

// GCC 12's AddressSanitizer does not free its allocator for a forked child: where another thread was
// allocating, the child waits for ever. With it, one thread at a time calls; ThreadSanitizer looks at
// several.
#ifdef __SANITIZE_ADDRESS__
constexpr bool kOneAtATime = true;
#else
constexpr bool kOneAtATime = false;
#endif

/// A small problem that is solved to the end, so that no clock decides.
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
  request.options.gap = 0;
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

TEST(CompileThreads, GiveWhatOneThreadGives) {
  constexpr std::size_t kThreads = kOneAtATime ? 1 : 4;
  std::vector<CompileRequest> requests;
  std::vector<std::string> expected;
  std::size_t with_plan = 0;
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    requests.push_back(random_request(seed));
    const CompileResult result = compile(requests.back());
    with_plan += result.plan.steps.empty() ? 0 : 1;
    expected.push_back(text_of(requests.back(), result));
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

TEST(CompileThreads, OneThatIsStoppedDisturbsNoOther) {
  const CompileRequest request = random_request(1);
  const std::string expected = text_of(request, compile(request));
  CompileRequest stopped = request;
  stopped.options.interrupted = [] { return true; };
  std::string got;
  std::thread other([&] { got = text_of(request, compile(request)); });
  if (kOneAtATime) other.join();
  for (int i = 0; i < 5; ++i) (void)compile(stopped);
  if (!kOneAtATime) other.join();
  EXPECT_EQ(got, expected);
}

TEST(CompileThreads, CallbacksAreCalledByTheCaller) {
  CompileRequest request = random_request(1);
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
  (void)compile(random_request(1));
  pthread_sigmask(SIG_SETMASK, &before, &after);
  for (int signal = 1; signal < SIGRTMIN; ++signal)
    EXPECT_EQ(sigismember(&after, signal), signal == SIGUSR2 ? 1 : 0) << signal;
  EXPECT_EQ(std::signal(SIGINT, previous), static_cast<sighandler_t>(handler));
  EXPECT_TRUE(test::children_of(getpid()).empty());
}

}  // namespace
}  // namespace poet
