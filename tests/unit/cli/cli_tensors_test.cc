// poet explain TENSOR: names of values, tensors and slices, and what becomes of parameters.

#include "apps/cli/solve/tensors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/support/input_error.h"
#include "tests/support/small_pictures.h"
#include "tests/support/tiny_instance.h"

namespace poet::cli {
namespace {

using ::testing::HasSubstr;

/// w [4, 6] in four parts, v whole.
Graph in_parts() {
  Graph graph;
  for (const std::int64_t row : {0, 2})
    for (const std::int64_t column : {0, 3}) {
      const std::string name = "w[" + std::to_string(row) + ":" + std::to_string(row + 2) + "," +
                               std::to_string(column) + ":" + std::to_string(column + 3) + "]";
      const ValueId v = test::add_persistent(graph, name, 24);
      graph.values[v].shape = {2, 3};
      graph.values[v].part = Part{"w", {4, 6}, {row, column}};
    }
  const ValueId whole = test::add_persistent(graph, "v", 16);
  graph.values[whole].shape = {4};
  test::add_alias(graph, "view of v", whole);
  return graph;
}

std::vector<int> named(const std::string& name) {
  std::vector<int> numbers;
  for (const ValueId v : values_named(in_parts(), name)) numbers.push_back(v.index);
  return numbers;
}

TEST(Tensors, AreNamedWholeOrInParts) {
  using List = std::vector<int>;
  EXPECT_EQ(named("w"), (List{0, 1, 2, 3}));
  EXPECT_EQ(named("w[0:2,3:6]"), List{1});
  EXPECT_EQ(named("w[0:2, 3:6]"), List{1});
  EXPECT_EQ(named("w[1:3,0:3]"), (List{0, 2}));
  EXPECT_EQ(named("w[:,4]"), (List{1, 3}));
  EXPECT_EQ(named("w[,2:4]"), (List{0, 1, 2, 3}));
  EXPECT_EQ(named("w[3:]"), (List{2, 3}));
  EXPECT_EQ(named("v"), List{4});
  EXPECT_EQ(named("view of v"), List{4});
  EXPECT_EQ(named("v[0:2]"), List{4});
  for (const char* none : {"u", "w[4:8]", "w[0:2,0:3,0:1]", "w[a:b]", "w[2:2]", "w[", "[0:1]", ""})
    EXPECT_EQ(named(none), List{}) << none;
}

TEST(Tensors, AnUnknownNameIsRefusedWithOthersLikeIt) {
  EXPECT_EQ(test::input_error([] {
              check_names(in_parts(), {"v", "w[8:9,:]"});
            }),
            "TENSOR: the network has no tensor 'w[8:9,:]'; it has w[0:2,0:3], w[0:2,3:6], w[2:4,0:3]");
  EXPECT_EQ(test::input_error([] { check_names(in_parts(), {"conv"}); }),
            "TENSOR: the network has no tensor 'conv'");
  check_names(in_parts(), {"w", "v"});
}

Solved at_home() {
  Solved solved;
  const Picture picture = test::picture_at_home();
  solved.request.instance = picture.plan.instance;
  solved.workload.choose_paged = true;
  solved.result.plan = picture.plan.plan;
  solved.result.paged = {ValueId(0)};
  return solved;
}

TEST(Tensors, OnStorageCostTheirTransfers) {
  const Solved solved = at_home();
  const std::string text = residence_text(solved, "w", {ValueId(0)}, 20);
  EXPECT_THAT(
      text, HasSubstr("w: parameter, 10 B; paged: it lives on storage, and its transfers cost 7.5 J a step"));
  EXPECT_THAT(text, HasSubstr("on storage      1  7.5 J  750 mJ/B  in RAM it would take room"));
  EXPECT_EQ(residence_text(solved, "a", {ValueId(1)}, 20), "");  // an activation
  const auto json = residence_json(solved);
  ASSERT_EQ(json.size(), 1U);
  EXPECT_EQ(json[0]["name"], "w");
  EXPECT_EQ(json[0]["paged"], true);
  EXPECT_EQ(json[0]["page_ins"], 1);
  EXPECT_EQ(json[0]["spent_joules"], 7.5);
}

TEST(Tensors, ResidentOnesSaveThem) {
  Solved solved = at_home();
  solved.request.instance = with_paged(solved.request.instance, {});
  solved.result.paged = {};
  std::erase_if(solved.result.plan.steps, [](const Step& step) { return step.value == ValueId(0); });
  const std::string text = residence_text(solved, "w", {ValueId(0)}, 20);
  EXPECT_THAT(text, HasSubstr("w: parameter, 10 B; resident: in RAM from step to step"));
  EXPECT_THAT(text, HasSubstr("750 mJ/B  all of them have room"));
  solved.workload.choose_paged = false;
  EXPECT_EQ(residence_text(solved, "w", {ValueId(0)}, 20),
            "w: parameter, 10 B; in RAM from step to step (--persistent auto would choose)\n");
}

}  // namespace
}  // namespace poet::cli
