#include "apps/cli/solve/moves_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "apps/shared/answer_line.h"
#include "poet/base/amounts.h"
#include "poet/graph/parts.h"
#include "poet/optimize/transfer_bound.h"
#include "poet/report/table.h"
#include "poet/split/indexed.h"

namespace poet::cli {
namespace {

constexpr std::size_t kNamed = 3;  // of the recomputed ops and the paged values; the rest is counted

std::string times(int count) {
  return count == 1 ? "once" : count == 2 ? "twice" : fmt::format("{} times", count);
}

/// "a, b, c and 9 more".
std::string first_few(const std::vector<std::string>& names) {
  const std::size_t shown = std::min(names.size(), kNamed);
  std::string text =
      fmt::format("{}", fmt::join(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(shown), ", "));
  if (names.size() > shown)
    text += fmt::format(" and {} more", format_count(std::ssize(names) - static_cast<std::int64_t>(shown)));
  return text;
}

/// Ops that run more than once, the costliest first; empty where there are none.
std::string recomputed(const Solved& solved) {
  if (solved.result.report.recomputations == 0) return {};
  const Instance& instance = solved.request.instance;
  struct Repeated {
    OpId op;
    int count;
    Joules energy;
  };
  std::vector<int> counts(instance.graph.ops.size(), -1);  // computed once is not recomputed
  for (const Step& step : solved.result.plan.steps)
    if (step.kind == StepKind::compute) ++counts[static_cast<std::size_t>(step.op.index)];
  std::vector<Repeated> repeated;
  Joules total{};
  for (OpId op : ids<OpId>(instance.graph.ops.size())) {
    const int count = counts[static_cast<std::size_t>(op.index)];
    if (count <= 0) continue;
    repeated.push_back({op, count, count * instance.costs.ops[op].energy});
    total += repeated.back().energy;
  }
  std::stable_sort(repeated.begin(), repeated.end(),
                   [](const Repeated& a, const Repeated& b) { return a.energy > b.energy; });
  std::vector<std::string> names;
  names.reserve(repeated.size());
  for (const Repeated& item : repeated) {
    names.push_back(fmt::format("{} ({}{})", instance.graph.ops[item.op].name,
                                item.count > 1 ? times(item.count) + ", " : "",
                                format_joules(item.energy, 3)));
  }
  return fmt::format("{} for {}: {}", counted(std::ssize(repeated), "op"), format_joules(total),
                     first_few(names));
}

/// Of parameters and optimiser state on storage, or of what ops make; empty where nothing moves.
std::string paged(const Solved& solved, bool persistent) {
  const Instance& instance = solved.request.instance;
  std::vector<ValueId> moved;
  int ins = 0, outs = 0;
  Bytes written{};
  for (const Step& step : solved.result.plan.steps) {
    if (step.kind != StepKind::page_in && step.kind != StepKind::page_out) continue;
    if (is_persistent(instance.graph.values[step.value].persistence) != persistent) continue;
    moved.push_back(step.value);
    ++(step.kind == StepKind::page_in ? ins : outs);
    if (step.kind == StepKind::page_out) written += instance.costs.values[step.value].bytes;
  }
  if (moved.empty()) return {};
  std::sort(moved.begin(), moved.end());
  moved.erase(std::unique(moved.begin(), moved.end()), moved.end());
  const auto bytes = [&](ValueId v) { return instance.costs.values[v].bytes; };
  std::stable_sort(moved.begin(), moved.end(), [&](ValueId a, ValueId b) { return bytes(a) > bytes(b); });
  std::vector<std::string> names;
  names.reserve(moved.size());
  for (const ValueId v : moved)
    names.push_back(fmt::format("{} ({})", instance.graph.values[v].name, format_bytes(bytes(v))));
  return fmt::format("{} ({} out, {} in), {} written: {}", counted(std::ssize(moved), "value"),
                     format_count(outs), format_count(ins), format_bytes(written), first_few(names));
}

/// Of which a step transfers rows; empty where there are none.
std::string tables(const Solved& solved) {
  std::vector<std::string> texts;
  for (const IndexedTable& table : indexed_tables(solved.request.instance.graph))
    texts.push_back(fmt::format("{} ({}), of {} rows the {} that {} names", table.name,
                                format_bytes(table.bytes), format_count(table.rows),
                                format_count(table.named), table.indices));
  return texts.empty() ? std::string() : fmt::format("transferred by index: {}", fmt::join(texts, "; "));
}

/// All transfers of a step, and what no plan can do without; empty without any.
std::string storage_traffic(const Solved& solved) {
  const Report& report = solved.result.report;
  if (report.page_ins + report.page_outs == 0) return {};
  std::string out = fmt::format("{} read, {} written per step", format_bytes(report.bytes_read),
                                format_bytes(report.bytes_written));
  if (!solved.workload.choose_paged) return out;
  const TransferBound least = least_transfers(solved.request.instance, solved.request.limits.ram_budget);
  if (least.both > Bytes(0))
    out += fmt::format("; parameters and optimiser state alone have to move {} in this RAM{}",
                       format_bytes(least.both), solved.workload.cut.part ? " and these parts" : "");
  return out;
}

}  // namespace

std::string moves_text(const Solved& solved) {
  std::string out;
  const auto add = [&out](const char* label, const std::string& text) {
    if (!text.empty()) out += answer_line(label, text);
  };
  add("Recomputed", recomputed(solved));
  add("Paged", paged(solved, false));
  add("Parameters", paged(solved, true));
  add("Tables", tables(solved));
  add("Storage", storage_traffic(solved));
  return out;
}

}  // namespace poet::cli
