#include "poet/report/boxes.h"

#include <fmt/format.h>

#include "poet/base/amounts.h"

namespace poet {
namespace {

constexpr std::size_t kMostBoxes = 500;  // of one colour that are drawn one by one

constexpr std::array kBytes = {AxisUnit{1, "B"}, AxisUnit{1e3, "KB"}, AxisUnit{1e6, "MB"},
                               AxisUnit{1e9, "GB"}, AxisUnit{1e12, "TB"}};
constexpr std::array kBinaryBytes = {AxisUnit{1, "B"}, AxisUnit{0x1p10, "KiB"}, AxisUnit{0x1p20, "MiB"},
                                     AxisUnit{0x1p30, "GiB"}, AxisUnit{0x1p40, "TiB"}};

}  // namespace

AxisUnit byte_unit_for(double most) {
  return byte_units() == ByteUnits::binary ? unit_for(most, kBinaryBytes) : unit_for(most, kBytes);
}

std::vector<Box> few(std::vector<Box> boxes, Grain grain) {
  if (boxes.size() <= kMostBoxes) return boxes;
  return merged(boxes, grain);
}

void plot_boxes(Page& page, const std::string& block, const Series& series, Grain grain) {
  std::string rows;
  for (const Box& box : series.parted() ? series.boxes : few(series.boxes, grain))
    rows += fmt::format("{:.8g} {:.8g} {:.8g} {:.8g}\n", box.x0, box.x1, box.y0, box.y1);
  page.data(block, rows);
  const bool has_outline = series.outline_width > 0;
  page.plot(fmt::format("${} using 1:3:1:2:3:4 with boxxyerror lc rgb '{}' lw {:.4g} fs solid {} title '{}'",
                        block, series.colour, page.line_width(series.outline_width),
                        has_outline ? fmt::format("border lc rgb '{}'", series.outline) : "noborder",
                        series.name));
}

}  // namespace poet
