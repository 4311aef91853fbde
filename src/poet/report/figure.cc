#include "poet/report/figure.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <sstream>
#include <string_view>
#include <utility>
#include <vector>

#include "poet/base/amounts.h"
#include "poet/base/error.h"
#include "poet/base/write_file.h"
#include "poet/graph/dataflow.h"
#include "poet/plan/names.h"
#include "poet/report/gnuplot.h"
#include "poet/report/table.h"

namespace poet {
namespace {

// Lengths in units of 1/96 inch, from the top left corner: 336 are the 3.5 inches of a column.
constexpr double kWidth = 336;
constexpr double kFont = 9;  // 6.75 pt
constexpr double kLegendFont = 8;
constexpr double kSmallFont = 7.5;
constexpr double kLetter = 0.6;  // mean width of a letter of a wide font, in font sizes
constexpr double kLine = 11.5;
constexpr double kRight = 9;        // room for half of the last number
constexpr std::size_t kNamed = 24;  // up to so many ops have their names at the axis
constexpr std::size_t kNameLength = 15;

constexpr const char* kResident = "#c8c8c8";
constexpr const char* kBlue = "#0072b2";
constexpr const char* kOrange = "#e69f00";
constexpr const char* kPurple = "#cc79a7";
constexpr const char* kGreen = "#009e73";
constexpr const char* kSky = "#56b4e9";
constexpr const char* kVermilion = "#d55e00";
constexpr const char* kYellow = "#f0e442";
constexpr const char* kGrey = "#808080";

struct Unit {
  double size;
  const char* name;
};

/// The largest of which `most` has at least one and a half, else the smallest.
template <std::size_t N>
Unit unit_for(double most, const std::array<Unit, N>& increasing) {
  Unit best = increasing.front();
  for (const Unit& unit : increasing) {
    if (most >= 1.5 * unit.size) best = unit;
  }
  return best;
}

constexpr std::array kTimes = {Unit{1e-9, "ns"}, Unit{1e-6, "us"}, Unit{1e-3, "ms"},
                               Unit{1, "s"},     Unit{60, "min"},  Unit{3600, "h"}};
constexpr std::array kBytes = {Unit{1, "B"}, Unit{1e3, "KB"}, Unit{1e6, "MB"}, Unit{1e9, "GB"},
                               Unit{1e12, "TB"}};

/// Boxes of one colour: x from, to, y from, to.
struct Series {
  const char* name;
  const char* colour;
  std::string rows;

  void add(double x0, double x1, double y0, double y1) {
    rows += fmt::format("{:.8g} {:.8g} {:.8g} {:.8g}\n", x0, x1, y0, y1);
  }
};

struct LegendEntry {
  const char* colour;
  std::string text;
  bool is_line = false;
};

/// A rectangle of the page that a panel's axes enclose.
struct Frame {
  double left;
  double top;
  double height;
};

class Figure {
 public:
  Figure(const Picture& picture, Axis axis, FigureFormat format)
      : picture_(picture),
        file_(picture.plan),
        instance_(file_.instance),
        flow_(dataflow(instance_.graph)),
        history_(history_of(picture)),
        axis_(axis),
        format_(format),
        dots_(format == FigureFormat::pdf   ? 0.75
              : format == FigureFormat::png ? 300.0 / 96
                                            : 1),
        points_(format == FigureFormat::png ? 0.75 * dots_ : dots_),
        scale_(picture.trace, history_, axis),
        x_unit_(axis == Axis::step ? Unit{1, ""} : unit_for(scale_.length(), kTimes)),
        named_(instance_.graph.ops.size() <= kNamed) {}

  std::string script(const std::string& output) {
    left_ = named_ ? 18 + kNameLength * 4.0 : 40;
    const bool with_arena = !file_.layout.residences.empty() && history_.steps > 0;
    double at = 3;
    titles(at);
    values_panel(at);
    memory_panel(at, !with_arena);
    if (with_arena) arena_panel(at);
    height_ = at + 29;
    return head(output) + data_ + place_all() + "unset multiplot\nunset output\n";
  }

 private:
  // -- words

