// Requests that cannot be meant: compile() names the field, and nothing is solved.

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <utility>

#include "poet/base/error.h"
#include "poet/compile.h"
#include "tests/support/tiny_instance.h"

namespace poet {
namespace {

std::string request_diagnostic(const std::function<void(CompileRequest&)>& damage) {
  CompileRequest request;
  request.instance = test::chain();
  request.limits.ram_budget = Bytes(1000);
  damage(request);
  try {
    (void)compile(request);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(CompileErrors, NameTheField) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(request_diagnostic([](auto&) {}), "");
  EXPECT_EQ(request_diagnostic([](auto& r) { r.limits.ram_budget = Bytes(0); }), "ram_budget: must be > 0");
  for (const double wrong : {0.0, -1.0, kNan, kInfinity}) {
    EXPECT_EQ(request_diagnostic([&](auto& r) { r.limits.deadline = Seconds(wrong); }),
              "deadline: must be > 0 and finite");
  }
  EXPECT_EQ(request_diagnostic([](auto& r) { r.limits.max_bytes_written = Bytes(-1); }),
            "max_bytes_written: must be >= 0");
  EXPECT_EQ(request_diagnostic([](auto& r) { r.options.gap = kNan; }), "gap: must be >= 0");
  EXPECT_EQ(request_diagnostic([](auto& r) { r.options.time_limit_seconds = 0; }),
            "time_limit_seconds: must be > 0");
  EXPECT_EQ(request_diagnostic([](auto& r) { r.options.threads = 0; }), "threads: must be >= 1");
}

// Paged values are aligned, so that their bounds are sought in a little more RAM: where residence is
// not relaxed (Regime::relaxes_residence), always.
TEST(CompileErrors, TheLargestRamBudgetIsNoError) {
  constexpr int kOps = 4'100;
  Graph graph;
  const ValueId w = test::add_persistent(graph, "w", 10);
  ValueId last = test::add_node(graph, "first", {w}, 16);
  for (int i = 0; i < kOps; ++i) last = test::add_node(graph, "op", {last}, 16);
  test::add_update(graph, "u", {w, last}, {w});
  CompileRequest request;
  request.instance = test::instance_of(std::move(graph));
  request.instance.costs.alignment = Bytes(16);
  request.instance.costs.values[w] = {Bytes(10), {Seconds(1), Joules(5)}, {Seconds(1), Joules(2.5)}};
  request.choose_paged = true;
  request.limits.ram_budget = Bytes(std::numeric_limits<std::int64_t>::max());
  const CompileResult result = compile(request);
  EXPECT_EQ(result.certificate.status, Status::optimal);
  EXPECT_EQ(result.overhead, 0);
}

}  // namespace
}  // namespace poet
