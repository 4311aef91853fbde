// What holds for the training graph of every network.

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "poet/autodiff/differentiate.h"
#include "poet/graph/dataflow.h"
#include "poet/graph/graph.h"
#include "tests/support/random_network.h"

namespace poet {
namespace {

struct Sample {
  Graph forward;
  Graph training;
  std::function<bool(const std::string&)> trainable;
};

Sample sample() {
  const auto seed = *rc::gen::arbitrary<std::uint64_t>();
  Sample s;
  s.forward = test::RandomNetwork(seed).build();
  if (*rc::gen::arbitrary<bool>()) {
    s.trainable = test::RandomNetwork::some_trainable(seed);
  } else {
    s.trainable = [](const std::string&) { return true; };
  }
  const auto optimizer = *rc::gen::element(Optimizer::sgd, Optimizer::momentum, Optimizer::adam);
  s.training = differentiate(s.forward, {optimizer, s.trainable});
  return s;
}

/// Which storages need a gradient, found from both ends: something trained above, the loss below.
struct Path {
  std::set<ValueId> values;
  std::map<ValueId, int> contributions;  // how many ops' inputs, on the way to the loss, are this storage
};

Path gradient_path(const Sample& s) {
  const Graph& g = s.forward;
  std::set<ValueId> trained_above;
  for (const ValueId v : ids<ValueId>(g.values.size())) {
    if (g.values[v].persistence == Persistence::parameter && s.trainable(g.values[v].name))
      trained_above.insert(v);
  }
  for (const Op& op : g.ops) {
    for (const ValueId v : op.inputs) {
      if (trained_above.count(storage(g, v)) == 0 || op.outputs.empty()) continue;
      if (op.kind == "split")
        trained_above.insert(op.outputs.begin(), op.outputs.end());
      else
        trained_above.insert(op.outputs.front());
    }
  }
  Path path;
  std::set<ValueId> leads_to_loss;
  for (std::size_t i = g.ops.size(); i-- > 0;) {
    const Op& op = g.ops[OpId(i)];
    const bool is_loss = op.kind == "softmax_cross_entropy";
    const bool leads = std::any_of(op.outputs.begin(), op.outputs.end(),
                                   [&](ValueId v) { return leads_to_loss.count(v) != 0; });
    if (!is_loss && !leads) continue;
    for (const ValueId v : op.inputs) {
      const ValueId source = storage(g, v);
      leads_to_loss.insert(source);
      if (trained_above.count(source) == 0) continue;
      path.values.insert(source);
      ++path.contributions[source];
    }
  }
  return path;
}

RC_GTEST_PROP(AutodiffProperty, EveryTrainedParameterIsUpdatedOnceAtOnce, ()) {
  const Sample s = sample();
  const Graph& g = s.training;
  const Path path = gradient_path(s);
  std::map<ValueId, std::vector<OpId>> updates;
  for (const OpId id : ids<OpId>(g.ops.size())) {
    if (g.ops[id].kind == "batch_norm_stats") continue;
    for (const ValueId v : g.ops[id].updates) updates[v].push_back(id);
  }
  for (const ValueId v : ids<ValueId>(s.forward.values.size())) {
    if (s.forward.values[v].persistence != Persistence::parameter) continue;
    RC_ASSERT(updates[v].size() == path.values.count(v));
    if (updates[v].empty()) continue;
    const OpId update = updates[v].front();
    const Op& op = g.ops[update];
    RC_ASSERT(op.inputs.at(0) == v);
    // Every reader comes before; between the last of them (or the gradient's birth) and the update there are
    // only updates.
    OpId latest = g.values[storage(g, op.inputs.at(1))].producer;
    for (const OpId id : ids<OpId>(g.ops.size())) {
      for (const ValueId read : g.ops[id].inputs) {
        if (id != update && storage(g, read) == v) latest = std::max(latest, id);
      }
    }
    RC_ASSERT(latest < update);
    for (OpId between(latest.index + 1); between < update; between = OpId(between.index + 1)) {
      RC_ASSERT(g.ops[between].pass == Pass::update);
    }
    // The gradient of the parameter dies here.
    if (g.values[op.inputs[1]].persistence == Persistence::parameter_gradient) {
      RC_ASSERT(dataflow(g).users[storage(g, op.inputs[1])].back() == update);
    }
  }
}

RC_GTEST_PROP(AutodiffProperty, SumsAreOneFewerThanContributions, ()) {
  const Sample s = sample();
  int expected = 0;
  for (const auto& entry : gradient_path(s).contributions) expected += entry.second - 1;
  int sums = 0;
  for (const Op& op : s.training.ops) sums += op.pass == Pass::backward && op.kind == "add" ? 1 : 0;
  RC_ASSERT(sums == expected);
}

RC_GTEST_PROP(AutodiffProperty, BackwardOpsReadWhatExistsAndNothingIsComputedInVain, ()) {
  const Sample s = sample();
  const Graph& g = s.training;
  const Dataflow flow = dataflow(g);
  for (const OpId id : ids<OpId>(g.ops.size())) {
    const Op& op = g.ops[id];
    if (op.pass != Pass::backward) continue;
    RC_ASSERT(!op.outputs.empty());
    for (const ValueId v : op.inputs) {
      const Value& source = g.values[storage(g, v)];
      RC_ASSERT(is_persistent(source.persistence) || (source.producer.valid() && source.producer < id));
    }
    for (const ValueId v : op.outputs) RC_ASSERT(!flow.users[v].empty());
  }
}

RC_GTEST_PROP(AutodiffProperty, ForwardIsUntouchedAndNamesAreUnique, ()) {
  const Sample s = sample();
  const Graph& g = s.training;
  for (const OpId id : ids<OpId>(s.forward.ops.size())) {
    RC_ASSERT(test::text(g, g.ops[id]) == test::text(s.forward, s.forward.ops[id]));
  }
  std::set<std::string> op_names;
  for (const Op& op : g.ops) RC_ASSERT(op_names.insert(op.name).second);
  std::set<std::string> value_names;
  for (const Value& value : g.values) RC_ASSERT(value_names.insert(value.name).second);
}

RC_GTEST_PROP(AutodiffProperty, ViewsNeverCopy, ()) {
  // Every added view is one of the same number of elements, and of the same bytes, as its storage.
  const Sample s = sample();
  const Graph& g = s.training;
  for (const ValueId v : ids<ValueId>(g.values.size())) {
    const Value& value = g.values[v];
    if (!value.alias_of.valid()) continue;
    const Value& source = g.values[storage(g, v)];
    RC_ASSERT(element_count(value.shape) == element_count(source.shape));
    RC_ASSERT(value.bytes == source.bytes);
    RC_ASSERT(value.persistence == source.persistence);
  }
}

}  // namespace
}  // namespace poet
