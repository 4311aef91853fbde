#include "poet/report/figure.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>
#include <vector>

#include "poet/base/amounts.h"
#include "poet/base/error.h"
#include "poet/graph/dataflow.h"
#include "poet/plan/allowance.h"
#include "poet/plan/names.h"
#include "poet/report/boxes.h"
#include "poet/report/gnuplot.h"
#include "poet/report/merged.h"
#include "poet/report/page.h"
#include "poet/report/palette.h"

namespace poet {
namespace {

constexpr std::size_t kNamed = 24;  // up to so many ops have their names at the axis
constexpr std::size_t kNamedParameters = 12;
constexpr std::size_t kOutlined = 3'000;    // allocations
constexpr std::size_t kMostPoints = 8'000;  // of a curve
constexpr double kGrain = 0.25;             // of boxes, in units of the page
constexpr double kCurveGrain = 0.1;         // finer, as brief drops of a curve count as long as its level
constexpr std::size_t kNameLength = 15;

constexpr const char* kResident = "#b4b4b4";
constexpr const char* kStored = "#f2cfe5";
constexpr const char* kLightBlue = "#8cc4e8";
constexpr const char* kLightOrange = "#f4c95d";
constexpr const char* kLightGreen = "#66c2a5";
constexpr const char* kWhite = "#ffffff";
constexpr const char* kBlack = "#000000";

constexpr std::array kTimes = {AxisUnit{1e-9, "ns"}, AxisUnit{1e-6, "us"}, AxisUnit{1e-3, "ms"},
                               AxisUnit{1, "s"},     AxisUnit{60, "min"},  AxisUnit{3600, "h"}};

/// Points of a curve, x and y in each line.
using Curve = std::vector<std::pair<double, double>>;

std::string rows_of(const Curve& curve, double grain) {
  std::string rows;
  for (const auto& [x, y] : curve.size() <= kMostPoints ? curve : merged(curve, grain))
    rows += fmt::format("{:.8g} {:.8g}\n", x, y);
  return rows;
}

class Figure {
 public:
  Figure(const Picture& picture, Axis axis, FigureFormat format)
      : picture_(picture),
        file_(picture.plan),
        instance_(file_.instance),
        flow_(dataflow(instance_.graph)),
        history_(history_of(picture)),
        axis_(axis),
        scale_(picture.trace, history_, axis),
        x_unit_(axis == Axis::step ? AxisUnit{1, ""} : unit_for(scale_.length(), kTimes)),
        named_(instance_.graph.ops.size() <= kNamed),
        page_(format, left()) {}

  std::string script(const std::string& output) {
    page_.title(title_lines());
    values_panel();
    parameters_panel();
    memory_panel();
    if (!file_.layout.allocations.empty() && history_.steps > 0) arena_panel();
    const std::string x_name = axis_ == Axis::step ? "step" : fmt::format("time ({})", x_unit_.name);
    return page_.script(output, x_name, 0, x(scale_.length() > 0 ? scale_.length() : 1));
  }

 private:
  /// Room for names or numbers beside the axes.
  [[nodiscard]] double left() const {
    std::size_t letters = 0;
    if (named_)
      for (const Op& op : instance_.graph.ops)
        letters = std::max(letters, std::min(op.name.size(), kNameLength));
    if (flow_.paged.size() <= kNamedParameters)
      for (const ValueId v : flow_.paged)
        letters = std::max(letters, std::min(instance_.graph.values[v].name.size(), kNameLength));
    const double numbers = instance_.graph.ops.size() < 1'000 ? 44 : 52;
    return std::max(numbers, 18 + 4 * static_cast<double>(letters));
  }

  // -- words

