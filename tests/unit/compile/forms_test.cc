// The sizes of parts that are tried: of whole tables' parts, and with tables by index.

#include "poet/compile/variants/forms.h"

#include <gtest/gtest.h>

#include "poet/base/error.h"
#include "tests/support/random_training_graph.h"

namespace poet {
namespace {

/// Parts of at most 512 B, of which whole tables have from 256 B on, everything else from 128 B on.
CompileRequest with_cuts(bool has_tables) {
  CompileRequest request;
  request.instance = test::random_training_graph(5, {.ops = 30});
  const auto whole = static_cast<double>(request.instance.graph.ops.size());
  Cuts cuts;
  cuts.ops = [=](const Cut& cut) {
    const Bytes finest(cut.by_index ? 128 : 256);
    return cut.part && *cut.part <= finest ? whole + static_cast<double>(1024 / cut.part->value()) : whole;
  };
  cuts.instance = [instance = request.instance](const Cut&, Bytes) { return instance; };
  cuts.other_parts = true;
  cuts.largest = Bytes(1024);
  cuts.has_tables = has_tables;
  request.cuts = cuts;
  return request;
}

TEST(OtherCuts, HalveThePartsThatMakeMoreOps) {
  const CompileRequest request = with_cuts(false);
  OtherCuts cuts(request, *given_form(request));
  for (const int part : {256, 128, 64}) {
    ASSERT_LT(cuts.ops_of_next(false), kInfinity);
    EXPECT_EQ(cuts.next(false, 1)->cut.part, Bytes(part));
  }
  EXPECT_EQ(cuts.ops_of_next(false), kInfinity);
}

TEST(OtherCuts, TheNextMayBeBegunAhead) {
  const CompileRequest request = with_cuts(true);
  OtherCuts cuts(request, *given_form(request));
  (void)cuts.next(false, 1);
  EXPECT_FALSE(cuts.has_begun_next(true));
  cuts.begin_next(true);
  EXPECT_TRUE(cuts.has_begun_next(true));
  EXPECT_FALSE(cuts.has_begun_next(false));
  const auto whole = cuts.next(false, 2);  // another than was begun
  EXPECT_FALSE(whole->cut.by_index);
  EXPECT_EQ(whole->cut.part, Bytes(256));
  const auto by_index = cuts.next(true, 3);
  EXPECT_TRUE(by_index->cut.by_index);
  EXPECT_EQ(by_index->cut.part, Bytes(128));
  EXPECT_EQ(by_index->number, 3);
  EXPECT_FALSE(cuts.has_begun_next(true));
}

TEST(OtherCuts, WhatFailsAheadFailsWhenItIsNext) {
  CompileRequest request = with_cuts(false);
  request.cuts->instance = [](const Cut&, Bytes) -> Instance { throw InputError("x", "cannot be"); };
  OtherCuts cuts(request, *given_form(request));
  cuts.begin_next(false);
  EXPECT_THROW((void)cuts.next(false, 1), InputError);
}

TEST(OtherCuts, TablesByIndexComeFirstAndHaveSizesOfTheirOwn) {
  const CompileRequest request = with_cuts(true);
  OtherCuts cuts(request, *given_form(request));
  EXPECT_TRUE(cuts.tables_are_next());
  const auto first = cuts.next(false, 1);
  EXPECT_TRUE(first->cut.by_index);
  EXPECT_FALSE(first->cut.part.has_value());
  const auto by_index = cuts.next(true, 2);
  EXPECT_TRUE(by_index->cut.by_index);
  EXPECT_EQ(by_index->cut.part, Bytes(128));
  const auto whole = cuts.next(false, 3);
  EXPECT_FALSE(whole->cut.by_index);
  EXPECT_EQ(whole->cut.part, Bytes(256));
}

TEST(OtherCuts, TheOtherKindFollowsOnceOneHasEnded) {
  const CompileRequest request = with_cuts(true);
  OtherCuts cuts(request, *given_form(request));
  for (int number = 1; number <= 3; ++number) (void)cuts.next(true, number);  // whole, 128, 64 by index
  ASSERT_LT(cuts.ops_of_next(true), kInfinity);
  EXPECT_FALSE(cuts.next(true, 4)->cut.by_index);
}

}  // namespace
}  // namespace poet
