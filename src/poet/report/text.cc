#include "poet/report/text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "poet/base/amounts.h"
#include "poet/graph/dataflow.h"
#include "poet/graph/parts.h"
#include "poet/graph/precision.h"
#include "poet/plan/names.h"
#include "poet/report/chart.h"
#include "poet/report/size_text.h"
#include "poet/report/table.h"

namespace poet {
namespace {

constexpr int kIndent = 14;
constexpr int kNarrowest = 40;
constexpr int kNarrow = 60;
constexpr std::size_t kListed = 20;     // deviations, unless all are asked for
constexpr std::size_t kOfEachKind = 5;  // of them, at least

std::string times(Semantics semantics, std::size_t steps) {
  switch (semantics) {
    case Semantics::published:
      return fmt::format("published: a page-in takes no time and no RAM before it is needed; {} steps",
                         format_count(static_cast<std::int64_t>(steps)));
    case Semantics::staged:
      return fmt::format(
          "staged: a transfer takes no time, and its bytes are in RAM during its whole stage; {} steps",
          format_count(static_cast<std::int64_t>(steps)));
    case Semantics::device:
      break;
  }
  return fmt::format("device: transfers take time and RAM; {} steps",
                     format_count(static_cast<std::int64_t>(steps)));
}

class Text {
 public:
  Text(const Picture& picture, const TextOptions& options)
      : picture_(picture),
        file_(picture.plan),
        instance_(file_.instance),
        report_(picture.report),
        history_(history_of(picture)),
        width_(std::max(options.width, kNarrowest)),
        options_(options) {}

  std::string text() {
    head();
    verdict();
    if (history_.steps > 0 && history_.steps == file_.plan.steps.size()) figures();
    if (history_.steps > 0) {
      out_ += "\n";
      charts();
      out_ += "\n";
      deviations();
    }
    return std::move(out_);
  }

 private:
  void add(const std::string& label, const std::string& text) {
    out_ += fmt::format("{:<{}}{}\n", label, kIndent, wrapped(text, width_ - kIndent, kIndent));
  }

  void head() {
    add("Plan", fmt::format("{}, {}, batch {}", printable(subject_of(instance_), 60),
                            size_text(instance_.graph), instance_.batch_size));
    if (!picture_.title.empty())
      add("From", printable(picture_.title, static_cast<std::size_t>(width_ - kIndent)));
    add("Rules", times(file_.semantics, file_.plan.steps.size()));
    if (precision_of(file_.instance.graph) == Precision::bfloat16_mixed)
      add("Precision", "mixed: activations are stored as bfloat16");
  }

  void verdict() {
    const std::string wrong = breach_of(picture_);
    if (wrong.empty()) {
      add("Verdict", "valid: every rule holds");
      return;
    }
    std::string limits = format_bytes(file_.limits.ram_budget) + " of RAM";
    if (file_.limits.deadline) limits += ", " + format_seconds(*file_.limits.deadline);
    if (file_.limits.max_bytes_written)
      limits += ", " + format_bytes(*file_.limits.max_bytes_written) + " written";
    if (!report_.valid) add("Limits", limits);
    add("Verdict", "INVALID: " + printable(wrong, 500));
    const std::size_t steps = file_.plan.steps.size();
    if (history_.steps < steps) {
      add("", fmt::format("what follows ends there, after {} of {} steps", history_.steps, steps));
    }
  }

  void figures() {
    energy();
    std::string time = format_seconds(report_.runtime);
    if (file_.limits.deadline) {
      time += fmt::format(" of {} allowed ({})", format_seconds(*file_.limits.deadline),
                          format_percent(report_.runtime / *file_.limits.deadline));
    } else {
      time += ", no deadline";
    }
    if (report_.runtime > Seconds(0)) {
      time += fmt::format("; computing {}", format_percent(history_.computing / report_.runtime.value()));
      if (history_.transferring > 0)
        time +=
            fmt::format(", storage busy {}", format_percent(history_.transferring / report_.runtime.value()));
      if (report_.stalled > Seconds(0))
        time += fmt::format(", waiting for it {} ({})", format_percent(report_.stalled / report_.runtime),
                            format_seconds(report_.stalled, 3));
    }
    add("Time", time);

    const Bytes budget = file_.limits.ram_budget;
    std::string ram =
        fmt::format("peak {} of {} allowed", format_bytes(report_.peak_ram), format_bytes(budget));
    if (budget > Bytes(0)) ram += fmt::format(" ({})", format_percent(report_.peak_ram / budget));
    if (instance_.costs.persistent > Bytes(0))
      ram += fmt::format("; {} of it {}", format_bytes(instance_.costs.persistent),
                         instance_.costs.persistent_of);
    add("RAM", ram);
    parameters();
    tables();
    arena();
  }

