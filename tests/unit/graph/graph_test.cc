#include "poet/graph/graph.h"

#include <gtest/gtest.h>

#include <limits>

#include "poet/graph/strides.h"
#include "tests/support/small_graphs.h"

namespace poet {
namespace {

using test::add_alias;
using test::add_node;
using test::add_persistent;
using test::add_update;

TEST(Sizes, CountElementsAndBytes) {
  EXPECT_EQ(element_count({}), 1);
  EXPECT_EQ(element_count({2, 3, 4}), 24);
  EXPECT_EQ(element_count({7, 0}), 0);
  EXPECT_EQ(byte_count({2, 3}, DType::float32), Bytes(24));
  EXPECT_EQ(byte_count({2, 3}, DType::int32), Bytes(24));
  EXPECT_EQ(byte_count({2, 3}, DType::int64), Bytes(48));
  EXPECT_EQ(byte_count({2, 3}, DType::uint8), Bytes(6));
}

TEST(Sizes, ReachTheLimitOf64Bits) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(byte_count({kMost}, DType::uint8), Bytes(kMost));
  EXPECT_EQ(byte_count({kMost / 4}, DType::float32), Bytes(kMost / 4 * 4));
  // No elements, whatever the other dimensions would come to, and in whatever order they stand.
  EXPECT_EQ(element_count({kMost, kMost, 0}), 0);
}

TEST(Names, ThereAndBack) {
  for (const Pass pass : {Pass::forward, Pass::backward, Pass::update}) {
    EXPECT_EQ(pass_from_string(to_string(pass)), pass);
  }
  for (const Persistence p : {Persistence::activation, Persistence::input, Persistence::parameter,
                              Persistence::parameter_gradient, Persistence::optimizer_state}) {
    EXPECT_EQ(persistence_from_string(to_string(p)), p);
  }
  for (const DType dtype : {DType::float32, DType::int32, DType::int64, DType::uint8}) {
    EXPECT_EQ(dtype_from_string(to_string(dtype)), dtype);
  }
  EXPECT_STREQ(to_string(Persistence::parameter_gradient), "parameter_gradient");
}

TEST(Storage, FollowsAliasesInAnyOrder) {
  Graph graph;
  const ValueId x = add_node(graph, "x", {});
  const ValueId late = add_alias(graph, "late", x);
  const ValueId early = add_alias(graph, "early", x);
  graph.values[late].alias_of = early;  // a view listed before the one it views: allowed
  EXPECT_EQ(storage(graph, x), x);
  EXPECT_EQ(storage(graph, late), x);
  const auto all = storages(graph);
  EXPECT_EQ(all[x], x);
  EXPECT_EQ(all[early], x);
  EXPECT_EQ(all[late], x);
  EXPECT_NO_THROW(verify(graph));
}

TEST(Verify, AcceptsAnUpdateAfterTheLastReader) {
  Graph graph;
  const ValueId w = add_persistent(graph, "w");
  const ValueId x = add_node(graph, "x", {});
  const ValueId y = add_node(graph, "y", {x, w});
  const ValueId dw = add_node(graph, "dw", {y, x});
  const ValueId dx = add_node(graph, "dx", {dw, w});
  add_update(graph, "sgd", {w, dw}, {w});
  add_node(graph, "after", {dx});
  EXPECT_NO_THROW(verify(graph));
  EXPECT_EQ(verified(graph).ops.size(), 6U);
}

TEST(Verify, AcceptsTheEmptyGraphAndOpsWithoutShapes) {
  EXPECT_NO_THROW(verify(Graph{}));
  Graph graph;
  add_node(graph, "opaque", {}, 1000);  // bytes are given, a shape is not
  EXPECT_NO_THROW(verify(graph));
}

TEST(Strides, RowMajor) {
  EXPECT_EQ(row_major_strides({2, 3, 4}), (Shape{12, 4, 1}));
  EXPECT_EQ(row_major_strides({}), Shape{});
}

TEST(Strides, AReshapeKeepsTheOrder) {
  EXPECT_EQ(reshaped({{2, 6}, {}}, {2, 2, 3}), (StridedShape{{2, 2, 3}, {}}));
}

TEST(Strides, APermutationPermutesStrides) {
  const StridedShape there = permuted({{2, 3, 4}, {}}, {0, 2, 1});
  EXPECT_EQ(there, (StridedShape{{2, 4, 3}, {12, 1, 4}}));
  EXPECT_EQ(permuted(there, {0, 2, 1}), (StridedShape{{2, 3, 4}, {}}));
}

TEST(Strides, AxesOfSizeOneDoNotMakeALayoutStrided) {
  EXPECT_EQ(permuted({{2, 1, 4}, {}}, {1, 0, 2}), (StridedShape{{1, 2, 4}, {}}));
  EXPECT_EQ(permuted({{1, 1, 1}, {}}, {2, 0, 1}), (StridedShape{{1, 1, 1}, {}}));
}

TEST(Strides, StorageOrderIsTheInverseOfPermuting) {
  // Axes in storage, slowest first: 1, 2, 0 of sizes 3, 4, 2; so strides 4 * 2, 2, 1 for axes 1, 2, 0.
  const StridedShape stored = stored_in_order({2, 3, 4}, {1, 2, 0});
  EXPECT_EQ(stored, (StridedShape{{2, 3, 4}, {1, 8, 2}}));
  EXPECT_EQ(permuted(stored, {1, 2, 0}), (StridedShape{{3, 4, 2}, {}}));
  EXPECT_EQ(stored_in_order({2, 3, 4}, {0, 1, 2}), (StridedShape{{2, 3, 4}, {}}));
}

TEST(Strides, AViewHasItsStoragesTypeBytesAndPersistence) {
  Graph graph;
  const ValueId x = add_node(graph, "x", {}, 6);
  graph.values[x].shape = {2, 3};
  graph.values[x].dtype = DType::uint8;
  const ValueId view = add_view(graph, x, permuted(strided_shape(graph.values[x]), {1, 0}), "x^T");
  const ValueId back = add_view(graph, view, {{6}, {}}, "flat");
  EXPECT_EQ(graph.values[view].strides, (Shape{1, 3}));
  EXPECT_EQ(graph.values[view].bytes, Bytes(6));
  EXPECT_EQ(graph.values[view].dtype, DType::uint8);
  EXPECT_EQ(graph.values[back].alias_of, x);
  EXPECT_NO_THROW(verify(graph));
}

}  // namespace
}  // namespace poet
