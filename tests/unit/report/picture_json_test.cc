#include "poet/report/picture_json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/support/small_pictures.h"

namespace poet {
namespace {

using Json = nlohmann::ordered_json;

// chain() with a recomputed: a 1 s, b 1 s, free a, c 1 s, free b, a again 1 s, d 1 s, the rest freed. RAM is
// 10, 30, 20, 25, 5, 15, 16 and so on; a costs 2 J once more.
TEST(PictureJson, HoldsWhatTheVerifierSaw) {
  const Picture picture =
      test::picture_of_schedule(test::chain(), test::chain_recomputing(), test::ram(30), "chain");
  const Json json = picture_json(picture);

  EXPECT_EQ(json["title"], "chain");
  EXPECT_EQ(json["semantics"], "device");
  EXPECT_EQ(json["valid"], true);
  EXPECT_EQ(json["violation"], "");
  EXPECT_EQ(json["ram_budget"], 30);
  EXPECT_EQ(json["deadline"], nullptr);
  EXPECT_EQ(json["figures"],
            Json::parse(R"({"energy":10.0,"compute":10.0,"recompute":2.0,"page_in":0.0,"page_out":0.0,
                            "load":0.0,"home":0.0,"idle":0.0,"runtime":5.0,"stalled":0.0,"peak_ram":30,"peak_op":1,
                            "recomputations":1,"page_ins":0,"page_outs":0,"bytes_written":0})"));
  EXPECT_EQ(json["arena"], Json::parse(R"({"valid":true,"violation":"","bytes":30,"ram":30})"));
  EXPECT_EQ(json["ops"], Json::parse(R"([["a","made_up","forward",[0],[]],["b","made_up","forward",[1],[0]],
                                         ["c","made_up","forward",[2],[1]],
                                         ["d","made_up","forward",[3],[0,2]]])"));
  EXPECT_EQ(json["values"], Json::parse(R"([["a",10,"activation"],["b",20,"activation"],
                                            ["c",5,"activation"],["d",1,"activation"]])"));
  EXPECT_EQ(json["planned"], 10);
  EXPECT_EQ(json["steps"], Json::parse(R"({"kind":"ccfcfccfff","id":[0,1,0,2,1,0,3,0,2,3],
                                           "end":[1.0,2.0,2.0,3.0,3.0,4.0,5.0,5.0,5.0,5.0],
                                           "ram":[10,30,20,25,5,15,16,6,1,0]})"));
  EXPECT_EQ(json["channel"], Json::array());
  ASSERT_EQ(json["allocations"].size(), 5u);
  EXPECT_EQ(json["allocations"][0][0], 0);
  EXPECT_EQ(json["allocations"][0][2], 0);
  EXPECT_EQ(json["allocations"][0][3], 2);
  EXPECT_EQ(json["allocations"][0][4], 10);
}

// Whoever was not allowed to page did not for want of room or time.
TEST(PictureJson, SaysHowThePlanWasMade) {
  Picture picture =
      test::picture_of_schedule(test::chain(), test::chain_recomputing(), test::ram(30), "chain");
  EXPECT_EQ(picture_json(picture)["made"], nullptr);
  EXPECT_EQ(picture_json(picture)["written"], nullptr);
  picture.plan.made = {"poet 0.1.0", "poet solve", "feasible", Joules(9), false, true};
  picture.written = "2026-11-26 18:47 UTC";
  // Paging a, if it cost less than a joule:
  for (ValueCost& value : picture.plan.instance.costs.values)
    value.page_in = value.page_out = {Seconds(0), Joules(0.1)};
  const Json json = picture_json(picture);
  EXPECT_EQ(json["made"]["bound_joules"], 9.0);
  EXPECT_EQ(json["written"], "2026-11-26 18:47 UTC");
  EXPECT_EQ(json["reasons"][json["decisions"][0][0].get<std::size_t>()],
            Json::parse(R"(["recomputed","paging is switched off"])"));
}

// a leaves while b is computed, from 1 s to 2 s, and comes back while c is.
TEST(PictureJson, HoldsTransfersAndWaits) {
  const Picture picture =
      test::picture_of_schedule(test::chain(), test::chain_paging(), test::ram(100), "chain");
  const Json json = picture_json(picture);
  const std::string kinds = json["steps"]["kind"];
  ASSERT_EQ(json["channel"].size(), 2u);
  const auto issued = [&](std::size_t move) { return kinds.at(json["channel"][move][0].get<std::size_t>()); };
  EXPECT_EQ(issued(0), 'o');
  EXPECT_EQ(issued(1), 'i');
  EXPECT_EQ(json["channel"][0][1], 1.0);
  EXPECT_EQ(json["channel"][0][2], 2.0);
  EXPECT_EQ(json["figures"]["bytes_written"], 10);
  EXPECT_EQ(json["figures"]["recompute"], 0.0);
}

// Behind the values that ops make, with a number of its own.
TEST(PictureJson, HoldsWhatLivesOnStorage) {
  const Picture picture = test::picture_at_home();
  ASSERT_TRUE(picture.report.valid) << picture.report.violation;
  const Json json = picture_json(picture);
  EXPECT_EQ(json["transient"], 2);
  EXPECT_EQ(json["values"],
            Json::parse(R"([["a",10,"activation"],["b",20,"activation"],["w",10,"parameter"]])"));
  EXPECT_EQ(json["ops"][2], Json::parse(R"(["u","made_up","update",[],[2,1]])"));
  EXPECT_EQ(json["steps"]["kind"], "iwccfcowf");
  EXPECT_EQ(json["steps"]["id"], Json::parse("[2,2,0,1,0,2,2,2,2]"));
  EXPECT_EQ(json["figures"]["load"], 2.5);
  EXPECT_EQ(json["figures"]["home"], 5.0);
  // It is loaded once and written home once.
  EXPECT_EQ(json["decisions"].back()[2], json["figures"]["load"].get<double>() + 5.0);
  EXPECT_EQ(json["figures"]["page_in"], 2.5);
  EXPECT_EQ(json["figures"]["page_out"], 5.0);
  EXPECT_EQ(json["allocations"][0][0], 2);
}

TEST(PictureJson, StopsWhereTheVerifierStops) {
  Plan plan;
  plan.steps = {{StepKind::compute, OpId(0), ValueId()}, {StepKind::compute, OpId(2), ValueId()}};
  const Json json = picture_json(test::picture_of_plan(test::chain(), plan, test::ram(30), "broken"));
  EXPECT_EQ(json["valid"], false);
  EXPECT_EQ(json["violation"], "step 1 (compute c): comes before the first computation of b");
  EXPECT_EQ(json["planned"], 2);
  EXPECT_EQ(json["steps"]["kind"], "c");
  EXPECT_EQ(json["arena"], Json::parse(R"({"valid":false,"violation":"","bytes":0,"ram":0})"));
}

// By how much and for how long a plan breaks its budget is seen only when it is replayed to its end.
TEST(PictureJson, WhatBreaksLimitsOnlyIsReplayedToItsEnd) {
  const Json json =
      picture_json(test::picture_of_schedule(test::chain(), test::chain_paging(), test::ram(30), "over"));
  EXPECT_EQ(json["valid"], false);
  EXPECT_NE(json["violation"].get<std::string>().find("35 bytes of RAM, over the budget of 30"),
            std::string::npos);
  EXPECT_EQ(json["steps"]["kind"].get<std::string>().size(), json["planned"]);
  EXPECT_EQ(json["figures"]["peak_ram"], 35);
  EXPECT_EQ(json["figures"]["runtime"], 4.0);
}

TEST(PictureJson, LimitsAreThereWhenThereAreAny) {
  Limits limits = test::ram(30);
  limits.deadline = Seconds(7.5);
  limits.max_bytes_written = Bytes(64);
  const Json json =
      picture_json(test::picture_of_schedule(test::chain(), test::chain_recomputing(), limits, "limits"));
  EXPECT_EQ(json["deadline"], 7.5);
  EXPECT_EQ(json["max_bytes_written"], 64);
}

}  // namespace
}  // namespace poet
