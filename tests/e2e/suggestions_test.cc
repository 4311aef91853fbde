// Where poet has no answer it says what would help: each of these suggestions is taken as typed, and there is
// a plan.

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "apps/cli/solve/suggestions.h"
#include "poet/cost/instance_json.h"
#include "tests/support/effort.h"
#include "tests/support/program.h"
#include "tests/support/random_instance.h"

namespace poet::cli {
namespace {

using test::chance;
using test::pick;
using test::Rng;

/// The options with what `suggestion` says to type. False where it says nothing that can be typed.
bool take(const std::string& suggestion, ProblemOptions& options) {
  std::istringstream text(suggestion);
  bool known = false;
  for (std::string word; text >> word;) {
    std::string value;
    if (word == "--ram-budget" && text >> value) {
      options.limits.ram_budget = value.ends_with(",") ? value.substr(0, value.size() - 1) : value;
    } else if (word == "--deadline" && text >> value) {
      options.limits.runtime_budget.reset();
      options.limits.deadline = value.ends_with(":") ? value.substr(0, value.size() - 1) : value;
    } else if (word == "--max-bytes-written" && text >> value) {
      options.limits.max_bytes_written = value;
    } else if (word == "--batch-size" && text >> value) {
      options.input.batch_size = value;
    } else if (word == "--persistent" && text >> value) {
      options.input.persistent = value.ends_with(",") ? value.substr(0, value.size() - 1) : value;
    } else if (word == "--split" && text >> value) {
      options.input.split = value.ends_with(",") ? value.substr(0, value.size() - 1) : value;
    } else if (word == "--beyond-device-ram") {
      options.limits.beyond_device_ram = true;
    } else if (word == "--no-paging") {
      options.solver.no_paging = false;
    } else if (word == "--no-remat") {
      options.solver.no_remat = false;
    } else if (suggestion == "no deadline") {
      options.limits.deadline.reset();
      options.limits.runtime_budget.reset();
    } else {
      continue;
    }
    known = true;
  }
  return known;
}

struct Counts {
  int unanswered = 0;
  std::map<std::string, int> taken;  // by the option that begins them
};

void expect_ways_that_work(const ProblemOptions& options, Counts& counts) {
  const Solved solved = solve_problem(options);
  if (has_plan(solved)) return;
  ++counts.unanswered;
  for (const std::string& suggestion : suggestion_texts(solved)) {
    // Advice without a number: a slow machine has found none in the time there was.
    if (suggestion.starts_with("perhaps a longer --time-limit") ||
        suggestion.starts_with("a larger --ram-budget"))
      continue;
    ProblemOptions other = options;
    ASSERT_TRUE(take(suggestion, other)) << "there is nothing to type in: " << suggestion;
    EXPECT_TRUE(has_plan(solve_problem(other))) << "no plan with: " << suggestion;
    ++counts.taken[suggestion.substr(0, suggestion.find(' '))];
  }
}

ProblemOptions quick() {
  ProblemOptions options;
  options.solver.quiet = true;
  options.solver.time_limit = "2";
  options.solver.gap = "90%";  // any plan will do
  return options;
}

/// Limits that are too little more often than not: RAM about the floor, a deadline about the shortest time.
void set_limits(Rng& rng, const Instance& instance, Semantics semantics, ProblemOptions& options) {
  const Figures figures = figures_of(instance, semantics);
  const std::int64_t floor = figures.floor.bytes().value();
  const std::int64_t most = figures.keep_all.peak_ram.value();
  const std::int64_t budget =
      chance(rng, 0.3) ? floor * pick(rng, 30, 99) / 100 : floor + (most - floor) * pick(rng, 0, 60) / 100;
  options.limits.ram_budget = std::to_string(std::max<std::int64_t>(budget, 1));
  if (chance(rng, 0.7))
    options.limits.deadline = fmt::format("{}", figures.keep_all.runtime.value() * pick(rng, 80, 130) / 100);
  options.solver.no_paging = chance(rng, 0.3);
  options.solver.no_remat = chance(rng, 0.3);
  if (chance(rng, 0.2)) options.limits.max_bytes_written = std::to_string(pick(rng, 0, 40));
}

TEST(Suggestions, OfRandomInstancesWork) {
  const test::TemporaryFolder folder;
  Counts counts;
  for (int seed = 1; seed <= test::cases(12, 50); ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(static_cast<std::uint64_t>(seed));
    test::RandomInstanceOptions shape;
    shape.ops = pick(rng, 6, 14);
    shape.multi_output = chance(rng, 0.5);
    shape.storage = chance(rng, 0.8);
    shape.updates = chance(rng, 0.5);
    shape.views = chance(rng, 0.3);
    shape.inputs = chance(rng, 0.5);
    shape.device = chance(rng, 0.7);
    const Instance instance = random_instance(rng, shape);
    ProblemOptions options = quick();
    const Semantics semantics = shape.device ? Semantics::device : Semantics::staged;
    options.input.instance = folder.write(fmt::format("{}.json", seed), to_json(instance).dump());
    options.input.semantics = to_string(semantics);
    set_limits(rng, instance, semantics, options);
    expect_ways_that_work(options, counts);
  }
  EXPECT_GT(counts.unanswered, test::cases(4, 20));
  for (const char* option : {"--ram-budget", "--deadline", "without", "--max-bytes-written"})
    EXPECT_GT(counts.taken[option], 0) << option;
}

TEST(Suggestions, OfBuiltInNetworksWork) {
  Counts counts;
  for (const char* model : {"linear", "bert_tiny"}) {
    for (const char* platform : {"m4", "a72"}) {
      for (const bool hurried : {false, true}) {
        if (!test::tries_all() && hurried != (platform == std::string("a72"))) continue;
        SCOPED_TRACE(fmt::format("{} on {}{}", model, platform, hurried ? ", hurried" : ""));
        ProblemOptions options = quick();
        options.input.model = model;
        options.input.platform = platform;
        options.input.batch_size = "4";
        if (std::string(model) == "bert_tiny") options.input.sequence_length = "16";
        options.limits.ram_budget = "1";
        options.limits.beyond_device_ram = true;  // m4's is a part of what these need
        options.input.persistent = "resident";
        options.input.split = "off";
        const Figures figures = pose_problem(options).figures;
        const std::int64_t floor = figures.floor.bytes().value();
        for (const std::int64_t budget : {floor / 2, floor - 1, floor}) {
          options.limits.ram_budget = std::to_string(budget);
          if (hurried) options.limits.runtime_budget = budget == floor ? "1" : "0.9";
          expect_ways_that_work(options, counts);
        }
      }
    }
  }
  EXPECT_GT(counts.unanswered, test::cases(6, 12));
  for (const char* option : {"--ram-budget", "--persistent", "--batch-size"})
    EXPECT_GT(counts.taken[option], test::cases(1, 3)) << option;
}

// m0 has 32 KiB, and linear's parameters alone take 170.
TEST(Suggestions, ToMoreRamThanThereIsSaysSo) {
  Counts counts;
  ProblemOptions options = quick();
  options.input.model = "linear";
  options.input.platform = "m0";
  options.input.persistent = "resident";
  options.input.split = "off";
  options.limits.ram_budget = "32KiB";
  const std::vector<std::string> suggestions = suggestion_texts(solve_problem(options));
  EXPECT_EQ(std::count_if(suggestions.begin(), suggestions.end(),
                          [](const std::string& suggestion) {
                            return suggestion.find(" --beyond-device-ram") != suggestion.npos;
                          }),
            1)
      << fmt::format("{}", fmt::join(suggestions, "\n"));
  expect_ways_that_work(options, counts);
}

// With other limits the graph may come in other parts, with tables by index or whole.
TEST(Suggestions, OfNetworksInPartsWork) {
  Counts counts;
  for (const char* limit : {"--deadline 500ms", "--max-bytes-written 0"}) {
    SCOPED_TRACE(limit);
    ProblemOptions options = quick();
    options.solver.time_limit = "3";
    options.input.model = "bert_tiny";
    options.input.platform = "m4";
    options.input.sequence_length = "16";
    options.limits.ram_budget = "1MiB";
    options.limits.beyond_device_ram = true;
    ASSERT_TRUE(take(limit, options));
    expect_ways_that_work(options, counts);
  }
  EXPECT_EQ(counts.unanswered, 2);
  EXPECT_GT(counts.taken["--deadline"] + counts.taken["--ram-budget"], 0);
}

}  // namespace
}  // namespace poet::cli
