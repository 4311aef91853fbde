// poet import: what an ONNX file holds, as the planner sees it.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "apps/cli/command.h"
#include "apps/cli/inputs.h"
#include "apps/cli/options.h"
#include "apps/cli/output.h"
#include "poet/autodiff/differentiate.h"
#include "poet/base/amounts.h"
#include "poet/base/error.h"
#include "poet/base/write_file.h"
#include "poet/cost/instance_json.h"
#include "poet/cost/tabulate.h"
#include "poet/graph/dataflow.h"
#include "poet/report/table.h"

namespace poet::cli {
namespace {

using Json = nlohmann::ordered_json;

/// Of one forward op, or of several together.
struct Sum {
  std::int64_t ops = 0;
  std::int64_t parameters = 0;  // of shared ones, those that it is the first to read
  Flops flops{};
  Bytes written{};  // values that it makes
  Bytes saved{};    // those of them that the backward pass reads
};

struct OpRow {
  OpId op;  // of the forward graph
  Sum sum;
};

struct Contents {
  std::vector<OpRow> ops;
  std::vector<std::pair<std::string, Sum>> kinds;  // in the order in which the graph has them first
  Sum total;
  std::int64_t macs = 0;
};

void add(Sum& to, const Sum& more) {
  to.ops += more.ops;
  to.parameters += more.parameters;
  to.flops += more.flops;
  to.written += more.written;
  to.saved += more.saved;
}

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

Json sum_json(const Sum& sum) {
  Json json;
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
  Json json;
  json["name"] = op.name;
  json["kind"] = op.kind;
  json["inputs"] = shapes(forward, op.inputs, false);
  json["weights"] = shapes(forward, op.inputs, true);
  json["outputs"] = shapes(forward, op.outputs, false);
  json.update(sum_json(row.sum));
  json.erase("ops");
  return json;
}

Json import_json(const std::string& file, const ImportedModel& model, const Contents& contents) {
  Json json;
  json["format"] = 1;
  json["file"] = file;
  json["batch_size"] = model.batch_size;
  json["nodes"] = {{"all", model.nodes.all},
                   {"evaluated", model.nodes.evaluated},
                   {"merged", model.nodes.merged},
                   {"unneeded", model.nodes.unneeded}};
  json["kinds"] = Json::array();
  for (const auto& [kind, sum] : contents.kinds) {
    Json row = sum_json(sum);
    row["kind"] = kind;
    json["kinds"].push_back(std::move(row));
  }
  json["operators"] = Json::array();
  for (const OpRow& row : contents.ops) json["operators"].push_back(op_json(model.forward, row));
  json["total"] = sum_json(contents.total);
  json["total"]["forward_macs"] = contents.macs;
  json["notices"] = model.notices;
  return json;
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
  return table.text();
}

std::string nodes_text(const NodeCounts& nodes) {
  std::vector<std::string> parts;
  if (nodes.evaluated > 0)
    parts.push_back(fmt::format("{} evaluated while importing", format_count(nodes.evaluated)));
  if (nodes.merged > 0)
    parts.push_back(fmt::format("{} part of another's operator", format_count(nodes.merged)));
  if (nodes.unneeded > 0)
    parts.push_back(fmt::format("{} not needed for the loss", format_count(nodes.unneeded)));
  if (parts.empty()) return fmt::format("Nodes in the file {}.\n", format_count(nodes.all));
  return fmt::format("Nodes in the file {}: {}.\n", format_count(nodes.all), fmt::join(parts, ", "));
}

std::string import_text(const std::string& file, const ImportedModel& model, const Contents& contents,
                        bool every_op) {
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
  out += "\n" + table.text();
  out += fmt::format("\nParameters {}, forward MACs {}.\n", format_count(contents.total.parameters),
                     format_short(static_cast<double>(contents.macs)));
  out += nodes_text(model.nodes);
  for (const std::string& notice : model.notices) out += wrapped("Note: " + notice + ".", 110, 6) + "\n";
  return out;
}

class Import final : public Command {
 public:
  explicit Import(CLI::App& parent) {
    app_ = parent.add_subcommand("import", "show what an ONNX file holds, or make an instance of it");
    app_->add_option("FILE.onnx", file_, "the model")->required()->type_name("");
    const auto add = [&](const std::string& name, std::optional<std::string>& value, const std::string& help,
                         const std::string& type) { app_->add_option(name, value, help)->type_name(type); };
    add("--batch-size", options_.batch_size, "samples per training step (default 1)", "N");
    add_onnx_options(*app_, options_);
    add("-o,--instance-out", out_, "write the training step with its costs, for --instance; needs --platform",
        "FILE.json");
    add("--platform", options_.platform, "the device for -o: a name (poet devices) or a profile",
        "NAME|FILE.json");
    add("--optimizer", options_.optimizer, "for -o: sgd (default), momentum or adam", "NAME");
    add("--trainable", options_.trainable, "for -o: train these parameters only", "PATTERN");
    app_->add_flag("--operators", every_op_,
                   "list every operator with its shapes, not only the sums by kind");
    app_->add_flag("--json", json_, "one JSON object instead of text");
  }

  int run() override {
    options_.onnx = file_;
    if (out_.has_value() != options_.platform.has_value())
      throw InputError("--platform and -o need each other: costs are those of a device");
    if (!out_ && (options_.optimizer || options_.trainable))
      throw InputError("--optimizer and --trainable", "are for the instance that -o writes");
    if (out_) check_writable("-o", *out_);
    const ImportedModel model = read_onnx(options_);
    const Contents contents = measure(model.forward);
    if (out_) write_file(*out_, to_json(load_inputs(options_).instance).dump(1) + "\n");
    if (json_)
      print_answer(import_json(file_, model, contents));
    else
      print_answer(import_text(file_, model, contents, every_op_));
    return kAnswer;
  }

 private:
  std::string file_;
  InputOptions options_;
  std::optional<std::string> out_;
  bool every_op_ = false;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_import(CLI::App& parent) { return std::make_unique<Import>(parent); }

}  // namespace poet::cli