  std::vector<std::string> title_lines() const {
    const Report& report = picture_.report;
    const std::string subject = printable(subject_of(instance_), 60);
    std::vector<std::string> lines;
    const std::string wrong = breach_of(picture_);
    if (!wrong.empty()) {
      lines.push_back(subject + ": BROKEN");
      lines.push_back(printable(wrong, 200));
    } else {
      const double least = replay_keep_all(instance_, file_.semantics).energy.value();
      const double overhead = least > 0 ? report.energy.value() / least - 1 : 0;
      const std::string compared = std::abs(overhead) < 1e-9
                                       ? "as keep-all"
                                       : fmt::format("{} {} keep-all", format_percent(std::abs(overhead)),
                                                     overhead > 0 ? "over" : "under");
      lines.push_back(fmt::format("{}: {}, {}", subject, format_joules(report.energy), compared));
    }
    const std::string deadline =
        file_.limits.deadline ? " of " + format_seconds(*file_.limits.deadline) : std::string();
    lines.push_back(fmt::format("RAM {} of {}, time {}{}, {} semantics", format_bytes(history_.peak),
                                format_bytes(file_.limits.ram_budget),
                                format_seconds(Seconds(history_.whole.end)), deadline,
                                to_string(file_.semantics)));
    std::vector<std::string> broken;
    const int letters = static_cast<int>((kWidth - 12) / (kLetter * kFont));
    for (const std::string& line : lines) {
      std::istringstream pieces(wrapped(line, letters, 0));
      for (std::string piece; std::getline(pieces, piece) && broken.size() < 5;) {
        broken.push_back(printable(piece, static_cast<std::size_t>(letters) + 2));
      }
    }
    return broken;
  }

  void titles(double& at) {
    for (const std::string& line : title_lines()) {
      first_marks_.push_back(text_at(line, kWidth / 2, at + kLine / 2, "center"));
      at += kLine;
    }
    at += 2;
  }

  // -- marks: a function of the height, which is known last

  struct Mark {
    std::string before, after;  // around the y coordinate
    double y;
  };

  [[nodiscard]] Mark text_at(const std::string& text, double x, double y, const char* where,
                             double size = kFont) const {
    return {fmt::format("set label {} at screen {:.6g},screen ", gnuplot_string(text), x / kWidth),
            fmt::format(" {} {} front\n", where, font(size)), y};
  }

  [[nodiscard]] std::string font(double size) const { return fmt::format("font ',{:.4g}'", size * points_); }

  /// Rows of entries above a panel, beginning with its letter.
  void legend(std::vector<Mark>& marks, double& at, const char* letter,
              const std::vector<LegendEntry>& entries) {
    marks.push_back(text_at(letter, 3, at + kLine / 2, "left"));
    double x = left_;
    for (const LegendEntry& entry : entries) {
      const double sample = entry.is_line ? 14 : 9;
      const double width = sample + 3 + kLetter * kLegendFont * static_cast<double>(entry.text.size());
      if (x > left_ && x + width > kWidth) {
        x = left_;
        at += kLine;
      }
      marks.push_back(
          {fmt::format("set arrow from screen {:.6g},screen ", x / kWidth),
           fmt::format(" rto screen {:.6g},0 nohead front lw {:.4g} lc rgb '{}'{}\n", sample / kWidth,
                       dots_ * (entry.is_line ? 1 : 5), entry.colour, entry.is_line ? " dt 2" : ""),
           at + kLine / 2});
      marks.push_back(text_at(entry.text, x + sample + 3, at + kLine / 2, "left", kLegendFont));
      x += width + 6;
    }
    at += kLine + 4;
  }

  // -- panels

  struct Panel {
    Frame frame;
    std::vector<Mark> marks;
    std::string settings;
    std::string plot;
  };

