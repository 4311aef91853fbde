// The published instances of MiniMalloc's, on which simple allocators fail: all fit at their capacity.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "poet/plan/layout/arena/pack.h"
#include "tests/support/paths.h"

namespace poet {
namespace {

constexpr std::int64_t kCapacity = 1048576;

// Rows of id,lower,upper,size after a heading.
std::vector<Buffer> read_buffers(const std::filesystem::path& file) {
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  EXPECT_EQ(line, "id,lower,upper,size");
  std::vector<Buffer> buffers;
  while (std::getline(in, line)) {
    std::istringstream row(line);
    std::int64_t id = 0;
    char comma = 0;
    Buffer buffer;
    row >> id >> comma >> buffer.lower >> comma >> buffer.upper >> comma >> buffer.size;
    EXPECT_TRUE(row) << line;
    buffers.push_back(buffer);
  }
  return buffers;
}

struct LayoutInstance {
  const char* name;
  std::size_t buffers;
  std::int64_t load;  // the most alive at one time
};

void PrintTo(const LayoutInstance& instance, std::ostream* out) { *out << instance.name; }

class LayoutInstances : public testing::TestWithParam<LayoutInstance> {};

TEST_P(LayoutInstances, FitAtTheirCapacity) {
  const auto folder = test::repository() / "tests" / "golden" / "layout";
  const std::vector<Buffer> buffers =
      read_buffers(folder / (std::string(GetParam().name) + "." + std::to_string(kCapacity) + ".csv"));
  EXPECT_EQ(buffers.size(), GetParam().buffers);
  PackOptions options;
  options.good_enough = kCapacity;
  const Packing packing = pack(buffers, options);
  EXPECT_TRUE(is_packing(buffers, packing.offsets));
  EXPECT_LE(packing.height, kCapacity);
  EXPECT_EQ(packing.lower_bound, GetParam().load);
  RecordProperty("nodes", std::to_string(packing.nodes));
}

INSTANTIATE_TEST_SUITE_P(Published, LayoutInstances,
                         testing::Values(LayoutInstance{"A", 154, 1048576}, LayoutInstance{"B", 170, 1048576},
                                         LayoutInstance{"C", 203, 1039360}, LayoutInstance{"D", 213, 986112},
                                         LayoutInstance{"E", 215, 1048576}, LayoutInstance{"F", 296, 1048576},
                                         LayoutInstance{"G", 308, 1048576}, LayoutInstance{"H", 316, 1048576},
                                         LayoutInstance{"I", 374, 1048576}, LayoutInstance{"J", 409, 989184},
                                         LayoutInstance{"K", 454, 1048576}),
                         [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace poet
