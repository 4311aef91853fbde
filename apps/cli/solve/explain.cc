// poet explain: why each value is kept, paged or recomputed; if there is no schedule, suggestions.

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "apps/cli/command.h"
#include "apps/cli/solve/ram_budget.h"
#include "apps/cli/solve/result_json.h"
#include "apps/cli/solve/solving.h"
#include "apps/cli/solve/summary.h"
#include "apps/cli/solve/tensors.h"
#include "apps/shared/output.h"
#include "apps/shared/terminal.h"
#include "poet/base/amounts.h"
#include "poet/graph/dataflow.h"
#include "poet/graph/parts.h"
#include "poet/report/decisions.h"
#include "poet/report/table.h"

namespace poet::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kRows = 20;  // without --all

Remedies remedies(const CompileRequest& request) {
  return {request.options.paging, request.options.rematerialization};
}

Json joules_json(const std::optional<Joules>& energy) {
  return energy ? Json(energy->value()) : Json(nullptr);
}

Json per_byte_json(const std::optional<Joules>& energy, Bytes bytes) {
  return energy ? Json(energy->value() / static_cast<double>(bytes.value())) : Json(nullptr);
}

Json decision_json(const CompileRequest& request, const ValueDecision& decision) {
  const Instance& instance = request.instance;
  Json json = Json::object();
  json["value"] = decision.value.index;
  json["name"] = instance.graph.values[decision.value].name;
  json["bytes"] = decision.bytes.value();
  json["decision"] = treatment(decision);
  json["reason"] = reason(decision, remedies(request));
  json["by_product"] = decision.by_product;
  json["page_outs"] = decision.page_outs;
  json["page_ins"] = decision.page_ins;
  json["recomputations"] = decision.recomputations;
  json["spent_joules"] = decision.spent.value();
  json["spent_idle_joules"] = decision.spent_idle.value();
  json["page_joules"] = joules_json(decision.page_cost);
  json["page_joules_per_byte"] = per_byte_json(decision.page_cost, decision.bytes);
  json["recompute_joules"] = joules_json(decision.recompute_cost);
  json["recompute_joules_per_byte"] = per_byte_json(decision.recompute_cost, decision.bytes);
  json["gone_from_op"] = decision.gone_from.valid() ? Json(decision.gone_from.index) : Json(nullptr);
  json["back_at_op"] = decision.back_at.valid() ? Json(decision.back_at.index) : Json(nullptr);
  return json;
}

std::string per_byte(const std::optional<Joules>& energy, Bytes bytes) {
  if (!energy) return "-";
  return format_joules(Joules(energy->value() / static_cast<double>(bytes.value())), 3) + "/B";
}

std::string how_often(const ValueDecision& decision) {
  std::string text;
  if (decision.page_outs > 0 || decision.page_ins > 0) {
    text = fmt::format("paged {} out, {} in", decision.page_outs, decision.page_ins);
  }
  if (decision.recomputations > 0) {
    text += fmt::format("{}recomputed {}x", text.empty() ? "" : ", ", decision.recomputations);
  }
  return text.empty() ? "kept" : text;
}

std::string away(const ValueDecision& decision) {
  if (!decision.gone_from.valid()) return "-";
  return fmt::format("{}-{}", decision.gone_from.index, decision.back_at.index - 1);
}

void add_rows(std::string& out, const CompileRequest& request, const std::vector<ValueDecision>& shown) {
  const Instance& instance = request.instance;
  Table table({{"value", Align::left},
               {"size", Align::right},
               {"decision", Align::left},
               {"spent", Align::right},
               {"to page", Align::right},
               {"to recompute", Align::right},
               {"away in stages", Align::right},
               {"why", Align::left}});
  for (const ValueDecision& decision : shown) {
    table.add({instance.graph.values[decision.value].name, format_bytes(decision.bytes), how_often(decision),
               decision.spent > Joules(0) ? format_joules(decision.spent, 3) : "-",
               per_byte(decision.page_cost, decision.bytes),
               per_byte(decision.recompute_cost, decision.bytes), away(decision),
               reason(decision, remedies(request))});
  }
  out += terminal_table(table);
}