  void values_panel(double& at) {
    const std::size_t ops = instance_.graph.ops.size();
    std::array<Series, 5> series = {Series{"resident", kResident, ""}, Series{"computed", kBlue, ""},
                                    Series{"recomputed", kOrange, ""}, Series{"page-out", kPurple, ""},
                                    Series{"page-in", kGreen, ""}};
    // With a thousand rows what happens has to be higher than its own row to be seen.
    const double least = 0.006 * static_cast<double>(ops);
    for (const Stay& stay : history_.stays) {
      const auto [low, high] = row(stay.value);
      const double missing = std::max(0.0, least / 3 - (high - low)) / 2;
      series[0].add(x(scale_.begin(stay.begin)), x(scale_.begin(stay.end)), low - missing, high + missing);
    }
    for (const Event& event : history_.events) {
      if (event.action == Action::wait) continue;
      const Trace::Interval place = scale_.place(event);
      const bool computes = event.action == Action::compute || event.action == Action::recompute;
      auto [low, high] = computes ? op_row(event.op) : row(event.value);
      const double missing = std::max(0.0, least - (high - low)) / 2;
      series[static_cast<std::size_t>(event.action) + 1].add(x(place.begin), x(place.end), low - missing,
                                                             high + missing);
    }
    Panel panel;
    std::vector<LegendEntry> entries;
    for (const Series& one : series) {
      if (!one.rows.empty()) entries.push_back({one.colour, one.name});
    }
    panel.marks = std::move(first_marks_);
    legend(panel.marks, at, "(a)", entries);
    panel.frame = {left_, at, 190};
    panel.settings = fmt::format("set yrange [{}:-0.5]\n", static_cast<double>(ops) - 0.5);
    if (named_) {
      panel.settings += "unset ytics\n";
      for (const OpId op : ids<OpId>(ops)) {
        panel.settings += fmt::format("set label {} at graph -0.02,first {} right {}\n",
                                      gnuplot_string(printable(name_of(instance_.graph, op), kNameLength)),
                                      op.index, font(kSmallFont));
      }
    } else {
      panel.settings += axis_name("op that computes the value");
    }
    panel.plot = plot(series, "values", true);
    panels_.push_back(std::move(panel));
    at += 190 + 7;
  }

  void memory_panel(double& at, bool is_last) {
    const double budget = static_cast<double>(file_.limits.ram_budget.value());
    const double peak = static_cast<double>(std::max(history_.peak, Bytes(1)).value());
    // A budget far above what is used would press everything else to the ground.
    const bool far = budget > 3 * peak;
    const double persistent = static_cast<double>(instance_.costs.persistent.value());
    const double highest = far ? peak : std::max(peak, budget);
    // Where most of RAM never changes, the axis begins a little below that.
    const bool starts_higher = persistent > highest / 2;
    const double base = starts_higher ? std::max(0.0, persistent - 0.15 * (highest - persistent)) : 0;
    const double top = highest + 0.06 * (highest - base);
    const Unit unit = unit_for(top, kBytes);
    std::string path;
    const auto add = [&](double where, Bytes ram) {
      path += fmt::format("{:.8g} {:.8g}\n", where, static_cast<double>(ram.value()) / unit.size);
    };
    for (std::size_t step = 0; step < history_.steps; ++step) {
      add(x(scale_.begin(step)), picture_.trace.ram[step]);
      add(x(scale_.end(step)), picture_.trace.ram[step]);
    }
    if (history_.steps > 0) add(x(scale_.length()), picture_.trace.ram[history_.steps - 1]);
    const bool over = peak > budget;
    std::string excess;
    for (std::size_t step = 0; step < history_.steps; ++step) {
      const double height = static_cast<double>(picture_.trace.ram[step].value());
      if (height <= budget) continue;
      excess +=
          fmt::format("{0:.8g} {2:.8g}\n{0:.8g} {3:.8g}\n{1:.8g} {3:.8g}\n{1:.8g} {2:.8g}\n\n",
                      x(scale_.begin(step)), x(scale_.end(step)), budget / unit.size, height / unit.size);
    }

    Panel panel;
    std::vector<LegendEntry> entries = {{kSky, "in RAM"}};
    if (over) entries.push_back({kVermilion, "over the budget"});
    if (persistent > 0)
      entries.push_back({kGrey, "persistent" + std::string(starts_higher ? ", axis cut" : "")});
    entries.push_back(
        {"#000000", "budget " + format_bytes(file_.limits.ram_budget) + (far ? ", far above" : ""), true});
    legend(panel.marks, at, "(b)", entries);
    panel.frame = {left_, at, 82};
    panel.settings = y_axis(base / unit.size, top / unit.size) + axis_name("RAM", unit);
    if (is_last) {
      panel.marks.push_back(x_axis_name(at + 82));
      panel.settings += "set format x '%g'\n";
    }
    std::vector<std::string> plots;
    if (!path.empty()) {
      data_ += "$ram << EOD\n" + path + "EOD\n";
      plots.push_back(
          fmt::format("$ram using 1:2 with filledcurves y1={:.8g} fs solid lc rgb '{}' title 'in RAM'",
                      base / unit.size, kSky));
      // Lines as well, for what takes next to no time.
      plots.push_back(
          fmt::format("$ram using 1:2 with lines lw {:.4g} lc rgb '{}' notitle", 0.6 * dots_, kSky));
      if (over) {
        data_ += "$over << EOD\n" + excess + "EOD\n";
        plots.push_back(fmt::format(
            "$ram using 1:2 with filledcurves above y1={:.8g} fs solid lc rgb '{}' title 'over the budget'",
            budget / unit.size, kVermilion));
        plots.push_back(
            fmt::format("$over using 1:2 with lines lw {:.4g} lc rgb '{}' notitle", 0.9 * dots_, kVermilion));
      }
    }
    if (persistent > 0)
      plots.push_back(
          fmt::format("{:.8g} with filledcurves y1={:.8g} fs solid lc rgb '{}' title 'persistent'",
                      persistent / unit.size, base / unit.size, kGrey));
    plots.push_back(level(budget / unit.size, "budget"));
    panel.plot = joined(plots);
    panels_.push_back(std::move(panel));
    at += 82 + 7;
  }

