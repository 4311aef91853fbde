#include "poet/autodiff/forward_part.h"

#include <utility>
#include <vector>

namespace poet {
namespace {

bool is_forward(const Op& op) { return op.pass == Pass::forward || op.kind == "batch_norm_stats"; }

}  // namespace

Graph forward_part(const Graph& training) {
  IdVector<ValueId, char> named(training.values.size(), 0);
  for (const Op& op : training.ops) {
    if (!is_forward(op)) continue;
    for (const std::vector<ValueId>* list : {&op.inputs, &op.outputs, &op.updates})
      for (ValueId v : *list)
        for (; v.valid() && named[v] == 0; v = training.values[v].alias_of) named[v] = 1;
  }

  Graph forward;
  forward.name = training.name;
  IdVector<ValueId, ValueId> renamed(training.values.size());
  for (const ValueId v : ids<ValueId>(training.values.size()))
    if (named[v] != 0) renamed[v] = forward.values.push_back(training.values[v]);
  for (Value& value : forward.values) {
    value.producer = OpId();
    if (value.alias_of.valid()) value.alias_of = renamed[value.alias_of];
  }
  for (const Op& op : training.ops) {
    if (!is_forward(op)) continue;
    Op kept = op;
    for (std::vector<ValueId>* list : {&kept.inputs, &kept.outputs, &kept.updates})
      for (ValueId& v : *list) v = renamed[v];
    const OpId id = forward.ops.push_back(std::move(kept));
    for (const ValueId v : forward.ops[id].outputs) forward.values[v].producer = id;
  }
  return verified(std::move(forward));
}

}  // namespace poet