/// How many values are simply kept, and what for.
std::string kept_text(const Instance& instance, const std::vector<ValueDecision>& all) {
  const Dataflow flow = dataflow(instance.graph);
  int saved = 0;
  int local = 0;
  Bytes saved_bytes{};
  for (const ValueDecision& decision : all) {
    if (!decision.kept()) continue;
    const bool forward = instance.graph.ops[flow.producer[decision.value]].pass == Pass::forward;
    const std::vector<OpId>& users = flow.users[decision.value];
    const bool saved_for_backward = forward && std::any_of(users.begin(), users.end(), [&](OpId user) {
                                      return instance.graph.ops[user].pass != Pass::forward;
                                    });
    if (saved_for_backward) {
      ++saved;
      saved_bytes += decision.bytes;
    } else {
      ++local;
    }
  }
  return fmt::format(
      "Simply kept: {} values, because they fit: {} ({}) from the forward to the backward pass, {} within "
      "one pass.\n",
      saved + local, saved, format_bytes(saved_bytes), local);
}

/// The sum of the decisions' energy, with its share of idle power where that counts; ends the sentence.
std::string spent_text(const CompileRequest& request, const std::vector<ValueDecision>& all) {
  Joules spent{};
  Joules idle{};
  for (const ValueDecision& decision : all) {
    spent += decision.spent;
    idle += decision.spent_idle;
  }
  std::string text = fmt::format("; {} is spent on that", format_joules(spent, 3));
  if (idle > Joules(0))
    text += fmt::format(", {} of it idle power during recomputations", format_joules(idle, 3));
  const bool counts_idle =
      request.semantics == Semantics::device && request.instance.costs.timing.idle > Watts(0);
  return text + ". The costliest come first; \"to page\" is once out and in, \"to recompute\" its op alone" +
         (counts_idle ? ", with idle power." : ".");
}

std::string explanation_text(const Solved& solved, std::vector<ValueDecision> all, bool show_all) {
  const Instance& instance = solved.request.instance;
  std::string out = kept_text(instance, all);
  sort_by_importance(all);
  std::vector<ValueDecision> shown;
  std::size_t moved = 0;
  for (const ValueDecision& decision : all) {
    if (!decision.kept()) ++moved;
    if (show_all || (!decision.kept() && shown.size() < kRows)) shown.push_back(decision);
  }
  if (moved == 0) out += "No value is paged or recomputed.\n";
  if (moved > 0) {
    const std::string count = counted(static_cast<std::ptrdiff_t>(moved), "value");
    out += wrapped("Not simply kept: " + count + spent_text(solved.request, all), prose_width(), 0) + "\n";
  }
  if (!shown.empty()) {
    out += "\n";
    add_rows(out, solved.request, shown);
  }
  if (moved > shown.size()) {
    Joules rest{};
    std::size_t seen = 0;
    for (const ValueDecision& decision : all) {
      if (!decision.kept() && ++seen > shown.size()) rest += decision.spent;
    }
    out += fmt::format("... and {} more, {} together (--all shows every value)\n",
                       format_count(static_cast<std::int64_t>(moved - shown.size())), format_joules(rest, 3));
  }
  return out;
}

std::vector<ValueDecision> decisions_of(const Solved& solved) {
  const CompileRequest& request = solved.request;
  if (solved.result.paged.empty())
    return decisions(request.instance, solved.result.outcome.schedule, request.semantics);
  return decisions(request.instance, solved.result.plan, request.semantics);
}

/// Where parameters and optimiser state are at home; empty where none is paged.
std::string persistent_text(const Solved& solved) {
  const Instance& instance = solved.request.instance;
  if (solved.result.paged.empty()) return {};
  IdVector<ValueId, int> page_ins(instance.graph.values.size(), 0);
  for (const Step& step : solved.result.plan.steps)
    if (step.kind == StepKind::page_in) ++page_ins[step.value];
  std::map<int, std::pair<long, Bytes>> by_page_ins;
  for (const ValueId v : solved.result.paged) {
    auto& [count, bytes] = by_page_ins[page_ins[v]];
    ++count;
    bytes += instance.graph.values[v].bytes;
  }
  std::string text = "\nParameters and optimiser state\n";
  for (const auto& [times_in, held] : by_page_ins)
    text += fmt::format("  {} ({}) at home on storage, read {} a step\n", counted(held.first, "value"),
                        format_bytes(held.second), counted(times_in, "time"));
  for (const IndexedTable& table : indexed_tables(instance.graph))
    text += fmt::format("  {} ({}) transferred by index: the {} rows that {} names\n", table.name,
                        format_bytes(table.bytes), format_count(table.named), table.indices);
  const auto paged = std::count_if(solved.result.paged.begin(), solved.result.paged.end(),
                                   [&](ValueId v) { return !instance.graph.values[v].rows; });
  const auto resident = std::ssize(pageable(instance)) - paged;
  if (resident > 0)
    text +=
        fmt::format("  {} ({}) in RAM from step to step: of small values transfers cost the most per byte\n",
                    counted(static_cast<long>(resident), "value"), format_bytes(instance.costs.persistent));
  return text;
}

