// Random graphs with views, several outputs, parameters and updates: dataflow() against its definition, and
// verify() against damage.

#include "poet/graph/dataflow.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "poet/base/error.h"
#include "tests/support/small_graphs.h"

namespace poet {
namespace {

int pick(int low, int high) { return *rc::gen::inRange(low, high + 1); }

ValueId pick_of(const std::vector<ValueId>& list) {
  return list[static_cast<std::size_t>(pick(0, static_cast<int>(list.size()) - 1))];
}

Graph random_graph() {
  Graph graph;
  std::vector<ValueId> readable;
  std::vector<ValueId> parameters;
  const int parameter_count = pick(0, 3);
  parameters.reserve(3);
  for (int i = 0; i < parameter_count; ++i) parameters.push_back(test::add_persistent(graph, "p"));
  readable = parameters;
  const int op_count = pick(1, 12);
  for (int i = 0; i < op_count; ++i) {
    std::vector<ValueId> inputs;
    const int reads = readable.empty() ? 0 : pick(0, 3);
    inputs.reserve(3);
    for (int k = 0; k < reads; ++k) inputs.push_back(pick_of(readable));
    std::vector<ValueId> outputs;
    const int writes = pick(1, 2);
    outputs.reserve(2);
    for (int k = 0; k < writes; ++k) outputs.push_back(test::add_output(graph, "v"));
    test::add_op(graph, "op", inputs, outputs);
    readable.insert(readable.end(), outputs.begin(), outputs.end());
    if (pick(0, 2) == 0) readable.push_back(test::add_alias(graph, "view", pick_of(readable)));
    if (!parameters.empty() && pick(0, 3) == 0) {
      const ValueId p = parameters.back();
      parameters.pop_back();
      test::add_update(graph, "update", {p, outputs[0]}, {p});
      const auto is_of_p = [&](ValueId v) { return storage(graph, v) == p; };
      readable.erase(std::remove_if(readable.begin(), readable.end(), is_of_p), readable.end());
    }
  }
  return graph;
}

bool contains(const std::vector<ValueId>& list, ValueId v) {
  return std::count(list.begin(), list.end(), v) == 1;
}

bool reads_storage(const Graph& graph, OpId op, ValueId v) {
  const auto& inputs = graph.ops[op].inputs;
  return std::any_of(inputs.begin(), inputs.end(), [&](ValueId in) { return storage(graph, in) == v; });
}

RC_GTEST_PROP(DataflowProperty, IsWhatItsDefinitionSays, ()) {
  const Graph graph = random_graph();
  verify(graph);
  const Dataflow flow = dataflow(graph);
  const auto all_ops = ids<OpId>(graph.ops.size());
  for (const ValueId v : ids<ValueId>(graph.values.size())) {
    const bool transient = !graph.values[v].alias_of.valid() && !is_persistent(graph.values[v].persistence);
    RC_ASSERT(contains(flow.transients, v) == transient);
    RC_ASSERT(flow.producer[v] == (transient ? graph.values[v].producer : OpId()));
    for (const OpId op : all_ops) {
      const bool reads = transient && reads_storage(graph, op, v);
      RC_ASSERT(contains(flow.reads[op], v) == reads);
      RC_ASSERT((std::count(flow.users[v].begin(), flow.users[v].end(), op) == 1) == reads);
      RC_ASSERT(contains(flow.writes[op], v) == (transient && flow.producer[v] == op));
    }
    RC_ASSERT(std::is_sorted(flow.users[v].begin(), flow.users[v].end()));
  }
  for (const OpId op : all_ops) {
    for (const OpId stage : all_ops) {
      if (stage < op) continue;
      // The definition: no update of something that op reads has run before stage `stage` starts.
      bool allowed = stage == op || graph.ops[op].recomputable;
      for (const OpId earlier : all_ops) {
        if (!(earlier < stage) || earlier == op) continue;
        for (const ValueId updated : graph.ops[earlier].updates) {
          allowed = allowed && !reads_storage(graph, op, storage(graph, updated));
        }
      }
      RC_ASSERT((stage <= flow.last_recompute[op]) == allowed);
    }
  }
}

RC_GTEST_PROP(VerifyProperty, RejectsAReadOfSomethingNotYetWritten, ()) {
  Graph graph = random_graph();
  std::vector<ValueId> written;
  for (const ValueId v : ids<ValueId>(graph.values.size())) {
    if (graph.values[v].producer.valid()) written.push_back(v);
  }
  const ValueId v = pick_of(written);
  const OpId early = OpId(static_cast<std::int32_t>(pick(0, graph.values[v].producer.index)));
  graph.ops[early].inputs.push_back(v);
  RC_ASSERT_THROWS_AS(verify(graph), InputError);
}

}  // namespace
}  // namespace poet
