#include "poet/report/decisions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "poet/plan/plan.h"
#include "poet/plan/schedule/linearise.h"
#include "tests/support/small_pictures.h"
#include "tests/support/tiny_instance.h"

namespace poet {
namespace {

using testing::HasSubstr;

TEST(Decisions, TellKeptPagedAndRecomputedApart) {
  const Instance instance = test::chain();
  const std::vector<ValueDecision> recompute =
      decisions(instance, test::chain_recomputing(), Semantics::staged);
  ASSERT_EQ(recompute.size(), 4U);
  EXPECT_EQ(treatment(recompute[0]), "recomputed");
  EXPECT_EQ(recompute[0].recomputations, 1);
  EXPECT_EQ(recompute[0].spent, Joules(2));
  EXPECT_EQ(recompute[0].page_cost, Joules(7));  // 3 J out, 4 J in
  EXPECT_EQ(recompute[0].recompute_cost, Joules(2));
  EXPECT_EQ(reason(recompute[0]), "recomputing is 3.5x cheaper");
  for (const std::size_t other : {1U, 2U, 3U}) EXPECT_EQ(treatment(recompute[other]), "kept");

  const std::vector<ValueDecision> page = decisions(instance, test::chain_paging(), Semantics::staged);
  EXPECT_EQ(treatment(page[0]), "paged");
  EXPECT_EQ(page[0].page_outs, 1);
  EXPECT_EQ(page[0].page_ins, 1);
  EXPECT_EQ(page[0].spent, Joules(7));
  EXPECT_EQ(reason(page[0]), "recomputing it would need its inputs too");
}

/// a (10 B); drop, which costs 8 J, writes y (20 B) and mask (5 B); c (5 B) reads y; d reads c, the mask and,
/// if it is to, y. Everything that drop writes is dropped and recomputed for d.
std::vector<ValueDecision> with_a_mask(bool d_reads_y) {
  Graph graph;
  const ValueId a = test::add_node(graph, "a", {}, 10);
  const ValueId y = test::add_output(graph, "y", 20);
  const ValueId mask = test::add_output(graph, "mask", 5);
  test::add_op(graph, "drop", {a}, {y, mask});
  const ValueId c = test::add_node(graph, "c", {y}, 5);
  test::add_node(graph, "d", d_reads_y ? std::vector{c, mask, y} : std::vector{c, mask}, 1);
  Instance instance = test::instance_of(std::move(graph));
  instance.costs.ops[OpId(1)].energy = Joules(8);
  const Schedule schedule{{test::stage({}, {}, {}, {0}), test::stage({0}, {}, {}, {1}),
                           test::stage({0, 1}, {}, {}, {2}), test::stage({0, 3}, {}, {}, {1, 3})}};
  return decisions(instance, schedule, Semantics::staged);
}

TEST(Decisions, ByProductsAreNotRecomputedForTheirOwnSake) {
  const std::vector<ValueDecision> both = with_a_mask(true);
  ASSERT_EQ(both.size(), 5U);  // a, y, mask, c, d
  EXPECT_EQ(both[1].recomputations, 1);
  EXPECT_FALSE(both[1].by_product);
  EXPECT_EQ(both[1].spent, Joules(8));
  EXPECT_EQ(both[2].recomputations, 1);
  EXPECT_TRUE(both[2].by_product);
  EXPECT_EQ(both[2].spent, Joules(0));
  EXPECT_THAT(reason(both[2]), HasSubstr("its op is recomputed for another result"));
  // Paging y alone takes 7 J, but the mask would have to be paged as well: 14 J.
  EXPECT_EQ(reason(both[1]), "recomputing is 1.8x cheaper than paging all that it brings back");
  EXPECT_EQ(reason(both[1], {.paging = false}), "paging is switched off");

  // Where the mask alone is read again, the op is recomputed for it, however much larger its other result is.
  const std::vector<ValueDecision> mask_only = with_a_mask(false);
  EXPECT_TRUE(mask_only[1].by_product);
  EXPECT_FALSE(mask_only[2].by_product);
  EXPECT_EQ(mask_only[2].spent, Joules(8));
  EXPECT_EQ(reason(mask_only[2]), "no room or time for the transfers");
}

TEST(Decisions, IdlePowerCountsOnTheDevice) {
  Instance instance = test::chain();
  instance.costs.timing.idle = Watts(5);
  // 2 J and 5 W for 1 s
  const ValueDecision recomputed = decisions(instance, test::chain_recomputing(), Semantics::device)[0];
  EXPECT_EQ(recomputed.recompute_cost, Joules(7));
  EXPECT_EQ(recomputed.spent, Joules(7));
  EXPECT_EQ(recomputed.spent_idle, Joules(5));
  const ValueDecision paged = decisions(instance, test::chain_paging(), Semantics::device)[0];
  EXPECT_EQ(paged.spent, Joules(7));
  EXPECT_EQ(paged.spent_idle, Joules(0));
  EXPECT_EQ(decisions(instance, test::chain_recomputing(), Semantics::staged)[0].spent_idle, Joules(0));
}

TEST(Decisions, TheCostliestComeFirst) {
  std::vector<ValueDecision> list(3);
  list[0].bytes = Bytes(1);
  list[1].bytes = Bytes(9);
  list[2].spent = Joules(1);
  sort_by_importance(list);
  EXPECT_EQ(list[0].spent, Joules(1));
  EXPECT_EQ(list[1].bytes, Bytes(9));
}

// A plan with its waits and frees tells what its schedule does.
TEST(Decisions, OfAPlanAreThoseOfItsSchedule) {
  const Instance instance = test::chain();
  for (const Schedule& schedule : {test::chain_recomputing(), test::chain_paging()}) {
    const std::vector<ValueDecision> expected = decisions(instance, schedule, Semantics::device);
    const std::vector<ValueDecision> found =
        decisions(instance, linearise(instance, schedule, Semantics::device), Semantics::device);
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
      EXPECT_EQ(treatment(found[i]), treatment(expected[i]));
      EXPECT_EQ(found[i].spent, expected[i].spent);
      EXPECT_EQ(reason(found[i]), reason(expected[i]));
    }
  }
}

// The parameter's transfers are no decision about an activation.
TEST(Decisions, LeaveHomesOut) {
  const Picture picture = test::picture_at_home();
  const std::vector<ValueDecision> found =
      decisions(picture.plan.instance, picture.plan.plan, Semantics::device);
  ASSERT_FALSE(found.empty());
  for (const ValueDecision& decision : found) {
    EXPECT_NE(decision.value, ValueId(0));
    EXPECT_TRUE(decision.kept());
  }
}

}  // namespace
}  // namespace poet
