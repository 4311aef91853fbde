// Who gives poet a second gets an answer after one, posing included.
// Random networks as the command line poses them, and random instances, under short limits; what is measured
// is the processor time of this process and of its children.
//
// A sample of 24 requests takes half a minute. All 200 (./test --all, or POET_TIME_REQUESTS=200) take five;
// POET_TIME_FIRST=17 POET_TIME_REQUESTS=1 repeats one. With POET_CLOCK=wall, limits are of the wall's clock.

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <utility>

#include "poet/answer/answer.h"
#include "poet/pipeline/pose.h"
#include "tests/support/effort.h"
#include "tests/support/random_layered_graph.h"
#include "tests/support/random_model.h"
#include "tests/support/random_training_graph.h"

namespace poet {
namespace {

constexpr double kLate = 0.5;

struct Asked {
  std::string name;
  NetworkSpec network;
  DeviceSpec device;
  Policy policy;
  double limit = 1;
};

Instance any_instance(test::Rng& rng, int i) {
  const auto seed = static_cast<std::uint64_t>(i);
  if (test::chance(rng, 0.3)) return test::random_layered_graph(seed, {.ops = test::pick(rng, 20, 150)});
  return test::random_training_graph(seed, {.ops = test::pick(rng, 20, 300)});
}

/// The i-th request. What the command line does by default: parts and residence are chosen.
Asked request(int i) {
  static const char* const kDevices[] = {"m4", "a72", "jetsontx2"};
  static const char* const kShapes[] = {"siamese", "chain", "residual", "attention", "branches"};
  constexpr double kLimits[] = {0.5, 1, 0.5, 1, 4};
  test::Rng rng(static_cast<std::uint64_t>(i) + 1);
  const int kind = i % (test::kModelShapes + 1);
  Asked asked;
  asked.limit = kLimits[i / (test::kModelShapes + 1) % 5];
  const double part = test::pick(rng, 25, 60) / 100.0;
  asked.policy.ram = RamOfKeepAll{part};
  std::string shape = "instance", device = "-";
  if (kind < test::kModelShapes) {
    shape = kShapes[kind];
    device = kDevices[test::pick(rng, 0, 2)];
    asked.network.source = ForwardGraph{test::random_model(rng, static_cast<test::ModelShape>(kind)), 1};
    asked.device.name = device;
    asked.policy.persistent = PersistentPolicy::automatic;
    asked.policy.split.automatic = true;
    asked.policy.split.tables = true;
  } else {
    asked.network.source = any_instance(rng, i);
  }
  asked.name = fmt::format("{} {} on {} at {:.0f}% in {} s", i, shape, device, 100 * part, asked.limit);
  return asked;
}

struct Spent {
  double cpu = 0, wall = 0;
};

Spent now() {
  Spent result;
  for (const int who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage usage{};
    (void)getrusage(who, &usage);
    for (const timeval& t : {usage.ru_utime, usage.ru_stime})
      result.cpu += static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  }
  result.wall = std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  return result;
}

Spent since(const Spent& before) {
  const Spent after = now();
  return {after.cpu - before.cpu, after.wall - before.wall};
}

TEST(TimeIsKept, FromTheRequestToTheAnswer) {
  setenv("POET_CLOCK", "processor", 0);  // others may use the same cores
  const auto first = static_cast<int>(test::from_environment("POET_TIME_FIRST", 0));
  const auto count = static_cast<int>(test::from_environment("POET_TIME_REQUESTS", test::cases(24, 200)));
  const double allowed = kLate * (test::kSanitized ? 10 : 1);
  int answers = 0;
  for (int i = first; i < first + count; ++i) {
    const Asked asked = request(i);
    const Spent begin = now();
    Workload workload = load(asked.network, asked.device, asked.policy);
    const Spent posing = since(begin);
    CompileRequest how;
    how.options.time_limit_seconds = asked.limit;
    const Answer answer = answered(posed_answer(std::move(how), std::move(workload), asked.policy));
    const Spent all = since(begin);
    answers += has_plan(answer);
    const double after = std::max(all.cpu, all.wall) - asked.limit;
    fmt::print(
        "{} {}: {} ops, {:.2f} s of processor, {:.2f} s; posing {:.2f} s, solve_seconds {:.2f}; {}{}\n",
        after > allowed ? "LATE" : "    ", asked.name, answer.request.instance.graph.ops.size(), all.cpu,
        all.wall, posing.cpu, answer.result.outcome.solve_seconds,
        to_string(answer.result.certificate.status),
        has_plan(answer) ? fmt::format(" {:.6g} J", answer.result.report.energy.value()) : "");
    EXPECT_LT(all.cpu - asked.limit, allowed) << asked.name << ", posing " << posing.cpu;
    EXPECT_LT(answer.result.outcome.solve_seconds - asked.limit, allowed) << asked.name;
  }
  EXPECT_GT(answers, count / 2);
}

}  // namespace
}  // namespace poet
