// compile() ends within a second of its time limit and within half a second of a cancellation, in whatever
// phase that finds it: built-in networks and random problems of up to 10,000 ops, stopped at random moments.

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <string>
#include <vector>

#include "poet/compile.h"
#include "poet/frontend/zoo.h"
#include "poet/pipeline/pose.h"
#include "tests/support/random_instance.h"

namespace poet {
namespace {

constexpr double kAfterTheLimit = 1;
constexpr double kAfterCancellation = 0.5;

struct Case {
  std::string name;
  CompileRequest request;
};
void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

Case built_in(const std::string& network, const std::string& platform, double fraction) {
  Policy policy;
  policy.ram.fraction = fraction;
  policy.deadline.factor = 1.5;
  Posed posed = pose({BuiltInNetwork{network, {}}, {}, {}, {}}, {platform, {}}, policy);
  Case c{fmt::format("{}_on_{}_at_{:.0f}_percent", network, platform, 100 * fraction), {}};
  c.request.instance = std::move(posed.workload.instance);
  c.request.limits = posed.limits;
  return c;
}

Case random_case(int ops, double fraction) {
  test::Rng rng(static_cast<std::uint64_t>(ops));
  test::RandomInstanceOptions options;
  options.ops = ops;
  options.device = true;
  Case c{fmt::format("{}_random_ops_at_{:.0f}_percent", ops, 100 * fraction), {}};
  c.request.instance = test::random_instance(rng, options);
  const Report all = replay_keep_all(c.request.instance, Semantics::device);
  const double floor = static_cast<double>(ram_floor(c.request.instance, Semantics::device).bytes().value());
  const double range = static_cast<double>(all.peak_ram.value()) - floor;
  c.request.limits.ram_budget = Bytes(static_cast<std::int64_t>(floor + fraction * range));
  c.request.limits.deadline = 1.5 * all.runtime;
  return c;
}

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const ZooEntry& network : zoo()) all.push_back(built_in(network.name, "jetsontx2", 0.2));
  all.push_back(built_in("vgg16", "m0", 0.1));
  for (const double fraction : {0.02, 0.3, 0.8}) all.push_back(random_case(2'000, fraction));
  for (const double fraction : {0.02, 0.3, 0.8}) all.push_back(random_case(10'000, fraction));
  return all;
}

/// CPU time of this process and of its children that have ended.
double cpu_seconds() {
  double sum = 0;
  for (const int who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage usage{};
    getrusage(who, &usage);
    for (const timeval& time : {usage.ru_utime, usage.ru_stime})
      sum += static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  }
  return sum;
}

/// How many times longer than where the limits are from the same work takes now, of processor time: so much
/// later all may end on a slower machine, with sanitizers, or where others use the same caches.
double slowness() {
  constexpr double kThere = 0.045;
  static const Case work = random_case(10'000, 0.3);
  double least = 1e9;
  for (int i = 0; i < 3; ++i) {
    const double before = cpu_seconds();
    for (int repeated = 0; repeated < 10; ++repeated) {
      (void)replay_keep_all(work.request.instance, Semantics::device);
      (void)ram_floor(work.request.instance, Semantics::device);
    }
    least = std::min(least, cpu_seconds() - before);
  }
  constexpr double kMost = 20;  // the measured code may have become slow, too
  const double slower = std::clamp(least / kThere, 1.0, kMost);
  if (slower > 1) fmt::print("  {:.1f} times as slow\n", slower);
  return slower;
}

struct Late {
  double wall = 0;  // seconds from the moment at which it is to end until it does
  double here = 0;  // the same, less what other processes have had of the CPU: as on a machine of one's own
};

Late late(CompileRequest request, double limit, double cancelled_at) {
  const Stop clock;
  const double cpu = cpu_seconds();
  request.options.time_limit_seconds = limit;
  request.options.interrupted = [&] { return clock.elapsed() >= cancelled_at; };
  request.options.gap = 0;
  const CompileResult result = compile(request);
  const double ended = clock.elapsed();
  const double share = std::min(1.0, (cpu_seconds() - cpu) / ended);
  fmt::print("  limit {:.2f}, cancelled {:.2f}: ended {:.2f}, {:.0f}% CPU, {} {}\n", limit, cancelled_at,
             ended, 100 * share, to_string(result.certificate.status), result.outcome.explanation.reason);
  const double wall = ended - std::min(limit, cancelled_at);
  return {wall, wall * share};
}

class CompileEnds : public testing::TestWithParam<Case> {};

TEST_P(CompileEnds, InTime) {
  constexpr double kNever = 1e9;
  const std::size_t ops = GetParam().request.instance.graph.ops.size();
  const double slower = slowness();
  const double shared = slower * 1.5;  // times later where another process has the other half of a core
  const double busy = slower * 4;      // times later where it waits for its turn
  test::Rng rng(ops);
  for (int i = 0; i < 2; ++i) {
    const double moment = 0.01 * test::pick(rng, 1, 250);
    const Late timed_out = late(GetParam().request, moment, kNever);
    EXPECT_LT(timed_out.here, shared * kAfterTheLimit) << "limit " << moment;
    EXPECT_LT(timed_out.wall, busy * kAfterTheLimit) << "limit " << moment;
    const Late cancelled = late(GetParam().request, kNever, moment);
    EXPECT_LT(cancelled.here, shared * kAfterCancellation) << "cancelled at " << moment;
    EXPECT_LT(cancelled.wall, busy * kAfterCancellation) << "cancelled at " << moment;
  }
}

INSTANTIATE_TEST_SUITE_P(Networks, CompileEnds, testing::ValuesIn(cases()),
                         [](const auto& c) { return c.param.name; });

}  // namespace
}  // namespace poet