  void arena_panel(double& at) {
    const Layout& layout = file_.layout;
    std::array<Series, 4> series = {Series{"computed", "#8cc4e8", ""}, Series{"recomputed", "#f4c95d", ""},
                                    Series{"page-in", "#66c2a5", ""}, Series{"workspace", kYellow, ""}};
    double top = 1;
    for (const Residence& residence : layout.residences) {
      top = std::max(top, static_cast<double>(residence.offset + residence.bytes.value()));
    }
    const double room = static_cast<double>((file_.limits.ram_budget - instance_.costs.persistent).value());
    const bool far = room > 3 * top;
    if (!far) top = std::max(top, room);
    top *= 1.06;
    const Unit unit = unit_for(top, kBytes);
    for (const Residence& residence : layout.residences) {
      const auto begin = static_cast<std::size_t>(std::max(residence.begin, 0));
      if (begin >= history_.steps) continue;
      const std::size_t end = std::min(static_cast<std::size_t>(std::max(residence.end, 0)), history_.steps);
      const bool is_scratch = !residence.value.valid();
      const double low = static_cast<double>(residence.offset) / unit.size;
      series[is_scratch ? 3 : origin(begin)].add(
          x(scale_.begin(begin)), x(is_scratch ? scale_.end(begin) : scale_.begin(end)), low,
          low + static_cast<double>(residence.bytes.value()) / unit.size);
    }
    Panel panel;
    std::vector<LegendEntry> entries;
    for (const Series& one : series) {
      if (!one.rows.empty()) entries.push_back({one.colour, one.name});
    }
    const bool has_base = instance_.costs.persistent > Bytes(0);
    if (!far) entries.push_back({"#000000", has_base ? "budget less persistent" : "budget", true});
    legend(panel.marks, at, "(c)", entries);
    panel.frame = {left_, at, 100};
    panel.settings = y_axis(0, top / unit.size) + axis_name("address", unit) + "set format x '%g'\n";
    panel.marks.push_back(x_axis_name(at + 100));
    std::vector<std::string> plots = {plot(series, "arena", false)};
    if (!far) plots.push_back(level(room / unit.size, "budget"));
    panel.plot = joined(plots);
    panels_.push_back(std::move(panel));
    at += 100;
  }

  // -- pieces of panels

  [[nodiscard]] double x(double place) const { return place / x_unit_.size; }

