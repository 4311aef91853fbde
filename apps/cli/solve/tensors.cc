#include "apps/cli/solve/tensors.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "poet/base/amounts.h"
#include "poet/base/error.h"
#include "poet/graph/dataflow.h"
#include "poet/graph/parts.h"
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

/// What a plan does with a persistent value that could live on storage.
struct Residence {
  bool paged = false;
  bool updated = false;
  int loads = 0;
  Joules spent{};       // on its transfers
  double per_byte = 0;  // joules: of its transfers, or what one load and the way home would cost
};

class Residences {
 public:
  explicit Residences(const Solved& solved)
      : instance_(solved.request.instance), all_(pageable(instance_)), of_(instance_.graph.values.size()) {
    const Instance all_paged = with_paged(instance_, all_);
    for (const std::vector<ValueId>& changes : dataflow(all_paged.graph).changes)
      for (const ValueId v : changes) of_[v].updated = true;
    for (const ValueId v : solved.result.paged) of_[v].paged = true;
    for (const Step& step : solved.result.plan.steps)
      if (step.kind == StepKind::page_in) ++of_[step.value].loads;
    double paged_joules = 0;
    double paged_bytes = 0;
    for (const ValueId v : all_) {
      Residence& one = of_[v];
      const ValueCost& cost = instance_.costs.values[v];
      const Joules home = one.updated ? cost.page_out.energy : Joules(0);
      const auto bytes = static_cast<double>(instance_.graph.values[v].bytes.value());
      if (one.paged) one.spent = one.loads * cost.page_in.energy + home;
      one.per_byte = (one.paged ? one.spent : cost.page_in.energy + home).value() / std::max(1.0, bytes);
      ++(one.paged ? paged_ : resident_);
      if (one.paged) {
        paged_joules += one.spent.value();
        paged_bytes += bytes;
      } else {
        resident_least_ = std::min(resident_least_, one.per_byte);
      }
    }
    mean_ = paged_bytes > 0 ? paged_joules / paged_bytes : 0;
  }

  [[nodiscard]] const std::vector<ValueId>& all() const { return all_; }
  [[nodiscard]] const Residence& of(ValueId v) const { return of_[v]; }

  [[nodiscard]] std::string why(ValueId v) const {
    const Residence& one = of_[v];
    if (!one.paged && paged_ == 0) return "all of them have room";
    if (!one.paged) {
      const double times = mean_ > 0 ? one.per_byte / mean_ : 0;
      if (times > 1.05)
        return fmt::format("per byte its transfers would cost {}x as much as those of what lives on storage",
                           format_number(times, 2));
      return "it has room beside what the ops need";
    }
    if (resident_ == 0) return "in RAM it would take room from what the ops need";
    if (one.per_byte < resident_least_) return "costs less per byte than what stays in RAM would";
    return "no room beside what stays in RAM and what the ops need";
  }

 private:
  const Instance& instance_;
  const std::vector<ValueId> all_;
  IdVector<ValueId, Residence> of_;
  int paged_ = 0, resident_ = 0;
  double mean_ = 0;                // joules per byte of what lives on storage
  double resident_least_ = 1e300;  // per byte of what stays
};

std::string joules_per_byte(double joules) { return format_joules(Joules(joules), 3) + "/B"; }

/// How often they are loaded, and the energy of that and of the way home.
std::pair<int, Joules> transfers_of(const Solved& solved, const std::vector<ValueId>& values) {
  int loads = 0;
  Joules spent{};
  for (const Step& step : solved.result.plan.steps) {
    if (step.kind != StepKind::page_in && step.kind != StepKind::page_out) continue;
    if (std::find(values.begin(), values.end(), step.value) == values.end()) continue;
    const ValueCost& cost = solved.request.instance.costs.values[step.value];
    loads += step.kind == StepKind::page_in ? 1 : 0;
    spent += step.kind == StepKind::page_in ? cost.page_in.energy : cost.page_out.energy;
  }
  return {loads, spent};
}

/// What transfers of a table's rows come to.
std::string rows_text(const Solved& solved, const std::string& name) {
  const Instance& instance = solved.request.instance;
  std::string text;
  for (const IndexedTable& table : indexed_tables(instance.graph)) {
    if (table.name != name) continue;
    const auto [loads, spent] = transfers_of(solved, table.values);
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
  const Residences residences(solved);
  const std::vector<ValueId>& all = residences.all();
  Bytes bytes{}, paged_bytes{};
  Joules spent{};
  long paged = 0;
  for (const ValueId v : persistent) {
    bytes += graph.values[v].bytes;
    if (!residences.of(v).paged) continue;
    ++paged;
    paged_bytes += graph.values[v].bytes;
    spent += residences.of(v).spent;
  }
  const Value& first = graph.values[persistent.front()];
  const char* what = first.persistence == Persistence::parameter ? "parameter" : "optimiser state";
  std::string text = fmt::format("{}: {}, {}", name, what, format_bytes(bytes));
  if (persistent.size() > 1) text += fmt::format(" in {} parts", format_count(std::ssize(persistent)));
  if (first.rows) return text + rows_text(solved, first.rows->table);
  const bool counted_here = std::binary_search(all.begin(), all.end(), persistent.front());
  if (!counted_here) {
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
    const Residence& one = residences.of(v);
    table.add({graph.values[v].name, format_bytes(graph.values[v].bytes), one.paged ? "on storage" : "in RAM",
               one.paged ? fmt::format("{}", one.loads) : "-", one.paged ? format_joules(one.spent, 3) : "-",
               joules_per_byte(one.per_byte), residences.why(v)});
  }
  text += table.text();
  if (persistent.size() > rows)
    text += fmt::format("... and {} more (--all shows every part)\n",
                        format_count(std::ssize(persistent) - static_cast<long>(rows)));
  return text;
}

nlohmann::ordered_json residence_json(const Solved& solved) {
  const Graph& graph = solved.request.instance.graph;
  const Residences residences(solved);
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const ValueId v : residences.all()) {
    const Residence& one = residences.of(v);
    list.push_back({{"value", v.index},
                    {"name", graph.values[v].name},
                    {"tensor", tensor_name(graph.values[v])},
                    {"bytes", graph.values[v].bytes.value()},
                    {"paged", one.paged},
                    {"updated", one.updated},
                    {"page_ins", one.loads},
                    {"spent_joules", one.spent.value()},
                    {"joules_per_byte", one.per_byte},
                    {"reason", residences.why(v)}});
  }
  for (const IndexedTable& table : indexed_tables(graph)) {
    for (const ValueId v : table.values) {
      const auto [loads, spent] = transfers_of(solved, {v});
      const auto bytes = static_cast<double>(graph.values[v].bytes.value());
      list.push_back({{"value", v.index},
                      {"name", graph.values[v].name},
                      {"tensor", table.name},
                      {"bytes", graph.values[v].bytes.value()},
                      {"paged", true},
                      {"updated", table.updated},
                      {"page_ins", loads},
                      {"spent_joules", spent.value()},
                      {"joules_per_byte", spent.value() / std::max(1.0, bytes)},
                      {"reason", "rows of a table that is transferred by index"}});
    }
  }
  return list;
}

}  // namespace poet::cli
