// Plan files: both forms say the same and come back as they were written.

#include "poet/plan/file/plan_file.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

#include "poet/base/error.h"
#include "poet/cost/json_reader.h"
#include "poet/plan/schedule/keep_all.h"
#include "poet/plan/schedule/linearise.h"
#include "tests/support/plan_files.h"
#include "tests/support/plan_image.h"

namespace poet {
namespace {

namespace fs = std::filesystem;

using test::chain_file;
using test::expect_equal;
using test::ImageSection;
using test::Octets;
using testing::HasSubstr;

constexpr Semantics kAll[] = {Semantics::published, Semantics::staged, Semantics::device};

void expect_both_forms(const PlanFile& file) {
  expect_equal(plan_from_binary(to_binary(file), "x.plan"), file);
  expect_equal(plan_from_json(to_json(file), "x.json"), file);
  expect_equal(plan_from_json(parse_json(to_json(file).dump(), "x.json"), "x.json"), file);
}

int steps_of_kind(const PlanFile& file, StepKind kind) {
  int count = 0;
  for (const Step& step : file.plan.steps) count += step.kind == kind;
  return count;
}

TEST(PlanFiles, HoldEveryKindOfStep) {
  for (const Semantics semantics : kAll) {
    SCOPED_TRACE(to_string(semantics));
    const PlanFile file = chain_file(semantics);
    EXPECT_EQ(steps_of_kind(file, StepKind::page_out), 1);
    EXPECT_EQ(steps_of_kind(file, StepKind::page_in), 1);
    EXPECT_EQ(steps_of_kind(file, StepKind::free), 5);
    EXPECT_EQ(steps_of_kind(file, StepKind::wait), semantics == Semantics::device ? 2 : 0);
    expect_both_forms(file);
  }
}

TEST(PlanFiles, SayHowTheyWereMade) {
  PlanFile file = chain_file();
  file.made = {"poet 0.1.0", "poet solve --model linear", "optimal", Joules(0.1), false, true};
  expect_both_forms(file);
  for (const bool binary : {true, false}) {
    file.made->binary_units = binary;
    expect_both_forms(file);
  }
  file.made = {"poet 0.1.0", "", "feasible", std::nullopt, true, false};
  expect_both_forms(file);
  // It is a section of its own, which a device skips, and those who know nothing of it.
  const Octets with = to_binary(file);
  const std::vector<ImageSection> sections = test::sections_of_image(with);
  ASSERT_EQ(sections.size(), 5U);
  EXPECT_EQ(sections[4].tag, "MADE");
  poet_plan opened;
  EXPECT_EQ(poet_plan_open(&opened, with.data(), with.size()), POET_PLAN_OK);
  const Octets device = to_device_image(file);
  file.made.reset();
  EXPECT_EQ(to_device_image(file), device);
  expect_both_forms(file);
  EXPECT_FALSE(to_json(file).contains("made"));
  EXPECT_EQ(test::sections_of_image(to_binary(file)).size(), 4U);
}

TEST(PlanFiles, HoldRecomputation) {
  for (const Semantics semantics : kAll) {
    SCOPED_TRACE(to_string(semantics));
    const Instance chain = test::chain();
    const Plan plan = linearise(chain, test::chain_recomputing(), semantics);
    expect_both_forms(test::file_of(chain, plan, semantics, test::ram(30)));
  }
}

TEST(PlanFiles, HoldWaitsThatWaitForNothingNew) {
  PlanFile file = chain_file();
  Plan plan;
  for (const Step& step : file.plan.steps) {
    plan.steps.push_back(step);
    if (step.kind == StepKind::wait) plan.steps.push_back(step);
  }
  plan = with_frees(file.instance, plan, file.semantics);
  ASSERT_GT(plan.steps.size(), file.plan.steps.size());
  expect_both_forms(test::file_of(file.instance, plan, file.semantics, file.limits));
}

TEST(PlanFiles, ScheduleIsWhatDeviatesFromKeepAll) {
  const PlanFile file = chain_file();
  const std::vector<ImageSection> sections = test::sections_of_image(to_binary(file));
  ASSERT_EQ(sections.size(), 4U);
  EXPECT_EQ(sections[0].tag, "SCHD");
  EXPECT_EQ(sections[1].tag, "ADDR");
  EXPECT_EQ(sections[2].tag, "GRPH");
  EXPECT_EQ(sections[3].tag, "COST");
  const std::uint32_t graph = poet_plan_crc32(sections[2].payload.data(), sections[2].payload.size());
  // a; out a; b; wait until the channel is empty (a may be freed); in a (value 4 - 1 - 3); c; wait; d.
  Octets expected = {0, 4, 4};
  for (int i = 0; i < 4; ++i) expected.push_back(static_cast<std::uint8_t>(graph >> (8 * i) & 255));
  for (const int event : {0x00, 0x80, 0x00, 0xc0, 0xa3, 0x00, 0xc0, 0x00})
    expected.push_back(static_cast<std::uint8_t>(event));
  EXPECT_EQ(sections[0].payload, expected);
  // Keep-all is one event, wherever transfers end by themselves one flag more.
  for (const Semantics semantics : kAll) {
    const Plan plan = linearise(file.instance, keep_all_schedule(file.instance.graph), semantics);
    const Octets schedule =
        test::sections_of_image(to_binary(test::file_of(file.instance, plan, semantics, file.limits)))[0]
            .payload;
    ASSERT_EQ(schedule.size(), 8U);
    EXPECT_EQ(schedule[0], semantics == Semantics::device ? 0 : 1);
    EXPECT_EQ(schedule[7], 3);
  }
}

TEST(PlanFiles, AddressesAreInTheLargestUnit) {
  PlanFile file = chain_file();
  ASSERT_EQ(file.layout.allocations.size(), 5U);
  const int units[] = {70'000, 70'020, 70'060, 70'080, 70'100};
  for (std::size_t r = 0; r < 5; ++r) file.layout.allocations[r].offset = 48 * units[r] / 20;
  file.layout.arena = Bytes(48 * 3'505 + 1);
  const Octets addresses = test::sections_of_image(to_binary(file))[1].payload;
  EXPECT_EQ(addresses, (Octets{48, 5, 2, 0xac, 0x0d, 0xad, 0x0d, 0xaf, 0x0d, 0xb0, 0x0d, 0xb1, 0x0d}));
  expect_both_forms(file);
  for (Allocation& allocation : file.layout.allocations) allocation.offset = 0;
  file.layout.arena = Bytes(20);
  EXPECT_EQ(test::sections_of_image(to_binary(file))[1].payload, (Octets{1, 5, 1, 0, 0, 0, 0, 0}));
  expect_both_forms(file);
}

TEST(PlanFiles, ResultsInPlaceStayInPlace) {
  Graph graph;
  const ValueId x = test::add_node(graph, "x", {}, 8);
  const ValueId y = test::add_node(graph, "y", {x}, 8);
  for (const ValueId v : {x, y}) graph.values[v].shape = {2};
  graph.ops[graph.values[y].producer].kind = "relu";
  const Instance instance = test::instance_of(std::move(graph));
  const Plan plan = linearise(instance, keep_all_schedule(instance.graph), Semantics::device);
  PlanFile file = test::file_of(instance, plan, Semantics::device, test::ram(16));
  ASSERT_EQ(file.layout.allocations[1].takes_over, 0);
  expect_both_forms(file);
  file.layout.allocations[1].offset = 8;
  file.layout.allocations[1].takes_over = -1;
  file.layout.arena = Bytes(16);
  expect_both_forms(file);
}

TEST(PlanFiles, GraphIsTheSameForEveryDevice) {
  PlanFile file = chain_file();
  const Octets graph = test::sections_of_image(to_binary(file))[2].payload;
  file.instance.platform = "m4";
  file.instance.source = "measured";
  file.instance.has_device = true;
  file.instance.costs.alignment = Bytes(4);
  align_sizes(file.instance.graph, file.instance.costs);
  file.instance.costs.persistent = Bytes(12);
  for (OpCost& cost : file.instance.costs.ops) cost = {Seconds(0.1), Joules(7), Bytes(0)};
  for (ValueCost& cost : file.instance.costs.values) cost.page_in = {Seconds(0.3), Joules(0.2)};
  file = test::file_of(file.instance, file.plan, file.semantics, file.limits);
  expect_both_forms(file);
  EXPECT_EQ(test::sections_of_image(to_binary(file))[2].payload, graph);
}

TEST(PlanFiles, DeviceImageHasScheduleAndAddressesOnly) {
  const PlanFile file = chain_file();
  const Octets image = to_device_image(file);
  const std::vector<ImageSection> all = test::sections_of_image(to_binary(file));
  const std::vector<ImageSection> sections = test::sections_of_image(image);
  ASSERT_EQ(sections.size(), 2U);
  for (std::size_t i = 0; i < 2; ++i) EXPECT_EQ(sections[i].payload, all[i].payload);
  poet_plan opened;
  EXPECT_EQ(poet_plan_open(&opened, image.data(), image.size()), POET_PLAN_OK);
  EXPECT_EQ(opened.allocations, file.layout.allocations.size());
  EXPECT_THROW(static_cast<void>(plan_from_binary(image, "x.plan")), InputError);
}

TEST(PlanFiles, SectionsAreFoundByTheirTags) {
  const PlanFile file = chain_file();
  std::vector<ImageSection> sections = test::sections_of_image(to_binary(file));
  std::reverse(sections.begin(), sections.end());
  sections.insert(sections.begin() + 1, {"NEWS", {1, 2, 3}});
  expect_equal(plan_from_binary(test::make_image(sections), "x.plan"), file);
}

TEST(PlanFiles, BinaryFormRefusesWhatItCannotHold) {
  PlanFile file = chain_file();
  std::swap(file.plan.steps[file.plan.steps.size() - 1], file.plan.steps[file.plan.steps.size() - 2]);
  EXPECT_THROW(static_cast<void>(to_binary(file)), InternalError);  // frees in another order
  expect_equal(plan_from_json(to_json(file), "x.json"), file);

  file = chain_file();
  file.plan.steps.insert(file.plan.steps.begin(), {StepKind::wait, OpId(), ValueId(3)});
  EXPECT_THROW(static_cast<void>(to_binary(file)), InternalError);  // waits for no transfer
  file = chain_file();
  file.layout.allocations.pop_back();
  EXPECT_THROW(static_cast<void>(to_binary(file)), InternalError);
  file = chain_file();
  file.layout.arena = Bytes(1000);
  EXPECT_THROW(static_cast<void>(to_binary(file)), InternalError);
}

TEST(PlanFiles, JsonHoldsAnything) {
  PlanFile file = chain_file();
  file.plan.steps = {{StepKind::free, OpId(), ValueId(3)},
                     {StepKind::compute, OpId(2), ValueId()},
                     {StepKind::page_in, OpId(), ValueId(1)}};
  file.layout.allocations = {{ValueId(1), OpId(), 2, 0, Bytes(7), -1, 5},
                             {ValueId(), OpId(3), 3, 3, Bytes(0), -1, 0}};
  expect_equal(plan_from_json(to_json(file), "x.json"), file);
  file.plan.steps.clear();
  file.layout.allocations.clear();
  expect_equal(plan_from_json(to_json(file), "x.json"), file);
}

class WrittenPlans : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / fmt::format("poet_plan_file_{}", getpid());
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  [[nodiscard]] std::string content(const char* name) const {
    std::ostringstream text;
    text << std::ifstream(folder_ / name, std::ios::binary).rdbuf();
    return text.str();
  }

  fs::path folder_;
};

TEST_F(WrittenPlans, AreBinaryOrJsonByName) {
  const PlanFile file = chain_file();
  for (const char* name : {"p.json", "p.plan"}) {
    write_plan(file, folder_ / name);
    expect_equal(read_plan(folder_ / name), file);
  }
  const Octets bytes = to_binary(file);
  EXPECT_EQ(content("p.plan"), std::string(bytes.begin(), bytes.end()));
  fs::rename(folder_ / "p.plan", folder_ / "q.json");  // the contents decide when reading
  expect_equal(read_plan(folder_ / "q.json"), file);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()), 2);
}

TEST_F(WrittenPlans, HaveOneStepAndOneAllocationPerLine) {
  PlanFile file = chain_file();
  write_plan(file, folder_ / "p.json");
  const std::string text = content("p.json");
  EXPECT_EQ(text.rfind("{\n\"format\": 2,\n\"instance\": {", 0), 0U) << text;
  EXPECT_THAT(
      text, HasSubstr("\n\"semantics\": \"device\",\n\"ram_budget_bytes\": 35,\n\"deadline_seconds\": 7.1,\n"
                      "\"max_bytes_written\": 10,\n\"arena_bytes\": 35,\n\"steps\": [\n"
                      "[\"compute\",0],\n[\"page_out\",0],\n[\"compute\",1],\n[\"wait\",0],\n[\"free\",0],\n"
                      "[\"page_in\",0],\n[\"compute\",2],\n[\"free\",1],\n[\"wait\",0],\n[\"compute\",3],\n"
                      "[\"free\",0],\n[\"free\",2],\n[\"free\",3]\n],\n\"allocations\": [\n"));
  const Allocation& first = file.layout.allocations[0];
  EXPECT_THAT(text,
              HasSubstr(fmt::format("\"allocations\": [\n{{\"value\":0,\"begin\":0,\"end\":4,\"bytes\":10,"
                                    "\"offset\":{}}},\n{{\"value\":1,",
                                    first.offset)));
}

}  // namespace
}  // namespace poet
