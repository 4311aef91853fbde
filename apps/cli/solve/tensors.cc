#include "apps/cli/solve/tensors.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "apps/shared/terminal.h"
#include "poet/base/amounts.h"
#include "poet/base/error.h"
#include "poet/graph/parts.h"
#include "poet/report/residences.h"
#include "poet/report/table.h"

namespace poet::cli {
namespace {

constexpr std::size_t kSuggested = 3;

/// From the first element to the one after the last; without numbers the whole axis.
struct Range {
  std::int64_t begin = 0;
  std::int64_t end = INT64_MAX;
};

struct Slice {
  std::string tensor;
  std::vector<Range> ranges;  // by axis; those left out are whole
};

std::optional<std::int64_t> whole_number(const std::string& text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

/// "w[64:128,:]" in its pieces; absent for what is no slice.
std::optional<Slice> slice_of(std::string name) {
  std::erase(name, ' ');
  const std::size_t open = name.rfind('[');
  if (open == std::string::npos || name.back() != ']') return std::nullopt;
  Slice slice{name.substr(0, open), {}};
  std::string rest = name.substr(open + 1, name.size() - open - 2) + ",";
  for (std::size_t at = rest.find(','); at != std::string::npos; at = rest.find(',')) {
    const std::string axis = rest.substr(0, at);
    rest.erase(0, at + 1);
    Range range;
    const std::size_t colon = axis.find(':');
    const std::string from = axis.substr(0, colon);
    const std::string to = colon == std::string::npos ? "" : axis.substr(colon + 1);
    if (!from.empty()) {
      const auto begin = whole_number(from);
      if (!begin) return std::nullopt;
      range = {*begin, colon == std::string::npos ? *begin + 1 : INT64_MAX};
    }
    if (!to.empty()) {
      const auto end = whole_number(to);
      if (!end) return std::nullopt;
      range.end = *end;
    }
    slice.ranges.push_back(range);
  }
  return slice;
}

bool meets(const Value& value, const Slice& slice) {
  if (tensor_name(value) != slice.tensor) return false;
  const Shape& whole = tensor_shape(value);
  if (slice.ranges.size() > whole.size()) return false;
  for (std::size_t axis = 0; axis < slice.ranges.size(); ++axis) {
    const Range& range = slice.ranges[axis];
    const std::int64_t begin = value.part ? value.part->begin[axis] : 0;
    const std::int64_t end = value.part ? begin + value.shape[axis] : whole[axis];
    if (range.begin >= std::min(end, range.end) || range.end <= begin) return false;
  }
  return true;
}

std::string joules_per_byte(double joules) { return format_joules(Joules(joules), 3) + "/B"; }

const PersistentResidence* of(const std::vector<PersistentResidence>& all, ValueId v) {
  const auto found = std::ranges::find(all, v, &PersistentResidence::value);
  return found == all.end() ? nullptr : &*found;
}

/// What transfers of a table's rows come to.
std::string rows_text(const Graph& graph, const std::vector<PersistentResidence>& all,
                      const std::string& name) {
  std::string text;
  for (const IndexedTable& table : indexed_tables(graph)) {
    if (table.name != name) continue;
    int loads = 0;
    Joules spent{};
    for (const ValueId v : table.values) {
      loads += of(all, v)->page_ins;
      spent += of(all, v)->spent;
    }
    text += fmt::format("; of a table of {}, which lives on storage and is never in RAM as a whole\n",
                        format_bytes(table.bytes));
    text += fmt::format(
        "  of its {} rows of {} a step reads{} the {} that {} names, each in a transfer of its "
        "own: {} in {}, for {} a step\n",
        format_count(table.rows), format_bytes(table.row), table.updated ? " and writes" : "",
        format_count(table.named), table.indices, counted(loads, "load"),
        counted(std::ssize(table.values), "part"), format_joules(spent, 3));
  }
  return text;
}

}  // namespace

std::vector<ValueId> values_named(const Graph& graph, const std::string& name) {
  std::set<ValueId> found;
  const auto add = [&](const auto& belongs) {
    for (const ValueId v : ids<ValueId>(graph.values.size()))
      if (belongs(graph.values[v])) found.insert(storage(graph, v));
  };
  add([&](const Value& value) {
    return value.name == name || tensor_name(value) == name || (value.rows && value.rows->table == name);
  });
  if (const std::optional<Slice> slice = slice_of(name); slice && found.empty())
    add([&](const Value& value) { return meets(value, *slice); });
  return {found.begin(), found.end()};
}

void check_names(const Graph& graph, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    if (!values_named(graph, name).empty()) continue;
    std::set<std::string> near;
    const std::string wanted = name.substr(0, name.find('['));
    for (const Value& value : graph.values)
      if (near.size() < kSuggested && !wanted.empty() && tensor_name(value).find(wanted) != std::string::npos)
        near.insert(value.name);
    throw InputError("TENSOR", fmt::format("the network has no tensor '{}'{}{}", name,
                                           near.empty() ? "" : "; it has ", fmt::join(near, ", ")));
  }
}

std::string residence_text(const Solved& solved, const std::string& name, const std::vector<ValueId>& values,
                           std::size_t rows) {
  const Graph& graph = solved.request.instance.graph;
  std::vector<ValueId> persistent;
  for (const ValueId v : values)
    if (is_persistent(graph.values[v].persistence)) persistent.push_back(v);
  if (persistent.empty()) return {};
  const std::vector<PersistentResidence> all = residences(solved.request.instance, solved.result.plan);
  Bytes bytes{}, paged_bytes{};
  Joules spent{};
  long paged = 0;
  for (const ValueId v : persistent) {
    bytes += graph.values[v].bytes;
    const PersistentResidence* one = of(all, v);
    if (one == nullptr || !one->paged) continue;
    ++paged;
    paged_bytes += graph.values[v].bytes;
    spent += one->spent;
  }
  const Value& first = graph.values[persistent.front()];
  const char* what = first.persistence == Persistence::parameter ? "parameter" : "optimiser state";
  std::string text = fmt::format("{}: {}, {}", name, what, format_bytes(bytes));
  if (persistent.size() > 1) text += fmt::format(" in {} parts", format_count(std::ssize(persistent)));
  if (first.rows) return text + rows_text(graph, all, first.rows->table);
  if (of(all, persistent.front()) == nullptr) {
    return text + (solved.workload.persistent_excluded         ? "; not counted (--persistent excluded)\n"
                   : solved.request.instance.costs.has_storage ? "; not counted\n"
                                                               : "; in RAM, as there is no storage\n");
  }
  if (!solved.workload.choose_paged)
    return text + "; in RAM from step to step (--persistent auto would choose)\n";
  if (paged == 0) {
    text += "; resident: in RAM from step to step\n";
  } else if (paged == std::ssize(persistent)) {
    text += fmt::format("; paged: it lives on storage, and its transfers cost {} a step\n",
                        format_joules(spent, 3));
  } else {
    text += fmt::format("; {} of them ({}) paged, at {} a step, the others resident\n", format_count(paged),
                        format_bytes(paged_bytes), format_joules(spent, 3));
  }
  Table table({{"value", Align::left},
               {"size", Align::right},
               {"lives", Align::left},
               {"loads", Align::right},
               {"spent", Align::right},
               {"per byte", Align::right},
               {"why", Align::left}});
  for (std::size_t i = 0; i < std::min(rows, persistent.size()); ++i) {
    const ValueId v = persistent[i];
    const PersistentResidence& one = *of(all, v);
    table.add({graph.values[v].name, format_bytes(graph.values[v].bytes), one.paged ? "on storage" : "in RAM",
               one.paged ? fmt::format("{}", one.page_ins) : "-",
               one.paged ? format_joules(one.spent, 3) : "-", joules_per_byte(one.joules_per_byte),
               one.reason});
  }
  text += terminal_table(table);
  if (persistent.size() > rows)
    text += fmt::format("... and {} more (--all shows every part)\n",
                        format_count(std::ssize(persistent) - static_cast<long>(rows)));
  return text;
}

nlohmann::ordered_json residence_json(const Solved& solved) {
  const Graph& graph = solved.request.instance.graph;
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const PersistentResidence& one : residences(solved.request.instance, solved.result.plan)) {
    const Value& value = graph.values[one.value];
    list.push_back({{"value", one.value.index},
                    {"name", value.name},
                    {"tensor", value.rows ? value.rows->table : tensor_name(value)},
                    {"bytes", value.bytes.value()},
                    {"paged", one.paged},
                    {"updated", one.updated},
                    {"page_ins", one.page_ins},
                    {"spent_joules", one.spent.value()},
                    {"joules_per_byte", one.joules_per_byte},
                    {"reason", one.reason}});
  }
  return list;
}

}  // namespace poet::cli
