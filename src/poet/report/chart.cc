#include "poet/report/chart.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <utility>

#include "poet/base/amounts.h"
#include "poet/plan/names.h"
#include "poet/report/table.h"

namespace poet {
namespace {

constexpr int kLines = 10;       // of the chart of RAM, at most
constexpr double kFarAbove = 3;  // times the peak

/// The columns that a stretch of the axis touches; one at least.
struct ColumnRange {
  std::size_t first;
  std::size_t last;  // inclusive
};

class Grid {
 public:
  Grid(const Scale& scale, int columns)
      : count_(static_cast<std::size_t>(columns)),
        per_column_(scale.length() > 0 ? scale.length() / columns : 1) {}

  [[nodiscard]] std::size_t count() const { return count_; }
  [[nodiscard]] double begin(std::size_t column) const { return static_cast<double>(column) * per_column_; }

  [[nodiscard]] ColumnRange of(double begin, double end) const {
    const std::size_t first = column(begin);
    // What ends exactly where a column begins is not in it.
    std::size_t last = column(end);
    if (last > first && end <= this->begin(last) * (1 + 1e-12)) --last;
    return {first, std::max(first, last)};
  }

  /// How much of the column it covers.
  [[nodiscard]] double overlap(std::size_t column, double begin, double end) const {
    return std::max(0.0, std::min(end, this->begin(column + 1)) - std::max(begin, this->begin(column)));
  }

 private:
  [[nodiscard]] std::size_t column(double place) const {
    const double number = std::floor(std::max(0.0, place / per_column_) + 1e-9);
    return std::min(count_ - 1, static_cast<std::size_t>(number));
  }

  std::size_t count_;
  double per_column_;
};

std::string right_aligned(const std::string& text, int width) {
  return fmt::format("{:>{}} ", text, width - 1);
}

void trim(std::string& line) { line.erase(line.find_last_not_of(' ') + 1); }

/// What a cell shows that is filled to `eighths`.
const char* block(int eighths, bool unicode) {
  static constexpr std::array kBlocks = {" ",      "\u2581", "\u2582", "\u2583", "\u2584",
                                         "\u2585", "\u2586", "\u2587", "\u2588"};
  if (!unicode) return eighths >= 4 ? "#" : eighths > 0 ? "." : " ";
  return kBlocks[static_cast<std::size_t>(eighths)];
}

class MemoryChart {
 public:
  MemoryChart(const Picture& picture, const History& history, const ChartOptions& options)
      : picture_(picture),
        history_(history),
        options_(options),
        scale_(picture.trace, history, options.axis),
        grid_(scale_, options.columns),
        persistent_(static_cast<double>(picture.plan.instance.costs.persistent.value())),
        budget_(static_cast<double>(picture.plan.limits.ram_budget.value())),
        peak_(static_cast<double>(std::max(history.peak, Bytes(1)).value())) {
    // Otherwise what never changes would take most of the lines.
    const double highest = budget_ > kFarAbove * peak_ ? peak_ : std::max(budget_, peak_);
    if (persistent_ > highest / 2 && persistent_ < budget_) base_ = persistent_;
    far_ = budget_ - base_ > kFarAbove * (peak_ - base_);
    const double top = std::max(1.0, (far_ ? peak_ : std::max(budget_, peak_)) - base_);
    // The budget lies between two lines; what is left of a line at the top stays empty.
    below_ = far_ ? 0 : static_cast<int>(std::floor(kLines * (budget_ - base_) / top));
    per_line_ = below_ > 0 ? (budget_ - base_) / below_ : top / kLines;
    lines_ = std::clamp(static_cast<int>(std::ceil(top / per_line_ - 1e-9)), 1, kLines);
  }

  std::string text() const {
    const std::vector<ColumnPeak> most = column_peaks();
    std::string out = heading();
    for (int line = lines_ - 1; line >= 0; --line) {
      if (line + 1 == below_) out += budget_line(most);
      out += memory_line(line, most);
    }
    if (below_ == 0 && !far_) out += budget_line(most);
    return out + axis() + peak_line();
  }

 private:
  struct ColumnPeak {
    double bytes = 0;
    double loaded = 0;  // of them persistent values from storage
  };

  [[nodiscard]] std::string heading() const {
    const std::string budget = format_bytes(picture_.plan.limits.ram_budget);
    const std::string persistent = format_bytes(picture_.plan.instance.costs.persistent);
    std::string text = fmt::format("{} values", block(8, options_.unicode));
    if (base_ > 0) {
      text += fmt::format(" above the {} that persist", persistent);
    } else if (persistent_ > 0) {
      text += fmt::format(", {} {} persistent", options_.unicode ? "\u2592" : "=", persistent);
    }
    if (has_loads()) text += fmt::format(", {} parameters from storage", options_.unicode ? "\u2591" : "%");
    text += far_ ? fmt::format("; the budget, {}, is far above", budget)
                 : fmt::format(", {} budget {}", options_.unicode ? "\u2500" : "-", budget);
    return fmt::format("{:<{}}{}\n", "RAM", options_.margin,
                       wrapped(text, options_.columns, options_.margin));
  }

