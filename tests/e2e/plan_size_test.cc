// What a device has to store: plans of training steps with a quarter of the RAM between the least and what
// keeping everything takes.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "poet/autodiff/differentiate.h"
#include "poet/base/data_dir.h"
#include "poet/compile.h"
#include "poet/cost/device.h"
#include "poet/cost/instance_json.h"
#include "poet/cost/tabulate.h"
#include "poet/frontend/zoo.h"
#include "poet/plan/file/plan_file.h"
#include "tests/support/plan_image.h"

namespace poet {
namespace {

CompileRequest a_quarter(const std::string& network, const std::string& platform, Semantics semantics) {
  CompileRequest request;
  request.semantics = semantics;
  request.options.time_limit_seconds = 0.1;
  if (semantics == Semantics::device) {
    request.instance.graph = differentiate(build_network(network));
    request.instance.costs = tabulate(request.instance.graph, find_device(platform));
    request.instance.has_device = true;
  } else {
    request.instance = read_instance(data_dir() / "published" / fmt::format("{}.{}.json", network, platform));
  }
  request.limits.ram_budget = Bytes(1);
  const CompileResult impossible = compile(request);
  const std::int64_t least = impossible.outcome.explanation.floor_ram->value();
  request.limits.ram_budget = Bytes(least + (impossible.keep_all.peak_ram.value() - least) / 4);
  request.options.time_limit_seconds = 2;
  return request;
}

// The sizes of SCHEDULE and ADDRESSES, after a look at whether they say what the plan says.
struct Sizes {
  std::size_t schedule = 0;
  std::size_t addresses = 0;
  std::size_t allocations = 0;
  std::size_t deviations = 0;  // recomputations and transfers
};

Sizes sizes_of(const std::string& network, const std::string& platform, Semantics semantics) {
  const CompileRequest request = a_quarter(network, platform, semantics);
  const CompileResult result = compile(request);
  EXPECT_TRUE(result.report.valid) << result.report.violation;
  const PlanFile file{request.instance, semantics, request.limits, result.plan, result.layout};
  const std::vector<std::uint8_t> bytes = to_binary(file);
  const PlanFile read = plan_from_binary(bytes, "p.plan");
  EXPECT_EQ(read.plan.steps, result.plan.steps);
  EXPECT_EQ(read.layout.allocations, result.layout.allocations);
  EXPECT_EQ(replay(read.instance, read.plan, read.semantics, read.limits).energy, result.report.energy);
  const std::vector<test::ImageSection> sections = test::sections_of_image(bytes);
  const Sizes sizes{sections[0].payload.size(), sections[1].payload.size(), result.layout.allocations.size(),
                    static_cast<std::size_t>(result.report.recomputations + result.report.page_ins +
                                             result.report.page_outs)};
  fmt::print("{} on {}, {}: schedule {} bytes for {} deviations, addresses {} bytes for {} allocations\n",
             network, platform, to_string(semantics), sizes.schedule, sizes.deviations, sizes.addresses,
             sizes.allocations);
  return sizes;
}

TEST(PlanSize, ResNet18OnCifarTakesAFewHundredBytes) {
  for (const Semantics semantics : {Semantics::published, Semantics::device}) {
    for (const char* platform : {"m0", "m4", "a72"}) {
      const Sizes sizes = sizes_of("resnet18_cifar", platform, semantics);
      EXPECT_LE(sizes.schedule, 400U);
      EXPECT_LE(sizes.addresses, 16 + 3 * sizes.allocations);
      EXPECT_GT(sizes.deviations, 20U);
    }
  }
}

TEST(PlanSize, BertTakesLessThanAThousand) {
  EXPECT_LE(sizes_of("bert", "m0", Semantics::published).schedule, 1000U);
  // On m0 addresses are multiples of 4 bytes: too many for three bytes, were they not counted in larger
  // units.
  for (const char* platform : {"a72", "m0"}) {
    const Sizes sizes = sizes_of("bert", platform, Semantics::device);
    EXPECT_LE(sizes.schedule, 1000U);
    EXPECT_LE(sizes.addresses, 16 + 3 * sizes.allocations);
  }
}

}  // namespace
}  // namespace poet
