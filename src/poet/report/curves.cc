#include "poet/report/curves.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "poet/report/gnuplot.h"

namespace poet {
namespace {

// Lengths in units of 1/96 inch.
constexpr double kPanelWidth = 250;
constexpr double kPanelHeight = 190;
constexpr double kLoneWidth = 480;  // of a panel without others
constexpr double kLoneHeight = 280;
constexpr double kAboveAxes = 26;  // the axes, in a panel: its title
constexpr double kBelowAxes = 44;  // numbers and name of the x axis
constexpr double kTitle = 34;
constexpr double kLegendRow = 17;
constexpr double kLegendColumn = 190;
constexpr double kFont = 11;
constexpr double kPngScale = 2;
constexpr double kMarks = 5;  // on an x axis, about

class Script {
 public:
  Script(const CurvePanels& panels, FigureFormat format) : p_(panels), format_(format) {
    columns_ = std::max(1, std::min(p_.columns, static_cast<int>(p_.panels.size())));
    rows_ = (static_cast<int>(p_.panels.size()) + columns_ - 1) / columns_;
    for (const CurvePanel& panel : p_.panels)
      for (const Curve& curve : panel.curves)
        if (!curve.points.empty()) used_.insert(curve.style);
    const bool alone = p_.panels.size() == 1;
    panel_height_ = alone ? kLoneHeight : kPanelHeight;
    width_ = std::max((alone ? kLoneWidth : kPanelWidth) * columns_, 2 * kLegendColumn);
    legend_columns_ = std::max(1, static_cast<int>(width_ / kLegendColumn));
    // The axis names a lone curve.
    legend_rows_ =
        used_.size() < 2 ? 0 : (static_cast<int>(used_.size()) + legend_columns_ - 1) / legend_columns_;
    height_ = kTitle + panel_height_ * rows_ + kLegendRow * (legend_rows_ + 1);
  }

  std::string text(const std::string& output) {
    head(output);
    for (std::size_t i = 0; i < p_.panels.size(); ++i) panel(i);
    legend();
    return out_ + "unset multiplot\nunset output\n";
  }

 private:
  [[nodiscard]] double scale() const { return format_ == FigureFormat::png ? kPngScale : 1; }

  void head(const std::string& output) {
    const double inch = 96;
    std::string terminal;
    switch (format_) {
      case FigureFormat::svg:
        terminal = fmt::format("svg size {:.0f},{:.0f} font 'Helvetica,{}'", width_, height_, kFont);
        break;
      case FigureFormat::png:
        terminal = fmt::format("pngcairo size {:.0f},{:.0f} font 'Helvetica,{}'", scale() * width_,
                               scale() * height_, 0.75 * scale() * kFont);
        break;
      case FigureFormat::pdf:
        terminal = fmt::format("pdfcairo size {:.3f}in,{:.3f}in font 'Helvetica,{}'", width_ / inch,
                               height_ / inch, 0.75 * kFont);
        break;
    }
    out_ += fmt::format("set terminal {} noenhanced background '#ffffff'\nset output {}\n", terminal,
                        gnuplot_string(output));
    for (std::size_t i = 0; i < p_.panels.size(); ++i)
      for (std::size_t k = 0; k < p_.panels[i].curves.size(); ++k) data(i, k);
    out_ += "set multiplot\nset tics nomirror\nset border 3\nset grid lc rgb '#e4e4e4' lt 1\nunset key\n";
    out_ += fmt::format("set label 1 {} at screen 0.5,{:.5f} center\n", gnuplot_string(p_.title),
                        1 - 0.6 * kTitle / height_);
    if (p_.log_y) out_ += "set logscale y\nset format y '%g'\n";
    if (p_.log_x) out_ += "set logscale x\nset format x '%g'\n";
  }

  void data(std::size_t panel, std::size_t curve) {
    out_ += fmt::format("$p{}_{} << EOD\n", panel, curve);
    for (const CurvePoint& point : p_.panels[panel].curves[curve].points)
      out_ += fmt::format("{:.8g} {:.8g}\n", point.x, p_.log_y ? std::max(point.y, p_.y_floor) : point.y);
    out_ += "EOD\n";
  }