  [[nodiscard]] bool has_loads() const {
    return std::any_of(history_.loaded.begin(), history_.loaded.end(),
                       [](Bytes bytes) { return bytes > Bytes(0); });
  }

  [[nodiscard]] ColumnPeak peak_at(std::size_t step) const {
    return {static_cast<double>(picture_.trace.ram[step].value()),
            static_cast<double>(history_.loaded[step].value())};
  }

  [[nodiscard]] std::vector<ColumnPeak> column_peaks() const {
    std::vector<ColumnPeak> most(grid_.count());
    for (std::size_t step = 0; step < history_.steps; ++step) {
      const ColumnRange columns = grid_.of(scale_.begin(step), scale_.end(step));
      for (std::size_t column = columns.first; column <= columns.last; ++column) {
        const ColumnPeak here = peak_at(step);
        if (here.bytes > most[column].bytes) most[column] = here;
      }
    }
    // Transfers may go on after the last step.
    const ColumnRange rest = grid_.of(scale_.end(history_.steps - 1), scale_.length());
    for (std::size_t column = rest.first + 1; column <= rest.last; ++column) {
      most[column] = peak_at(history_.steps - 1);
    }
    return most;
  }

  [[nodiscard]] std::string memory_line(int line, const std::vector<ColumnPeak>& most) const {
    // The budget's own line says how much that is.
    const bool labelled = line == lines_ - 1 && line + 1 != below_;
    std::string out = right_aligned(
        labelled ? format_bytes(Bytes(std::llround(base_ + per_line_ * (line + 1)))) : "", options_.margin);
    for (const auto& [bytes, loaded] : most) {
      const double filled = (bytes - base_) / per_line_ - line;
      if (base_ == 0 && persistent_ >= per_line_ * (line + 0.5) && filled >= 0.5) {
        out += options_.unicode ? "\u2592" : "=";
        continue;
      }
      if (loaded > 0 && persistent_ + loaded - base_ >= per_line_ * (line + 0.5) && filled >= 0.5) {
        out += options_.unicode ? "\u2591" : "%";
        continue;
      }
      // Never invisible.
      int eighths = static_cast<int>(std::clamp(std::round(8 * filled), 0.0, 8.0));
      if (filled > 0 && eighths == 0) eighths = 1;
      out += block(eighths, options_.unicode);
    }
    trim(out);
    return out + "\n";
  }

  /// What exceeds the budget goes through its line.
  [[nodiscard]] std::string budget_line(const std::vector<ColumnPeak>& most) const {
    std::string out = right_aligned(format_bytes(picture_.plan.limits.ram_budget), options_.margin);
    for (const auto& [bytes, loaded] : most) {
      out += bytes > budget_ ? (options_.unicode ? "\u2588" : "!") : (options_.unicode ? "\u2500" : "-");
    }
    return out + "\n";
  }

  /// "0" on the left, the length on the right.
  [[nodiscard]] std::string axis() const {
    const std::string length = options_.axis == Axis::step
                                   ? counted(static_cast<std::int64_t>(scale_.length()), "step")
                                   : format_seconds(Seconds(scale_.length()));
    std::string line;
    for (std::size_t i = 0; i < grid_.count(); ++i) line += options_.unicode ? "\u2594" : "'";
    return right_aligned(format_bytes(Bytes(std::llround(base_))), options_.margin) + line + "\n" +
           right_aligned("", options_.margin) + fmt::format("0{:>{}}\n", length, options_.columns - 1);
  }

  /// Where RAM is highest, below the axis.
  [[nodiscard]] std::string peak_line() const {
    const Step& step = picture_.plan.plan.steps[history_.peak_step];
    const Graph& graph = picture_.plan.instance.graph;
    const std::string what = step.kind == StepKind::compute   ? name_of(graph, step.op)
                             : step.kind == StepKind::page_in ? "page-in of " + name_of(graph, step.value)
                                                              : to_string(picture_.plan.instance, step);
    const std::string when = options_.axis == Axis::step
                                 ? fmt::format("step {}", history_.peak_step)
                                 : format_seconds(Seconds(scale_.begin(history_.peak_step)));
    const std::size_t longest = std::max<std::size_t>(grid_.count(), 46) - 34;
    const std::string note = fmt::format("peak {} at {}, {}", format_bytes(history_.peak),
                                         printable_name(what, longest, options_.unicode), when);
    const std::size_t column =
        grid_.of(scale_.begin(history_.peak_step), scale_.end(history_.peak_step)).first;
    const char* arrow = options_.unicode ? "\u25b2" : "^";
    // Names are ASCII nearly always; where not, the remark begins a little early.
    std::string line;
    if (column + 2 + note.size() <= grid_.count()) {
      line = std::string(column, ' ') + arrow + " " + note;
    } else {
      const std::size_t before = column >= note.size() + 1 ? column - note.size() - 1 : 0;
      if (column < note.size() + 1) {
        return right_aligned("", options_.margin) + std::string(column, ' ') + arrow + "\n" +
               right_aligned("", options_.margin) + wrapped(note, options_.columns, options_.margin) + "\n";
      }
      line = std::string(before, ' ') + note + " " + arrow;
    }
    return right_aligned("", options_.margin) + line + "\n";
  }

