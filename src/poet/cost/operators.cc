#include "poet/cost/operators.h"

#include <fmt/format.h>

#include <algorithm>

#include "poet/base/error.h"
#include "poet/cost/rules.h"

namespace poet {
namespace {

using cost::Count;
using cost::Rule;
using cost::Subject;
using cost::Traffic;

std::vector<const std::vector<Rule>*> families() {
  return {&cost::layer_rules(), &cost::elementwise_rules(), &cost::data_rules(), &cost::recurrent_rules(),
          &cost::update_rules()};
}

const Rule& rule_of(const Subject& subject) {
  for (const std::vector<Rule>* family : families()) {
    const auto rule = std::find_if(family->begin(), family->end(),
                                   [&subject](const Rule& r) { return r.kind == subject.op().kind; });
    if (rule != family->end()) return *rule;
  }
  subject.fail("this kind of operator has no cost rule");
}

/// Storages without repetition; two views of one value are one tensor.
std::vector<ValueId> distinct_storages(const Graph& graph, const std::vector<ValueId>& values) {
  std::vector<ValueId> storages;
  storages.reserve(values.size());
  for (const ValueId v : values) storages.push_back(storage(graph, v));
  std::sort(storages.begin(), storages.end());
  storages.erase(std::unique(storages.begin(), storages.end()), storages.end());
  return storages;
}

Count moved(const Graph& graph, const Subject& subject, const Rule& rule) {
  const Op& op = subject.op();
  if (rule.traffic == Traffic::none) return 0;
  Count total = 0;
  for (const ValueId v : distinct_storages(graph, op.inputs)) {
    Count bytes = graph.values[v].bytes.value();
    if (rule.traffic == Traffic::gathered && rule.table < op.inputs.size() &&
        v == storage(graph, op.inputs[rule.table])) {
      // Touches as many elements as it delivers.
      bytes = std::min(
          bytes, subject.times(subject.elements(subject.output(0)), size_of(graph.values[v].dtype).value()));
    }
    total = subject.plus(total, bytes);
  }
  std::vector<ValueId> written = op.outputs;
  written.insert(written.end(), op.updates.begin(), op.updates.end());
  for (const ValueId v : distinct_storages(graph, written)) {
    total = subject.plus(total, graph.values[v].bytes.value());
  }
  return total;
}

}  // namespace

std::vector<std::string_view> priced_operator_kinds() {
  std::vector<std::string_view> kinds;
  for (const std::vector<Rule>* family : families()) {
    for (const Rule& rule : *family) kinds.push_back(rule.kind);
  }
  return kinds;
}

Work work_of(const Graph& graph, OpId op) {
  const Subject subject(graph, op);
  const Rule& rule = rule_of(subject);
  // Every kernel works in place on its outputs (direct convolution, no im2col), so none needs scratch memory.
  return {Flops(rule.flops(subject)), Bytes(moved(graph, subject, rule)), Bytes(0)};
}

std::int64_t forward_macs(const Graph& graph) {
  Count total = 0;
  for (const OpId id : ids<OpId>(graph.ops.size())) {
    const Op& op = graph.ops[id];
    if (op.pass != Pass::forward) continue;
    const Subject s(graph, id);
    Count per_element = 0;
    if (op.kind == "conv2d" || op.kind == "conv3d") {
      per_element = cost::taps(s, s.input(1));
    } else if (op.kind == "conv_transpose2d" || op.kind == "conv_transpose3d") {
      total = s.plus(total, s.each(s.input(0), cost::taps(s, s.input(1))));
      continue;
    } else if (op.kind == "linear") {
      per_element = s.last(s.input(1));
    } else if (op.kind == "matmul") {
      per_element = s.last(s.input(0));
    } else if (op.kind == "lstm" || op.kind == "gru" || op.kind == "rnn") {
      per_element = cost::recurrent_macs(s);
    } else {
      continue;
    }
    total = s.plus(total, s.each(s.output(0), per_element));
  }
  return total;
}

std::int64_t parameter_count(const Graph& graph) {
  Count total = 0;
  for (const Value& value : graph.values) {
    if (value.persistence != Persistence::parameter || value.alias_of.valid()) continue;
    total += element_count(value.shape);
  }
  return total;
}

}  // namespace poet
