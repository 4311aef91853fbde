#include "poet/autodiff/prepared_gradients.h"

#include <cstddef>
#include <string>
#include <utility>

#include "poet/base/error.h"

namespace poet {
namespace {

/// Row-major, of the shape of `of`.
ValueId add_value(Graph& graph, const std::string& name, const Shape& shape, Persistence persistence) {
  Value value;
  value.name = name;
  value.shape = shape;
  value.dtype = DType::float32;
  value.bytes = byte_count(shape, DType::float32);
  value.persistence = persistence;
  return graph.values.push_back(std::move(value));
}

ValueId add_gradient(Graph& graph, const TrainedParameter& of, const std::string& suffix) {
  const Value& parameter = graph.values[of.parameter];
  return add_value(graph, "grad:" + parameter.name + suffix, Shape(parameter.shape),
                   Persistence::parameter_gradient);
}

Op gradient_op(std::string name, const char* kind, std::vector<ValueId> inputs, ValueId output,
               Attributes attributes = {}) {
  Op op;
  op.name = std::move(name);
  op.kind = kind;
  op.attributes = std::move(attributes);
  op.pass = Pass::backward;
  op.inputs = std::move(inputs);
  op.outputs = {output};
  return op;
}

/// Its sum stays from step to step, so that the op is done once a step.
Op accumulate(Graph& graph, TrainedParameter& trained, std::int64_t every) {
  const std::string name = graph.values[trained.parameter].name;
  const ValueId sum = add_value(graph, name + ".grad_sum", Shape(graph.values[trained.parameter].shape),
                                Persistence::optimizer_state);
  const ValueId mean = add_gradient(graph, trained, ":mean");
  Op op = gradient_op(name + ":accumulate", "accumulate_gradient", {trained.gradient, sum}, mean,
                      {{"every", every}});
  op.updates = {sum};
  op.recomputable = false;
  trained.gradient = mean;
  return op;
}

}  // namespace

std::vector<Op> with_prepared_gradients(Graph& graph, const std::vector<Op>& ops,
                                        std::vector<TrainedParameter>& trained,
                                        const TrainingOptions& options) {
  if (options.accumulate == 1 && !options.clip_norm) return ops;
  IdVector<ValueId, std::size_t> written(graph.values.size(), ops.size());
  for (std::size_t i = 0; i < ops.size(); ++i)
    for (const ValueId v : ops[i].outputs) written[v] = i;
  std::vector<std::vector<std::size_t>> complete(ops.size());  // by op, which of `trained`
  for (std::size_t t = 0; t < trained.size(); ++t) {
    const std::size_t born = written[storage(graph, trained[t].gradient)];
    ensure(born < ops.size(), "a gradient has a producer");
    complete[born].push_back(t);
  }

  std::vector<Op> result;
  ValueId squared;  // norm of the gradients so far
  for (std::size_t i = 0; i < ops.size(); ++i) {
    result.push_back(ops[i]);
    for (const std::size_t t : complete[i]) {
      if (options.accumulate > 1) result.push_back(accumulate(graph, trained[t], options.accumulate));
      if (!options.clip_norm) continue;
      const std::string name = graph.values[trained[t].parameter].name + ":squared_norm";
      std::vector<ValueId> inputs = {trained[t].gradient};
      if (squared.valid()) inputs.push_back(squared);
      squared = add_value(graph, name, {1}, Persistence::activation);
      result.push_back(gradient_op(name, "squared_norm", std::move(inputs), squared));
    }
  }
  if (!options.clip_norm) return result;
  const ValueId factor = add_value(graph, "clip_factor", {1}, Persistence::activation);
  result.push_back(
      gradient_op("clip_factor", "clip_factor", {squared}, factor, {{"max_norm", *options.clip_norm}}));
  for (TrainedParameter& t : trained) {
    const ValueId clipped = add_gradient(graph, t, ":clipped");
    result.push_back(
        gradient_op(graph.values[t.parameter].name + ":clip", "mul", {t.gradient, factor}, clipped));
    t.gradient = clipped;
  }
  return result;
}

}  // namespace poet