  const Picture& picture_;
  const History& history_;
  const ChartOptions& options_;
  const Scale scale_;
  const Grid grid_;
  const double persistent_;
  const double budget_;
  const double peak_;
  double base_ = 0;   // bytes at the bottom of the chart
  bool far_ = false;  // the budget is out of the chart
  int below_ = 0;     // lines below the budget
  int lines_ = 1;
  double per_line_ = 1;  // bytes
};

/// The letter with the largest share of each column.
class Lane {
 public:
  Lane(const Grid& grid, std::string letters)
      : grid_(grid), letters_(std::move(letters)), shares_(grid.count()) {
    for (std::vector<double>& column : shares_) column.resize(letters_.size(), 0);
  }

  void add(char letter, double begin, double end) {
    const std::size_t kind = letters_.find(letter);
    const ColumnRange columns = grid_.of(begin, end);
    for (std::size_t column = columns.first; column <= columns.last; ++column) {
      // However short: more than nothing.
      shares_[column][kind] += std::max(grid_.overlap(column, begin, end), 1e-30);
    }
  }

  [[nodiscard]] bool has(std::size_t column, char letter) const {
    return shares_[column][letters_.find(letter)] > 0;
  }

  [[nodiscard]] char most(std::size_t column, char nothing) const {
    const auto best = std::max_element(shares_[column].begin(), shares_[column].end());
    return *best > 0 ? letters_[static_cast<std::size_t>(best - shares_[column].begin())] : nothing;
  }

 private:
  const Grid& grid_;
  std::string letters_;
  std::vector<std::vector<double>> shares_;  // by column, then letter
};

constexpr std::array<std::pair<char, const char*>, 11> kLetters = {{{'F', "forward"},
                                                                    {'B', "backward"},
                                                                    {'U', "update"},
                                                                    {'R', "recomputed"},
                                                                    {'r', "partly recomputed"},
                                                                    {'w', "waiting for storage"},
                                                                    {'o', "page-out"},
                                                                    {'i', "page-in"},
                                                                    {'l', "load of parameters"},
                                                                    {'h', "parameters to home"},
                                                                    {'x', "both directions"}}};

char letter_of(const Event& event, const Graph& graph) {
  switch (event.action) {
    case Action::compute:
      return graph.ops[event.op].pass == Pass::forward    ? 'F'
             : graph.ops[event.op].pass == Pass::backward ? 'B'
                                                          : 'U';
    case Action::recompute:
      return 'R';
    case Action::wait:
      return 'w';
    case Action::page_out:
      return 'o';
    case Action::page_in:
      return 'i';
    case Action::home:
      return 'h';
    case Action::load:
      return 'l';
  }
  return '?';
}

}  // namespace

std::string memory_chart(const Picture& picture, const History& history, const ChartOptions& options) {
  return MemoryChart(picture, history, options).text();
}

std::string lanes(const Picture& picture, const History& history, const ChartOptions& options) {
  const Graph& graph = picture.plan.instance.graph;
  const Scale scale(picture.trace, history, options.axis);
  const Grid grid(scale, options.columns);
  Lane compute(grid, "RwFBU");
  Lane channel(grid, "oihl");
  bool transfers = false;
  for (const Event& event : history.events) {
    const Trace::Interval place = scale.place(event);
    const char letter = letter_of(event, graph);
    const bool moves = is_transfer(event.action);
    transfers = transfers || moves;
    (moves ? channel : compute).add(letter, place.begin, place.end);
  }
  std::string engine_lane;
  std::string channel_lane;
  for (std::size_t column = 0; column < grid.count(); ++column) {
    const char most = compute.most(column, ' ');
    engine_lane += most != 'R' && compute.has(column, 'R') ? 'r' : most;
    const bool both = (channel.has(column, 'o') || channel.has(column, 'h')) &&
                      (channel.has(column, 'i') || channel.has(column, 'l'));
    channel_lane += both ? 'x' : channel.most(column, '.');
  }
  trim(engine_lane);
  std::string out = fmt::format("{:<{}}{}\n", "Compute", options.margin, engine_lane);
  if (transfers) out += fmt::format("{:<{}}{}\n", "Storage", options.margin, channel_lane);
  const auto seen = [&](char letter) {
    return engine_lane.find(letter) != std::string::npos || channel_lane.find(letter) != std::string::npos;
  };
  std::vector<std::string> key;
  for (const auto& [letter, meaning] : kLetters) {
    if (seen(letter)) key.push_back(fmt::format("{} {}", letter, meaning));
  }
  return out + fmt::format("{:<{}}{}\n", "", options.margin,
                           wrapped(fmt::format("{}", fmt::join(key, ", ")), options.columns, options.margin));
}

}  // namespace poet