  /// Those that live on storage.
  void parameters() {
    const std::vector<ValueId> paged = dataflow(instance_.graph).paged;
    if (paged.empty()) return;
    Bytes bytes{};
    for (const ValueId v : paged)
      if (stands_for_home(instance_.graph.values[v])) bytes += at_home(instance_.graph.values[v]).bytes;
    const Bytes most = *std::max_element(history_.loaded.begin(), history_.loaded.end());
    add("Parameters",
        fmt::format("{} of parameters and optimiser state live on storage ({}), at most {} in RAM at a time",
                    format_bytes(bytes), counted(std::ssize(paged), "value"), format_bytes(most)));
  }

  /// Of which rows are transferred by index.
  void tables() {
    std::vector<std::string> texts;
    for (const IndexedTable& table : indexed_tables(instance_.graph))
      texts.push_back(fmt::format("{} ({}), of {} rows the {} that {} names", table.name,
                                  format_bytes(table.bytes), format_count(table.rows),
                                  format_count(table.named), table.indices));
    if (!texts.empty()) add("Tables", fmt::format("transferred by index: {}", fmt::join(texts, "; ")));
  }

  void arena() {
    const Layout& layout = file_.layout;
    if (layout.allocations.empty() || !picture_.arena.valid) return;
    std::string text = fmt::format("{} for {}", format_bytes(picture_.arena.arena),
                                   counted(std::ssize(layout.allocations), "allocation"));
    if (layout.lower_bound > Bytes(0)) {
      text += picture_.arena.arena <= layout.lower_bound
                  ? ", none is smaller"
                  : fmt::format(", at most {} above the least",
                                format_percent(picture_.arena.arena / layout.lower_bound - 1));
    }
    add("Arena", text);
  }

  void energy() {
    const Joules least = replay_keep_all(instance_, file_.semantics).energy;
    std::string text = format_joules(report_.energy, 6);
    if (least > Joules(0)) {
      const double overhead = report_.energy / least - 1;
      text += std::abs(overhead) < 1e-12
                  ? ", as much as keeping everything"
                  : fmt::format(", {} {} the {} of keeping everything", format_percent(std::abs(overhead)),
                                overhead > 0 ? "over" : "under", format_joules(least, 6));
    }
    add("Energy", text);
    Joules again{}, load{}, home{};
    for (const Event& event : history_.events) {
      if (event.action == Action::recompute) again += event.energy;
      if (event.action == Action::load) load += event.energy;
      if (event.action == Action::home) home += event.energy;
    }
    const Joules once = report_.compute_energy - again;
    part("compute", once);
    part("recompute", again);
    part("page-in", report_.page_in_energy);
    part("  load", load);  // parts of the line above
    part("page-out", report_.page_out_energy);
    part("  to home", home);
    part("idle", report_.idle_energy);
  }

  /// A bar as long as its share.
  void part(const std::string& name, Joules joules) {
    if (joules <= Joules(0)) return;
    const double share = joules / report_.energy;
    const int indent = width_ < kNarrow ? 2 : kIndent;
    const int room = width_ - indent - 32;
    const int eighths = std::max(1, static_cast<int>(std::lround(8 * share * room)));
    std::string bar;
    if (options_.unicode) {
      for (int i = 0; i < eighths / 8; ++i) bar += "\u2588";
      // From one eighth, U+258F, to seven, U+2589.
      if (eighths % 8 > 0) bar += std::string("\xe2\x96") + static_cast<char>(0x90 - eighths % 8);
    } else {
      bar = std::string(static_cast<std::size_t>(std::max(1, eighths / 8)), '#');
    }
    out_ += fmt::format("{:<{}}{:<9} {:>10} {:>8}  {}\n", "", indent, name, format_joules(joules),
                        format_percent(share), bar);
  }

  void charts() {
    ChartOptions chart;
    chart.margin = kIndent;
    chart.columns = width_ - kIndent;
    chart.unicode = options_.unicode;
    chart.axis = options_.axis;
    out_ += memory_chart(picture_, history_, chart);
    out_ += lanes(picture_, history_, chart);
  }

  // -- what deviates

  /// Of one kind of events, or of two.
  [[nodiscard]] std::string count(std::initializer_list<Action> actions, const char* one,
                                  const char* many) const {
    int number = 0;
    Bytes bytes{};
    double seconds = 0;
    for (const Event& event : history_.events) {
      if (std::find(actions.begin(), actions.end(), event.action) == actions.end()) continue;
      ++number;
      bytes += event.bytes;
      seconds += event.interval.end - event.interval.begin;
    }
    if (number == 0) return {};
    std::string text = fmt::format("{} {}", format_count(number), number == 1 ? one : many);
    std::vector<std::string> sums;
    if (is_transfer(*actions.begin())) sums.push_back(format_bytes(bytes));
    if (seconds > 0) sums.push_back(format_seconds(Seconds(seconds), 3));
    return sums.empty() ? text : fmt::format("{} ({})", text, fmt::join(sums, ", "));
  }

