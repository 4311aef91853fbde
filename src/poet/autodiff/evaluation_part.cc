#include "poet/autodiff/evaluation_part.h"

#include <fmt/format.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "poet/base/error.h"

namespace poet {
namespace {

/// Running statistics of a batch normalisation, by the mean that it writes.
struct RunningStatistics {
  ValueId mean;
  ValueId variance;
};

std::map<ValueId, RunningStatistics> running_statistics(const Graph& training) {
  std::map<ValueId, RunningStatistics> found;
  for (const Op& op : training.ops)
    if (op.kind == "batch_norm_stats") found[op.inputs.at(0)] = {op.updates.at(0), op.updates.at(1)};
  return found;
}

class EvaluationWriter {
 public:
  explicit EvaluationWriter(const Graph& training)
      : training_(training), taken_(training.values.size()), statistics_(running_statistics(training)) {
    part_.graph.name = training.name;
  }

  EvaluationPart write() {
    for (const OpId id : ids<OpId>(training_.ops.size())) {
      const Op& op = training_.ops[id];
      if (op.pass != Pass::forward) continue;
      if (op.kind == "batch_norm")
        normalise(id);
      else
        copy(id);
    }
    part_.graph = verified(std::move(part_.graph));
    return std::move(part_);
  }

 private:
  /// The value that stands for the training graph's, with what it is a view of.
  ValueId taken(ValueId v) {
    if (taken_[v].valid()) return taken_[v];
    Value value = training_.values[v];
    value.producer = OpId();
    if (value.alias_of.valid()) value.alias_of = taken(value.alias_of);
    return taken_[v] = add(std::move(value), v);
  }

  ValueId add(Value value, ValueId from) {
    part_.values.push_back(from);
    return part_.graph.values.push_back(std::move(value));
  }

  void add(Op op, OpId from) {
    part_.ops.push_back(from);
    const OpId id = part_.graph.ops.push_back(std::move(op));
    for (const ValueId v : part_.graph.ops[id].outputs) part_.graph.values[v].producer = id;
  }

  void copy(OpId id) {
    Op op = training_.ops[id];
    for (std::vector<ValueId>* list : {&op.inputs, &op.outputs, &op.updates})
      for (ValueId& v : *list) v = taken(v);
    if (op.kind == "dropout") op.attributes["p"] = 0.0;
    add(std::move(op), id);
  }

  /// An op of one result, which has the layout of `like`.
  ValueId apply(OpId id, const char* name, const char* kind, std::vector<ValueId> inputs, ValueId like,
                Attributes attributes = {}) {
    Op op;
    op.name = fmt::format("{}:{}", training_.ops[id].name, name);
    op.kind = kind;
    op.attributes = std::move(attributes);
    Value value;
    value.name = op.name;
    value.shape = training_.values[like].shape;
    value.strides = training_.values[like].strides;
    value.dtype = training_.values[like].dtype;
    value.bytes = byte_count(value.shape, value.dtype);
    const ValueId result = add(std::move(value), training_.ops[id].outputs[0]);
    op.inputs = std::move(inputs);
    op.outputs = {result};
    add(std::move(op), id);
    return result;
  }

  /// A number per channel, seen as a tensor that broadcasts to `whole`.
  ValueId per_channel(ValueId v, const Shape& whole) {
    Value view = part_.graph.values[v];
    view.name += ":per_channel";
    view.shape = Shape(whole.size(), 1);
    view.shape[1] = whole[1];
    view.strides.clear();
    view.producer = OpId();
    view.alias_of = v;
    view.in_file.reset();
    return add(std::move(view), part_.values[v]);
  }

  /// y = x s + (b - m s) with s = w / sqrt(v + eps): all but two operations are per channel.
  void normalise(OpId id) {
    const Op& op = training_.ops[id];
    const auto running = statistics_.find(op.outputs.at(1));
    if (running == statistics_.end())
      throw InputError(fmt::format("op \"{}\"", op.name), "has no running statistics to be evaluated by");
    const ValueId mean = running->second.mean, weight = op.inputs[1];
    const double eps = std::get<double>(op.attributes.at("eps"));
    const ValueId variance =
        apply(id, "variance", "shift", {taken(running->second.variance)}, mean, {{"beta", eps}});
    const ValueId deviation = apply(id, "deviation", "sqrt", {variance}, mean);
    const ValueId scale = apply(id, "scale", "div", {taken(weight), deviation}, mean);
    const ValueId centre = apply(id, "centre", "mul", {taken(mean), scale}, mean);
    const ValueId offset = apply(id, "offset", "sub", {taken(op.inputs[2]), centre}, mean);
    const Shape& whole = training_.values[op.outputs[0]].shape;
    const ValueId scaled =
        apply(id, "scaled", "mul", {taken(op.inputs[0]), per_channel(scale, whole)}, op.outputs[0]);
    Op last;
    last.name = op.name;
    last.kind = "add";
    last.inputs = {scaled, per_channel(offset, whole)};
    last.outputs = {taken(op.outputs[0])};
    add(std::move(last), id);
  }

  const Graph& training_;
  IdVector<ValueId, ValueId> taken_;
  std::map<ValueId, RunningStatistics> statistics_;
  EvaluationPart part_;
};

}  // namespace

EvaluationPart evaluation_part(const Graph& training) { return EvaluationWriter(training).write(); }

}  // namespace poet