  /// How what begins at this step got into RAM, as an index of the arena's series.
  [[nodiscard]] std::size_t origin(std::size_t step) const {
    const auto event =
        std::lower_bound(history_.events.begin(), history_.events.end(), step,
                         [](const Event& one, std::size_t number) { return one.step < number; });
    if (event == history_.events.end() || event->step != step) return 0;
    return event->action == Action::page_in ? 2 : event->action == Action::recompute ? 1 : 0;
  }

  [[nodiscard]] static std::pair<double, double> op_row(OpId op) {
    return {op.index - 0.42, op.index + 0.42};
  }

  /// The results of an op share its row.
  [[nodiscard]] std::pair<double, double> row(ValueId value) const {
    const auto [low, high] = op_row(flow_.producer[value]);
    const std::vector<ValueId>& results = flow_.writes[flow_.producer[value]];
    const double share = (high - low) / static_cast<double>(results.size());
    const auto place = std::lower_bound(results.begin(), results.end(), value) - results.begin();
    return {low + share * static_cast<double>(place), low + share * static_cast<double>(place + 1)};
  }

  template <std::size_t N>
  std::string plot(const std::array<Series, N>& series, const std::string& panel, bool outlined_alike) {
    std::vector<std::string> plots;
    for (const Series& one : series) {
      if (one.rows.empty()) continue;
      const std::string block = fmt::format("${}_{}", panel, block_name(one.name));
      data_ += block + " << EOD\n" + one.rows + "EOD\n";
      // The outline keeps what takes next to no time visible. Residents need none; in the arena it parts
      // neighbours.
      const bool is_resident = one.colour == std::string_view(kResident);
      const char* outline = outlined_alike ? one.colour : "#ffffff";
      plots.push_back(
          fmt::format("{} using 1:3:1:2:3:4 with boxxyerror lc rgb '{}' lw {:.4g} fs solid {} title '{}'",
                      block, one.colour, dots_ * (outlined_alike ? 0.9 : 0.2),
                      is_resident ? "noborder" : fmt::format("border lc rgb '{}'", outline), one.name));
    }
    // gnuplot refuses to plot nothing.
    if (plots.empty()) plots.emplace_back("NaN notitle");
    return joined(plots);
  }

  static std::string block_name(std::string name) {
    std::replace(name.begin(), name.end(), '-', '_');
    return name;
  }

  static std::string joined(const std::vector<std::string>& plots) {
    return fmt::format("{}", fmt::join(plots, ", \\\n     "));
  }

  [[nodiscard]] std::string level(double height, const char* name) const {
    return fmt::format("{:.8g} with lines lw {:.4g} dt 2 lc rgb '#000000' title '{}'", height, dots_, name);
  }

  [[nodiscard]] std::string axis_name(const std::string& name, const Unit& unit = {1, ""}) const {
    const std::string with_unit = *unit.name == '\0' ? name : fmt::format("{} ({})", name, unit.name);
    return fmt::format("set label {} at screen {:.6g},graph 0.5 center rotate {}\n",
                       gnuplot_string(with_unit), 7 / kWidth, font(kFont));
  }

  /// Below the panel's end, which is at `y`.
  [[nodiscard]] Mark x_axis_name(double y) const {
    const std::string name = axis_ == Axis::step ? "step" : fmt::format("time ({})", x_unit_.name);
    return text_at(name, (left_ + kWidth - kRight) / 2, y + 22, "center");
  }

  /// A range with marks at some four round numbers.
  static std::string y_axis(double from, double to) {
    const double rough = (to - from) / 4.5;
    const double power = std::pow(10.0, std::floor(std::log10(rough)));
    double step = 10 * power;
    for (const double factor : {5.0, 2.0, 1.0}) {
      if (factor * power >= rough) step = factor * power;
    }
    return fmt::format("set yrange [{:.8g}:{:.8g}]\nset ytics out nomirror scale 0.5 {:.8g}\n", from, to,
                       step);
  }

  // -- the page

