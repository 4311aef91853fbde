// Files of several plans that break a rule, each with its one line; checksums are right.

#include <gtest/gtest.h>

#include <functional>
#include <nlohmann/json.hpp>

#include "poet/cost/json_reader.h"
#include "tests/support/input_error.h"
#include "tests/support/plan_image.h"
#include "tests/support/small_family.h"

namespace poet {
namespace {

using Json = nlohmann::ordered_json;
using test::ImageSection;
using test::Octets;
using test::small_family;

std::string family_diagnostic(const Octets& bytes) {
  return test::input_error([&] { static_cast<void>(plans_from_binary(bytes, "f.plan")); });
}

Octets family_image(const std::vector<ImageSection>& sections) {
  Octets image = test::make_image(sections);
  image[4] = POET_PLAN_FAMILY;
  return image;
}

std::vector<ImageSection> sections() { return test::sections_of_image(to_binary(small_family())); }

/// Of a file in which PLANS holds these images.
std::string diagnostic_of(const std::vector<Octets>& images) {
  std::vector<ImageSection> changed = sections();
  BytesOut out;
  for (const Octets& image : images) {
    out.number(image.size(), 4);
    out.append(image);
  }
  changed[2].payload = out.bytes;
  return family_diagnostic(family_image(changed));
}

std::vector<Octets> images() {
  const Octets plans = sections()[2].payload;
  std::vector<Octets> found;
  for (std::size_t at = 0; at < plans.size();) {
    const std::size_t length = test::number_at(plans, at);
    const auto begin = plans.begin() + static_cast<std::ptrdiff_t>(at + 4);
    found.emplace_back(begin, begin + static_cast<std::ptrdiff_t>(length));
    at += 4 + length;
  }
  return found;
}

/// Of a file whose second plan says something else in LIMITS.
std::string diagnostic_about_limits(const std::function<void(Json&)>& change) {
  std::vector<Octets> all = images();
  std::vector<ImageSection> plan = test::sections_of_image(all[1]);
  Json limits = Json::from_cbor(plan[2].payload);
  change(limits);
  plan[2].payload.clear();
  Json::to_cbor(limits, plan[2].payload);
  const std::uint8_t version = all[1][4];
  all[1] = test::make_image(plan);
  all[1][4] = version;
  return diagnostic_of(all);
}

TEST(PlanFamilyErrors, Sections) {
  const char* const names[] = {"GRAPH", "COSTS", "PLANS"};
  for (std::size_t i = 0; i < 3; ++i) {
    std::vector<ImageSection> without = sections();
    without.erase(without.begin() + static_cast<std::ptrdiff_t>(i));
    EXPECT_EQ(family_diagnostic(family_image(without)),
              std::string("f.plan: has no ") + names[i] + " section" +
                  (i == 0 ? ": it is for a device; the plan file that it was made with has one" : ""));
  }
  Octets bytes = to_binary(small_family());
  bytes.pop_back();
  EXPECT_EQ(family_diagnostic(bytes), "f.plan: ends before its last section does");
  bytes = to_binary(small_family());
  bytes[bytes.size() - 9] ^= 1;
  EXPECT_EQ(family_diagnostic(bytes), "f.plan: PLANS: damaged: wrong checksum");
}

TEST(PlanFamilyErrors, Plans) {
  const std::vector<Octets> good = images();
  EXPECT_EQ(diagnostic_of({}), "f.plan: PLANS: holds fewer than two plans");
  EXPECT_EQ(diagnostic_of({good[0]}), "f.plan: PLANS: holds fewer than two plans");
  EXPECT_EQ(diagnostic_of({good[1], good[0]}),
            "f.plan: plan 2: its RAM budget must be below that of the plan before it");
  EXPECT_EQ(diagnostic_of({good[0], good[0]}),
            "f.plan: plan 2: its RAM budget must be below that of the plan before it");
  EXPECT_EQ(diagnostic_of(std::vector<Octets>(65, good[0])),
            "f.plan: PLANS: holds 65 plans; at most 64 go into one file");
  std::vector<ImageSection> cut = sections();
  cut[2].payload.pop_back();
  EXPECT_EQ(family_diagnostic(family_image(cut)), "f.plan: PLANS: a plan reaches beyond its end");
  EXPECT_EQ(diagnostic_of({good[0], {}}), "f.plan: plan 2: not a plan: does not begin with POET");
  std::vector<Octets> damaged = good;
  damaged[1][40] ^= 1;
  EXPECT_EQ(diagnostic_of(damaged), "f.plan: plan 2: SCHEDULE: damaged: wrong checksum");
  // Steps of a plan without homes, and what is paged of one with them.
  std::vector<ImageSection> first = test::sections_of_image(good[0]);
  std::vector<ImageSection> second = test::sections_of_image(good[1]);
  first[2] = second[2];
  std::vector<Octets> mixed = good;
  mixed[1] = test::make_image(first);
  EXPECT_EQ(diagnostic_of(mixed),
            "f.plan: plan 2: SCHEDULE: its flags contradict the device and semantics in COSTS");
}

TEST(PlanFamilyErrors, Limits) {
  const std::string paged =
      "f.plan: plan 2: paged values must be parameters and optimiser state that can live on storage, in "
      "increasing order";
  EXPECT_EQ(diagnostic_about_limits([](Json& json) { json.erase("paged"); }),
            "f.plan: plan 2: LIMITS: /paged: must be present");
  EXPECT_EQ(
      diagnostic_about_limits([](Json& json) { json["paged"].push_back(100'000); }).substr(0, 37),
      "f.plan: plan 2: LIMITS: /paged/" + std::to_string(small_family().plans[1].paged.size()) + ": mus");
  EXPECT_EQ(diagnostic_about_limits([](Json& json) { json["paged"].push_back(0); }), paged);
  EXPECT_EQ(diagnostic_about_limits([](Json& json) { json["paged"].push_back(json["paged"].back()); }),
            paged);
  // No parameter: an activation.
  const auto& values = small_family().instance.graph.values;
  const auto activation = std::find_if(values.begin(), values.end(), [](const Value& v) {
    return v.persistence == Persistence::activation && !v.alias_of.valid();
  });
  EXPECT_EQ(diagnostic_about_limits(
                [&](Json& json) { json["paged"] = Json::array({activation - values.begin()}); }),
            paged);
  EXPECT_EQ(diagnostic_about_limits([](Json& json) { json["ram_budget_bytes"] = -1; }),
            "f.plan: plan 2: LIMITS: /ram_budget_bytes: must be >= 0");
}

TEST(PlanFamilyErrors, InJson) {
  const auto diagnostic_about = [](const std::function<void(Json&)>& change) {
    Json json = to_json(small_family());
    change(json);
    return test::input_error([&] { static_cast<void>(plans_from_json(json, "f.json")); });
  };
  EXPECT_EQ(diagnostic_about([](Json& json) { json["format"] = 2; }), "f.json: /format: must be 3");
  EXPECT_EQ(diagnostic_about([](Json& json) { json["format"] = 4; }), "f.json: /format: must be 3");
  EXPECT_EQ(diagnostic_about([](Json& json) {
              json["plans"].erase(1);
              json["plans"].erase(1);
            }),
            "f.json: /plans: must hold at least two plans");
  EXPECT_EQ(diagnostic_about([](Json& json) { json["plans"][1]["semantics"] = "device"; }).substr(0, 31),
            "f.json: /plans/1/semantics: is ");
  EXPECT_EQ(diagnostic_about([](Json& json) { json["plans"][2]["steps"][0][1] = 100'000; }).substr(0, 28),
            "f.json: /plans/2/steps/0/1: ");
  EXPECT_EQ(diagnostic_about([](Json& json) { std::swap(json["plans"][0], json["plans"][2]); }),
            "f.json: plan 2: its RAM budget must be below that of the plan before it");
  EXPECT_EQ(diagnostic_about([](Json& json) {
              json["instance"]["values"][json["plans"][1]["paged"][0].get<std::size_t>()]["paged"] = true;
              json["instance"]["format"] = 2;
            }),
            "f.json: /instance: in a file of several plans each plan says what is paged");
}

}  // namespace
}  // namespace poet