  [[nodiscard]] std::string look(const CurveStyle& style) const {
    const std::string marker =
        fmt::format("lc rgb '{}' pt {} ps {:.3g}", style.colour, style.marker, 0.55 * scale());
    if (style.width <= 0) return "with points " + marker;
    return fmt::format("with linespoints {} lw {:.3g} dt {}", marker, style.width * scale(),
                       style.dashed ? 2 : 1);
  }

  struct Span {
    double least = std::numeric_limits<double>::infinity();
    double most = -std::numeric_limits<double>::infinity();
  };
  static Span span_of_x(const CurvePanel& panel) {
    Span span;
    for (const Curve& curve : panel.curves)
      for (const CurvePoint& point : curve.points) {
        span.least = std::min(span.least, point.x);
        span.most = std::max(span.most, point.x);
      }
    return span;
  }

  /// The less it spans, the more marks.
  static std::vector<double> steps_of(double width) {
    if (width > 8) return {1, 2, 5};
    if (width > 2.5) return {1, 1.5, 2, 3, 5, 7};
    return {1, 1.1, 1.2, 1.3, 1.5, 1.7, 2};
  }

  static std::string log_marks_of_x(const CurvePanel& panel) {
    const auto [least, most] = span_of_x(panel);
    return least <= most ? log_marks(least, most, {1, 3}) : "autofreq";
  }

  /// On either side of a lone point: one where x counts, else a tenth of it.
  [[nodiscard]] double room_of_one(double x) const {
    return p_.whole_x ? 1 : std::max(0.1 * std::abs(x), 1e-9);
  }

  /// Between the marks of the x axis: 1, 2 or 5 times a power of ten, so that their numbers do not touch.
  [[nodiscard]] double mark_step(const CurvePanel& panel) const {
    const auto [least, most] = span_of_x(panel);
    if (least > most) return 1;
    const double width = most > least ? most - least : 2 * room_of_one(most);
    if (p_.whole_x && width < kMarks) return 1;
    const double wanted = width / kMarks;
    const double power = std::pow(10, std::floor(std::log10(wanted)));
    for (const double step : {1.0, 2.0, 5.0})
      if (step * power >= wanted) return step * power;
    return 10 * power;
  }

  /// Of a logarithmic axis: every power of ten is marked in the middle of a wide one, and 2 and 5 times it,
  /// or more, in a narrow one.
  static std::string log_marks(double least, double most, const std::vector<double>& steps) {
    if (!(least > 0) || most / least > 1000) return "autofreq";
    std::vector<std::string> marks;
    const auto exponent = [](double x) { return static_cast<int>(std::floor(std::log10(x))); };
    for (int power = exponent(least); power <= exponent(most); ++power)
      for (const double step : steps) {
        const double mark = step * std::pow(10, power);
        if (mark >= least * (1 - 1e-9) && mark <= most * (1 + 1e-9))
          marks.push_back(fmt::format("{:.4g}", mark));
      }
    return fmt::format("({})", fmt::join(marks, ", "));
  }

