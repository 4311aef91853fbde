#pragma once

// The page of a figure: one column wide, a title and panels below one another, as a gnuplot script. Lengths
// are in units of 1/96 inch, from the top left corner; 336 are the 3.5 inches of a column.

#include <string>
#include <vector>

#include "poet/report/figure.h"

namespace poet {

struct LegendEntry {
  const char* colour;
  std::string text;
  bool is_line = false;
};

class Page {
 public:
  static constexpr double kFont = 9;  // 6.75 pt
  static constexpr double kSmallFont = 7.5;

  /// `left` is the position of the y axes; their numbers or names are to its left.
  Page(FigureFormat format, double left);

  /// Adds centred lines at the top, wrapped if too long; at most five lines.
  void title(const std::vector<std::string>& lines);

  /// Begins a new panel below the last: a row with its letter and legend, then axes of this height. Later
  /// calls refer to this panel.
  void panel(const char* letter, const std::vector<LegendEntry>& legend, double height);
  void y_name(const std::string& name);
  /// Sets the range, with tics at about four round numbers.
  void y_range(double from, double to);
  /// Commands, each with its newline.
  void set(const std::string& commands) { panels_.back().settings += commands; }
  /// Adds an element to the panel's plot command.
  void plot(const std::string& element) { panels_.back().plots.push_back(element); }
  /// A dashed line across.
  void level(double height, const char* name);

  /// Defines the data block $NAME for plots.
  void data(const std::string& name, const std::string& rows) {
    data_ += "$" + name + " << EOD\n" + rows + "EOD\n";
  }

  /// The size of the panel's axes.
  [[nodiscard]] double width() const;
  [[nodiscard]] double height() const { return panels_.back().height; }

  [[nodiscard]] double line_width(double width) const { return width * dots_; }
  [[nodiscard]] std::string font(double size) const;

  /// Returns the complete script. The x axes, all from `x_from` to `x_to`, are labelled below the last panel.
  [[nodiscard]] std::string script(const std::string& output, const std::string& x_name, double x_from,
                                   double x_to) const;

 private:
  /// What stands at a height: known when the page's is.
  struct Mark {
    std::string before, after;  // the y coordinate
    double y;
  };
  struct Panel {
    double top;
    double height;
    std::vector<Mark> marks;
    std::string settings;
    std::vector<std::string> plots;
  };

  [[nodiscard]] Mark text(const std::string& words, double x, double y, const char* where, double size) const;
  void legend_row(std::vector<Mark>& marks, const char* letter, const std::vector<LegendEntry>& legend);
  [[nodiscard]] std::string head(const std::string& output, double height) const;

  FigureFormat format_;
  double left_;
  double dots_;    // of a line, per unit, and of a png
  double points_;  // of a font, per unit
  double at_ = 3;  // where the next thing goes
  std::vector<Mark> title_;
  std::vector<Panel> panels_;
  std::string data_;
};

}  // namespace poet
