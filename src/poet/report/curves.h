#pragma once

// Panels of curves with one legend, as the evaluations of papers have them, drawn by gnuplot.

#include <filesystem>
#include <string>
#include <vector>

#include "poet/report/drawing.h"

namespace poet {

/// Curves of one style share an entry of the legend in all panels.
struct CurveStyle {
  std::string title;
  std::string colour;  // "#0072b2"
  int marker = 7;      // gnuplot's point type
  double width = 1;    // of the line; 0: markers only
  bool dashed = false;
};

struct CurvePoint {
  double x = 0;
  double y = 0;
};

struct Curve {
  std::size_t style = 0;           // index into CurvePanels::styles
  std::vector<CurvePoint> points;  // increasing in x
};

struct CurvePanel {
  std::string title;
  std::vector<Curve> curves;
  std::string note;  // in the middle of a panel without points
};

struct CurvePanels {
  std::string title;
  std::string x_name, y_name;  // with units
  bool log_x = false;          // x > 0
  bool whole_x = false;        // steps, say: marks at whole numbers only
  bool log_y = false;          // y <= 0 is drawn at the lower edge
  double y_floor = 0;          // of a logarithmic axis
  std::vector<CurveStyle> styles;
  std::vector<CurvePanel> panels;
  int columns = 3;
};

/// Returns the gnuplot script with inline data. Deterministic.
[[nodiscard]] std::string curves_script(const CurvePanels& panels, FigureFormat format,
                                        const std::string& output);

/// As write_figure(). Throws InputError.
void write_curves(const CurvePanels& panels, const std::filesystem::path& file);

}  // namespace poet
