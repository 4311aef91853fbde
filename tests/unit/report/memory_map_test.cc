// The gnuplot script of a memory map: a panel per memory, units of its axes, its capacity.

#include "poet/report/memory_map.h"

#include <gtest/gtest.h>

#include <string>

namespace poet {
namespace {

bool contains_text(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(MemoryMap, HasAPanelForEachMemory) {
  const MemoryMap map{
      "3 buffers", 9, {{"sram", 8192, {{0, 3, 0, 4096}, {3, 9, 4000, 8192}}}, {"tcm", {}, {{0, 9, 0, 64}}}}};
  const std::string script = memory_map_script(map, FigureFormat::svg, "figure");
  EXPECT_TRUE(contains_text(script, "3 buffers"));
  EXPECT_TRUE(contains_text(script, "$memory_0 << EOD\n0 3 0 4.096\n3 9 4 8.192\nEOD"));
  EXPECT_TRUE(contains_text(script, "$memory_1 << EOD\n0 9 0 64\nEOD"));  // bytes
  EXPECT_TRUE(contains_text(script, "\"sram\""));
  EXPECT_TRUE(contains_text(script, "\"tcm\""));
  EXPECT_TRUE(contains_text(script, "capacity"));
  EXPECT_TRUE(contains_text(script, "\"time\""));
}

TEST(MemoryMap, CountsLongTimesInThousands) {
  const MemoryMap map{"1 buffer", 1'000'000, {{"arena", {}, {{0, 500'000, 0, 64}}}}};
  const std::string script = memory_map_script(map, FigureFormat::svg, "figure");
  EXPECT_TRUE(contains_text(script, "\n0 500 0 64\n"));
  EXPECT_TRUE(contains_text(script, "\"time (thousands)\""));
  const MemoryMap later{"1 buffer", 4, {{"arena", {}, {{5, 9, 0, 64}}}}, 5};
  EXPECT_TRUE(contains_text(memory_map_script(later, FigureFormat::svg, "figure"), "set xrange [5:9]"));
  const MemoryMap empty{"0 buffers", 1, {{"arena", {}, {}}}};
  EXPECT_FALSE(contains_text(memory_map_script(empty, FigureFormat::svg, "figure"), "$memory_0"));
}

}  // namespace
}  // namespace poet
