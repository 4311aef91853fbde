// compile() ends within a second of its time limit and within half a second of a cancellation, in whatever
// phase that finds it: built-in networks and random problems of up to 10,000 ops, stopped at random moments.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
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

Case built_in(const std::string& network, const std::string& platform, double fraction) {
  Policy policy;
  policy.ram.fraction = fraction;
  policy.deadline.factor = 1.5;
  Posed posed = pose({BuiltInNetwork{network, {}}, {}, {}, {}}, {platform, {}}, policy);
  Case c{fmt::format("{} on {} at {}", network, platform, fraction), {}};
  c.request.instance = std::move(posed.workload.instance);
  c.request.limits = posed.limits;
  return c;
}

Case random_case(int ops, double fraction) {
  test::Rng rng(static_cast<std::uint64_t>(ops));
  test::RandomInstanceOptions options;
  options.ops = ops;
  options.device = true;
  Case c{fmt::format("{} random ops at {}", ops, fraction), {}};
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

/// Seconds from the moment at which it is to end until it does.
double late(CompileRequest request, double limit, double cancelled_at) {
  const Stop clock;
  request.options.time_limit_seconds = limit;
  request.options.interrupted = [&] { return clock.elapsed() >= cancelled_at; };
  request.options.gap = 0;
  const CompileResult result = compile(request);
  fmt::print("    limit {:.2f}, cancelled {:.2f}: ended {:.2f}, {} {}\n", limit, cancelled_at, clock.elapsed(),
             to_string(result.certificate.status), result.outcome.explanation.reason);
  return clock.elapsed() - std::min(limit, cancelled_at);
}

TEST(CompileEnds, InTime) {
  for (const Case& c : cases()) {
    fmt::print("{}\n", c.name);
    for (int i = 0; i < 4; ++i) {
      test::Rng rng(static_cast<std::uint64_t>(i) + 77);
      const double moment = 0.02 * test::pick(rng, 0, 200);
      EXPECT_LT(late(c.request, moment + 0.05, 1e9), kAfterTheLimit) << c.name;
      EXPECT_LT(late(c.request, 1e9, moment), kAfterCancellation) << c.name;
    }
  }
}

}  // namespace
}  // namespace poet