  void deviations() {
    std::vector<std::string> counts;
    for (const std::string& text : {count({Action::recompute}, "recomputation", "recomputations"),
                                    count({Action::page_out, Action::home}, "page-out", "page-outs"),
                                    count({Action::home}, "of them of parameters or state, to home",
                                          "of them of parameters or state, to home"),
                                    count({Action::page_in, Action::load}, "page-in", "page-ins"),
                                    count({Action::load}, "of them a load of parameters or state",
                                          "of them loads of parameters or state"),
                                    count({Action::wait}, "wait for storage", "waits for storage")}) {
      if (!text.empty()) counts.push_back(text);
    }
    if (counts.empty()) {
      add("Deviations", history_.steps < file_.plan.steps.size()
                            ? "none so far from keeping everything"
                            : "none from keeping everything: each op runs once and nothing is moved");
      return;
    }
    add("Deviations", fmt::format("from keeping everything: {}", fmt::join(counts, ", ")));
    std::vector<std::size_t> shown;
    for (std::size_t i = 0; i < history_.events.size(); ++i) {
      if (history_.events[i].action != Action::compute) shown.push_back(i);
    }
    const std::size_t total = shown.size();
    const bool cut = !options_.all && total > kListed;
    if (cut) shown = weightiest(std::move(shown));
    std::sort(shown.begin(), shown.end(), [this](std::size_t a, std::size_t b) {
      const double first = history_.events[a].interval.begin;
      const double second = history_.events[b].interval.begin;
      return first != second ? first < second : a < b;
    });
    std::vector<Table::Column> columns = {{"at", Align::right}};
    if (!is_narrow()) columns.push_back({"step", Align::right});
    columns.insert(columns.end(), {{"what", Align::left}, {"takes", Align::right}});
    if (!is_narrow()) columns.push_back({"energy", Align::right});
    columns.insert(columns.end(), {{"bytes", Align::right}, {"of", Align::left}});
    std::vector<std::vector<std::string>> rows;
    std::size_t taken = 2;  // by all columns but the names
    for (const std::size_t i : shown) rows.push_back(row_of(history_.events[i]));
    for (std::size_t i = 0; i + 1 < columns.size(); ++i) {
      std::size_t widest = columns[i].heading.size();
      for (const std::vector<std::string>& row : rows) widest = std::max(widest, columns_of(row[i]));
      taken += widest + 2;
    }
    constexpr std::size_t kLeastOfName = 12;
    const auto width = static_cast<std::size_t>(width_);
    const std::size_t room = width > taken + kLeastOfName ? width - taken : kLeastOfName;
    Table table(std::move(columns));
    for (std::vector<std::string>& row : rows) {
      row.back() = printable_name(row.back(), room, options_.unicode);
      table.add(std::move(row));
    }
    out_ += '\n';
    out_ += table.fitted(width_, 2);
    if (cut) {
      const std::string note =
          fmt::format("... {} of {}, of each kind those that {} (`all` lists every one)", kListed,
                      format_count(static_cast<std::int64_t>(total)),
                      file_.semantics == Semantics::device ? "take longest" : "cost most");
      out_ += "  " + wrapped(note, width_ - 2, 2) + "\n";
    }
  }

  [[nodiscard]] bool is_narrow() const { return width_ < 80; }

  /// By time where transfers take any, else by energy: some of each kind, then whatever is next.
  [[nodiscard]] std::vector<std::size_t> weightiest(std::vector<std::size_t> events) const {
    const auto weight = [this](std::size_t i) {
      const Event& event = history_.events[i];
      return file_.semantics == Semantics::device ? event.interval.end - event.interval.begin
                                                  : event.energy.value();
    };
    std::stable_sort(events.begin(), events.end(),
                     [&](std::size_t a, std::size_t b) { return weight(a) > weight(b); });
    std::array<std::size_t, kActions> taken{};  // by kind
    std::stable_partition(events.begin(), events.end(), [&](std::size_t i) {
      return taken.at(static_cast<std::size_t>(history_.events[i].action))++ < kOfEachKind;
    });
    events.resize(kListed);
    return events;
  }

  [[nodiscard]] std::vector<std::string> row_of(const Event& event) const {
    static constexpr std::array kWhat = {"compute", "recompute", "page out", "page in",
                                         "wait",    "to home",   "load"};
    const double seconds = event.interval.end - event.interval.begin;
    const std::string name =
        event.op.valid() ? name_of(instance_.graph, event.op) : name_of(instance_.graph, event.value);
    std::vector<std::string> cells = {event.interval.begin > 0 ? format_seconds(Seconds(event.interval.begin))
                                                               : "0 s"};
    if (!is_narrow()) cells.push_back(fmt::format("{}", event.step));
    cells.emplace_back(kWhat.at(static_cast<std::size_t>(event.action)));
    cells.push_back(seconds > 0 ? format_seconds(Seconds(seconds), 3) : "-");
    if (!is_narrow()) cells.push_back(event.energy > Joules(0) ? format_joules(event.energy, 3) : "-");
    cells.push_back(event.action == Action::wait ? "-" : format_bytes(event.bytes));
    cells.push_back(name);
    return cells;
  }

  const Picture& picture_;
  const PlanFile& file_;
  const Instance& instance_;
  const Report& report_;
  const History history_;
  const int width_;
  const TextOptions& options_;
  std::string out_;
};

}  // namespace

std::string picture_text(const Picture& picture, const TextOptions& options) {
  return Text(picture, options).text();
}

}  // namespace poet
