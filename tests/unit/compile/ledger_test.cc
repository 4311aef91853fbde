// A branch of the ledger knows what was known, and tells nobody before it is merged.

#include "poet/compile/ledger.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <utility>

#include "poet/compile.h"
#include "poet/compile/variants/forms.h"
#include "poet/compile/variants/variant.h"
#include "tests/support/random_training_graph.h"

namespace poet {
namespace {

class LedgerBranches : public testing::Test {
 protected:
  LedgerBranches() { ledger_.open(*form_, {.every_choice = 0, .no_paging = 0}); }

  static CompileRequest asked() {
    CompileRequest request;
    request.semantics = Semantics::published;
    request.instance = test::random_training_graph(5, {.ops = 30});
    request.limits.ram_budget = replay_keep_all(request.instance, request.semantics).peak_ram;
    request.addresses = false;
    request.options.gap = 10;  // any plan
    return request;
  }

  /// A plan for a part of the RAM.
  [[nodiscard]] Proposal plan_for(double part) const {
    CompileRequest request = request_;
    const auto bytes = static_cast<double>(request.limits.ram_budget.value());
    request.limits.ram_budget = Bytes(static_cast<std::int64_t>(part * bytes));
    CompileResult made = compile(request);
    EXPECT_TRUE(made.has_plan());
    Proposal proposal;
    proposal.energy = made.report.energy;
    proposal.plan = std::move(made.plan);
    proposal.schedule = std::move(made.outcome.schedule);
    return proposal;
  }

  const CompileRequest request_ = asked();
  Clock clock_{request_.options};
  const std::shared_ptr<const Form> form_ = given_form(request_);
  const Variant variant_ = variant_of(request_, form_, {});
  Ledger ledger_{request_, clock_};
};

TEST_F(LedgerBranches, AreAlone) {
  Ledger one = ledger_.branch(), other = ledger_.branch();
  ASSERT_TRUE(one.offer(variant_, plan_for(0.6)));
  one.raise(variant_, 1e-9);
  EXPECT_FALSE(ledger_.has_plan());
  EXPECT_FALSE(other.has_plan());
  EXPECT_EQ(other.bounds(*form_).every_plan(), 0);
  ledger_.merge(one);
  EXPECT_EQ(ledger_.joules(), one.joules());
  EXPECT_EQ(ledger_.bounds(*form_).every_plan(), 1e-9);
  EXPECT_FALSE(other.has_plan());
  EXPECT_TRUE(ledger_.branch().has_plan());
}

TEST_F(LedgerBranches, TheCheapestPlanAndTheHighestBoundRemain) {
  Ledger cheap = ledger_.branch(), costly = ledger_.branch();
  ASSERT_TRUE(cheap.offer(variant_, plan_for(1)));
  ASSERT_TRUE(costly.offer(variant_, plan_for(0.6)));
  ASSERT_LT(cheap.joules(), costly.joules());
  cheap.raise(variant_, 2e-9);
  costly.raise(variant_, 1e-9);
  for (const bool cheap_first : {true, false}) {
    Ledger all = ledger_.branch();
    all.merge(cheap_first ? cheap : costly);
    all.merge(cheap_first ? costly : cheap);
    EXPECT_EQ(all.joules(), cheap.joules());
    EXPECT_EQ(all.bounds(*form_).every_plan(), 2e-9);
  }
}

TEST_F(LedgerBranches, OfEqualPlansTheFirstRemains) {
  const Proposal plan = plan_for(1);
  Ledger first = ledger_.branch(), second = ledger_.branch();
  ASSERT_TRUE(first.offer(variant_, plan));
  ASSERT_TRUE(second.offer(variant_, plan));
  ledger_.merge(first);
  ledger_.merge(second);
  EXPECT_EQ(&ledger_.best(), &first.best());
}

TEST_F(LedgerBranches, CountWhatTheyHaveDoneThemselves) {
  ledger_.count(5, false);
  Ledger one = ledger_.branch(), other = ledger_.branch();
  one.count(2, true);
  other.count(1, false);
  ledger_.merge(one);
  ledger_.merge(other);
  EXPECT_EQ(ledger_.answer(true).outcome.nodes, 8);
}

TEST_F(LedgerBranches, WhatIsNearestRemainsOfPlansThatAreNotGoodEnough) {
  Ledger one = ledger_.branch(), other = ledger_.branch();
  one.note_late(Seconds(3));
  other.note_late(Seconds(2));
  one.note_over(variant_, Bytes(8));
  other.note_over(variant_, Bytes(16));
  ledger_.merge(one);
  ledger_.merge(other);
  EXPECT_EQ(ledger_.refused().least_runtime, Seconds(2));
  EXPECT_EQ(ledger_.refused().with_addresses, request_.limits.ram_budget + Bytes(8));
}

}  // namespace
}  // namespace poet