/// Of the tensors that the user names.
std::string named_text(const Solved& solved, const std::vector<ValueDecision>& all,
                       const std::vector<std::string>& names, bool show_all) {
  const std::size_t rows = show_all ? all.size() + solved.request.instance.graph.values.size() : kRows;
  std::string out;
  for (const std::string& name : names) {
    const std::vector<ValueId> values = values_named(solved.request.instance.graph, name);
    out += "\n" + residence_text(solved, name, values, rows);
    std::vector<ValueDecision> shown;
    for (const ValueDecision& decision : all)
      if (std::binary_search(values.begin(), values.end(), decision.value)) shown.push_back(decision);
    sort_by_importance(shown);
    const std::size_t more = shown.size() - std::min(shown.size(), rows);
    shown.resize(shown.size() - more);
    if (!shown.empty()) add_rows(out, solved.request, shown);
    if (more > 0)
      out += fmt::format("... and {} more (--all shows every part)\n",
                         format_count(static_cast<std::int64_t>(more)));
  }
  return out;
}

/// "conv.weight[0:64]" is a part of conv.weight: which parts there are is known afterwards.
std::vector<std::string> without_parts(std::vector<std::string> names) {
  for (std::string& name : names) name = name.substr(0, name.find('['));
  return names;
}

class Explain final : public Command {
 public:
  explicit Explain(CommandLine& program)
      : Command(program.command("explain", "solve, then say why each value is kept, paged or recomputed")) {
    add_problem_options(parser_, options_);
    parser_.option(
        "tensors", tensors_,
        "explain only these tensors (or parts of them); for a parameter, why it is in RAM or on storage",
        "TENSOR");
    const Parser output = parser_.group("Output");
    output.option("--plan-out", plan_out_, "write the explained plan, as poet solve does", "FILE");
    output.flag("--all", all_, "list every value, including those that are simply kept");
    output.flag("--json", json_, "print one JSON object instead of text; it lists every value");
    parser_.footer(
        "Exit code: 0 an answer, 1 infeasible or unknown (with a suggestion), 2 bad input, 3 internal "
        "error.");
  }

  int run() override {
    if (plan_out_) check_writable("--plan-out", *plan_out_);
    Solving how;
    bool checked = false;  // the problem as it is posed first; suggestions may have other parts
    how.adjust = [&](Instance& posed, Semantics) {
      if (!checked) check_names(posed.graph, without_parts(tensors_));
      checked = true;
    };
    const Solved solved = solve_problem(settled(options_), how);
    if (has_plan(solved)) check_names(solved.request.instance.graph, tensors_);
    if (plan_out_ && has_plan(solved)) write_plan(plan_file_of(solved), *plan_out_);
    if (plan_out_ && !has_plan(solved)) mention_stale("--plan-out", *plan_out_);
    std::vector<ValueDecision> all;
    if (has_plan(solved)) all = decisions_of(solved);
    if (json_) {
      Json json = result_json(solved);
      json["decisions"] = Json::array();
      for (const ValueDecision& decision : all)
        json["decisions"].push_back(decision_json(solved.request, decision));
      json["persistent_values"] = has_plan(solved) ? residence_json(solved) : Json(Json::array());
      print_answer(json);
    } else {
      std::string text = summary_text(solved);
      if (has_plan(solved))
        text += !tensors_.empty() ? named_text(solved, all, tensors_, all_)
                                  : "\n" + explanation_text(solved, all, all_) + persistent_text(solved);
      print_text(text);
    }
    return exit_code(solved);
  }

 private:
  ProblemOptions options_;
  std::vector<std::string> tensors_;
  std::optional<std::string> plan_out_;
  bool all_ = false;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_explain(CommandLine& program) { return std::make_unique<Explain>(program); }

}  // namespace poet::cli
