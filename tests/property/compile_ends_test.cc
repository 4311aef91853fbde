// compile() ends within a second of its time limit and within half a second of a cancellation, in whatever
// phase that finds it: built-in networks and random problems of up to 10,000 ops, stopped at random moments.
// The seconds are of processor time on the machine that they were promised for; here they are compared with
// how long a fixed piece of work takes.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <ctime>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "poet/compile.h"
#include "poet/frontend/zoo.h"
#include "poet/pipeline/pose.h"
#include "tests/support/effort.h"
#include "tests/support/random_instance.h"

namespace poet {
namespace {

constexpr double kAfterTheLimit = 1;
constexpr double kAfterCancellation = 0.5;
constexpr int kMostPolls =
    50;                      // after a cancellation: whatever asks gives up, one within the other; some ten
constexpr double kMore = 3;  // times more may it be where others use the same caches

struct Case {
  std::string name;
  std::function<CompileRequest()> request;
};
void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

Case built_in(const std::string& network, const std::string& platform, double fraction) {
  return {fmt::format("{}_on_{}_at_{:.0f}_percent", network, platform, 100 * fraction), [=] {
            Policy policy;
            policy.ram = RamAboveFloor{fraction};
            policy.deadline.factor = 1.5;
            Posed posed = pose({BuiltInNetwork{network, {}}, {}, {}, {}}, {platform, {}}, policy);
            CompileRequest request;
            request.instance = std::move(posed.workload.instance);
            request.limits = posed.limits;
            return request;
          }};
}

Case random_case(int ops, double fraction) {
  return {fmt::format("{}_random_ops_at_{:.0f}_percent", ops, 100 * fraction), [=] {
            test::Rng rng(static_cast<std::uint64_t>(ops));
            test::RandomInstanceOptions options;
            options.ops = ops;
            options.device = true;
            CompileRequest request;
            request.instance = test::random_instance(rng, options);
            const Report all = replay_keep_all(request.instance, Semantics::device);
            const auto floor =
                static_cast<double>(ram_floor(request.instance, Semantics::device).bytes().value());
            const double range = static_cast<double>(all.peak_ram.value()) - floor;
            request.limits.ram_budget = Bytes(static_cast<std::int64_t>(floor + fraction * range));
            request.limits.deadline = 1.5 * all.runtime;
            return request;
          }};
}

std::vector<Case> cases() {
  if (test::kSanitized) return {built_in("linear", "jetsontx2", 0.2), random_case(2'000, 0.3)};
  std::vector<Case> all;
  for (const ZooEntry& network : zoo()) all.push_back(built_in(network.name, "jetsontx2", 0.2));
  all.push_back(built_in("vgg16", "m0", 0.1));
  for (const int ops : {2'000, 10'000})
    for (const double fraction : {0.02, 0.3, 0.8}) all.push_back(random_case(ops, fraction));
  return all;
}

/// Processor time of this process alone: a child's counts only once it is waited for.
double own_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

/// How many times longer than on the machine of the promise the same work takes now.
double slowness() {
  constexpr double kThere = 0.045;
  const CompileRequest work = random_case(10'000, 0.3).request();
  double least = std::numeric_limits<double>::infinity();
  for (int i = 0; i < 3; ++i) {
    const double before = own_seconds();
    for (int repeated = 0; repeated < 10; ++repeated) {
      (void)replay_keep_all(work.instance, Semantics::device);
      (void)ram_floor(work.instance, Semantics::device);
    }
    least = std::min(least, own_seconds() - before);
  }
  constexpr double kMost = 20;  // the measured code may have become slow, too
  return std::clamp(least / kThere, 1.0, kMost);
}

struct Ended {
  int polls = 0;
  double longest = 0;          // work between two polls, or before the first or after the last
  double after_the_limit = 0;  // work, on poet's own clock
};

/// Compiles until the limit, or until a poll asks whether it is to end.
Ended ended(CompileRequest request, double limit, int cancelled_at_poll) {
  Ended result;
  double last = own_seconds();
  const auto note = [&] {
    const double now = own_seconds();
    result.longest = std::max(result.longest, now - last);
    // From the cancellation to the end is one piece, however often it is still asked.
    if (result.polls < cancelled_at_poll) last = now;
  };
  request.options.time_limit_seconds = limit;
  request.options.interrupted = [&] {
    note();
    return ++result.polls > cancelled_at_poll;
  };
  request.options.gap = 0;
  const Stop clock;
  const CompileResult answer = compile(request);
  result.after_the_limit = clock.elapsed() - limit;
  note();
  fmt::print("  {} polls, {:.3f} s at most between, {} {}\n", result.polls, result.longest,
             to_string(answer.certificate.status), answer.outcome.explanation.reason);
  return result;
}

class CompileEnds : public testing::TestWithParam<Case> {};

TEST_P(CompileEnds, SoonAfterItsLimitAndSoonerAfterACancellation) {
  constexpr double kNever = 1e9;
  constexpr int kNoPoll = std::numeric_limits<int>::max() - 1;
  const CompileRequest request = GetParam().request();
  const double slower = kMore * slowness();
  test::Rng rng(request.instance.graph.ops.size());
  for (int i = 0; i < test::cases(1, 3); ++i) {
    const double limit = 0.01 * test::pick(rng, 1, test::cases(50, 250));
    const Ended timed_out = ended(request, limit, kNoPoll);
    EXPECT_LT(timed_out.after_the_limit, slower * kAfterTheLimit) << "limit " << limit;
    EXPECT_LT(timed_out.longest, slower * kAfterCancellation) << "limit " << limit;
    const int poll = test::pick(rng, 0, timed_out.polls);
    const Ended cancelled = ended(request, kNever, poll);
    EXPECT_LT(cancelled.longest, slower * kAfterCancellation) << "poll " << poll;
    EXPECT_LE(cancelled.polls, poll + kMostPolls) << "poll " << poll;
  }
}

INSTANTIATE_TEST_SUITE_P(Networks, CompileEnds, testing::ValuesIn(cases()),
                         [](const auto& c) { return c.param.name; });

}  // namespace
}  // namespace poet