  std::string place_all() const {
    std::string out = "set multiplot\n";
    for (const Panel& panel : panels_) {
      const Frame& frame = panel.frame;
      out += "\nunset label\nunset arrow\nset format x ''\nset ytics out nomirror scale 0.5 autofreq\n";
      out += fmt::format("set lmargin at screen {:.6g}\nset rmargin at screen {:.6g}\n", frame.left / kWidth,
                         1 - kRight / kWidth);
      out += fmt::format("set tmargin at screen {:.6g}\nset bmargin at screen {:.6g}\n", upward(frame.top),
                         upward(frame.top + frame.height));
      for (const Mark& mark : panel.marks)
        out += mark.before + fmt::format("{:.6g}", upward(mark.y)) + mark.after;
      out += panel.settings + "plot " + panel.plot + "\n";
    }
    return out;
  }

  [[nodiscard]] double upward(double y) const { return 1 - y / height_; }

  [[nodiscard]] std::string head(const std::string& output) const {
    std::string terminal;
    switch (format_) {
      case FigureFormat::svg:
        terminal = fmt::format("svg noenhanced size {},{:.0f} font 'Helvetica,{}' background '#ffffff'",
                               kWidth, height_, kFont);
        break;
      case FigureFormat::pdf:
        terminal = fmt::format("pdfcairo noenhanced size {}in,{:.4g}in font 'Helvetica,{:.4g}'", kWidth / 96,
                               height_ / 96, kFont * points_);
        break;
      case FigureFormat::png:
        terminal = fmt::format(
            "pngcairo noenhanced dashlength 0.6 size {:.0f},{:.0f} font 'Helvetica,{:.4g}' background "
            "'#ffffff'",
            kWidth * dots_, height_ * dots_, kFont * points_);
        break;
    }
    return fmt::format(
        "set encoding utf8\nset terminal {}\nset output {}\n"
        "unset key\nset tics out nomirror scale 0.5\nset border 3 lw {:.4g}\nset xrange [0:{:.8g}]\n"
        "set xtics offset character 0,0.4\n\n",
        terminal, gnuplot_string(output), 0.7 * dots_, x(scale_.length() > 0 ? scale_.length() : 1));
  }

  const Picture& picture_;
  const PlanFile& file_;
  const Instance& instance_;
  const Dataflow flow_;
  const History history_;
  const Axis axis_;
  const FigureFormat format_;
  const double dots_;    // per unit: a pdf counts in points, a png has 300 dots per inch
  const double points_;  // of a font, per unit
  const Scale scale_;
  const Unit x_unit_;
  const bool named_;  // ops at the axis
  double left_ = 40;
  double height_ = 0;
  std::vector<Mark> first_marks_;
  std::vector<Panel> panels_;
  std::string data_;
};

/// The same figure is to have the same bytes, and cairo writes the time into a pdf: here the beginning of
/// Unix time, in as many digits.
void set_date(std::string& pdf) {
  const std::string_view key = "/CreationDate (D:";
  const std::string_view date = "19700101000000";
  const std::size_t at = pdf.rfind(key);
  if (at == std::string::npos || at + key.size() + date.size() > pdf.size()) return;
  pdf.replace(at + key.size(), date.size(), date);
}

}  // namespace

std::string figure_script(const Picture& picture, Axis axis, FigureFormat format, const std::string& output) {
  return Figure(picture, axis, format).script(output);
}

bool is_figure(const std::filesystem::path& file) {
  const std::string extension = file.extension().string();
  return extension == ".svg" || extension == ".png" || extension == ".pdf" || extension == ".gp";
}

void write_figure(const Picture& picture, Axis axis, const std::filesystem::path& file) {
  ensure(is_figure(file), "a figure's name ends in .svg, .png, .pdf or .gp");
  const std::string extension = file.extension().string();
  if (extension == ".gp") {
    const std::string drawn = file.stem().string() + ".svg";
    write_file(file, "# For gnuplot. Terminal and output may be changed, the data follow.\n" +
                         figure_script(picture, axis, FigureFormat::svg, drawn));
    return;
  }
  const FigureFormat format = extension == ".svg"   ? FigureFormat::svg
                              : extension == ".png" ? FigureFormat::png
                                                    : FigureFormat::pdf;
  std::string bytes = run_gnuplot(figure_script(picture, axis, format, "figure"));
  if (format == FigureFormat::pdf) set_date(bytes);
  write_file(file, bytes);
}

}  // namespace poet
