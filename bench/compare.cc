#include "bench/compare.h"

#include <fmt/format.h>

#include <cmath>
#include <map>

#include "bench/report.h"
#include "bench/statistics.h"
#include "poet/base/amounts.h"
#include "poet/report/table.h"

namespace poet::bench {
namespace {

struct Pair {
  const Measurement* now;
  const Measurement* before;
};

constexpr double kSameDeadline = 1e-9;

// Whether both were asked the same. A solve that never got to know its budget counts as asked the same.
bool same_question(const Pair& pair) {
  const Measurement& now = *pair.now;
  const Measurement& before = *pair.before;
  if (!now.ram_budget_bytes || !before.ram_budget_bytes) return true;
  if (now.deadline_seconds.has_value() != before.deadline_seconds.has_value()) return false;
  const bool same_deadline =
      !now.deadline_seconds ||
      std::abs(*now.deadline_seconds - *before.deadline_seconds) <= kSameDeadline * *before.deadline_seconds;
  return now.ram_budget_bytes == before.ram_budget_bytes && same_deadline;
}

std::string change_text(double change) {
  if (std::isinf(change)) return change > 0 ? "+inf" : "-inf";
  return fmt::format("{}{}", change > 0 ? "+" : "-", format_percent(std::abs(change)));
}

std::string times_text(const std::vector<Pair>& pairs) {
  Table table({{"set"},
               {"configuration"},
               {"cases", Align::right},
               {"time to gap, new / old", Align::right},
               {"faster", Align::right},
               {"slower", Align::right},
               {"energy lower", Align::right},
               {"higher", Align::right},
               {"answers won", Align::right},
               {"lost", Align::right}});
  std::vector<std::string> done;
  for (const Pair& one : pairs) {
    const std::string& configuration = one.now->configuration;
    bool seen = false;
    for (const std::string& name : done) seen |= name == configuration;
    if (seen) continue;
    done.push_back(configuration);
    std::vector<const Measurement*> of;
    std::vector<const Measurement*> to;
    for (const Pair& pair : pairs) {
      if (pair.now->configuration != configuration) continue;
      of.push_back(pair.now);
      to.push_back(pair.before);
    }
    for (const Ratio& r : ratios(of, to))
      table.add({r.set, r.configuration, fmt::format("{}", r.cases), fmt::format("x {:.2f}", r.time),
                 fmt::format("{}", r.faster), fmt::format("{}", r.slower), fmt::format("{}", r.lower),
                 fmt::format("{}", r.higher), fmt::format("{}", r.answers_won),
                 fmt::format("{}", r.answers_lost)});
  }
  return table.text(0, 200);
}

}  // namespace

Comparison compare(const std::vector<Measurement>& now, const std::vector<Measurement>& before,
                   double tolerance) {
  std::map<std::string, const Measurement*> old;
  for (const Measurement& m : before) old[key(m)] = &m;

  Comparison result;
  std::vector<Pair> pairs;
  int unmatched = 0;
  Table changes({{"changed"}, {"status"}, {"energy/J", Align::right}, {"of overhead", Align::right}, {""}});
  for (const Measurement& m : now) {
    const auto found = old.find(key(m));
    if (found == old.end()) {
      ++unmatched;
      continue;
    }
    const Pair pair{&m, found->second};
    if (!same_question(pair)) {
      changes.add({key(m), "", "", "", "not compared: another RAM budget or deadline"});
      continue;
    }
    pairs.push_back(pair);
    const Measurement& was = *found->second;
    std::string energy;
    std::string change;
    std::string verdict;
    if (m.answered() && was.answered()) {
      const double more = energy_change(m, was);
      if (more != 0) {
        energy = fmt::format("{:.9g} -> {:.9g}", *was.energy_joules, *m.energy_joules);
        change = change_text(more);
        verdict = more < 0 ? "better" : more > tolerance ? "WORSE" : "worse, within the tolerance";
      }
      result.worse += more > tolerance;
    } else if (was.answered()) {
      ++result.lost;
      verdict = "ANSWER LOST";
    } else if (m.answered()) {
      verdict = "answer won";
    }
    const bool other_status = m.status != was.status;
    if (other_status || !verdict.empty())
      changes.add({key(m), other_status ? was.status + " -> " + m.status : "", energy, change, verdict});
  }

  result.text = fmt::format("compared with the older run: {} of {} solves\n", pairs.size(), now.size());
  if (!pairs.empty()) result.text += times_text(pairs);
  if (!changes.empty()) result.text += "\n" + changes.text(0, 200);
  result.text += fmt::format(
      "\n{} worse by more than {} of the overhead, {} answers lost, {} solves not in the older run\n",
      result.worse, format_percent(tolerance), result.lost, unmatched);
  return result;
}

}  // namespace poet::bench