  std::vector<std::string> title_lines() const {
    const Report& report = picture_.report;
    const std::string subject =
        fmt::format("{} ({})", printable(subject_of(instance_), 60), to_string(file_.semantics));
    std::vector<std::string> lines;
    const std::string wrong = breach_of(picture_);
    if (!wrong.empty()) {
      lines.push_back(subject + ": INVALID");
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
    lines.push_back(fmt::format("RAM {} of {}, time {}{}", format_bytes(history_.peak),
                                format_bytes(file_.limits.ram_budget),
                                format_seconds(Seconds(history_.whole.end)), deadline));
    return lines;
  }

  // -- panels

  void values_panel() {
    const std::size_t ops = instance_.graph.ops.size();
    // Outlines keep what takes next to no time visible.
    std::array<Series, 6> series = {
        Series{"stored", kStored, kStored, 0},     Series{"in RAM", kResident, kResident, 0},
        Series{"computed", kBlue, kBlue, 0.9},     Series{"recomputed", kOrange, kOrange, 0.9},
        Series{"page-out", kPurple, kPurple, 0.9}, Series{"page-in", kGreen, kGreen, 0.9}};
    // With a thousand rows what happens has to be higher than its own row to be seen.
    const double least = 0.006 * static_cast<double>(ops);
    for (const LiveInterval& live : history_.live) {
      if (live.from == Action::load) continue;
      const auto [low, high] = row(live.value);
      const double missing = std::max(0.0, least / 3 - (high - low)) / 2;
      series[1].add(x(scale_.begin(live.begin)), x(scale_.begin(live.end)), low - missing, high + missing);
    }
    IdVector<ValueId, double> moved(instance_.graph.values.size(), -1);  // when last
    for (const Event& event : history_.events) {
      if (event.action == Action::wait || event.action == Action::load || event.action == Action::home)
        continue;
      const Trace::Interval place = visible(scale_.place(event));
      const bool computes = event.action == Action::compute || event.action == Action::recompute;
      auto [low, high] = computes ? op_row(event.op) : row(event.value);
      if (!computes) {
        double& since = moved[event.value];
        const Trace::Interval channel = scale_.place(event);
        if (event.action == Action::page_in && since >= 0 && since < channel.begin)
          series[0].add(x(since), x(channel.begin), low, high);
        since = channel.end;
      }
      const double missing = std::max(0.0, least - (high - low)) / 2;
      series[static_cast<std::size_t>(event.action) + 2].add(x(place.begin), x(place.end), low - missing,
                                                             high + missing);
    }
    next_panel(legend_of(series), 190);
    page_.set(fmt::format("set yrange [{}:-0.5]\n", static_cast<double>(ops) - 0.5));
    if (named_) {
      page_.set("unset ytics\n");
      for (const OpId op : ids<OpId>(ops)) {
        const std::string name = printable_name(name_of(instance_.graph, op), kNameLength);
        page_.set(fmt::format("set label {} at graph -0.02,first {} right {}\n", gnuplot_string(name),
                              op.index, page_.font(Page::kSmallFont)));
      }
    } else {
      page_.y_name("op that computes the value");
    }
    plot(series, "values", static_cast<double>(ops));
  }

  /// Persistent values that live on storage, in the order in which they are loaded first.
  void parameters_panel() {
    if (flow_.paged.empty()) return;
    std::array<Series, 3> series = {Series{"parameter in RAM", kLavender, kLavender, 0},
                                    Series{"load", kOlive, kOlive, 0.9},
                                    Series{"to home", kBrown, kBrown, 0.9}};
    IdVector<ValueId, int> rank(instance_.graph.values.size(), -1);
    std::vector<ValueId> rows;
    for (const LiveInterval& live : history_.live) {
      if (live.from != Action::load || rank[live.value] >= 0) continue;
      rank[live.value] = static_cast<int>(rows.size());
      rows.push_back(live.value);
    }
    const double least = 0.012 * static_cast<double>(rows.size());
    const auto add = [&](Series& to, ValueId v, double begin, double end, double part) {
      const double half = std::max(0.42, part * least / 2);
      to.add(x(begin), x(end), rank[v] - half, rank[v] + half);
    };
    for (const LiveInterval& live : history_.live)
      if (live.from == Action::load)
        add(series[0], live.value, scale_.begin(live.begin), scale_.begin(live.end), 1.0 / 3);
    for (const Event& event : history_.events) {
      if (event.action != Action::load && event.action != Action::home) continue;
      const Trace::Interval place = visible(scale_.place(event));
      add(series[event.action == Action::load ? 1 : 2], event.value, place.begin, place.end, 1);
    }
    next_panel(legend_of(series), 82);
    page_.set(fmt::format("set yrange [{}:-0.5]\n", std::max(1.0, static_cast<double>(rows.size())) - 0.5));
    if (rows.size() <= kNamedParameters) {
      page_.set("unset ytics\n");
      for (std::size_t i = 0; i < rows.size(); ++i) {
        const std::string name = printable_name(name_of(instance_.graph, rows[i]), kNameLength);
        page_.set(fmt::format("set label {} at graph -0.02,first {} right {}\n", gnuplot_string(name), i,
                              page_.font(Page::kSmallFont)));
      }
    } else {
      page_.y_name("parameter");
    }
    plot(series, "parameters", static_cast<double>(rows.size()));
  }

  struct MemoryAxis {
    double budget = 0, persistent = 0;
    double base = 0, top = 0;  // of the axis
    bool far = false;          // the budget is far above it
    bool is_cut = false;       // it begins above 0
    AxisUnit unit;
  };

  [[nodiscard]] MemoryAxis memory_axis(double peak) const {
    MemoryAxis axis;
    axis.budget = static_cast<double>(file_.limits.ram_budget.value());
    axis.persistent = static_cast<double>(instance_.costs.persistent.value());
    // A budget far above what is used would press everything else to the ground.
    axis.far = axis.budget > 3 * peak;
    const double highest = axis.far ? peak : std::max(peak, axis.budget);
    // Where most of RAM never changes, the axis begins a little below that.
    axis.is_cut = axis.persistent > highest / 2 && axis.persistent < 0.999 * highest;
    axis.base = axis.is_cut ? std::max(0.0, axis.persistent - 0.15 * (highest - axis.persistent)) : 0;
    axis.top = highest + 0.06 * (highest - axis.base);
    axis.unit = byte_unit_for(axis.top);
    return axis;
  }

  [[nodiscard]] std::string ram_rows(const MemoryAxis& axis) const {
    Curve curve;
    const auto add = [&](double where, Bytes ram) {
      curve.emplace_back(where, static_cast<double>(ram.value()) / axis.unit.size);
    };
    for (std::size_t step = 0; step < history_.steps; ++step) {
      add(x(scale_.begin(step)), picture_.trace.ram[step]);
      add(x(scale_.end(step)), picture_.trace.ram[step]);
    }
    if (history_.steps > 0) add(x(scale_.length()), picture_.trace.ram[history_.steps - 1]);
    return rows_of(curve, kCurveGrain * x_unit());
  }

  /// Parameters from storage, on top of what is resident.
  [[nodiscard]] std::string loaded_rows(const MemoryAxis& axis) const {
    Curve curve;
    for (std::size_t step = 0; step < history_.steps && !flow_.paged.empty(); ++step) {
      const Bytes height = instance_.costs.persistent + history_.loaded[step];
      for (const double where : {scale_.begin(step), scale_.end(step)})
        curve.emplace_back(x(where), static_cast<double>(height.value()) / axis.unit.size);
    }
    return rows_of(curve, kCurveGrain * x_unit());
  }

  /// Outlines of the steps over the budget.
  [[nodiscard]] std::string excess_rows(const MemoryAxis& axis) const {
    std::vector<Box> boxes;
    for (std::size_t step = 0; step < history_.steps; ++step) {
      const double height = static_cast<double>(picture_.trace.ram[step].value());
      const double bottom = std::max(axis.budget, axis.base);
      if (height <= bottom) continue;
      boxes.push_back(
          {x(scale_.begin(step)), x(scale_.end(step)), bottom / axis.unit.size, height / axis.unit.size});
    }
    std::string rows;
    for (const Box& box : few(std::move(boxes), grain((axis.top - axis.base) / axis.unit.size)))
      rows += fmt::format("{0:.8g} {2:.8g}\n{0:.8g} {3:.8g}\n{1:.8g} {3:.8g}\n{1:.8g} {2:.8g}\n\n", box.x0,
                          box.x1, box.y0, box.y1);
    return rows;
  }

  [[nodiscard]] std::vector<LegendEntry> memory_legend(const MemoryAxis& axis, bool is_over,
                                                       bool has_loads) const {
    std::vector<LegendEntry> legend = {{kSky, "in RAM"}};
    if (is_over) legend.push_back({kVermilion, "over the budget"});
    if (has_loads) legend.push_back({kLavender, "parameters from storage"});
    if (axis.persistent > 0)
      legend.push_back({kGrey, std::string("persistent") + (axis.is_cut ? ", axis cut" : "")});
    legend.push_back(
        {kBlack, "budget " + format_bytes(file_.limits.ram_budget) + (axis.far ? ", far above" : ""), true});
    return legend;
  }

  void memory_panel() {
    const double peak = static_cast<double>(std::max(history_.peak, Bytes(1)).value());
    const MemoryAxis axis = memory_axis(peak);
    const double base = axis.base / axis.unit.size;
    const std::string ram = ram_rows(axis);
    const std::string loaded = loaded_rows(axis);
    next_panel(memory_legend(axis, peak > axis.budget, !loaded.empty()), 82);
    const std::string excess = excess_rows(axis);
    page_.y_range(base, axis.top / axis.unit.size);
    page_.y_name(fmt::format("RAM ({})", axis.unit.name));
    if (!ram.empty()) {
      page_.data("ram", ram);
      page_.plot(fmt::format("$ram using 1:2 with filledcurves y1={:.8g} fs solid lc rgb '{}' title 'in RAM'",
                             base, kSky));
      // Lines as well, for what takes next to no time.
      page_.plot(fmt::format("$ram using 1:2 with lines lw {:.4g} lc rgb '{}' notitle", page_.line_width(0.6),
                             kSky));
    }
    if (!loaded.empty()) {
      page_.data("loaded", loaded);
      page_.plot(
          fmt::format("$loaded using 1:2 with filledcurves y1={:.8g} fs solid lc rgb '{}' title 'parameters "
                      "from storage'",
                      base, kLavender));
    }
    if (!excess.empty()) {
      page_.data("over", excess);
      page_.plot(fmt::format(
          "$ram using 1:2 with filledcurves above y1={:.8g} fs solid lc rgb '{}' title 'over the budget'",
          axis.budget / axis.unit.size, kVermilion));
      page_.plot(fmt::format("$over using 1:2 with lines lw {:.4g} lc rgb '{}' notitle",
                             page_.line_width(0.9), kVermilion));
    }
    if (axis.persistent > 0) {
      page_.plot(fmt::format("{:.8g} with filledcurves y1={:.8g} fs solid lc rgb '{}' title 'persistent'",
                             axis.persistent / axis.unit.size, base, kGrey));
    }
    page_.level(axis.budget / axis.unit.size, "budget");
  }

  void arena_panel() {
    const Layout& layout = file_.layout;
    // Outlines part neighbours; of too many nothing else would be left.
    const double line = layout.allocations.size() <= kOutlined ? 0.2 : 0;
    std::array<Series, 5> series = {
        Series{"computed", kLightBlue, kWhite, line}, Series{"recomputed", kLightOrange, kWhite, line},
        Series{"page-in", kLightGreen, kWhite, line}, Series{"workspace", kYellow, kWhite, line},
        Series{"parameter", kLavender, kWhite, line}};
    double top = 1;
    for (const Allocation& allocation : layout.allocations) {
      top = std::max(top, static_cast<double>(allocation.offset + allocation.bytes.value()));
    }
    const double room = static_cast<double>(transient_budget(instance_.costs, file_.limits).value());
    const bool far = room > 3 * top;
    if (!far) top = std::max(top, room);
    top *= 1.06;
    const AxisUnit unit = byte_unit_for(top);
    for (const Allocation& allocation : layout.allocations) {
      const auto begin = static_cast<std::size_t>(std::max(allocation.begin, 0));
      if (begin >= history_.steps) continue;
      const std::size_t end = std::min(static_cast<std::size_t>(std::max(allocation.end, 0)), history_.steps);
      const bool is_scratch = !allocation.value.valid();
      const double low = static_cast<double>(allocation.offset) / unit.size;
      series[is_scratch ? 3 : origin(begin)].add(
          x(scale_.begin(begin)), x(is_scratch ? scale_.end(begin) : scale_.begin(end)), low,
          low + static_cast<double>(allocation.bytes.value()) / unit.size);
    }
    std::vector<LegendEntry> legend = legend_of(series);
    const bool has_base = instance_.costs.persistent > Bytes(0);
    if (!far) legend.push_back({kBlack, has_base ? "budget less persistent" : "budget", true});
    next_panel(legend, 100);
    page_.y_range(0, top / unit.size);
    page_.y_name(fmt::format("address ({})", unit.name));
    plot(series, "arena", top / unit.size);
    if (!far) page_.level(room / unit.size, "budget");
  }

  // -- pieces of panels

  void next_panel(const std::vector<LegendEntry>& legend, double height) {
    page_.panel(fmt::format("({})", letter_++).c_str(), legend, height);
  }

  /// Whether persistent values live on storage; the others are resident then.
  [[nodiscard]] bool paged() const { return !flow_.paged.empty(); }

  [[nodiscard]] double x(double place) const { return place / x_unit_.size; }

  /// `span`: of the panel's y axis.
  [[nodiscard]] Grain grain(double span) const {
    return {kGrain * x_unit(), 2 * kGrain * span / page_.height()};
  }

  /// A unit of the page on the x axis.
  [[nodiscard]] double x_unit() const { return x(scale_.length() > 0 ? scale_.length() : 1) / page_.width(); }

  /// At least a hair, and on the page.
  [[nodiscard]] Trace::Interval visible(Trace::Interval place) const {
    const double least = 0.0015 * scale_.length();
    if (place.end - place.begin >= least) return place;
    const double begin = std::min(place.begin, scale_.length() - least);
    return {begin, begin + least};
  }

  /// How what begins at this step got into RAM, as an index of the arena's series.
  [[nodiscard]] std::size_t origin(std::size_t step) const {
    const auto event =
        std::lower_bound(history_.events.begin(), history_.events.end(), step,
                         [](const Event& one, std::size_t number) { return one.step < number; });
    if (event == history_.events.end() || event->step != step) return 0;
    if (event->action == Action::load) return 4;
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
  static std::vector<LegendEntry> legend_of(const std::array<Series, N>& series) {
    std::vector<LegendEntry> legend;
    for (const Series& one : series) {
      if (!one.boxes.empty()) legend.push_back({one.colour, one.name});
    }
    return legend;
  }

  template <std::size_t N>
  void plot(const std::array<Series, N>& series, const std::string& panel, double span) {
    for (const Series& one : series) {
      if (one.boxes.empty()) continue;
      std::string block = panel + "_" + one.name;
      for (char& c : block)
        if (c == '-' || c == ' ') c = '_';
      plot_boxes(page_, block, one, grain(span));
    }
  }

  const Picture& picture_;
  const PlanFile& file_;
  const Instance& instance_;
  const Dataflow flow_;
  const History history_;
  const Axis axis_;
  const Scale scale_;
  const AxisUnit x_unit_;
  const bool named_;   // ops at the axis
  char letter_ = 'a';  // of the next panel
  Page page_;
};

}  // namespace

std::string figure_script(const Picture& picture, Axis axis, FigureFormat format, const std::string& output) {
  return Figure(picture, axis, format).script(output);
}

void write_figure(const Picture& picture, Axis axis, const std::filesystem::path& file) {
  write_drawing(file, [&](FigureFormat format, const std::string& output) {
    return figure_script(picture, axis, format, output);
  });
}

}  // namespace poet