  void panel(std::size_t i) {
    const CurvePanel& panel = p_.panels[i];
    const int row = static_cast<int>(i) / columns_;
    const int column = static_cast<int>(i) % columns_;
    const double top = kTitle + panel_height_ * row;
    out_ += fmt::format("set origin {:.5f},{:.5f}\nset size {:.5f},{:.5f}\n", column * 1.0 / columns_,
                        1 - (top + panel_height_) / height_, 1.0 / columns_, panel_height_ / height_);
    out_ += fmt::format("set tmargin at screen {:.5f}\nset bmargin at screen {:.5f}\n",
                        1 - (top + kAboveAxes) / height_, 1 - (top + panel_height_ - kBelowAxes) / height_);
    out_ += fmt::format("set title {} offset 0,-0.6\n", gnuplot_string(panel.title));
    out_ += fmt::format("set xlabel {} offset 0,0.4\n", gnuplot_string(p_.x_name));
    out_ += column == 0 ? fmt::format("set ylabel {} offset 0.8,0\n", gnuplot_string(p_.y_name))
                        : std::string("unset ylabel\n");
    out_ += p_.log_x ? fmt::format("set xtics nomirror {}\n", log_marks_of_x(panel))
                     : fmt::format("set xtics nomirror {:.6g}\n", mark_step(panel));
    std::vector<std::string> plots;
    double most = p_.y_floor;
    for (std::size_t k = 0; k < panel.curves.size(); ++k) {
      if (panel.curves[k].points.empty()) continue;
      for (const CurvePoint& point : panel.curves[k].points) most = std::max(most, point.y);
      plots.push_back(fmt::format("$p{}_{} using 1:2 {}", i, k, look(p_.styles[panel.curves[k].style])));
    }
    if (plots.empty()) {
      out_ += fmt::format("unset xtics\nunset ytics\nset label 2 {} at graph 0.5,0.5 center\n",
                          gnuplot_string(panel.note.empty() ? "nothing to show" : panel.note));
      out_ += p_.log_y ? "plot [0:1][1:2] NaN\n" : "plot [0:1][0:1] NaN\n";
      out_ += "unset label 2\nset ytics nomirror\n";
    } else {
      // With both axes logarithmic factors count: room for a tenth more, and marks between powers of ten.
      const double upper = p_.log_x ? std::max(1.1 * most, 1.2 * p_.y_floor) : 2 * most;
      if (p_.log_x && p_.log_y)
        out_ += fmt::format("set ytics nomirror {}\n",
                            log_marks(p_.y_floor, upper, steps_of(upper / p_.y_floor)));
      const std::string range = p_.log_y ? fmt::format("[{:.4g}:{:.4g}]", p_.y_floor, upper) : "[*:*]";
      // What the points span, and a little: gnuplot's own choice would go on to the next mark.
      const auto [least, last] = span_of_x(panel);
      const double room = last > least ? 0.03 * (last - least) : room_of_one(last);
      const std::string across = p_.log_x ? fmt::format("[{:.4g}:{:.4g}]", least / 1.2, last * 1.2)
                                          : fmt::format("[{:.8g}:{:.8g}]", least - room, last + room);
      out_ += fmt::format("plot {}{} {}\n", across, range, fmt::join(plots, ", "));
    }
    if (i == 0) out_ += "unset label 1\n";
  }

  void legend() {
    out_ += fmt::format(
        "set origin 0,0\nset size 1,{:.5f}\nunset title\nunset xlabel\nunset ylabel\nunset border\nunset "
        "tics\n"
        "unset grid\nunset logscale\nset lmargin 0\nset rmargin 0\nset tmargin 0\nset bmargin 0\n"
        "set key center center horizontal reverse Left maxcols {} samplen 2.2 width 1\n",
        kLegendRow * (legend_rows_ + 0.6) / height_, legend_columns_);
    std::vector<std::string> entries;
    if (legend_rows_ == 0) return;
    for (const std::size_t i : used_)
      entries.push_back(
          fmt::format("keyentry {} title {}", look(p_.styles[i]), gnuplot_string(p_.styles[i].title)));
    if (!entries.empty()) out_ += fmt::format("plot [0:1][0:1] NaN notitle, {}\n", fmt::join(entries, ", "));
  }

  const CurvePanels& p_;
  const FigureFormat format_;
  int columns_ = 1;
  int rows_ = 1;
  std::set<std::size_t> used_;  // styles
  int legend_columns_ = 1;
  int legend_rows_ = 1;
  double panel_height_ = 0;
  double width_ = 0;
  double height_ = 0;
  std::string out_;
};

}  // namespace

std::string curves_script(const CurvePanels& panels, FigureFormat format, const std::string& output) {
  return Script(panels, format).text(output);
}

void write_curves(const CurvePanels& panels, const std::filesystem::path& file) {
  write_drawing(file, [&](FigureFormat format, const std::string& output) {
    return curves_script(panels, format, output);
  });
}

}  // namespace poet
