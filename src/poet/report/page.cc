#include "poet/report/page.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <cstddef>
#include <utility>

#include "poet/base/text.h"
#include "poet/report/gnuplot.h"
#include "poet/report/history.h"
#include "poet/report/table.h"

namespace poet {
namespace {

constexpr double kWidth = 336;
constexpr double kRight = 9;    // room for half of the last number
constexpr double kLegend = 20;  // after the panel's letter
constexpr double kLegendFont = 8;
constexpr double kLetter = 0.58;      // mean width of a letter of a wide font, in font sizes
constexpr double kTextLetter = 0.53;  // and where most are small, or spaces
constexpr double kLine = 11.5;
constexpr double kBetween = 7;  // panels
constexpr double kBelow = 29;   // the last panel: numbers and name of the axis
constexpr double kXName = 22;   // from the axis to its name
constexpr int kTitleLines = 5;

}  // namespace

Page::Page(FigureFormat format, double left)
    : format_(format),
      left_(left),
      // 300 dots per inch; a pdf's lines are in half points.
      dots_(format == FigureFormat::pdf   ? 1.5
            : format == FigureFormat::png ? 300.0 / 96
                                          : 1),
      // What cairo calls a point is 4/3 of one.
      points_(format == FigureFormat::pdf   ? 0.75 * 0.75
              : format == FigureFormat::png ? 0.75 * dots_
                                            : 1) {}

double Page::width() const { return kWidth - kRight - left_; }

std::string Page::font(double size) const { return fmt::format("font ',{:.4g}'", size * points_); }

Page::Mark Page::text(const std::string& words, double x, double y, const char* where, double size) const {
  return {fmt::format("set label {} at screen {:.6g},screen ", gnuplot_string(words), x / kWidth),
          fmt::format(" {} {} front\n", where, font(size)), y};
}

void Page::title(const std::vector<std::string>& lines) {
  const int letters = static_cast<int>((kWidth - 12) / (kTextLetter * kFont));
  int count = 0;
  for (const std::string& line : lines) {
    for (const std::string& piece : pieces_of(wrapped(line, letters, 0), '\n')) {
      if (count++ >= kTitleLines) break;
      title_.push_back(text(printable(piece, static_cast<std::size_t>(letters) + 2), kWidth / 2,
                            at_ + kLine / 2, "center", kFont));
      at_ += kLine;
    }
  }
  at_ += 2;
}

void Page::legend_row(std::vector<Mark>& marks, const char* letter, const std::vector<LegendEntry>& legend) {
  marks.push_back(text(letter, 3, at_ + kLine / 2, "left", kFont));
  double x = kLegend;
  for (const LegendEntry& entry : legend) {
    const double sample = entry.is_line ? 14 : 7.5;
    const double width = sample + 3 + kLetter * kLegendFont * static_cast<double>(entry.text.size());
    if (x > kLegend && x + width > kWidth) {
      x = kLegend;
      at_ += kLine;
    }
    const double y = at_ + kLine / 2;
    marks.push_back(
        {fmt::format("set arrow from screen {:.6g},screen ", x / kWidth),
         fmt::format(" rto screen {:.6g},0 nohead front lw {:.4g} lc rgb '{}'{}\n", sample / kWidth,
                     line_width(entry.is_line ? 1 : 5), entry.colour, entry.is_line ? " dt 2" : ""),
         y});
    marks.push_back(text(entry.text, x + sample + 3, y, "left", kLegendFont));
    x += width + 5.5;
  }
  at_ += kLine + 4;
}

void Page::panel(const char* letter, const std::vector<LegendEntry>& legend, double height) {
  if (!panels_.empty()) at_ += kBetween;
  Panel next;
  next.marks = std::move(title_);
  title_.clear();
  legend_row(next.marks, letter, legend);
  next.top = at_;
  next.height = height;
  at_ += height;
  panels_.push_back(std::move(next));
}

void Page::y_name(const std::string& name) {
  set(fmt::format("set label {} at screen {:.6g},graph 0.5 center rotate {}\n", gnuplot_string(name),
                  7 / kWidth, font(kFont)));
}

void Page::y_range(double from, double to) {
  const double rough = (to - from) / 4.5;
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  double step = 10 * power;
  for (const double factor : {5.0, 2.0, 1.0}) {
    if (factor * power >= rough) step = factor * power;
  }
  set(fmt::format("set yrange [{:.8g}:{:.8g}]\nset ytics out nomirror scale 0.5 {:.8g}\n", from, to, step));
}

void Page::level(double height, const char* name) {
  plot(fmt::format("{:.8g} with lines lw {:.4g} dt 2 lc rgb '#000000' title '{}'", height, line_width(1),
                   name));
}

std::string Page::head(const std::string& output, double height) const {
  std::string terminal;
  switch (format_) {
    case FigureFormat::svg:
      terminal = fmt::format("svg noenhanced size {},{:.0f} font 'Helvetica,{}' background '#ffffff'", kWidth,
                             height, kFont);
      break;
    case FigureFormat::pdf:
      terminal = fmt::format("pdfcairo noenhanced fontscale 1 size {}in,{:.4g}in font 'Helvetica,{:.4g}'",
                             kWidth / 96, height / 96, kFont * points_);
      break;
    case FigureFormat::png:
      terminal = fmt::format(
          "pngcairo noenhanced dashlength 0.6 size {:.0f},{:.0f} font 'Helvetica,{:.4g}' background '{}'",
          kWidth * dots_, height * dots_, kFont * points_, "#ffffff");
      break;
  }
  return fmt::format("set encoding utf8\nset terminal {}\nset output {}\n", terminal, gnuplot_string(output));
}

std::string Page::script(const std::string& output, const std::string& x_name, double x_from,
                         double x_to) const {
  const double height = at_ + kBelow;
  const auto upward = [height](double y) { return 1 - y / height; };
  std::string out = head(output, height);
  out += fmt::format(
      "unset key\nset tics out nomirror scale 0.5\nset border 3 lw {:.4g}\nset xrange [{:.8g}:{:.8g}]\n"
      "set xtics offset character 0,0.4\nset lmargin at screen {:.6g}\nset rmargin at screen {:.6g}\n\n",
      line_width(0.7), x_from, x_to, left_ / kWidth, 1 - kRight / kWidth);
  out += data_ + "set multiplot\n";
  for (const Panel& panel : panels_) {
    out += "\nunset label\nunset arrow\nset format x ''\nset ytics out nomirror scale 0.5 autofreq\n";
    out += fmt::format("set tmargin at screen {:.6g}\nset bmargin at screen {:.6g}\n", upward(panel.top),
                       upward(panel.top + panel.height));
    std::vector<Mark> marks = panel.marks;
    if (&panel == &panels_.back()) {
      out += "set format x '%g'\n";
      marks.push_back(
          text(x_name, (left_ + kWidth - kRight) / 2, panel.top + panel.height + kXName, "center", kFont));
    }
    for (const Mark& mark : marks) out += mark.before + fmt::format("{:.6g}", upward(mark.y)) + mark.after;
    // gnuplot refuses to plot nothing.
    const std::string plots = fmt::format("{}", fmt::join(panel.plots, ", \\\n     "));
    out += panel.settings + "plot " + (plots.empty() ? "NaN notitle" : plots) + "\n";
  }
  return out + "unset multiplot\nunset output\n";
}

}  // namespace poet
