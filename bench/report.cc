#include "bench/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "bench/statistics.h"
#include "poet/base/amounts.h"
#include "poet/report/table.h"

namespace poet::bench {
namespace {

using Cells = std::vector<std::string>;

constexpr int kWidth = 200;
constexpr std::size_t kMostSideBySide = 8;

std::string percent(const std::optional<double>& fraction, int digits = 3) {
  if (!fraction) return "-";
  if (std::isinf(*fraction)) return *fraction > 0 ? "inf" : "-inf";
  if (*fraction < 0) return fmt::format("-{}", format_percent(-*fraction, digits));
  return format_percent(*fraction, digits);
}

std::string mebibytes(std::int64_t bytes) {
  return fmt::format("{:.0f}", static_cast<double>(bytes) / 1048576);
}

std::vector<Table::Column> right_aligned(const Cells& left, const Cells& right) {
  std::vector<Table::Column> columns;
  for (const std::string& heading : left) columns.push_back({heading, Align::left});
  for (const std::string& heading : right) columns.push_back({heading, Align::right});
  return columns;
}

Cells configurations_in(const std::vector<Measurement>& results) {
  Cells names;
  for (const Measurement& m : results)
    if (std::find(names.begin(), names.end(), m.configuration) == names.end())
      names.push_back(m.configuration);
  return names;
}

std::vector<const Measurement*> of_configuration(const std::vector<Measurement>& results,
                                                 const std::string& configuration) {
  std::vector<const Measurement*> found;
  for (const Measurement& m : results)
    if (m.configuration == configuration) found.push_back(&m);
  return found;
}

// "to 1%"
std::string to_gap_heading(const Marks& marks) { return fmt::format("to {}", format_percent(marks.mark)); }

std::string one_configuration(const std::vector<const Measurement*>& results, const Marks& marks) {
  Table table(right_aligned({"set", "case"}, {"f", "ops", "status", "energy/J", "overhead", "gap", "e-gap",
                                              "first/s", "first+", "near/s", to_gap_heading(marks) + "/s",
                                              "proof/s", "wall/s", "over/s", "nodes", "MiB", "missed"}));
  Cells remarks;
  for (const Measurement* m : results) {
    table.add({m->set, m->name, fmt::format("{}", m->fraction), fmt::format("{}", m->ops), m->status,
               m->energy_joules ? fmt::format("{:.7g}", *m->energy_joules) : "-", percent(m->overhead),
               percent(m->gap), percent(m->energy_gap), seconds_text(m->seconds_to_first),
               percent(m->first_excess), seconds_text(m->seconds_to_near), seconds_text(m->seconds_to_gap),
               seconds_text(m->seconds_to_proof), seconds_text(m->wall_seconds),
               m->overrun_seconds > 0 ? seconds_text(m->overrun_seconds) : "-", fmt::format("{}", m->nodes),
               mebibytes(m->peak_memory_bytes), percent(m->missed)});
    if (!m->message.empty()) remarks.push_back(case_key(*m) + ": " + m->message);
  }
  std::string text = table.text(0, kWidth);
  for (const std::string& remark : remarks) text += "  " + remark + "\n";
  return text;
}

// "tight cbc" is followed by "without rounding", not by "tight cbc without rounding".
std::string short_name(const std::string& name, const std::string& first) {
  return name.rfind(first + " without", 0) == 0 ? name.substr(first.size() + 1) : name;
}

std::string side_by_side(const std::vector<Measurement>& results, const Cells& names, const Marks& marks) {
  Cells headings;
  for (const std::string& name : names) headings.push_back(short_name(name, names.front()));
  Table table(right_aligned({fmt::format("seconds {}", to_gap_heading(marks))}, headings));
  Cells done;
  for (const Measurement& first : results) {
    const std::string name = case_key(first);
    if (std::find(done.begin(), done.end(), name) != done.end()) continue;
    done.push_back(name);
    Cells cells = {name};
    for (const std::string& configuration : names) {
      std::string cell = " ";
      for (const Measurement& m : results) {
        if (m.configuration != configuration || case_key(m) != name) continue;
        cell = m.seconds_to_gap ? seconds_text(m.seconds_to_gap)
                                : fmt::format(">{}{}", m.time_limit_seconds, m.answered() ? "" : " none");
      }
      cells.push_back(cell);
    }
    table.add(cells);
  }
  return table.text(0, kWidth);
}

std::string summary(const std::vector<Measurement>& results, const Marks& marks) {
  Table table(right_aligned(
      {"set", "configuration"},
      {"cases", "answered", "proven", "infeasible", "broken", "median " + to_gap_heading(marks) + "/s",
       "mean " + to_gap_heading(marks) + "/s", "worst over/s", "MiB", "near in 2 s", "of small", "missed"}));
  for (const Summary& s : summaries(results))
    table.add({s.set, s.configuration, fmt::format("{}", s.cases), fmt::format("{}", s.answered),
               fmt::format("{}", s.proven), fmt::format("{}", s.infeasible), fmt::format("{}", s.broken),
               seconds_text(s.median_to_gap), seconds_text(s.mean_to_gap),
               seconds_text(s.worst_overrun_seconds), mebibytes(s.peak_memory_bytes),
               fmt::format("{}", s.near_soon), fmt::format("{} of {}", s.small_near_soon, s.small),
               fmt::format("{} of {}", s.missed, s.with_best_known)});
  return table.text(0, kWidth);
}

std::string against_first(const std::vector<Measurement>& results, const Cells& names, const Marks& marks) {
  Table table(
      right_aligned({"set", "configuration"}, {"cases", "time " + to_gap_heading(marks), "faster", "slower",
                                               "nodes", "energy lower", "higher", "answers won", "lost"}));
  const std::vector<const Measurement*> reference = of_configuration(results, names.front());
  for (std::size_t i = 1; i < names.size(); ++i)
    for (const Ratio& r : ratios(of_configuration(results, names[i]), reference))
      table.add({r.set, r.configuration, fmt::format("{}", r.cases), fmt::format("x {:.2f}", r.time),
                 fmt::format("{}", r.faster), fmt::format("{}", r.slower), fmt::format("x {:.2f}", r.nodes),
                 fmt::format("{}", r.lower), fmt::format("{}", r.higher), fmt::format("{}", r.answers_won),
                 fmt::format("{}", r.answers_lost)});
  return table.text(0, kWidth);
}

}  // namespace

std::string seconds_text(const std::optional<double>& seconds) {
  if (!seconds) return "-";
  return *seconds < 100 ? fmt::format("{:.2f}", *seconds) : fmt::format("{:.1f}", *seconds);
}

std::string progress_line(const Measurement& m) {
  std::string text = fmt::format("{} {}: {}", case_key(m), m.configuration, m.status);
  if (m.answered())
    text += fmt::format(", overhead {}, gap {}, first {} s", percent(m.overhead), percent(m.gap),
                        seconds_text(m.seconds_to_first));
  text += fmt::format(", {} s, {} MiB", seconds_text(m.wall_seconds), mebibytes(m.peak_memory_bytes));
  if (!m.message.empty()) text += ": " + m.message;
  return text;
}

std::string report(const std::vector<Measurement>& results, const Marks& marks) {
  if (results.empty()) return "nothing was solved\n";
  const Cells names = configurations_in(results);
  std::string text;
  for (const std::string& name : names)
    text += fmt::format("{}\n{}\n", name, one_configuration(of_configuration(results, name), marks));
  if (names.size() > 1 && names.size() <= kMostSideBySide) text += side_by_side(results, names, marks) + "\n";
  text += "summary\n" + summary(results, marks);
  if (names.size() > 1)
    text += fmt::format("\nagainst {}\n{}", names.front(), against_first(results, names, marks));
  text +=
      "\nfirst+: the first schedule's energy above the baseline next to the final one's; near: first "
      "schedule "
      "within 5% of the final overhead;\nof small: near in 2 s among graphs of at most 200 ops; mean: "
      "shifted "
      "geometric mean, shift 1 s, where the time limit stands for what was not reached;\nmissed: above the "
      "best known energy, in % of its overhead, and how many by more than 1%\n";
  return text;
}

}  // namespace poet::bench
