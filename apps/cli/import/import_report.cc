#include "apps/cli/import/import_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "apps/shared/terminal.h"
#include "poet/autodiff/differentiate.h"
#include "poet/base/amounts.h"
#include "poet/cost/tabulate.h"
#include "poet/graph/dataflow.h"
#include "poet/report/table.h"

namespace poet::cli {
namespace {

using Json = nlohmann::ordered_json;

void add(Sum& to, const Sum& more) {
  to.ops += more.ops;
  to.parameters += more.parameters;
  to.flops += more.flops;
  to.written += more.written;
  to.saved += more.saved;
}

Json sum_json(const Sum& sum) {
  Json json = Json::object();
  json["ops"] = sum.ops;
  json["parameters"] = sum.parameters;
  json["forward_flops"] = sum.flops.value();
  json["written_bytes"] = sum.written.value();
  json["saved_for_backward_bytes"] = sum.saved.value();
  return json;
}

/// Shapes of tensors that an op reads or writes: the activations, or the weights and statistics.
std::vector<Shape> shapes(const Graph& graph, const std::vector<ValueId>& values, bool persistent) {
  std::vector<Shape> out;
  for (const ValueId v : values) {
    if (is_persistent(graph.values[storage(graph, v)].persistence) == persistent)
      out.push_back(graph.values[v].shape);
  }
  return out;
}

std::string shapes_text(const std::vector<Shape>& shapes) {
  std::vector<std::string> texts;
  for (const Shape& shape : shapes)
    texts.push_back(shape.empty() ? "1" : fmt::format("{}", fmt::join(shape, "x")));
  return texts.empty() ? "-" : fmt::format("{}", fmt::join(texts, " "));
}

Json op_json(const Graph& forward, const OpRow& row) {
  const Op& op = forward.ops[row.op];
  Json json = Json::object();
  json["name"] = op.name;
  json["kind"] = op.kind;
  json["inputs"] = shapes(forward, op.inputs, false);
  json["weights"] = shapes(forward, op.inputs, true);
  json["outputs"] = shapes(forward, op.outputs, false);
  json.update(sum_json(row.sum));
  json.erase("ops");
  return json;
}

/// Why the import made the value a parameter or a constant.
std::string reason(const ImportedModel& model, const Value& value) {
  const auto found = model.reasons.find(value.name);
  return found == model.reasons.end() ? "" : found->second;
}

/// What a step is fed with, targets included.
Json inputs_json(const Graph& forward) {
  Json list = Json::array();
  for (const Op& op : forward.ops) {
    if (op.kind != "input") continue;
    const Value& value = forward.values[op.outputs.at(0)];
    list.push_back({{"name", value.name}, {"type", to_string(value.dtype)}, {"shape", value.shape}});
  }
  return list;
}

Json parameters_json(const ImportedModel& model) {
  Json list = Json::array();
  for (const Value& value : model.forward.values) {
    if (!is_persistent(value.persistence) || value.alias_of.valid()) continue;
    list.push_back({{"name", value.name},
                    {"shape", value.shape},
                    {"shape_in_file", shape_in_file(value)},
                    {"trains", value.persistence == Persistence::parameter},
                    {"why", reason(model, value)}});
  }
  return list;
}

std::vector<std::string> row(const std::string& kind, const Sum& sum) {
  return {kind,
          format_count(sum.ops),
          sum.parameters == 0 ? "-" : format_count(sum.parameters),
          format_short(static_cast<double>(sum.flops.value())),
          format_bytes(sum.written),
          sum.saved == Bytes{} ? "-" : format_bytes(sum.saved)};
}

/// One line per op: what it reads and writes, and what it costs.
std::string operators_text(const Graph& forward, const Contents& contents) {
  Table table({{"operator", Align::left},
               {"name", Align::left},
               {"reads", Align::left},
               {"weights", Align::left},
               {"writes", Align::left},
               {"parameters", Align::right},
               {"forward FLOPs", Align::right},
               {"written", Align::right},
               {"saved for backward", Align::right}});
  for (const OpRow& each : contents.ops) {
    const Op& op = forward.ops[each.op];
    std::vector<std::string> cells = row(op.kind, each.sum);
    cells[1] = op.name;
    cells.insert(cells.begin() + 2, {shapes_text(shapes(forward, op.inputs, false)),
                                     shapes_text(shapes(forward, op.inputs, true)),
                                     shapes_text(shapes(forward, op.outputs, false))});
    table.add(std::move(cells));
  }
  return terminal_table(table);
}

/// Values that stay in RAM across steps, by the names that --trainable matches.
std::string parameters_text(const ImportedModel& model) {
  Table table({{"parameter", Align::left},
               {"shape", Align::left},
               {"elements", Align::right},
               {"", Align::left},
               {"why", Align::left}});
  for (const Value& value : model.forward.values) {
    if (!is_persistent(value.persistence) || value.alias_of.valid()) continue;
    table.add({value.name, shapes_text({value.shape}), format_count(element_count(value.shape)),
               value.persistence == Persistence::parameter ? "trains" : "does not train",
               reason(model, value)});
  }
  return terminal_table(table) +
         "To leave a parameter as it is, give --trainable patterns that do not match it; to train a constant "
         "of real numbers, name it there: --trainable \"*,NAME\".\n";
}

std::string nodes_text(const NodeCounts& nodes) {
  std::vector<std::string> parts;
  if (nodes.evaluated > 0)
    parts.push_back(fmt::format("{} evaluated while importing", format_count(nodes.evaluated)));
  if (nodes.merged > 0)
    parts.push_back(fmt::format("{} part of another's operator", format_count(nodes.merged)));
  if (nodes.unneeded > 0)
    parts.push_back(fmt::format("{} not needed for the loss", format_count(nodes.unneeded)));
  std::string text = "Nodes in the file " + format_count(nodes.listed);
  if (nodes.all != nodes.listed)
    text += fmt::format(", {} with what functions, If and Loop run", format_count(nodes.all));
  if (parts.empty()) return text + ".\n";
  return fmt::format("{}: {}.\n", text, fmt::join(parts, ", "));
}

}  // namespace

Contents measure(const Graph& forward) {
  const Graph training = differentiate(forward);  // keeps the forward ops, in their order
  const Dataflow flow = dataflow(training);
  const auto saved = [&](ValueId value) {
    const std::vector<OpId>& users = flow.users[value];
    return std::any_of(users.begin(), users.end(),
                       [&](OpId user) { return training.ops[user].pass == Pass::backward; });
  };
  Contents contents;
  contents.macs = forward_macs(forward);
  std::map<std::string, std::size_t> rows;
  IdVector<ValueId, char> counted_already(training.values.size(), 0);
  const IdVector<ValueId, ValueId> storage_of = storages(training);
  for (const OpId id : ids<OpId>(training.ops.size())) {
    const Op& op = training.ops[id];
    if (op.pass == Pass::backward) break;
    if (op.pass != Pass::forward) continue;
    Sum sum;
    sum.ops = 1;
    sum.flops = work_of(training, id).flops;
    for (const ValueId input : op.inputs) {
      const ValueId value = storage_of[input];
      if (training.values[value].persistence != Persistence::parameter || counted_already[value] != 0)
        continue;
      counted_already[value] = 1;
      sum.parameters += element_count(training.values[value].shape);
    }
    for (const ValueId value : flow.writes[id]) {
      sum.written += training.values[value].bytes;
      if (saved(value)) sum.saved += training.values[value].bytes;
    }
    contents.ops.push_back({id, sum});
    const auto [row, is_new] = rows.emplace(op.kind, contents.kinds.size());
    if (is_new) contents.kinds.emplace_back(op.kind, Sum{});
    add(contents.kinds[row->second].second, sum);
    add(contents.total, sum);
  }
  return contents;
}

Json import_json(const std::string& file, const ImportedModel& model, const Contents& contents) {
  Json json = Json::object();
  json["format"] = 1;
  json["file"] = file;
  json["batch_size"] = model.batch_size;
  json["nodes"] = {{"listed", model.nodes.listed},
                   {"all", model.nodes.all},
                   {"evaluated", model.nodes.evaluated},
                   {"merged", model.nodes.merged},
                   {"unneeded", model.nodes.unneeded}};
  json["kinds"] = Json::array();
  for (const auto& [kind, sum] : contents.kinds) {
    Json row = sum_json(sum);
    row["kind"] = kind;
    json["kinds"].push_back(std::move(row));
  }
  json["inputs"] = inputs_json(model.forward);
  json["operators"] = Json::array();
  for (const OpRow& row : contents.ops) json["operators"].push_back(op_json(model.forward, row));
  json["parameters"] = parameters_json(model);
  json["total"] = sum_json(contents.total);
  json["total"]["forward_macs"] = contents.macs;
  json["notices"] = model.notices;
  return json;
}

std::string import_text(const std::string& file, const ImportedModel& model, const Contents& contents,
                        bool every_op, bool every_parameter) {
  Table table({{"operator", Align::left},
               {"ops", Align::right},
               {"parameters", Align::right},
               {"forward FLOPs", Align::right},
               {"written", Align::right},
               {"saved for backward", Align::right}});
  for (const auto& [kind, sum] : contents.kinds) table.add(row(kind, sum));
  table.add(row("all", contents.total));
  std::string out = fmt::format("{}, batch {}\n\n", file, model.batch_size);
  for (const Value& value : model.forward.values) {
    if (value.persistence != Persistence::input || value.alias_of.valid()) continue;
    out += fmt::format("input {}: {} {}\n", value.name, to_string(value.dtype), fmt::join(value.shape, "x"));
  }
  if (every_op) out += "\n" + operators_text(model.forward, contents);
  if (every_parameter) out += "\n" + parameters_text(model);
  out += "\n" + terminal_table(table);
  out += fmt::format("\nParameters {}, forward MACs {}.\n", format_count(contents.total.parameters),
                     format_short(static_cast<double>(contents.macs)));
  out += nodes_text(model.nodes);
  for (const std::string& notice : model.notices)
    out += wrapped("Note: " + notice + ".", prose_width(), 6) + "\n";
  return out;
}

}  // namespace poet::cli
