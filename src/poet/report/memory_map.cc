#include "poet/report/memory_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "poet/report/boxes.h"
#include "poet/report/page.h"
#include "poet/report/palette.h"

namespace poet {
namespace {

constexpr double kMapLeft = 52;  // room for numbers beside the axis
constexpr double kMapHeight = 150;
constexpr std::size_t kMapParted = 3'000;  // boxes; of more, outlines would leave nothing

constexpr std::array kManyTimes = {AxisUnit{1, "time"}, AxisUnit{1e3, "time (thousands)"},
                                   AxisUnit{1e6, "time (millions)"}, AxisUnit{1e9, "time (billions)"}};

void draw_panel(Page& page, const MemoryMap& map, std::size_t index, double time) {
  const MemoryPanel& panel = map.panels[index];
  double top = panel.capacity.value_or(1);
  for (const Box& box : panel.boxes) top = std::max(top, box.y1);
  top *= 1.06;
  const AxisUnit unit = byte_unit_for(top);
  Series series{"buffer", kSky, "#ffffff", panel.boxes.size() <= kMapParted ? 0.2 : 0};
  for (const Box& box : panel.boxes)
    series.add(box.x0 / time, box.x1 / time, box.y0 / unit.size, box.y1 / unit.size);
  std::vector<LegendEntry> legend = {{kSky, panel.name}};
  if (panel.capacity) legend.push_back({"#000000", "capacity", true});
  page.panel(fmt::format("({})", static_cast<char>('a' + index % 26)).c_str(), legend, kMapHeight);
  page.y_range(0, top / unit.size);
  page.y_name(fmt::format("address ({})", unit.name));
  const Grain grain{map.length / time / page.width() / 4, top / unit.size / page.height() / 2};
  if (!series.boxes.empty()) plot_boxes(page, fmt::format("memory_{}", index), series, grain);
  if (panel.capacity) page.level(*panel.capacity / unit.size, "capacity");
}

}  // namespace

std::string memory_map_script(const MemoryMap& map, FigureFormat format, const std::string& output) {
  Page page(format, kMapLeft);
  page.title({map.title});
  const AxisUnit time = unit_for(map.length / 10, kManyTimes);  // up to five digits at the axis
  for (std::size_t panel = 0; panel < map.panels.size(); ++panel) draw_panel(page, map, panel, time.size);
  return page.script(output, time.name, map.begin / time.size, (map.begin + map.length) / time.size);
}

void write_memory_map(const MemoryMap& map, const std::filesystem::path& file) {
  write_drawing(file, [&](FigureFormat format, const std::string& output) {
    return memory_map_script(map, format, output);
  });
}

}  // namespace poet
