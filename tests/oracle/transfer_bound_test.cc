// The bound on the bytes of parameters that travel, by hand and against the plans that move the fewest, over
// every choice of what is resident.
//
// POET_LINEAR_CASES: how many. POET_LINEAR_FIRST: the first seed (1).

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <malloc.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <vector>

#include "poet/optimize/transfer_bound.h"
#include "poet/verify/replay.h"
#include "tests/support/effort.h"
#include "tests/support/linear_cases.h"
#include "tests/support/linear_search.h"
#include "tests/support/small_graphs.h"
#include "tests/support/tiny_instance.h"

namespace poet {
namespace {

using test::LinearSearchOptions;
using test::PagedCase;

// By hand.

/// Forward through w, then v, and back; both have 10 B, all else 1 B.
///   op               0   1   2     3   4         5   6
///                    y   z   loss  gv  update_v  gw  update_w
///   reads            w   v   -     v   v         w   w
///   operands, result 11  12  2     12  11        12  11
Instance two_layers() {
  Graph graph;
  const ValueId w = test::add_persistent(graph, "w", 10);
  const ValueId v = test::add_persistent(graph, "v", 10);
  const ValueId y = test::add_node(graph, "y", {w}, 1);
  const ValueId z = test::add_node(graph, "z", {v, y}, 1);
  const ValueId loss = test::add_node(graph, "loss", {z}, 1);
  const ValueId gv = test::add_node(graph, "gv", {v, loss}, 1);
  test::add_update(graph, "update_v", {v, gv}, {v});
  const ValueId gw = test::add_node(graph, "gw", {w, gv}, 1);
  test::add_update(graph, "update_w", {w, gw}, {w});
  Instance instance = test::instance_of(std::move(graph));
  for (const ValueId p : {w, v}) instance.costs.values[p].bytes = Bytes(10);
  instance.costs.persistent = Bytes(20);
  return instance;
}

void expect_bound(const Instance& instance, std::int64_t ram, std::int64_t read, std::int64_t written,
                  std::int64_t both) {
  SCOPED_TRACE(fmt::format("{} B", ram));
  const TransferBound bound = least_transfers(instance, Bytes(ram));
  EXPECT_EQ(bound.read, Bytes(read));
  EXPECT_EQ(bound.written, Bytes(written));
  EXPECT_EQ(bound.both, Bytes(both));
}

TEST(TransferBound, IsWhatDoesNotFitIntoTheGaps) {
  const Instance instance = two_layers();
  expect_bound(instance, 22, 0, 0, 0);
  // Beside z, gv and gw 9 B are left: one byte of w is read again, one of v goes home before the step ends.
  expect_bound(instance, 21, 1, 1, 2);
  // No room beside z and gw, 10 B beside the loss: w is read again for gw and there when the next step
  // begins; v is read for z, but for the byte that y leaves room for, stays until its update and goes home.
  expect_bound(instance, 12, 9 + 10, 10, 29);
}

TEST(TransferBound, BelievesAFileThatStatesLessRam) {
  Instance instance = with_paged(two_layers(), pageable(two_layers()));
  for (const ValueId v : pageable(instance)) instance.costs.values[v].bytes = Bytes(4);
  expect_bound(instance, 12, 0, 0, 0);
  expect_bound(instance, 6, 3 + 4, 4, 11);
}

TEST(TransferBound, CountsNothingThatMayNotBePaged) {
  Instance instance = two_layers();
  instance.costs.has_storage = false;
  expect_bound(instance, 12, 0, 0, 0);
}

// In 12 B 10 B go home and 19 B are read, or 9 B and one more goes home. Computing takes 7 s and 7 J.
TEST(StepBound, IsTheChannelsOrTheProcessors) {
  Instance instance = two_layers();
  CostTable& costs = instance.costs;
  for (OpCost& op : costs.ops) op = {Seconds(1), Joules(1), Bytes(0)};
  for (const ValueId v : pageable(instance))
    costs.values[v].page_in = costs.values[v].page_out = {Seconds(5), Joules(20)};
  costs.timing.idle = Watts(10);
  const auto expect = [&](std::int64_t ram, double seconds, double joules) {
    SCOPED_TRACE(fmt::format("{} B", ram));
    const StepBound bound = least_step(instance, Bytes(ram));
    EXPECT_NEAR(bound.runtime.value(), seconds, 1e-12);
    EXPECT_NEAR(bound.energy.value(), joules, 1e-9);
  };
  expect(22, 7, 7 + 10 * 7);
  expect(21, 7, 7 + 10 * 7 + 2 * 2);         // 2 B, 0.5 s and 2 J each
  expect(12, 14.5, 7 + 10 * 14.5 + 29 * 2);  // 29 B
  for (const ValueId v : pageable(instance)) costs.values[v].page_out = {Seconds(10), Joules(10)};
  expect(12, 9.5 + 10, 7 + 10 * 19.5 + 19 * 2 + 10);
  costs.timing.concurrent = false;
  expect(12, 7 + 19.5, 7 + 10 * 26.5 + 19 * 2 + 10);
}

// Against every plan.

/// Energy is bytes of persistent values, read or written; nothing else costs anything.
Instance priced_by_bytes(Instance instance, const std::vector<ValueId>& persistent, double read,
                         double written) {
  CostTable& costs = instance.costs;
  for (const OpId op : ids<OpId>(costs.ops.size())) costs.ops[op].energy = Joules(0);
  for (const ValueId v : ids<ValueId>(costs.values.size()))
    costs.values[v].page_in.energy = costs.values[v].page_out.energy = Joules(0);
  for (const ValueId v : persistent) {
    const auto bytes = static_cast<double>(instance.graph.values[v].bytes.value());
    costs.values[v].page_in.energy = Joules(read * bytes);
    costs.values[v].page_out.energy = Joules(written * bytes);
  }
  costs.timing.idle = Watts(0);
  costs.timing.wake_energy = Joules(0);
  return instance;
}

struct Least {
  bool finished = true;
  std::optional<double> bytes;  // absent: there is no plan
};

/// Over every choice of what is resident.
Least fewest_bytes(const PagedCase& c, double read, double written) {
  const Instance& posed = c.problem.instance;
  const std::vector<ValueId> all = pageable(posed);
  Least least;
  for (unsigned set = 0; set < 1U << all.size(); ++set) {
    std::vector<ValueId> paged;
    for (std::size_t k = 0; k < all.size(); ++k)
      if ((set >> k & 1U) != 0) paged.push_back(all[k]);
    const Instance instance = with_paged(priced_by_bytes(posed, all, read, written), paged);
    LinearSearchOptions options;
    options.most_states = 200'000;
    const auto found = test::search_linear_plans(instance, Semantics::device, c.problem.limits, options);
    malloc_trim(0);
    least.finished = least.finished && found.finished;
    if (!found.best) continue;
    const Report report = replay(instance, found.best->plan, Semantics::device, c.problem.limits);
    EXPECT_TRUE(report.valid) << report.violation;
    EXPECT_GE(static_cast<double>(report.bytes_read.value()) + 1e-9,
              read > 0 ? report.page_in_energy.value() : 0);
    if (!least.bytes || found.best->joules < *least.bytes) least.bytes = found.best->joules;
  }
  return least;
}

// Over every choice; its plan may take longer than one of more energy.
TEST(StepBound, IsNeverAboveThePlanOfLeastEnergy) {
  const long cases = test::from_environment("POET_LINEAR_CASES", test::cases(30, 150));
  const long first = test::from_environment("POET_LINEAR_FIRST", 1);
  int compared = 0;
  int others = 0;
  int above_computing = 0;
  for (long i = 0; i < cases; ++i) {
    const auto seed = static_cast<std::uint64_t>(first + i);
    const PagedCase c = test::paged_case(seed, 4, 7);
    const Instance& posed = c.problem.instance;
    SCOPED_TRACE(fmt::format("seed {}", seed));
    const Report all = replay_keep_all(posed, Semantics::device);
    const StepBound bound = least_step(posed, c.problem.limits.ram_budget);
    above_computing += bound.energy > 1.001 * all.energy;
    LinearSearchOptions options;
    options.most_states = 200'000;
    const auto check = [&](const std::vector<ValueId>& paged) {
      const Instance instance = with_paged(posed, paged);
      const auto found = test::search_linear_plans(instance, Semantics::device, c.problem.limits, options);
      malloc_trim(0);
      if (!found.finished || !found.best) return;
      ++compared;
      EXPECT_LE(bound.energy.value(), found.best->joules + 1e-9);
      EXPECT_LE(bound.runtime.value(), found.best->seconds + 1e-9);
    };
    check({});
    check(c.paged);
    check(pageable(posed));
    // As an instance file may have it: in RAM a value at home takes more or less than its bytes.
    Instance other = with_paged(posed, c.paged);
    for (const ValueId v : c.paged) {
      Bytes& bytes = other.costs.values[v].bytes;
      bytes = (i + v.index) % 2 == 0 ? bytes * 2 : Bytes(bytes.value() / 2);
    }
    const auto found = test::search_linear_plans(other, Semantics::device, c.problem.limits, options);
    if (!found.finished || !found.best) continue;
    ++others;
    const StepBound of_other = least_step(other, c.problem.limits.ram_budget);
    EXPECT_LE(of_other.energy.value(), found.best->joules + 1e-9);
    EXPECT_LE(of_other.runtime.value(), found.best->seconds + 1e-9);
  }
  fmt::print("{} compared, in {} of {} cases above what computing takes\n", compared, above_computing, cases);
  EXPECT_GT(compared, cases);
  EXPECT_GT(others, cases / 8);
  EXPECT_GT(above_computing, cases / 8);
}

TEST(TransferBound, IsNeverAboveWhatAPlanMoves) {
  const long cases = test::from_environment("POET_LINEAR_CASES", test::cases(30, 150));
  const long first = test::from_environment("POET_LINEAR_FIRST", 1);
  int compared = 0;
  int above_zero = 0;
  double share = 0;  // bound / least, summed over these
  for (long i = 0; i < cases; ++i) {
    const auto seed = static_cast<std::uint64_t>(first + i);
    PagedCase c = test::paged_case(seed, 4, 7);
    c.problem.limits.deadline.reset();
    c.problem.limits.max_bytes_written.reset();
    SCOPED_TRACE(fmt::format("seed {}", seed));
    const TransferBound bound = least_transfers(c.problem.instance, c.problem.limits.ram_budget);
    EXPECT_LE(bound.read + bound.written, bound.both);
    const auto check = [&](double read, double written, Bytes claimed) {
      const Least least = fewest_bytes(c, read, written);
      if (!least.finished || !least.bytes) return;
      ++compared;
      if (*least.bytes > 0) {
        ++above_zero;
        share += static_cast<double>(claimed.value()) / *least.bytes;
      }
      EXPECT_LE(static_cast<double>(claimed.value()), *least.bytes + 1e-9)
          << "read x " << read << ", written x " << written;
    };
    check(1, 0, bound.read);
    check(0, 1, bound.written);
    check(1, 1, bound.both);
  }
  fmt::print(
      "{} compared, {} with transfers that cannot be avoided, the bound is {:.2f} of them on average\n",
      compared, above_zero, share / std::max(1, above_zero));
  EXPECT_GT(compared, cases);
  EXPECT_GT(above_zero, cases / 4);
  EXPECT_GT(share, 0.15 * above_zero);
}

}  // namespace
}  // namespace poet
